#!/usr/bin/env python3
"""test.py - run the suites of a tier, as root and as an ordinary user, and add up what they say.

Called by `make check`, `make test`, `make soak` and `make asan`:

    tools/test.py --tier TIER [--user root|user] [--phases] [NAME | NAME:CHECK | WORD]...
    tools/test.py --table          which suites are in which tier, and why

Without names every suite of the tier runs (tools/suites.py finds them). NAME is one suite; a word
that is no suite's name stands for all that contain it. NAME:CHECK counts only the checks whose name
contains CHECK. A suite prints `ok NAME`, `not ok NAME: why` or `skip NAME: why`, one line each. It
never fails in silence: a bad exit without a `not ok`, no line at all, running out of time, and
leaving a process, mount, user or control group behind are failures of the suite itself; the run goes
on with the others. So is a skip
for a package that the set-up could have installed.

The longest suite starts first, and suites that wait run beside suites that compute: tests/times has
what each took and how much of that it computed. Where it has no row the suite counts as long.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

import bounded
import groups
import machine
import suites

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIMES = "tests/times"
BUSY = 4  # a time-out is this many times what a quiet machine allows,
GUARD_S = 60  # a guard that does not end its suite by then is killed itself
SLOW = 20  # or, where it is known how long the suite takes in test, this many times that,
QUICK_S = 300  # and not less than this
WORDS_MAX = 300  # of one line in the lists at the end
# What the shell says of a suite that goes on without a part of itself.
BROKEN = re.compile(r"/tests/\S+: line \d+: .*(command not found|unbound variable|No such file or directory$)")
LACKS = re.compile(r"\bis (missing|not installed)\b|\bare not installed\b|\bcould not (be )?install")
PASSED_ON = ("FUZZ_SECONDS", "MODEL_SECONDS", "TRIAL_COUNT")


def parse_args(argv):
    p = argparse.ArgumentParser(prog="tools/test.py", description="Run the suites of a tier.")
    p.add_argument("--tier", choices=suites.TIERS, default="test")
    p.add_argument("--user", choices=("root", "user"))
    p.add_argument("--phases", action="store_true", help="tell the time of set-up and builds too (out/phases)")
    p.add_argument("--table", action="store_true", help="print which suite is in which tier, and why")
    p.add_argument("--times", action="store_true", help="keep what was measured in " + TIMES)
    p.add_argument("names", nargs="*", metavar="NAME[:CHECK]")
    return p.parse_args(argv)


# --- which suites, in which order ---------------------------------------------------------------


class Job:
    """One suite as one user."""

    def __init__(self, suite, who, checks):
        self.suite, self.who, self.checks = suite, who, checks
        self.name = "%s (%s)" % (suite.name, who)
        self.key = "%s %s" % (suite.name, who)
        self.wall, self.load = 60.0, 1.0
        self.limit = suite.timeout * BUSY
        self.result = None
        self.ok = self.bad = self.left = self.others = 0

    def wants(self, name):
        """Was this check asked for? Without a word every one is."""
        return not self.checks or any(word in name for word in self.checks)


def read_times():
    times = {}
    try:
        with open(TIMES) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    name, who, wall, cpu = line.split()
                    times[name + " " + who] = (float(wall), float(cpu))
    except FileNotFoundError:
        pass
    return times


def write_times(jobs):
    times = read_times()
    for job in jobs:
        if job.result and not job.checks:
            times[job.key] = (job.result["wall"], job.result["cpu"])
    with open(TIMES, "w") as f:
        f.write("# What each suite took in make test, as one user: seconds, and of these on the processor.\n"
                "# The runner orders suites by it (tools/test.py); `make times` measures again.\n")
        for key in sorted(times):
            f.write("%-40s %7.1f %7.1f\n" % ((key,) + times[key]))


def find_jobs(args, all_suites):
    """The jobs that were asked for, longest first, and the names that no suite has."""
    wanted, unknown = {}, []
    for word in args.names:
        name, _, check = word.partition(":")
        named = [s for s in all_suites if s.name == name] or [s for s in all_suites if name in s.name]
        if not named:
            unknown.append(name)
        for s in named:
            wanted.setdefault(s.name, []).append(check)
    me = "root" if os.getuid() == 0 else "user"
    jobs, times = [], read_times()
    for s in all_suites:
        if args.names and s.name not in wanted:
            continue
        users = s.users_in(args.tier)
        if not users and args.names:  # asked for by name: as in the first tier that has it
            users = next((s.users_in(t) for t in ("test", "soak", "check") if s.users_in(t)), ())
        if args.user:
            users = (args.user,) if users or s.fault else ()
        for who in (me,) if s.fault else users:
            checks = wanted.get(s.name, [])
            job = Job(s, me if who == "any" else who, [] if "" in checks else checks)
            wall, cpu = times.get(job.key) or times.get(s.name + " user") or times.get(s.name + " root") or (60, 60)
            if job.key in times and args.tier == "test" and os.environ.get("VARIANT") != "asan":
                job.limit = min(job.limit, max(QUICK_S, SLOW * wall))
            job.wall, job.load = wall, min(max(cpu / max(wall, 0.1), 0.1), 0.75 * os.cpu_count())
            jobs.append(job)
    jobs.sort(key=lambda j: -j.wall)
    return jobs, unknown


# --- one run --------------------------------------------------------------------------------------


class Run:
    def __init__(self, args):
        self.args = args
        self.top = os.getcwd()
        self.variant = os.environ.get("VARIANT") or "release"
        self.is_tty = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.passed = self.skipped = 0
        self.failures, self.skips, self.notes, self.done = [], [], [], []
        self.running = {}
        self.user = None
        self.dir = machine.make_run_dir()
        self.logs = os.path.join(self.dir, "logs")
        os.mkdir(self.logs)
        self.before = machine.snapshot()
        self.seen = {}
        self.unavailable = self.read_unavailable()
        self.phases = self.read_phases() if args.phases else []
        self.jobs_max = int(os.environ.get("TEST_JOBS") or 3 * os.cpu_count())

    @staticmethod
    def read_unavailable():
        """Packages that the set-up tried to install and could not have."""
        try:
            with open("out/.unavailable") as f:
                return set(f.read().split())
        except FileNotFoundError:
            return set()

    @staticmethod
    def read_phases():
        """What came before us: set-up and builds, by tools/phase.sh."""
        try:
            with open("out/phases") as f:
                return [(line.rsplit(None, 1)[0], float(line.rsplit(None, 1)[1])) for line in f if line.strip()]
        except (FileNotFoundError, ValueError):
            return []

    # --- starting and ending a suite

    def path_of(self, job, ending):
        return os.path.join(self.logs, job.name.replace(" (", "-").rstrip(")").replace("/", "_") + ending)

    def programs(self, tree):
        """Where the programs under test lie: a copy, because a suite may build in the tree meanwhile."""
        return os.path.join(self.dir, "bin") if tree == self.top else os.path.join(tree, "out")

    def environment(self, job, tree, home, cache):
        faults = self.path_of(job, ".faults")
        os.mkdir(faults)
        os.chmod(faults, 0o1777)
        # Most of our processes have no terminal to write to. The search for leaks wants ptrace,
        # which a box does not give.
        sanitizer = "log_path=%s/report:print_stacktrace=1" % faults
        leaks = 1 if job.suite.name.startswith(("unit/", "replay/")) else 0
        # A suite has a fresh home, and asking the package managers in each of them takes seconds.
        env = {"PATH": SYSTEM_PATH, "OSTIARY_PACKAGES": "files", "HOME": home, "LANG": "C.UTF-8", "TERM": "xterm-256color",
               "OSTIARY": "%s/%s/ostiary" % (self.programs(tree), self.variant),
               "OSTIARY_WEAK": self.programs(tree) + "/weak/ostiary", "VARIANT": self.variant,
               "TIER": self.args.tier, "SUITE_USER": job.who, "SUITE_CACHE": cache,
               "SUITE_PORTS": str(job.ports), "SUITE_CHECK": job.checks[0] if len(job.checks) == 1 else "",
               "ASAN_OPTIONS": "%s:detect_leaks=%d" % (sanitizer, leaks), "UBSAN_OPTIONS": sanitizer}
        env.update({key: os.environ[key] for key in PASSED_ON if os.environ.get(key)})
        return env

    def start(self, job):
        is_other = job.who == "user" and self.user.ids is not None
        tree = self.user.tree if is_other else self.top
        cache = self.user.cache if is_other else os.path.join(self.top, "out")
        job.ports, job.claim = machine.claim_ports()
        job.home = os.path.join(self.dir, "h%d" % (len(self.done) + len(self.running) + 1))
        os.mkdir(job.home, 0o700)
        if is_other:
            os.chown(job.home, *self.user.ids)
        floor = int(os.environ.get("TEST_FREE_FLOOR") or 512 << 20)
        limits = {"seconds": job.limit, "dir": job.home,
                  "free_floor": floor, "disk_share": floor // 4}
        program = os.path.join(tree, job.suite.program)
        pid, job.result_fd = bounded.spawn([program], self.environment(job, tree, job.home, cache), tree,
                                           self.user.ids if is_other else None,
                                           self.path_of(job, ".log"), limits)
        job.deadline = time.monotonic() + job.limit + GUARD_S
        self.running[pid] = job
        self.show_running()

    def end(self, pid):
        job = self.running.pop(pid)
        job.result = bounded.read_result(job.result_fd)
        job.claim.close()
        bounded.end_strays(self.running)
        groups.clear_guard(pid)
        try:
            self.judge(job)
        except OSError as e:  # a suite of root may have taken our own files away
            self.fail(job, "its result cannot be read: %s" % e)
        if not machine.remove_tree(job.home):
            self.fail(job, "left files that cannot be removed in " + os.path.basename(job.home))
        for thing in machine.snapshot() - self.before:
            self.seen.setdefault(thing, [job.name] + [j.name for j in self.running.values()])
        self.done.append(job)
        self.print_line(job)

    # --- judging

    def fail(self, job, why):
        job.bad += 1
        self.failures.append((job, shown(why)))

    def judge(self, job):
        """Count the lines of a suite, and what it did not say itself."""
        self.count_lines(job)
        result = job.result
        status = result["status"]
        if result["why"]:
            self.fail(job, result["why"])
        elif status is not None and status < 0:
            self.fail(job, "was killed by %s" % signal_name(-status))
        elif status != 0 and not job.bad + job.others:
            self.fail(job, "ended with status %s and named no failed test" % status)
        elif not job.ok + job.bad + job.left:
            self.fail(job, "has no check of that name" if job.checks else "printed no result")
        if result["left"]:
            self.fail(job, "left processes behind: " + "; ".join(result["left"]))
        if result["mounts"]:
            self.fail(job, "left mounts behind: " + ", ".join(result["mounts"]))
        if result["groups"]:
            self.fail(job, "left control groups behind: " + ", ".join(result["groups"]))
        self.count_faults(job)

    def count_lines(self, job):
        # Only a newline ends a line: what a suite prints must not look like more results than it is.
        with open(self.path_of(job, ".log"), encoding="utf-8", errors="replace", newline="\n") as log:
            for line in log:
                m = re.match(r"(ok|not ok|skip) (.*)", line.rstrip("\n"))
                if not m and BROKEN.search(line) and not line.startswith(" "):
                    self.fail(job, "its script is broken: " + line.strip())
                if m and not job.wants(m.group(2)):
                    job.others += m.group(1) == "not ok"
                elif m:
                    self.count(job, m.group(1), m.group(2))
        self.passed += job.ok
        self.skipped += job.left

    def count(self, job, result, words):
        if result == "ok":
            job.ok += 1
        elif result == "not ok":
            self.fail(job, words)
        elif self.is_lack(words):
            self.fail(job, words + " (a package that the set-up can install is no reason to skip)")
        else:
            job.left += 1
            self.skips.append("%s: %s" % (job.name, shown(words)))

    def is_lack(self, words):
        return bool(LACKS.search(words)) and not self.unavailable & set(re.findall(r"[^\s,;:()]+", words))

    def count_faults(self, job):
        """Reports of sanitizers. The suite may have put anything there: only plain files are read."""
        faults, told = self.path_of(job, ".faults"), []
        for entry in sorted(os.scandir(faults), key=lambda e: e.name):
            if not entry.is_file(follow_symlinks=False):
                continue
            fd = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(fd, errors="replace") as f:
                told += f.read(1 << 20).splitlines()
        if told:
            with open(self.path_of(job, ".sanitizer"), "w") as out:
                out.write("\n".join(told) + "\n")
            first = next((line.strip() for line in told if re.search("ERROR|runtime error", line)), "")
            self.fail(job, "a sanitizer found a fault: " + first)
        machine.remove_tree(faults)

    # --- the loop

    def wait_one(self):
        """Until a suite has ended. A guard that a suite stopped goes on; one that is late is killed."""
        while True:
            for pid in list(self.running):
                got, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
                if got and os.WIFSTOPPED(status):
                    os.kill(pid, signal.SIGCONT)
                elif got:
                    self.end(pid)
                    return
                elif time.monotonic() > self.running[pid].deadline:
                    os.kill(pid, signal.SIGKILL)
            bounded.end_strays(self.running)
            signal.sigtimedwait([signal.SIGCHLD], 0.5)

    def may_start(self, job):
        load = sum(j.load for j in self.running.values())
        return not self.running or (len(self.running) < self.jobs_max and
                                    load + job.load <= 1.1 * os.cpu_count())

    def run_together(self, jobs):
        """Longest first; beside suites that compute, suites that wait."""
        todo = list(jobs)
        while todo or self.running:
            fits = next((j for j in todo if self.may_start(j)), None)
            if fits:
                todo.remove(fits)
                self.start(fits)
            else:
                self.wait_one()

    def run_alone(self, jobs):
        for job in jobs:
            self.start(job)
            self.wait_one()

    def run_all(self, jobs, unknown):
        begin = time.monotonic()
        machine.copy_programs("out", os.path.join(self.dir, "bin"), (self.variant, "weak"))
        self.user = machine.OrdinaryUser(self.top, self.dir, self.variant,
                                         is_wanted=any(j.who == "user" for j in jobs))
        print("Suites run as uid %d%s; logs are in out/test." % (
            os.getuid(), " and as uid %d" % self.user.ids[0] if self.user.ids else ""), flush=True)
        good = []
        for job in jobs:
            if job.suite.fault or (job.who == "user" and self.user.fault):
                job.bad = 0
                self.fail(job, job.suite.fault or self.user.fault)
            elif job.who == "root" and os.getuid() != 0:
                self.skipped += 1
                self.skips.append("%s: not root" % job.name)
            else:
                good.append(job)
        for name in unknown:
            self.failures.append((None, "no suite is named %s, or has it in its name; `make tiers` lists them" % shown(name)))
        self.phases.append(("copies for the suites", time.monotonic() - begin))
        begin = time.monotonic()
        self.run_together([j for j in good if not j.suite.alone])
        middle = time.monotonic()
        self.run_alone([j for j in good if j.suite.alone])
        self.phases += [("suites, together", middle - begin), ("suites, one at a time", time.monotonic() - middle)]

    # --- what is printed

    def show_running(self):
        if self.is_tty:
            words = "  ".join(j.name for j in self.running.values())
            print("\r\033[K%.79s" % (words and "  %s ..." % words), end="", flush=True)

    def print_line(self, job):
        extra = (", %d FAILED" % job.bad if job.bad else "") + (", %d skipped" % job.left if job.left else "")
        clear = "\r\033[K" if self.is_tty else ""
        print("%s  %-44s %4d ok%s  (%.1f s)" % (clear, job.name, job.ok, extra, job.result["wall"]), flush=True)
        self.show_running()

    def check_machine(self):
        """What the whole run left behind, and who ran when it was first seen."""
        for kind, name in sorted(machine.left_since(self.before)):
            words = "a %s was left behind: %s (first seen when these ran: %s)" % (
                kind, name, ", ".join(self.seen.get((kind, name), ["?"])))
            if machine.is_ours(name):
                machine.take_away(kind, name)
                self.failures.append((None, words))
            else:
                self.notes.append("%s; it does not carry our name and stays" % words)

    def again(self, job):
        how = "asan" if self.variant == "asan" else self.args.tier
        return "make %s T=%s U=%s" % (how, job.suite.name, job.who)

    def print_log(self, job):
        path = self.path_of(job, ".log")
        try:
            with open(path, encoding="utf-8", errors="replace", newline="\n") as f:
                lines = f.read().rstrip("\n").split("\n")
        except OSError:
            return
        bad = [n for n, line in enumerate(lines) if line.startswith("not ok ")]
        if bad and bad[-1] < len(lines) - 3:
            print("\nFrom out/test/%s, around what failed:" % os.path.basename(path))
            near = sorted({k for n in bad for k in range(max(0, n - 3), min(len(lines), n + 2))})[:30]
            lines = [lines[k] for k in near]
        else:
            print("\nThe end of out/test/%s:" % os.path.basename(path))
            lines = lines[-20:]
        for line in lines:
            print("    " + shown(line))
        print("  Alone: " + self.again(job))

    def print_summary(self):
        if self.is_tty:
            print("\r\033[K", end="")
        if self.skips:
            print("\nSkipped:")
            for words in self.skips:
                print("  " + words)
        for words in self.notes:
            print("\nNote: " + words)
        if self.failures:
            print("\nFailed:")
            for job, why in self.failures:
                print("  %s%s" % (job.name + ": " if job else "", why))
            for job in dict.fromkeys(j for j, _ in self.failures if j and j.result):
                self.print_log(job)
        slow = sorted(self.done, key=lambda j: -j.result["wall"])[:10]
        if len(self.done) > 10:
            print("\nSlowest (seconds, of these on the processor):")
            for job in slow:
                print("  %-44s %6.1f %6.1f" % (job.name, job.result["wall"], job.result["cpu"]))
        print("\nPhases (seconds):")
        for name, seconds in self.phases:
            print("  %-44s %6.1f" % (name, seconds))
        print("  %-44s %6.1f" % ("all but the set-up", sum(s for n, s in self.phases if n != "set-up")))
        if self.passed + len(self.failures) == 0:
            print("No test ran.")
        print("\n%d passed, %d failed, %d skipped" % (self.passed, len(self.failures), self.skipped), flush=True)

    # --- the end

    def clean_up(self):
        for pid in self.running:
            bounded.end(pid)
        bounded.end_strays({})
        if self.user:
            self.user.give_back()
        # Only now: two runs in one tree must not take each other's logs away.
        subprocess.run(["rm", "-rf", "out/test"])
        os.makedirs("out", exist_ok=True)
        subprocess.run(["cp", "-a", self.logs, "out/test"], stderr=subprocess.DEVNULL)
        machine.remove_run_dir(self.dir)


def shown(words):
    """One line of somebody else's words: short, and without controls that a terminal would obey."""
    words = re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", words)
    return words if len(words) <= WORDS_MAX else words[:WORDS_MAX] + "..."


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def on_signal(number, _frame):
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    print("\n%s: ending the suites that run." % signal_name(number), flush=True)
    raise SystemExit(128 + number)


def main(argv):
    args = parse_args(argv)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    all_suites = suites.find(os.environ.get("VARIANT") or "release")
    if args.table:
        print(suites.table(all_suites))
        return 0
    jobs, unknown = find_jobs(args, all_suites)
    for number in SIGNALS:
        signal.signal(number, on_signal)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # waited for with a time limit
    bounded.adopt_orphans()
    run = Run(args)
    try:
        run.run_all(jobs, unknown)
        run.check_machine()
        run.print_summary()
        if args.times:
            write_times(run.done)
    finally:
        run.clean_up()
    return 0 if run.passed and not run.failures else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
