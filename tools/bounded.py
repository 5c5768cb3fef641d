"""bounded.py - run one program so that it ends and nothing of it survives.

Used by tools/test.py, which starts a guard, a process of its own, for each suite. The guard adopts
every orphan of the suite (PR_SET_CHILD_SUBREAPER), so that a daemon cannot hide: when the suite has
ended, or has used up its time, its output or the free space of the disk, the rest is named and
killed. It reads the suite's output through a pipe, because a suite could truncate a file. Started by
root it lives in a mount namespace of its own, which takes the suite's mounts along and in which the
tree is read-only but for out/, and in control groups of its own (groups.py), in which those that the
suite leaves behind are found. If the runner dies, the kernel tells the guard, and it ends the suite; if a suite kills its guard, the runner adopts
and ends what is left (end_strays). Kills only descendants.
"""

import ctypes
import json
import os
import select
import signal
import stat
import time

import groups

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 0x1, 0x20, 0x1000, 0x4000, 0x80000
LINGER_S = float(os.environ.get("TEST_LINGER_S") or 5)  # for processes that are ending when the suite ends
POLITE_S = float(os.environ.get("TEST_POLITE_S") or 10)  # for a suite's own handler of SIGTERM
OUTPUT_MAX = 8 << 20
LOOK_S = 0.25  # how often limits are looked at
PLACES = ("/tmp", "/var/tmp", "/home", "/root", "/")  # beside its own directory
NAMED_MAX = 10  # processes, mounts and groups that are named
NOTHING = {"status": None, "why": None, "wall": 0.0, "cpu": 0.0, "left": [], "mounts": [], "groups": []}

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name, *args):
    if getattr(_libc, name)(*args) != 0:
        raise OSError(ctypes.get_errno(), name)


def adopt_orphans():
    """Orphans of our descendants become our children, unless one of them adopts them first."""
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children(pid):
    """The direct children of a process, zombies included; none when it is gone."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                found += [int(word) for word in f.read().split()]
    except (OSError, ValueError):
        pass
    return found


def _descendants(pid, besides=()):
    found, todo = [], [pid]
    while todo:
        for child in _children(todo.pop()):
            if child not in besides:
                found.append(child)
                todo.append(child)
    return found


def _describe(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            words = f.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        if not words:
            with open("/proc/%d/comm" % pid) as f:
                words = f.read().strip()
        return "%d %s" % (pid, words[:80])
    except OSError:
        return None


def _written(pid, begin):
    """Bytes that a process has to answer for on some disk: written, or in an open file that has changed
    since (allocated without being written, or no disk at all: a tmpfs)."""
    try:
        with open("/proc/%d/io" % pid) as f:
            facts = dict(line.split(": ") for line in f.read().splitlines())
        held = 0
        for fd in os.scandir("/proc/%d/fd" % pid):
            about = os.stat(fd.path)
            if stat.S_ISREG(about.st_mode) and about.st_ctime >= begin:
                held += about.st_blocks * 512
        return max(int(facts["write_bytes"]) - int(facts["cancelled_write_bytes"]), held)
    except (OSError, ValueError, KeyError):
        return 0


def _is_zombie(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _kill_descendants(reap, besides=()):
    """Until none is left. A child may fork while we look: look again."""
    for _ in range(500):
        alive = [p for p in _descendants(os.getpid(), besides) if not _is_zombie(p)]
        for pid in alive:
            _kill(pid, signal.SIGKILL)
        reap()
        if not alive:
            return
        time.sleep(0.02)


def end_strays(guards):
    """In the runner: kill children that are no guard, whose guard was killed; reap them."""
    def reap():
        for pid in _children(os.getpid()):
            if pid not in guards and _is_zombie(pid):
                try:
                    os.waitpid(pid, 0)
                except OSError:
                    pass
    if any(pid not in guards for pid in _children(os.getpid())):
        _kill_descendants(reap, besides=guards)


def end(guard):
    """In the runner: have a guard end its suite, and wait for it; a guard that does not is killed."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        _kill(guard, number)
    deadline = time.monotonic() + 30
    while True:
        try:
            if os.waitpid(guard, os.WNOHANG)[0]:
                return
        except ChildProcessError:
            return
        if time.monotonic() > deadline:
            _kill(guard, signal.SIGKILL)
        time.sleep(0.05)


def _mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        return {line.split()[0]: line.split()[4] for line in f}


class _Guard:
    """The process around one suite."""

    def __init__(self, limits, log_fd, runner, held):
        self.limits = limits
        self.held = held
        self.dir_fd = os.open(limits["dir"], os.O_PATH | os.O_DIRECTORY)  # the suite may move it
        self.log_fd, self.logged = log_fd, 0
        self.pipe = -1
        self.runner = runner
        self.pid = 0
        self.status = None
        self.cpu = 0.0
        self.written = 0  # by processes that have ended
        self.began = time.time()
        # Other filesystems that a suite may fill, unless they are that small anyway.
        self.places = [p for p in PLACES if os.path.isdir(p) and not self.is_full(os.statvfs(p))]
        self.why = None  # why we ended it
        self.is_told_to_stop = False

    def reap(self):
        """Collect every child that has ended; remember the suite's own status."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.cpu += usage.ru_utime + usage.ru_stime
            self.written += usage.ru_oublock * 512
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def read_output(self, seconds):
        """Wait that long for output and copy it to the log; False when there was none."""
        if self.pipe < 0:
            return False
        ready, _, _ = select.select([self.pipe], [], [], seconds)
        if not ready:
            return False
        data = os.read(self.pipe, 65536)
        if not data:
            os.close(self.pipe)
            self.pipe = -1
            return False
        keep = data[:OUTPUT_MAX - self.logged]
        try:
            os.write(self.log_fd, keep)
        except OSError as e:
            self.why = self.why or "its output could not be kept: %s" % e.strerror
        self.logged += len(keep)
        if len(keep) < len(data):
            self.why = self.why or "printed more than %d MiB" % (OUTPUT_MAX >> 20)
        return True

    def wait(self, seconds):
        signals = [signal.SIGCHLD, signal.SIGTERM]
        if self.pipe >= 0:
            self.read_output(seconds)
            got = signal.sigtimedwait(signals, 0)
        else:
            got = signal.sigtimedwait(signals, seconds)
        while got is not None:
            if got.si_signo == signal.SIGTERM and got.si_pid in (self.runner, 0):
                self.is_told_to_stop = True
            elif got.si_signo == signal.SIGTERM:
                self.why = self.why or "told its guard to end (process %d)" % got.si_pid
            got = signal.sigtimedwait(signals, 0)
        self.reap()

    def over_limit(self, begin):
        """A sentence when the suite must end now."""
        if time.monotonic() - begin > self.limits["seconds"]:
            return "did not end within %d s" % self.limits["seconds"]
        if any(self.is_full(os.statvfs(place)) for place in [self.dir_fd] + self.places):
            return self.disk_words()
        return None

    def is_full(self, space):
        return (space.f_bavail * space.f_frsize < self.limits["free_floor"] or
                0 < space.f_files and space.f_favail < 1000)

    def disk_words(self):
        """Is it this suite that fills the disk? The others of the run go on."""
        written = self.written + sum(_written(pid, self.began) for pid in _descendants(os.getpid()))
        if written > self.limits["disk_share"]:
            return "filled the disk: its processes wrote %d MiB" % (written >> 20)
        used, names_n = 0, 0
        for folder, _, names in os.walk(self.limits["dir"]):
            for name in names:
                try:
                    used += os.lstat(os.path.join(folder, name)).st_blocks * 512
                    names_n += 1
                except OSError:
                    pass
        if used < self.limits["disk_share"] and names_n < 10000:
            return None
        return "filled the disk: %d MiB and %d files in its own directory" % (used >> 20, names_n)

    def end_politely(self):
        """It may clean up: its own handler for SIGTERM gets some time."""
        try:
            os.killpg(self.pid, signal.SIGTERM)
            os.killpg(self.pid, signal.SIGCONT)
        except OSError:
            pass
        end = time.monotonic() + POLITE_S
        while self.status is None and time.monotonic() < end:
            self.wait(0.2)

    def name_left(self):
        """Wait for what is on its way out, then name the processes that stay."""
        end = time.monotonic() + LINGER_S
        while _children(os.getpid()) and time.monotonic() < end:
            self.wait(0.1)
        left = [w for w in (_describe(p) for p in _descendants(os.getpid()) if not _is_zombie(p)) if w]
        if len(left) > NAMED_MAX:
            left = ["%d of them" % len(left)] + left[:NAMED_MAX]
        return left

    def run(self, start, before):
        begin = time.monotonic()
        self.pid, self.pipe = start()
        while self.status is None and not self.why and not self.is_told_to_stop:
            self.wait(LOOK_S)
            if self.status is None and not self.why:
                self.why = self.over_limit(begin)
        wall = time.monotonic() - begin
        if self.status is None:
            self.end_politely()
        left = self.name_left()
        _kill_descendants(self.reap)
        end = time.monotonic() + 5
        while time.monotonic() < end and self.read_output(0):
            pass
        was_ended = self.why or self.is_told_to_stop
        mounts = [m[:200] for number, m in _mounts().items() if number not in before]
        left_groups = self.held.leave()
        return {"status": self.status, "why": self.why, "wall": wall, "cpu": self.cpu,
                "left": [] if was_ended else left, "mounts": mounts[:NAMED_MAX],
                "groups": [] if was_ended else left_groups[:NAMED_MAX]}


def spawn(argv, env, cwd, ids, log_path, limits):
    """Start argv under guard; returns the guard's pid and a descriptor for read_result.

    The guard ends when all of the suite has. ids is None or (uid, gid). limits: seconds, dir,
    free_floor and disk_share in bytes.
    """
    runner = os.getpid()
    result_fd, guard_fd = os.pipe()  # a pipe: the disk may be full
    pid = os.fork()
    if pid:
        os.close(guard_fd)
        return pid, result_fd
    try:
        _guard(argv, env, cwd, ids, log_path, limits, runner, guard_fd)
        os._exit(0)
    except BaseException as e:  # whatever happened here, the suite must not live on
        try:
            _kill_descendants(lambda: None)
            said = dict(NOTHING, why="its guard failed: %.200s" % e)
            os.write(guard_fd, json.dumps(said).encode())
        finally:
            os._exit(1)


def _protect(tree):
    """In a mount namespace of our own: the tree is read-only but for out/, where builds and logs go.

    A suite of root that removes the wrong path then fails by itself and leaves the checkout alone.
    """
    top, out = os.fsencode(tree), os.fsencode(os.path.join(tree, "out"))
    _call("mount", top, top, None, MS_BIND | MS_REC, None)
    _call("mount", out, out, None, MS_BIND | MS_REC, None)
    _call("mount", b"none", top, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None)


def _guard(argv, env, cwd, ids, log_path, limits, runner, guard_fd):
    # A session of its own: keys of the terminal are for the runner. Nothing of the runner's, above
    # all no claim or result of another suite, is held here.
    os.setsid()
    os.closerange(3, guard_fd)
    os.closerange(guard_fd + 1, 4096)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != runner:
        os._exit(1)
    if os.getuid() == 0:
        _call("unshare", CLONE_NEWNS)
        _call("mount", b"none", b"/", None, MS_REC | MS_SLAVE, None)
        if ids is None:  # an ordinary user's tree is a copy
            _protect(cwd)
    log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)

    def start():
        read_fd, write_fd = os.pipe()
        if ids:
            os.fchown(write_fd, *ids)  # so that the suite can open /dev/stderr
        child = os.fork()
        if child:
            os.close(write_fd)
            return child, read_fd
        try:
            _become(argv, env, cwd, ids, write_fd)
        except OSError as e:
            os.write(write_fd, ("cannot start %s: %s\n" % (argv[0], e)).encode())
        os._exit(125)

    held = groups.Held()
    held.enter()
    result = _Guard(limits, log_fd, runner, held).run(start, _mounts())
    os.write(guard_fd, json.dumps(result).encode())


def read_result(result_fd):
    """What the guard of an ended suite said: status, why (it was ended), wall, cpu, left, mounts, groups."""
    with os.fdopen(result_fd, "rb") as f:
        said = f.read()
    if not said:
        return dict(NOTHING, why="its guard was killed")
    return json.loads(said)


def _become(argv, env, cwd, ids, output_fd):
    """In the child: a session of its own, so that no suite gets our terminal; then the suite."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.closerange(3, 256)
    os.chdir(cwd)
    if ids:
        os.setgroups([])
        os.setresgid(ids[1], ids[1], ids[1])
        os.setresuid(ids[0], ids[0], ids[0])
    os.execve(argv[0], argv, env)
