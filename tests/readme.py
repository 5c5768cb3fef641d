#!/usr/bin/env python3
"""readme.py - type what README.md types, and hold what is printed against what it prints.

Usage: readme.py README OSTIARY, in an empty home. Every "$ " line of the section "One minute" is given to a shell, in
its order; what follows it, up to the next, is what a reader expects to see. A line that README answers questions on
is typed at a terminal, with the same answers. What differs from run to run is made equal first: the box's made-up
name, times, process numbers, the home, sizes of programs, and what this machine's limits are held by. A command that
needs the internet is left out, and said to be. Prints one line per command, as suites do."""
import os
import pty
import re
import select
import subprocess
import sys
import time

readme, ostiary = sys.argv[1:3]
home = os.environ["HOME"]
box = None  # what README calls hazel-5be2
bad = 0


def commands():
    """(line, expected lines) of the section, in order."""
    text = open(readme).read().split("\n## One minute\n", 1)[1].split("\n## ", 1)[0]
    for block in re.findall(r"^```\n(.*?)^```$", text, re.S | re.M):
        line, want = None, []
        for l in block.split("\n")[:-1]:
            if l.startswith("$ "):
                if line is not None:
                    yield line, want
                line, want = l[2:], []
            else:
                want.append(l)
        if line is not None:
            yield line, want


def plain(lines):
    """What is the same in every run."""
    out = []
    for l in lines:
        l = l.replace("\r", "").rstrip()
        if box:
            l = l.replace(box, "hazel-5be2")
        l = l.replace(home, "~").replace("/home/user", "~")
        l = re.sub(r" \(no control group here: .*?\)", "", l)
        l = re.sub(r"memory [0-9.]+ [GM]iB", "memory 8.0 GiB", l)
        l = l.replace("; detach: Ctrl-] d", "")
        l = re.sub(r"^\d{4}-\d\d-\d\d, times in .*", "DAY", l)
        l = re.sub(r"^\d\d:\d\d:\d\d\.\d+", "TIME", l)
        l = re.sub(r"\[\d+\] *", "[PID] ", l)
        l = re.sub(r"child of \d+", "child of PID", l)
        l = re.sub(r"-> \d+ bytes", "-> N bytes", l)
        l = re.sub(r"(exited 0, changes) +\S+ +", r"\1 AGE ", l)
        l = re.sub(r"^BOX +STATE +AGE +", "BOX STATE AGE ", l)
        out.append(l)
    return [l for l in out if l]


def at_terminal(line, answers):
    """Typed at a terminal; each question, which ends in "] ", gets the next answer."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", "stty cols 500; " + line])
    shown, asked, end = b"", 0, time.time() + 250
    while time.time() < end:
        if fd not in select.select([fd], [], [], 1)[0]:
            continue
        try:
            got = os.read(fd, 4096)
        except OSError:
            break
        if not got:
            break
        shown += got
        if shown.count(b"ends] ") > asked and answers:
            asked = shown.count(b"ends] ")
            os.write(fd, answers.pop(0).encode() + b"\n")
    os.close(fd)
    os.waitpid(pid, 0)
    return shown.decode(errors="replace").split("\n")


os.environ["PATH"] = os.path.dirname(ostiary) + ":" + os.environ["PATH"]
os.makedirs(home + "/src/hello")
os.chdir(home + "/src/hello")
with open("hello.c", "w") as f:
    f.write('#include <stdio.h>\nint main(void)\n{\n\tputs("hello");\n}\n')
with open("Makefile", "w") as f:
    f.write("hello: hello.c\n\tcc -o hello hello.c\n")
time.sleep(0.1)  # older than the box by the kernel's clock too, or apply sees a change of the host's
for line, want in commands():
    if "stripe" in line.lower() or line.startswith("cd "):
        print(f"ok README, not typed, it needs the internet: {line[:60]}" if "stripe" in line.lower() else f"ok README: {line}")
        continue
    answers = [m.group(1) for l in want if (m := re.search(r"ends\] (\w)$", l))]
    typed = line.replace("hazel-5be2", box) if box else line
    if answers:
        got = at_terminal(typed, answers)
    else:
        # Apart, because a program may write a line of one in pieces between which the other comes.
        ran = subprocess.run(["bash", "-c", typed], stdin=subprocess.DEVNULL, capture_output=True, timeout=250,
                             text=True, errors="replace")
        got = (ran.stdout + "\n" + ran.stderr).split("\n")
    if box is None and "ostiary run" in line:
        box = subprocess.run([ostiary, "ps", "-a", "-q"], capture_output=True, text=True).stdout.split()[0]
    got, want = plain(got), plain(want)
    if sorted(got) == sorted(want):  # two streams come in any order
        print(f"ok README: {line[:100]}")
    else:
        bad = 1
        print(f"not ok README: {line[:100]}: got {got}, README has {want}")
    sys.stdout.flush()
sys.exit(bad)
