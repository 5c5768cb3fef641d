"""suites.py - which suites there are, in which tier each runs, as whom, and why.

Used by tools/test.py. A suite is a unit test (tests/unit/NAME.c), the replay of a fuzzer's seeds
(tests/fuzz/NAME.c) or an executable script below tests/ whose head has two lines:

    # suite: check=any test=user soak=root,user timeout=120
    # tier: why it is in these tiers, and for these users

The keys check, test and soak name the users that run it in that tier: root, user, both (root,user) or
any (once, as whoever started the run). A tier that is not named does not run it. timeout is in seconds
on a quiet machine; alone=yes asks for the machine. Reads files only.
"""

import glob
import os
import re

TIERS = ("check", "test", "soak")
USERS = ("root", "user", "root,user", "any")
KEYS = TIERS + ("timeout", "alone")
UNIT_WHY = "a unit: it asks nothing of the machine"
REPLAY_WHY = "the seeds of a fuzzer, in the ordinary build; soak fuzzes with sanitizers"
TIMEOUT = 240


class Suite:
    """One row of the list. `fault` is a sentence when its head cannot be used."""

    def __init__(self, name, program, why=""):
        self.name = name
        self.program = program
        self.tiers = {}
        self.timeout = TIMEOUT
        self.alone = False
        self.why = why
        self.fault = None

    def users_in(self, tier):
        return self.tiers.get(tier, ())


def _read_head(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return [line.rstrip("\n") for _, line in zip(range(20), f)]


def _parse_words(suite, words):
    seen = set()
    for word in words:
        key, sep, value = word.partition("=")
        if not sep or key not in KEYS:
            raise ValueError("'%s' in its head is not one of %s" % (word, ", ".join(KEYS)))
        if key in seen:
            raise ValueError("its head says %s= twice" % key)
        seen.add(key)
        if key == "timeout":
            if not re.fullmatch("[1-9][0-9]{0,4}", value):
                raise ValueError("timeout= takes whole seconds, not '%s'" % value)
            suite.timeout = int(value)
        elif key == "alone":
            if value != "yes":
                raise ValueError("alone= takes yes, not '%s'" % value)
            suite.alone = True
        elif value not in USERS:
            raise ValueError("%s= takes one of %s, not '%s'" % (key, ", ".join(USERS), value))
        else:
            suite.tiers[key] = tuple(value.split(","))


def _parse_head(suite, path, is_required):
    """Fill in the suite from the first lines of its file; a bad head becomes its fault."""
    head = _read_head(path)
    found = [m for m in (re.match(r"(?:#| \*|/\*) suite: (.+?)(?: *\*/)?$", line) for line in head) if m]
    why = [m for m in (re.match(r"(?:#| \*|/\*) tier: (.+?)(?: *\*/)?$", line) for line in head) if m]
    try:
        if found:
            suite.tiers = {}
            _parse_words(suite, found[0].group(1).split())
            if not suite.tiers:
                raise ValueError("its head names no tier")
            if why:
                suite.why = why[0].group(1)
            elif is_required:
                raise ValueError("has no '# tier:' line that says why it is in its tiers")
        elif is_required:
            raise ValueError("has no '# suite:' line in its head (a library is named lib*.sh)")
    except ValueError as e:
        suite.fault = str(e)


def _unit(path, variant):
    name = os.path.basename(path)[:-2]
    suite = Suite("unit/" + name, "out/%s/unit/%s" % (variant, name), UNIT_WHY)
    suite.tiers = {"check": ("any",), "test": ("any",), "soak": ("root", "user")}
    _parse_head(suite, path, is_required=False)
    if suite.users_in("test") != ("any",) and suite.why == UNIT_WHY and not suite.fault:
        suite.fault = "names users and has no 'tier:' line that says why"
    return suite


def _replay(path, variant):
    name = os.path.basename(path)[:-2]
    suite = Suite("replay/" + name, "out/%s/unit/replay/%s" % (variant, name), REPLAY_WHY)
    suite.tiers = {"check": ("any",), "test": ("any",), "soak": ("any",)}
    return suite


def _script(path):
    suite = Suite(path[len("tests/"):-len(".sh")], path)
    _parse_head(suite, path, is_required=True)
    if suite.fault is None and not os.access(path, os.X_OK):
        suite.fault = "is not executable"
    return suite


def find(variant):
    """Every suite of the tree in the current directory."""
    all_suites = [_unit(p, variant) for p in sorted(glob.glob("tests/unit/*.c"))
                  if not os.path.basename(p).startswith("lib")]
    all_suites += [_replay(p, variant) for p in sorted(glob.glob("tests/fuzz/*.c"))]
    scripts = glob.glob("tests/*.sh") + glob.glob("tests/attack/run*.sh") + glob.glob("tests/vm/*.sh")
    all_suites += [_script(p) for p in sorted(scripts)
                   if not os.path.basename(p).startswith("lib")]
    return all_suites


def table(all_suites):
    """The list as text, for `make tiers`. Units and replays of one kind share a row."""
    rows, kinds = [], {}
    for s in all_suites:
        kind = s.name.split("/")[0] + "/*" if s.why in (UNIT_WHY, REPLAY_WHY) else None
        if kind in kinds:
            kinds[kind] += 1
            continue
        if kind:
            kinds[kind] = 1
        users = [",".join(s.users_in(t)) or "-" for t in TIERS]
        rows.append([kind or s.name] + users + [s.fault or s.why])
    lines = ["%-24s %-10s %-10s %-10s %s" % ("suite", "check", "test", "soak", "why")]
    for row in rows:
        name = "%s (%d)" % (row[0], kinds[row[0]]) if row[0] in kinds else row[0]
        lines.append("%-24s %-10s %-10s %-10s %s" % (name, row[1], row[2], row[3], row[4]))
    return "\n".join(lines)
