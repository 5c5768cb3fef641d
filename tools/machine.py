"""machine.py - what a run of the tests borrows from the machine, and gives back.

Used by tools/test.py: a scratch directory, an ordinary user with a copy of the tree, ports, and a list
of what belongs to the whole machine (users, control groups, network namespaces and links), so that the
run can say what appeared meanwhile. It takes away only what carries our name: somebody else may use
the machine at the same time. Mounts need no list: bounded.py gives each suite a namespace.
"""

import fcntl
import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

import groups

USER = "ostiary-test"
USER_LOCK = "/run/ostiary-test-user"
PREFIX = "ostiary-test."
# Programs, not objects; what is large lies in SUITE_CACHE.
NOT_COPIED = ("test", "vm", "bench", "fuzz", "lint", "phases")


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def clear_old_runs(base):
    """Directories of runs that were killed before they could clean up."""
    for old in glob.glob(os.path.join(base, PREFIX + "*")):
        try:
            with open(os.path.join(old, "pid")) as f:
                pid = int(f.read())
        except (OSError, ValueError):
            continue
        if os.lstat(old).st_uid == os.getuid() and not _is_alive(pid):
            remove_run_dir(old)


def make_run_dir():
    base = tempfile.gettempdir()
    clear_old_runs(base)
    groups.clear_old()
    path = tempfile.mkdtemp(prefix=PREFIX, dir=base)
    os.chmod(path, 0o755)
    with open(os.path.join(path, "pid"), "w") as f:
        f.write("%d\n" % os.getpid())
    return path


def remove_tree(path):
    """rm -rf that also takes what is without permissions or immutable. Returns whether it is gone."""
    for how in ([], ["chmod", "-R", "u+rwX"], ["chattr", "-R", "-f", "-i", "-a"], []):
        if how and not os.path.islink(path):  # a suite may have put a link in its place
            subprocess.run(how + [path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", path], stderr=subprocess.DEVNULL)
        if not os.path.lexists(path):
            return True
    return False


def remove_run_dir(path):
    """Its pid file goes last: as long as it is there, the next run clears away what could not be removed."""
    for name in os.listdir(path):
        if name != "pid":
            remove_tree(os.path.join(path, name))
    if os.listdir(path) == ["pid"]:
        remove_tree(path)


def copy_programs(source, target, variants):
    """The two programs of each variant that is built, side by side as in the tree."""
    for variant in set(variants):
        os.makedirs(os.path.join(target, variant))
        for name in ("ostiary", "ostiary-door"):
            path = os.path.join(source, variant, name)
            if os.path.exists(path):
                shutil.copy2(path, os.path.join(target, variant))


def claim_ports():
    """A thousand ports that no other suite on this machine has, and what holds the claim until it is closed.

    The claim is the name of an abstract socket, so that it ends with its holder, and two runs side by
    side do not meet. Ports that the kernel gives out by itself begin at 32768.
    """
    while True:
        for base in range(10000, 32000, 1000):
            claim = socket.socket(socket.AF_UNIX)
            try:
                claim.bind("\0ostiary-test-ports-%d" % base)
                return base, claim
            except OSError:
                claim.close()
        time.sleep(1)


def _groups():
    """Control groups of ours, in every hierarchy that groups.py does not hold, named after boxes.

    TEST_GROUPS is another beginning of their names: a run inside a suite of another run must not
    take that one's groups for its own.
    """
    name = os.environ.get("TEST_GROUPS") or "ostiary"
    found = []
    for depth in range(0, 7):
        found += glob.glob("/sys/fs/cgroup" + "/*" * depth + "/" + name + "*")
    held = tuple("/sys/fs/cgroup/%s/" % h for h in groups.HELD) if groups.places() else ("\0",)
    return [g for g in found if os.path.isdir(g) and not g.startswith(held)]


def snapshot():
    """What belongs to the whole machine, as a set of (kind, name).

    An ordinary user can leave nothing but control groups that were given to it.
    """
    groups = {("control group", g) for g in _groups() if _is_leftover(g)}
    if os.getuid() != 0:
        return groups
    state = {("user", u.pw_name) for u in pwd.getpwall() if u.pw_name != USER}
    state |= {("network namespace", n) for n in glob.glob("/run/netns/*")}
    state |= {("network link", n) for n in os.listdir("/sys/class/net")}
    return state | groups


def _is_leftover(group):
    """Ours, and without a process: a group that somebody's box lives in has some."""
    try:
        with open(os.path.join(group, "cgroup.procs")) as f:
            return not f.read(1) and os.stat(group).st_uid == os.getuid()
    except OSError:
        return False


def left_since(before):
    """What is there now and was not before, and still is after three seconds: boxes of others come and go."""
    left = snapshot() - before
    for _ in range(6):
        if not left:
            break
        time.sleep(0.5)
        left &= snapshot()
    return left


def is_ours(name):
    return os.path.basename(name).startswith("ost")


def take_away(kind, name):
    """Remove one thing of ours that a suite left behind."""
    command = {"user": ["userdel", name],
               "control group": ["rmdir", name],
               "network namespace": ["ip", "netns", "del", os.path.basename(name)],
               "network link": ["ip", "link", "del", name]}[kind]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class OrdinaryUser:
    """The user that suites run as when the run was started by root: uid 1000, or one made for it.

    Root's checkout may lie where others cannot go, and files that suites make must not end up in
    it: the user gets a copy of its own, compiled programs included.
    """

    def __init__(self, top, run_dir, variant, is_wanted):
        self.top, self.run_dir, self.variant = top, run_dir, variant
        self.ids = None
        self.made_lock = None
        self.tree, self.cache = top, os.path.join(top, "out")
        self.fault = None
        if os.getuid() == 0 and is_wanted:
            self._prepare()

    def _prepare(self):
        try:
            entry = self._entry()
            self.ids = (entry.pw_uid, entry.pw_gid)
            self.tree = os.path.join(self.run_dir, "tree")
            self._copy_tree()
        except (OSError, KeyError, subprocess.CalledProcessError) as e:
            self.fault = "no ordinary user with a copy of the tree could be made: %s" % e
            return
        if not self._can_read(os.path.join(self.top, "out")):
            self._link_cache()

    def _entry(self):
        """Whoever has uid 1000, or the user that we make. Runs side by side share that one: each holds a
        lock on it as long as it needs it, and the last one takes it away."""
        try:
            entry = pwd.getpwuid(1000)
            if entry.pw_name != USER:
                return entry
        except KeyError:
            pass
        self.made_lock = os.open(USER_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.made_lock, fcntl.LOCK_SH)
        with open(USER_LOCK + ".make", "w") as one_at_a_time:
            fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
            try:
                return pwd.getpwnam(USER)
            except KeyError:
                subprocess.run(["useradd", "--no-create-home", "--home-dir", "/nonexistent",
                                "--shell", "/bin/sh", USER], check=True)
                return pwd.getpwnam(USER)

    def _copy_tree(self):
        out = os.path.join(self.tree, "out")
        os.makedirs(out)
        parts = [p for p in os.listdir(self.top) if p not in (".git", "out")]
        subprocess.run(["cp", "-a"] + [os.path.join(self.top, p) for p in parts] + [self.tree], check=True)
        for part in sorted(os.listdir(os.path.join(self.top, "out"))):
            source = os.path.join(self.top, "out", part)
            if part in NOT_COPIED or part.startswith("test-") or part.endswith(".deb"):
                continue
            if os.path.isdir(source) and os.path.isdir(os.path.join(source, "gen")):
                self._copy_variant(source, os.path.join(out, part))
            else:
                subprocess.run(["cp", "-a", source, out], check=True)
        subprocess.run(["chown", "-R", "%d:%d" % self.ids, self.tree], check=True)

    def _copy_variant(self, source, target):
        if not os.path.exists(os.path.join(source, "ostiary")):
            return
        copy_programs(os.path.dirname(source), os.path.dirname(target), (os.path.basename(source),))
        units = os.path.join(source, "unit")
        if os.path.basename(source) == self.variant and os.path.isdir(units):
            shutil.copytree(units, os.path.join(target, "unit"), symlinks=True,
                            ignore=shutil.ignore_patterns("obj", "*.d"))

    def _can_read(self, path):
        code = "import os,sys; sys.exit(0 if os.access(sys.argv[1], os.R_OK | os.X_OK) else 1)"
        return subprocess.run(["setpriv", "--reuid", str(self.ids[0]), "--regid", str(self.ids[1]),
                               "--clear-groups", "python3", "-c", code, path]).returncode == 0

    def _link_cache(self):
        """Where the checkout cannot be read: hard links to what lies in its cache, or copies."""
        self.cache = os.path.join(self.run_dir, "cache")
        os.makedirs(self.cache, mode=0o755)
        for part in glob.glob(os.path.join(self.top, "out", "test-*")):
            for how in ("-al", "-a"):
                if subprocess.run(["cp", how, part, self.cache], stderr=subprocess.DEVNULL).returncode == 0:
                    break

    def give_back(self):
        if self.made_lock is None:
            return
        with open(USER_LOCK + ".make", "w") as one_at_a_time:
            fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
            try:
                fcntl.flock(self.made_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return  # another run has suites of this user
            # Forced: somebody else may have processes of this uid, which are no reason to leave the user.
            subprocess.run(["userdel", "--force", USER], stderr=subprocess.DEVNULL)
