#!/usr/bin/python3
"""kills.py OSTIARY BOX WORKSPACE COUNT SEED SECONDS: kill -9 apply and undo at random moments, COUNT times each
or as often as SECONDS allow; longer where too few were at work by then, up to half as long again.

After every kill either the same command is run again and must finish the work, or the other direction is taken and
must lead back; each time the tree is compared with what it was before and after an apply that nobody disturbed."""
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import time

ostiary, box, ws, count, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
seconds = int(sys.argv[6])
rng = random.Random(seed)
undo_dir = os.environ["HOME"] + "/.local/state/ostiary/undo"
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ws)
apply = [ostiary, "apply", box, "--yes"]
undo = [ostiary, "undo", "--yes"]


def shot():
    seen = []
    for top, dirs, files in os.walk(ws):
        for name in dirs + files:
            path = os.path.join(top, name)
            st = os.lstat(path)
            if os.path.islink(path):
                what = os.readlink(path)
            elif os.path.isdir(path):
                what = oct(st.st_mode)
            else:
                with open(path, "rb") as f:
                    what = oct(st.st_mode) + hashlib.sha256(f.read()).hexdigest()
            seen.append((os.path.relpath(path, ws), what))
    return sorted(seen)


def run(command):
    done = subprocess.run(command, **quiet, timeout=150)
    return done.returncode, done.stderr.decode(errors="replace")


# Half of the kills are aimed at the moment in which the tree changes, which is short; it is found by what they hit.
aim = {}


def aimed(command, longest, start, end):
    """Kill it, and learn: returns whether it was at work, and whether the tree is in between."""
    key = command[1]
    middle = aim.setdefault(key, longest / 2)
    is_aimed = rng.random() < 0.5
    was_alive = killed(command, middle * (0.8 + 0.4 * rng.random()) if is_aimed else rng.random() * longest)
    now = shot()
    if is_aimed and now == start:
        aim[key] = middle * 1.1  # also beyond the longest: the machine may have become slower since that was taken
    elif is_aimed and now == end:
        aim[key] = middle * 0.9
    return was_alive, now not in (start, end)


def killed(command, after_s):
    p = subprocess.Popen(command, **{**quiet, "stderr": subprocess.DEVNULL})
    time.sleep(after_s)
    was_alive = p.poll() is None
    if was_alive:
        p.kill()
    p.wait()
    return was_alive


def back():
    """Take back until nothing is left to take back."""
    for _ in range(20):
        code, said = run(undo)
        if code in (121, 125) and "nothing was applied" in said:
            return
        if code != 0:
            sys.exit("undo: %d %s" % (code, said))
    sys.exit("undo does not come to an end")


def must(got, wanted, what, n):
    if got != wanted:
        differs = sorted(set(got) ^ set(wanted))[:6]
        sys.exit("%s after kill %d (seed %d): %s" % (what, n, seed, differs))


def interrupted():
    n = 0
    for name in os.listdir(undo_dir):
        if name.isdigit():
            with open(undo_dir + "/" + name + "/record", "rb") as f:
                n += b"\ndone 1\n" not in f.read()
    return n


before = shot()
start = time.monotonic()
code, said = run(apply)
longest = (time.monotonic() - start) * 1.2
if code != 0:
    sys.exit("the undisturbed apply: %d %s" % (code, said))
after = shot()
if before == after:
    sys.exit("apply did nothing")
back()
must(shot(), before, "the undisturbed undo", 0)

def forget(n):
    """Old records would be looked through each time."""
    if n % 20 == 19:
        for name in os.listdir(undo_dir):
            if name.isdigit():
                shutil.rmtree(undo_dir + "/" + name)


hits = {"apply": 0, "undo": 0}
torn = forgotten = 0
begin = time.monotonic()


def is_over(n, what, torn):
    """Time or kills are used up, and what the suite's controls want was seen, or will hardly come any more."""
    passed = time.monotonic() - begin
    is_seen = hits[what] >= 3 and torn >= 2
    return passed > seconds * 3 / 4 or ((passed > seconds / 2 or n >= count) and is_seen)


for n in itertools.count():
    if is_over(n, "apply", torn):
        break
    was_alive, is_between = aimed(apply, longest, before, after)
    hits["apply"] += was_alive
    torn += is_between
    if n % 2:
        code, said = run(apply)
        if code != 0:
            sys.exit("apply again: %d %s" % (code, said))
        must(shot(), after, "apply again", n)
    back()
    must(shot(), before, "rolled back", n)
    forgotten += interrupted() if n % 20 == 19 else 0
    forget(n)

begin = time.monotonic()
for n in itertools.count():
    if is_over(n, "undo", torn):
        break
    code, said = run(apply)
    if code != 0:
        sys.exit("apply: %d %s" % (code, said))
    must(shot(), after, "apply", n)
    was_alive, is_between = aimed(undo, longest, after, before)
    hits["undo"] += was_alive
    torn += is_between
    if n % 2:
        code, said = run(apply)
        if code != 0:
            sys.exit("apply after a killed undo: %d %s" % (code, said))
        must(shot(), after, "apply after a killed undo", n)
    back()
    must(shot(), before, "undo again", n)
    forgotten += interrupted() if n % 20 == 19 else 0
    forget(n)

print("%d applies and %d undos were killed while they worked; %d left the tree in between; %d records interrupted"
      % (hits["apply"], hits["undo"], torn, forgotten + interrupted()))
