"""sse_client.py - runs in the box: reads an event stream and acknowledges each event before the next can come."""
import sys
import urllib.request

base, key = sys.argv[1:3]
seen = 0
with urllib.request.urlopen(f"{base}/sse/{key}", timeout=100) as stream:
    for line in stream:
        if line.startswith(b"id: "):
            seen = int(line[4:])
        if line == b"\n":
            ack = urllib.request.Request(f"{base}/ack/{key}/{seen}", data=b"", method="POST")
            urllib.request.urlopen(ack, timeout=100).close()
print("events", seen)
