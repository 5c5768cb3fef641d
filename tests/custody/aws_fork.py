#!/usr/bin/env python3
"""aws_fork.py PORT_FILE - Debian's AWS CLI, read in once and forked for each command, for custody_aws.sh.

Runs in the box. A start of the CLI is 0.7 s of Python modules and 0.1 s of work, and the suite has forty of them. Writes
its port (on the box's loopback) into PORT_FILE. A command is texts that end in NUL: how many variables of the environment
follow, these as NAME=VALUE, how many arguments follow, these. The answer is what the CLI prints, both outputs together."""
import os
import socket
import sys

import awscli.clidriver


def command(c):
    """Its texts, in two lists."""
    texts = iter(lambda f=c.makefile("rb"): b"".join(iter(lambda: f.read(1), b"\0")), None)
    return [[next(texts) for _ in range(int(next(texts)))] for _ in range(2)]


def run(c):
    variables, arguments = command(c)
    for v in variables:
        name, _, value = v.partition(b"=")
        os.environb[name] = value
    os.dup2(c.fileno(), 1)
    os.dup2(c.fileno(), 2)
    sys.argv = ["aws"] + [os.fsdecode(a) for a in arguments]
    return awscli.clidriver.main()


# Most of the modules come with the first driver and the first client; neither talks to anybody.
awscli.clidriver.create_clidriver().session.create_client("s3", region_name="eu-west-1")
listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w", encoding="ascii") as port_file:
    print(listener.getsockname()[1], file=port_file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
running = set()
while True:
    conn = listener.accept()[0]
    running -= {p for p in running if os.waitpid(p, os.WNOHANG)[0]}
    child = os.fork()
    if child == 0:
        listener.close()
        try:
            run(conn)
        finally:
            sys.stdout.flush()
            os._exit(0)
    running.add(child)
    conn.close()
