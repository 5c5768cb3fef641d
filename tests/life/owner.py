#!/usr/bin/env python3
"""owner.py - what the owner of a box goes on doing while it is hostile: watch files, use pipes, pass descriptors,
use memory and disk, wait on epoll. Once, or for SECONDS. Prints each refusal, and "fine N" when there was none."""
import array, ctypes, mmap, os, select, socket, sys, tempfile, time

libc = ctypes.CDLL(None, use_errno=True)


def watch():
    fd = libc.inotify_init()
    if fd < 0:
        raise OSError(ctypes.get_errno() or 24, "no inotify instance")
    with tempfile.TemporaryDirectory() as d:
        for i in range(20):
            os.mkdir(f"{d}/{i}")
            if libc.inotify_add_watch(fd, f"{d}/{i}".encode(), 0x100) < 0:
                raise OSError(28, "no inotify watch")
    os.close(fd)


def pipe():
    r, w = os.pipe()
    os.write(w, b"x" * 4096)
    if os.read(r, 4096) != b"x" * 4096:
        raise OSError(5, "the pipe lost something")
    os.close(r), os.close(w)


def passing():
    a, b = socket.socketpair()
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    _, anc, _, _ = b.recvmsg(1, socket.CMSG_SPACE(12))
    for fd in array.array("i", anc[0][2][:12]):
        os.close(fd)
    a.close(), b.close()


def memory():
    m = mmap.mmap(-1, 16 << 20)
    for at in range(0, 16 << 20, 4096):
        m[at] = 1
    m.close()


def disk():
    with tempfile.NamedTemporaryFile(dir=".") as f:
        f.write(b"x" * (1 << 20))
        f.flush()
        os.fsync(f.fileno())


def waiting():
    e = select.epoll()
    r, w = os.pipe()
    e.register(r)
    e.close(), os.close(r), os.close(w)


end = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 0)
n = bad = 0
while True:
    for what in (watch, pipe, passing, memory, disk, waiting):
        try:
            what()
            n += 1
        except Exception as e:
            bad += 1
            print(f"refused: {what.__name__}: {e}", flush=True)
    if time.monotonic() >= end or bad > 20:
        break
    time.sleep(0.02)
if not bad:
    print("fine", n)
