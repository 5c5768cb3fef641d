#!/usr/bin/env python3
"""promises.py - hold the tier column of SPECIFICATION.md against the suites that it names.

    tools/promises.py            print each row whose tier is not what its tests say; fails if any
    tools/promises.py --write    put the right tier into every row

The tier of a promise is the first one that runs every test it names: check, test or soak. `+ soak`
behind it says that a test does more there: longer random search, more repetitions (by_tier). A
promise that only `make bench` shows has the tier bench.
"""

import os
import re
import sys

import suites

PAGE = "SPECIFICATION.md"
ROW = re.compile(r"^\| (\d+\.\d+) \|")


def suite_name(path):
    """The suite that a path of the page stands for, or None."""
    m = re.match(r"tests/(unit|fuzz)/(\w+)\.c$", path)
    if m:
        return ("unit/" if m.group(1) == "unit" else "replay/") + m.group(2)
    m = re.match(r"tests/(.+)\.sh$", path)
    return m.group(1) if m else None


def does_more_in_soak(suite):
    if not suite.program.endswith(".sh"):
        return False
    with open(suite.program, encoding="utf-8") as f:
        return bool(re.search(r"\bby_tier\b|\bis_soak\b|\bTIER\b", f.read()))


def tier_of(tests, known):
    """The tier that a cell of tests asks for; None when it names none that runs."""
    first, more = -1, False
    for path in re.findall(r"(?:tests|demo)/[A-Za-z0-9_/.-]*\w", tests):
        suite = known.get(suite_name(path))
        if suite and suite.tiers:
            first = max(first, min(suites.TIERS.index(t) for t in suite.tiers))
            more |= does_more_in_soak(suite)
    if first < 0 and "every suite" in tests:
        first = suites.TIERS.index("test")
    if first < 0:
        return "bench" if "make bench" in tests else None
    tier = suites.TIERS[first]
    return tier + " + soak" if more and tier != "soak" else tier


def main(argv):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    known = {s.name: s for s in suites.find("release")}
    lines, wrong = [], []
    with open(PAGE, encoding="utf-8") as f:
        for line in f.read().splitlines():
            cells = line.split(" | ")
            if ROW.match(line):
                tests = cells[2].rstrip(" |")
                tier = tier_of(tests, known)
                right = " | ".join(cells[:2] + [tests, tier or "?"]) + " |"
                if right != line or not tier:
                    wrong.append("%s: %s, not %s" % (ROW.match(line).group(1), tier,
                                                     cells[3].rstrip(" |") if len(cells) > 3 else "nothing"))
                line = right
            lines.append(line)
    if argv == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        return 0
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
