"""truth.py - hold a story against an outside clock; used by tests/story_truth.sh.

    timeline --json | truth.py order            the times as they are printed never go back
    timeline --json | truth.py within BEGIN END every event but a review lies between two times, in microseconds
    timeline --json | truth.py ends             no change stands after the end of the run that made it
    report -o - | truth.py span LEAST MOST      "from start to end" is between two lengths, in microseconds
    report -o - | truth.py card WORDS           the figure of the card with these words

Prints nothing when it is so, else one line.
"""

import calendar
import json
import re
import sys
import time


def events():
    for line in sys.stdin:
        e = json.loads(line)
        whole, fraction = e["time"].rstrip("Z").split(".")
        e["us"] = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1000000 + int(fraction)
        yield e


def name(e):
    return "%s %s %s" % (e["time"], e["kind"], (e.get("change") or e.get("record") or {}).get("path", ""))


def order():
    last = None
    for e in events():
        if last and e["us"] < last["us"]:
            return "%s stands after %s" % (name(e), name(last))
        last = e


def within(begin, end):
    for e in events():
        if e["group"] != "review" and not int(begin) <= e["us"] <= int(end):
            return "%s is not between %s and %s" % (name(e), begin, end)


def ends():
    is_over = None
    for e in events():
        method = e["record"].get("method") if e["kind"] == "box" else None
        if method in ("start", "wake"):
            is_over = None
        if method == "end":
            is_over = e
        if e["kind"] == "change" and is_over:
            return "%s stands after the end, %s" % (name(e), is_over["time"])


def card(words):
    found = re.search(r'<div class="n">([^<]*)</div><div class="l">%s</div>' % re.escape(words), sys.stdin.read())
    return found.group(1) if found else "no such card"


def span(least, most):
    """What is printed stands for all lengths that are printed so: it is cut, not rounded."""
    said = card("from start to end")
    units = {"ms": 1000, "s": 1000000, "min": 60000000, "h": 3600000000}
    parts = re.findall(r"([0-9.]+) (ms|s|min|h)", said)
    low = round(sum(float(n) * units[u] for n, u in parts))
    digit = 100000 if "." in said else units[parts[-1][1]]
    if low + digit <= int(least) or low > int(most):
        return "it says %s; the outside clock says %s to %s us" % (said, least, most)


found = {"order": order, "within": within, "ends": ends, "span": span, "card": card}[sys.argv[1]](*sys.argv[2:])
print(found or "", end="")
