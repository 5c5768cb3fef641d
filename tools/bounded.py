"""bounded.py - run one program so that it ends and nothing of it survives.

Used by tools/test.py, in a process of its own for each suite. That process adopts every orphan of
the suite (PR_SET_CHILD_SUBREAPER), so a daemon cannot hide: when the suite has ended, or has used
up its time, its output or the free space of the disk, whatever is left is named and killed. If the
runner itself dies, the kernel ends this process, and it ends the suite. Kills only descendants.
"""

import ctypes
import json
import os
import signal
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINGER_S = 5.0  # what is on its way out when the suite ends has this long
OUTPUT_MAX = 8 << 20
LOOK_S = 0.25  # how often limits are looked at

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(%d)" % option)


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


def _descendants(pid):
    found, todo = [], [pid]
    while todo:
        for child in _children(todo.pop()):
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


def _is_zombie(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


class _Guard:
    """The process around one suite."""

    def __init__(self, limits, log_fd):
        self.limits = limits
        self.log_fd = log_fd
        self.pid = 0
        self.status = None
        self.cpu = 0.0
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
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def wait(self, seconds):
        got = signal.sigtimedwait([signal.SIGCHLD, signal.SIGTERM], seconds)
        if got is not None and got.si_signo == signal.SIGTERM:
            self.is_told_to_stop = True
        self.reap()

    def over_limit(self, begin):
        """A sentence when the suite must end now."""
        if time.monotonic() - begin > self.limits["seconds"]:
            return "did not end within %d s" % self.limits["seconds"]
        if os.fstat(self.log_fd).st_size > OUTPUT_MAX:
            return "printed more than %d MiB" % (OUTPUT_MAX >> 20)
        space = os.statvfs(self.limits["dir"])
        if space.f_bavail * space.f_frsize < self.limits["free_floor"]:
            return self.disk_words()
        return None

    def disk_words(self):
        """Is it this suite that fills the disk? The others of the run go on."""
        used = 0
        for folder, _, names in os.walk(self.limits["dir"]):
            for name in names:
                try:
                    used += os.lstat(os.path.join(folder, name)).st_blocks * 512
                except OSError:
                    pass
        if used < self.limits["disk_share"]:
            return None
        return "filled the disk: %d MiB in its own directory" % (used >> 20)

    def kill_all(self):
        """Until no descendant is left. A child may fork while we look: look again."""
        for _ in range(500):
            alive = [p for p in _descendants(os.getpid()) if not _is_zombie(p)]
            for pid in alive:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            self.reap()
            if not alive and not _children(os.getpid()):
                return
            time.sleep(0.02)

    def run(self, start):
        begin = time.monotonic()
        self.pid = start()
        while self.status is None and not self.why and not self.is_told_to_stop:
            self.wait(LOOK_S)
            if self.status is None:
                self.why = self.over_limit(begin)
        wall = time.monotonic() - begin
        if self.status is None:
            # It may clean up: its own handler for SIGTERM, then ours.
            try:
                os.killpg(self.pid, signal.SIGTERM)
            except OSError:
                pass
            end = time.monotonic() + 10
            while self.status is None and time.monotonic() < end:
                self.wait(0.2)
        end = time.monotonic() + LINGER_S
        while _children(os.getpid()) and time.monotonic() < end:
            self.wait(0.1)
        left = [w[:200] for w in (_describe(p) for p in _descendants(os.getpid()) if not _is_zombie(p)) if w]
        self.kill_all()
        if os.fstat(self.log_fd).st_size > OUTPUT_MAX:
            os.ftruncate(self.log_fd, OUTPUT_MAX)
        return {"status": self.status, "why": self.why, "wall": wall, "cpu": self.cpu,
                "left": left if not self.why and not self.is_told_to_stop else []}


def spawn(argv, env, cwd, ids, log_path, limits):
    """Start argv under guard; returns the guard's pid and a descriptor for read_result.

    The guard ends when all of the suite has. ids is None or (uid, gid). limits: seconds, dir,
    free_floor and disk_share in bytes.
    """
    parent = os.getpid()
    result_fd, guard_fd = os.pipe()  # a pipe: the disk may be full
    pid = os.fork()
    if pid:
        os.close(guard_fd)
        return pid, result_fd
    try:
        # Nothing of the runner's, above all no claim or result of another suite, is held here.
        os.closerange(3, guard_fd)
        os.closerange(guard_fd + 1, 4096)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
        log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

        def start():
            child = os.fork()
            if child:
                return child
            try:
                _become(argv, env, cwd, ids, log_fd)
            except OSError as e:
                os.write(log_fd, ("cannot start %s: %s\n" % (argv[0], e)).encode())
            os._exit(125)

        result = _Guard(limits, log_fd).run(start)
        os.write(guard_fd, json.dumps(result).encode())
        os._exit(0)
    finally:
        os._exit(1)


def read_result(result_fd):
    """What the guard of an ended suite said: status, why (it was ended), wall, cpu, left."""
    with os.fdopen(result_fd, "rb") as f:
        said = f.read()
    if not said:
        return {"status": None, "why": "its guard was killed", "wall": 0.0, "cpu": 0.0, "left": []}
    return json.loads(said)


def _become(argv, env, cwd, ids, log_fd):
    """In the child: a session of its own, so that no suite gets our terminal; then the suite."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)
    os.closerange(3, 256)
    os.chdir(cwd)
    if ids:
        os.setgroups([])
        os.setresgid(ids[1], ids[1], ids[1])
        os.setresuid(ids[0], ids[0], ids[0])
    os.execve(argv[0], argv, env)
