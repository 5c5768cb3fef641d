#!/usr/bin/env python3
"""typed_at_once.py QUESTION ANSWER COMMAND... - run it on a terminal of its own, type ANSWER the moment QUESTION is there,
and print everything that the terminal showed. Ends with its status; 124 when it never came to its end."""
import os
import pty
import select
import sys
import time

question, answer = sys.argv[1].encode(), sys.argv[2].encode()
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
shown, is_typed, last = b"", False, time.monotonic() + 60
while time.monotonic() < last:
    if fd not in select.select([fd], [], [], 1)[0]:
        continue
    try:
        got = os.read(fd, 65536)
    except OSError:
        got = b""
    if not got:
        break
    shown += got
    if question in shown and not is_typed:
        os.write(fd, answer + b"\n")
        is_typed = True
else:
    sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
    sys.stdout.flush()
    os.kill(pid, 9)
    sys.exit(124)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
