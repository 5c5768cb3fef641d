"""records.py LOG WORD...: a log as a suite wants to see it.

count KEY=VALUE...        how many records have all these
show NAMES KEY=VALUE...   those names (a,b,c) of each such record, one line each
order                     "in order" when numbers follow each other and times of the witness do not go back
"""
import json
import sys

log, word, *rest = sys.argv[1:]
# While a box runs, its last line may be half there.
records = [json.loads(line) for line in open(log, "rb") if line.endswith(b"\n")]


def matches(record, wanted):
    return all(str(record.get(k, "")) == v for k, v in (w.split("=", 1) for w in wanted))


if word == "count":
    print(sum(matches(r, rest) for r in records))
elif word == "show":
    for r in records:
        if matches(r, rest[1:]):
            print(*[r.get(n, "-") for n in rest[0].split(",")])
elif word == "order":
    seen = [r for r in records if "pid" in r and r["kind"] in ("exec", "exit", "call", "kill", "connect", "bind", "listen", "open")]
    times = [r["time"] for r in seen]
    numbers = [r["seq"] for r in records]
    print("in order" if times == sorted(times) and numbers == list(range(1, len(records) + 1)) else "not in order")
