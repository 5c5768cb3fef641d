#!/usr/bin/env python3
"""lint.py - layout, static analysis and include arrows; called by `make lint`.

Usage: tools/lint.py [all | deep | changed | scripts | FILE...]. It changes no file: `clang-format -i FILE` mends layout.

Which part runs where was decided by CPU time from an empty out/lint (see `cpu` in each row of CHECKERS). The
analyzer inside clang-tidy takes 800 s; all the rest together takes 142 s, which is 74 s on two cores.

  all      `make lint`: every checker but the analyzer over every file; the analyzer over files that changed
           themselves, not over those that only include a changed header.
  deep     `make lint-deep`, in `make soak`: every checker over every file, the analyzer too.
  changed  `make lint-changed`, in `make check`: every checker, only over what changed, and no new job is begun
           after LINT_SECONDS (30). What was left for that reason is counted on the screen; it is no failure.
  scripts  in `make test`: shellcheck and pyflakes over every file; the others need a second compiler to be
           installed, which `make test` does without.
  FILE...  every checker over these files, changed or not.

A file "changed" when it is not the one that passed last. A file that no checker has seen yet (a clean checkout)
changed when git says so: it differs from the commit before HEAD, or git does not know it. Outside a git tree
every file changed.

Incremental: out/lint/CHECKER/FILE is written when FILE passed, and holds a hash of its bytes, of every header of
ours that it reaches through #include "...", of the checker's configuration, its program file and its arguments.
With the same hash the file is not looked at again. A file that failed leaves the word "failed" instead and is
looked at each time. Headers of the system are not part of the hash: after an upgrade of a library, remove out/lint.

A checker that is not installed is a failure; `sh tools/setup.sh lint` installs all of them.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

STAMPS = "out/lint"
GENERATED = "out/release/gen"
FINDINGS_SHOWN = int(os.environ.get("LINT_LINES", "60"))
JOB_SECONDS = 900
WORKERS = os.cpu_count() or 1

INCLUDE_PATH = ["src", "tests", GENERATED]
DEFINES = ["-std=gnu17", "-D_GNU_SOURCE", '-DOSTIARY_VERSION="lint"']
C_FLAGS = DEFINES + ["-I" + folder for folder in INCLUDE_PATH]

# clang calls a variable that only its cleanup uses unused; gcc, which builds the program, knows better.
CLANG_WARNINGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes",
                  "-Wswitch-enum", "-Wvla", "-Wno-unused-variable", "-Werror"]


def is_code(path):
    return path.endswith(".c") and path.startswith(("src/", "tools/"))


# Attacker code that only the weak variant contains; without -DOSTIARY_WEAK it does not compile.
WEAK_ONLY = "tests/attack/role_hook.c"


def is_c(path):
    return path.endswith(".c") and path != WEAK_ONLY


def is_weak(path):
    if not path.endswith(".c"):
        return False
    with open(path, "rb") as file:
        return path == WEAK_ONLY or b"OSTIARY_WEAK" in file.read()


def is_c_or_header(path):
    return path.endswith((".c", ".h"))


def is_cppchecked(path):
    return path.endswith(".c") and path.startswith("src/")


def is_shell(path):
    if path.endswith((".sh", ".bash")) or path.startswith("tests/vm/guest-"):
        return True
    return "." not in os.path.basename(path) and re.match(rb"#!\S*(/|env )(ba|da)?sh\b", first_bytes(path)) is not None


def is_python(path):
    if path.endswith(".py"):
        return True
    return "." not in os.path.basename(path) and re.match(rb"#!.*python", first_bytes(path)) is not None


class Checker:
    """One program that judges files, one or several at a time.

    `wants` says which files; `config` are files whose contents decide too; `batch` is how many files one process
    gets; `follows` says that it reads what a file includes; `is_deep` keeps it to files that changed themselves
    unless the mode is deep.
    """

    def __init__(self, name, program, arguments, wants, config=(), batch=16, after=(), follows=True, is_deep=False):
        self.name, self.program, self.arguments, self.after = name, program, arguments, list(after)
        self.wants, self.config, self.batch = wants, config, batch
        self.follows, self.is_deep = follows, is_deep


CHECKERS = [
    # cpu: 4 s
    Checker("clang-format", "clang-format", ["--dry-run", "-Werror"], is_c_or_header, [".clang-format"],
            batch=64, follows=False),
    # cpu: 42 s
    Checker("clang", "clang", CLANG_WARNINGS + C_FLAGS, is_c),
    # cpu: 1 s
    Checker("clang-weak", "clang", CLANG_WARNINGS + C_FLAGS + ["-DOSTIARY_WEAK"], is_weak),
    # cpu: 35 s. Everything that .clang-tidy lists but the analyzer.
    Checker("clang-tidy", "clang-tidy", ["--quiet", "--checks=-clang-analyzer-*"], is_c,
            [".clang-tidy", "tests/.clang-tidy"], after=["--"] + C_FLAGS),
    # cpu: 800 s; 8 s for the longest file
    Checker("analyzer", "clang-tidy", ["--quiet"], is_code, [".clang-tidy"], batch=1, after=["--"] + C_FLAGS,
            is_deep=True),
    # cpu: 44 s, more than half of it for the public suffix list (psl.c). It does not know the cleanup attribute
    # (resourceLeak, memleak). One file each: in a batch it would also compare the files of that batch with
    # each other, whichever they are.
    Checker("cppcheck", "cppcheck", ["--quiet", "--error-exitcode=1", "--std=c11",
                                     "--enable=warning,performance,portability", "--library=tools/cppcheck.cfg",
                                     "--inline-suppr", "--suppress=missingIncludeSystem",
                                     "--suppress=unusedStructMember", "--suppress=varFuncNullUB",
                                     "--suppress=nullPointerRedundantCheck", "--suppress=resourceLeak",
                                     "--suppress=memleak", "-D_GNU_SOURCE", "-D__x86_64__", "-Isrc",
                                     "-I" + GENERATED], is_cppchecked, ["tools/cppcheck.cfg"], batch=1),
    # cpu: 17 s. A sourced file shares its variables with the file that sources it; one file alone does not show that.
    Checker("shellcheck", "shellcheck", ["--severity=warning", "--exclude=SC2154,SC2034,SC2046,SC2148"], is_shell,
            batch=4, follows=False),
    # cpu: 1 s; syntax errors too
    Checker("pyflakes", "pyflakes3", [], is_python, batch=32, follows=False),
]


def first_bytes(path):
    with open(path, "rb") as file:
        return file.read(80)


# --- which files there are, and which changed ---------------------------------------------------


def git_lines(*arguments):
    """The lines that git prints, or None when it fails or is not there."""
    try:
        done = subprocess.run(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    return None if done.returncode else [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def files_of_tree():
    found = git_lines("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if found is None:
        found = [os.path.relpath(os.path.join(folder, name), ".")
                 for folder, folders, names in os.walk(".") for name in names]
        found = [path for path in found if not path.startswith(("out/", ".git/"))]
    return sorted(path for path in set(found) if os.path.isfile(path) and not os.path.islink(path))


def changed_by_git():
    """A set of paths, or None when git cannot say."""
    unknown = git_lines("ls-files", "-z", "--others", "--exclude-standard")
    differing = git_lines("diff", "-z", "--name-only", "HEAD~")
    if differing is None:  # a first commit, or a clone of depth 1
        differing = git_lines("diff", "-z", "--name-only", "HEAD")
    return None if unknown is None or differing is None else set(unknown + differing)


class Tree:
    """Contents of files as hashes, and what each C file includes."""

    def __init__(self):
        self.hashes, self.sizes, self.includes, self.reached = {}, {}, {}, {}

    def hash_of(self, path):
        if path not in self.hashes:
            try:
                with open(path, "rb") as file:
                    text = file.read()
            except OSError:
                text = b""
            self.hashes[path], self.sizes[path] = hashlib.sha256(text).hexdigest(), len(text)
            self.includes[path] = self.resolve(path, text) if is_c_or_header(path) else []
        return self.hashes[path]

    def resolve(self, path, text):
        found = []
        for name in re.findall(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', text, re.MULTILINE):
            for folder in [os.path.dirname(path)] + INCLUDE_PATH:
                candidate = os.path.normpath(os.path.join(folder, os.fsdecode(name)))
                if os.path.isfile(candidate):
                    found.append(candidate)
                    break
        return found

    def headers_of(self, path):
        """Every file of ours that ${path} includes, directly or not, in a stable order."""
        if path not in self.reached:
            seen, waiting = {path}, [path]
            while waiting:
                here = waiting.pop()
                self.hash_of(here)
                fresh = [name for name in self.includes[here] if name not in seen]
                seen.update(fresh)
                waiting.extend(fresh)
            self.reached[path] = sorted(seen - {path})
        return self.reached[path]

    def weight_of(self, path):
        """Bytes of ours that a checker has to read for ${path}."""
        return sum(self.sizes[name] for name in [path, *self.headers_of(path)])

    def key_of(self, checker, path):
        program = os.path.realpath(shutil.which(checker.program))
        about = os.stat(program)
        parts = [program, str(about.st_size), str(about.st_mtime_ns), *checker.arguments, *checker.after, path]
        for name in [path, *checker.config, *(self.headers_of(path) if checker.follows else [])]:
            parts += [name, self.hash_of(name)]
        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


# --- stamps -------------------------------------------------------------------------------------


def stamp_path(checker, path):
    return os.path.join(STAMPS, checker.name, path.replace("/", "+"))


def stamp_read(checker, path):
    """(hash of the file alone, key) of the last pass; None when no checker has seen it."""
    try:
        with open(stamp_path(checker, path), encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return None
    return (words[0], words[1]) if len(words) == 2 else ("failed", "failed")


def stamp_write(checker, path, text):
    name = stamp_path(checker, path)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="ascii") as file:
        file.write(text + "\n")


# --- what is to be done, and doing it -----------------------------------------------------------


class Run:
    """The state of one run: jobs in the order in which they are begun, and what came of them."""

    def __init__(self, mode, named):
        self.mode, self.named, self.tree = mode, named, Tree()
        self.end = time.monotonic() + float(os.environ.get("LINT_SECONDS", "30")) if mode == "changed" else None
        self.by_git = changed_by_git()
        self.lock = threading.Lock()
        self.keys, self.findings, self.cpu, self.left = {}, {}, {}, {}
        self.files, self.looked = {}, {}
        self.checkers = [c for c in CHECKERS if mode != "scripts" or c.name in ("shellcheck", "pyflakes")]

    def rank_of(self, checker, path):
        """None: not now. 0: changed itself. 1: changed through a header or configuration. 2: never seen."""
        if self.named:
            return 0
        stamp = stamp_read(checker, path)
        key = self.keys[checker.name, path]
        if stamp and stamp[1] == key:
            return None
        if stamp:
            rank = 0 if stamp[0] != self.tree.hash_of(path) else 1
        elif self.by_git is None or path in self.by_git:
            rank = 0
        else:
            rank = 1 if checker.follows and self.by_git.intersection(self.tree.headers_of(path)) else 2
        if self.mode == "deep":
            return rank
        if checker.is_deep:
            return rank if rank == 0 else None
        return None if self.mode == "changed" and rank == 2 else rank

    def plan(self, paths):
        """Jobs as (checker, files). In `changed` what changed itself comes first; else the longest comes first."""
        jobs = []
        for checker in self.checkers:
            mine = [path for path in paths if checker.wants(path)]
            self.files[checker.name], self.looked[checker.name] = len(mine), 0
            self.findings[checker.name], self.cpu[checker.name], self.left[checker.name] = [], 0.0, 0
            if not shutil.which(checker.program):
                self.findings[checker.name] = [f"{checker.program} is not installed: sh tools/setup.sh lint"]
                continue
            wanted = {}
            for path in mine:
                self.keys[checker.name, path] = self.tree.key_of(checker, path)
                rank = self.rank_of(checker, path)
                if rank is not None:
                    wanted.setdefault(min(rank, 1) if self.mode == "changed" else 0, []).append(path)
            for rank, some in wanted.items():
                some.sort(key=lambda path: -self.tree.weight_of(path))
                # Dealt out like cards, so that no process gets all the long ones.
                n = -(-len(some) // checker.batch)
                for i in range(n):
                    batch = some[i::n]
                    heaviest = -self.tree.weight_of(batch[0])
                    first = (rank, checker.is_deep) if self.mode == "changed" else (0, not checker.is_deep)
                    jobs.append(((*first, heaviest), checker, batch))
        jobs.sort(key=lambda job: job[0])
        return [(checker, batch) for _, checker, batch in jobs]

    def job(self, checker, batch):
        batch = [path for path in batch if os.path.isfile(path)]  # somebody works on the tree meanwhile
        if not batch:
            return
        if self.end and time.monotonic() > self.end:
            with self.lock:
                self.left[checker.name] += len(batch)
            return
        status, text, cpu = run_program([checker.program, *checker.arguments, *batch, *checker.after])
        with self.lock:
            self.cpu[checker.name] += cpu
        if status != 0 and len(batch) > 1:
            for path in batch:  # whose fault is it?
                self.job(checker, [path])
            return
        with self.lock:
            self.looked[checker.name] += len(batch)
            if status != 0:
                self.findings[checker.name].append(text or f"{batch[0]}: {checker.program} ended with {status}.")
        for path in batch:
            passed = f"{self.tree.hash_of(path)} {self.keys[checker.name, path]}"
            stamp_write(checker, path, "failed" if status != 0 else passed)


def run_program(command):
    """(exit status, what it printed, seconds of CPU)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        timer = threading.Timer(JOB_SECONDS, child.kill)
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        # clang-tidy writes findings to one and counts of suppressed ones to the other.
        text = out.read().strip() or err.read().strip()
    return child.returncode, text.decode(errors="replace"), used.ru_utime + used.ru_stime


def report(name, is_ok, details, findings=()):
    print(f"{'ok     ' if is_ok else 'FAILED '} {name:<13} {details}")
    lines = "\n".join(findings).splitlines()
    for line in lines[:FINDINGS_SHOWN]:
        print("    " + line)
    if len(lines) > FINDINGS_SHOWN:
        print(f"    and {len(lines) - FINDINGS_SHOWN} more lines; LINT_LINES=1000 shows them.")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    words = sys.argv[1:] or ["all"]
    mode, named = (words[0], []) if words[0] in ("all", "deep", "changed", "scripts") else ("named", words)
    for path in named:
        if not os.path.isfile(path):
            sys.exit(f"lint: {path}: no such file; give paths from the root of the tree, or all, deep or changed.")
    if not os.path.isdir(GENERATED):
        sys.exit("lint: the headers that the build makes are not there; run make first.")

    begun = time.monotonic()
    run = Run(mode, named)
    jobs = run.plan(named or files_of_tree())
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(run.job, checker, batch) for checker, batch in jobs]:
            done.result()

    for checker in run.checkers:
        name = checker.name
        details = f"{run.looked[name]} of {run.files[name]} files looked at, {run.cpu[name]:.1f} s of CPU"
        if run.left[name]:
            details += f"; no time for {run.left[name]} more, see make lint"
        report(name, not run.findings[name], details, run.findings[name])
    arrows_status, arrows_text, _ = run_program(["sh", "tools/arrows.sh"])
    report("arrows", arrows_status == 0, "every #include of src", [arrows_text] if arrows_status else [])
    print(f"lint {mode}: {time.monotonic() - begun:.1f} s, {sum(run.cpu.values()):.1f} s of CPU")
    sys.exit(1 if arrows_status or any(run.findings.values()) else 0)


if __name__ == "__main__":
    main()
