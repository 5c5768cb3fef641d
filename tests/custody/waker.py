#!/usr/bin/env python3
"""waker.py - inside a box that is going to be paused: arrange everything that could wake a stopped process again.

Each of three processes has a timer that sends it SIGCONT every 5 ms, one for the process and one for a thread of it; one
of them is forked anew by its parent all the time. All count aloud until the file `enough` is there."""
import ctypes, os, signal, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
CONT, TO_PROCESS, TO_THREAD = 18, 0, 4


class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("tid", ctypes.c_int), ("pad", ctypes.c_int * 11)]


class Spec(ctypes.Structure):
    _fields_ = [("every_s", ctypes.c_long), ("every_ns", ctypes.c_long), ("first_s", ctypes.c_long), ("first_ns", ctypes.c_long)]


def wake(how, tid=0):
    timer = ctypes.c_void_p()
    event = Event(signo=CONT, notify=how, tid=tid)
    spec = Spec(0, 5000000, 0, 5000000)
    if libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) or libc.timer_settime(timer, 0, ctypes.byref(spec), None):
        sys.exit("no timer: " + os.strerror(ctypes.get_errno()))


def count(most=sys.maxsize):
    n = 0
    while n < most and not os.path.exists("enough"):
        n += 1
        print(os.getpid(), n, flush=True)
        time.sleep(0.02)


def awake():
    wake(TO_PROCESS)
    thread = threading.Thread(target=lambda: (wake(TO_THREAD, threading.get_native_id()), count()), daemon=True)
    thread.start()
    return thread


signal.signal(signal.SIGCONT, lambda *_: None)  # a timer whose signal is ignored sends it once
if os.fork() == 0:
    awake()
    count()
    os._exit(0)
if os.fork() == 0:
    awake()
    while not os.path.exists("enough"):
        pid = os.fork()
        if pid == 0:
            wake(TO_PROCESS)
            count(3)
            os._exit(0)
        os.waitpid(pid, 0)
    os._exit(0)
awake()
count()
for _ in range(2):
    os.wait()
print("went on", flush=True)
