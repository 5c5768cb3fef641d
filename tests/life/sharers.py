#!/usr/bin/env python3
"""sharers.py - inside a box: eight processes that have the same memory, as a database's have, of every kind: 96 MiB of
an anonymous mapping, 48 MiB of a memfd, 48 MiB in /dev/shm, and 64 MiB that they were forked with. There are 256 MiB
and a little; who adds up what each process has comes to more than 2 GiB.

    sharers.py FILE     goes on until FILE is there, then says "lived" """
import mmap, os, sys, time

MIB = 1 << 20
PAGE = 4096


def touch(m, size):
    for at in range(0, size, PAGE):
        m[at] = 1


def read(m, size):
    return sum(m[at] for at in range(0, size, PAGE))


memfd = os.memfd_create("shared")
os.ftruncate(memfd, 48 * MIB)
named = os.open("/dev/shm/shared", os.O_RDWR | os.O_CREAT)
os.ftruncate(named, 48 * MIB)
shared = [(mmap.mmap(-1, 96 * MIB), 96 * MIB), (mmap.mmap(memfd, 48 * MIB), 48 * MIB), (mmap.mmap(named, 48 * MIB), 48 * MIB)]
private = mmap.mmap(-1, 64 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for m, size in shared + [(private, 64 * MIB)]:
    touch(m, size)
children = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        for m, size in shared + [(private, 64 * MIB)]:
            read(m, size)
        print("has it", flush=True)
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.02)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("lived", flush=True)
