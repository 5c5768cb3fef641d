#!/usr/bin/env python3
"""makelog.py BOX - a log as the audit role writes it, chained, from one JSON object a line on standard
input. Each needs "at", seconds since the epoch; the rest is the record. Order of writing is order of
input, so a request that ended late is simply given late."""
import hashlib
import json
import sys
import time

KEYS = ("kind verdict rule protocol method host port path address status bytes_up bytes_down wait_us total_us"
        " source_port pid ppid exe cpu_us peak_kib secrets note cure").split()


def main():
    prev, seq = "0" * 64, 0
    for text in sys.stdin:
        given = json.loads(text)
        seq += 1
        at = float(given["at"])
        whole = int(at)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + ".%06dZ" % round((at - whole) * 1e6)
        record = {"seq": seq, "prev": prev, "time": stamp, "box": sys.argv[1]}
        record.update((key, given[key]) for key in KEYS if key in given)
        line = json.dumps(record, separators=(",", ":")).encode()
        prev = hashlib.sha256(line).hexdigest()
        sys.stdout.buffer.write(line + b"\n")


main()
