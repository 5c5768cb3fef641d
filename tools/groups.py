"""groups.py - the control groups of a suite, so that those it leaves behind are known to be its own.

Used by bounded.py. A box's groups are made below those of whoever starts it. On cgroup v1 root's guard
therefore enters a group of its own in the hierarchies below; what is found in it when all of the suite
has ended was left behind by this suite and nobody else, whatever other runs and boxes do on the
machine. Not in the hierarchy of the cpu: a group has the share of one process there, and a suite has
many. Elsewhere (cgroup v2, an ordinary user) machine.py compares lists.
"""

import glob
import os
import time

HELD = ("memory", "pids")
PREFIX = "test-suite-"


def _mounts():
    """Where the hierarchies are shown as a whole."""
    found = {}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            left, _, right = line.partition(" - ")
            words, kind = left.split(), right.split()
            if len(kind) > 2 and kind[0] == "cgroup" and words[3] == "/":
                found.update((name, words[4]) for name in kind[2].split(",") if name in HELD)
    return found


def places():
    """Our own group in each hierarchy that is held; none where it cannot be."""
    found = []
    if os.getuid() != 0:
        return found
    mounts = _mounts()
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, names, path = line.rstrip("\n").split(":", 2)
            for name in names.split(","):
                where = mounts.get(name, "") + path.rstrip("/")
                if name in mounts and os.access(where + "/cgroup.procs", os.W_OK):
                    found.append(where)
    return found


def _remove(top, seconds):
    """Remove a group and all below it; returns those below. A group whose last process has just gone is busy."""
    below = [os.path.relpath(folder, top) for folder, _, _ in os.walk(top, topdown=False)][:-1]
    end = time.monotonic() + seconds
    for name in below + ["."]:
        while True:
            try:
                os.rmdir(os.path.normpath(os.path.join(top, name)))
                break
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() > end:
                    break
                time.sleep(0.05)
    return below


def clear_guard(pid):
    """In the runner: of a guard that has ended; nothing is there unless it was killed."""
    for place in places():
        top = "%s/%s%d" % (place, PREFIX, pid)
        if os.path.isdir(top):
            _remove(top, 5)


def clear_old():
    """Of guards whose runner was killed as well."""
    for place in places():
        for top in glob.glob("%s/%s*" % (place, PREFIX)):
            pid = os.path.basename(top)[len(PREFIX):]
            if pid.isdigit() and not os.path.exists("/proc/" + pid):
                _remove(top, 1)


class Held:
    """In the guard: enter before the suite starts, leave when all of it has ended."""

    def __init__(self):
        self.homes = places()
        self.name = PREFIX + str(os.getpid())

    def enter(self):
        for home in self.homes:
            os.mkdir("%s/%s" % (home, self.name))
            self._move("%s/%s" % (home, self.name))

    def _move(self, group):
        with open(group + "/cgroup.procs", "w") as f:
            f.write("%d\n" % os.getpid())

    def leave(self):
        """The names of the groups that the suite left behind, which are gone now."""
        left = []
        for home in self.homes:
            self._move(home)
            left += ["%s (%s)" % (name, os.path.relpath(home, "/sys/fs/cgroup").split("/")[0])
                     for name in _remove("%s/%s" % (home, self.name), 5)]
        return left
