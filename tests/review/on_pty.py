#!/usr/bin/env python3
"""on_pty.py COMMAND... - run it on a terminal of its own, 80 columns, and copy every byte it writes to
stdout; input is what stdin holds. Ends with its status. Called by tests/review_*.sh."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
typed = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
if typed:
    os.write(fd, typed)
while True:
    ready, _, _ = select.select([fd], [], [], 140)
    try:
        data = os.read(fd, 65536) if ready else b""
    except OSError:
        data = b""
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.flush()
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
