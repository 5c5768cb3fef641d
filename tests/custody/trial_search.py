#!/usr/bin/env python3
"""trial_search.py - looks for texts in any form in files, in the memory of processes and in directories.

    trial_search.py TEXTS file PATH...     each PATH a file or a directory
    trial_search.py TEXTS memory PID...    every readable page of these processes

TEXTS is a file with one NAME=TEXT per line. Prints `NAME FORM WHERE behind WHAT` per hit; exit 1 when there was one, 0 when
there was none, 2 when something could not be looked at. Shares no code with the program under test nor with the
trial's attacker: forms are made here by other means (integers, string tables), escapes are undone by regular
expressions, and compressed parts are tried with zlib at every gzip and zlib head."""
import binascii
import os
import re
import sys
import zlib

STD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def six(bits):
    return bytes(STD[int(bits[i:i + 6], 2)] for i in range(0, len(bits) - len(bits) % 6, 6))


def forms(text):
    """name -> bytes; base64 by writing out the bits, so that only letters the text decides remain."""
    bits = "".join(format(b, "08b") for b in text)
    found = {"raw": text, "reversed": text[::-1]}
    for behind in range(3):
        skip = (6 - (8 * behind) % 6) % 6
        part = six(bits[skip:])
        found["base64/%d" % behind] = part
        found["base64url/%d" % behind] = part.replace(b"+", b"-").replace(b"/", b"_")
    found["hex"] = binascii.hexlify(text)
    for behind in range(5):
        skip = (5 - (8 * behind) % 5) % 5
        part = bits[skip:]
        found["base32/%d" % behind] = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[int(part[i:i + 5], 2)] for i in range(0, len(part) - len(part) % 5, 5))
    if len(text) >= 40:
        found["first 32"], found["last 16"] = text[:32], text[-16:]
    # Lists of numbers, made by printf's own means and not by the program's.
    for base, name in (("%d", "ten"), ("%02x", "sixteen"), ("0x%02x", "c")):
        for joint in (",", ", ", " ", ":"):
            found["list %s %r" % (name, joint)] = joint.join(base % b for b in text).encode()
    return found


def twice(text):
    """The same of what base64 and hexadecimal make of the text."""
    for name, once in list(forms(text).items()):
        if name.startswith("base64/") or name == "hex":
            for again, form in forms(once).items():
                if again.startswith("base64") or again == "hex":
                    yield "%s of %s" % (again, name), form


UNDO = [
    (re.compile(rb"%([0-9a-fA-F]{2})"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"\\u00([0-9a-fA-F]{2})"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"\\x([0-9a-fA-F]{2})"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"\\[ux]\{0*([0-9a-fA-F]{1,2})\}"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"%[uU]00([0-9a-fA-F]{2})"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"\\([01][0-7]{2})"), lambda m: bytes([int(m.group(1), 8)])),
    (re.compile(rb"=(?:\r?\n|(?:\\r)?\\n)"), lambda m: b""),
    (re.compile(rb"&#0*10;|&#[xX]0*[aA];"), lambda m: b"\n"),
    (re.compile(rb"&#(\d{2,3});"), lambda m: bytes([int(m.group(1)) & 255])),
    (re.compile(rb"&#[xX]([0-9a-fA-F]{2});"), lambda m: bytes([int(m.group(1), 16)])),
    (re.compile(rb"\\([/\"\\])"), lambda m: m.group(1)),
]


def undone(data):
    for pattern, by in UNDO:
        if pattern.search(data):
            data = pattern.sub(by, data)
    return data


def inflated(data):
    for head, bits in ((b"\x1f\x8b\x08", 31), (b"\x78\x9c", 15), (b"\x78\x01", 15), (b"\x78\xda", 15)):
        at = data.find(head)
        for _ in range(200):
            if at < 0:
                break
            try:
                out = zlib.decompressobj(bits).decompress(data[at:at + (1 << 20)], 4 << 20)
                if out:
                    yield out
            except zlib.error:
                pass
            at = data.find(head, at + 1)


class Search:
    def __init__(self, path):
        self.hits = 0
        self.texts = []
        for line in open(path, "rb"):
            name, _, text = line.rstrip(b"\n").partition(b"=")
            if text:
                self.texts.append((name.decode(), [(f, b, b.lower()) for f, b in list(forms(text).items()) + list(twice(text)) if len(b) >= 8]))

    def plain(self, data, where, how):
        small = data.lower()
        for name, writings in self.texts:
            for form, text, folded in writings:
                at = small.find(folded) if form == "hex" or form.startswith(("base32", "list")) else data.find(text)
                if at >= 0:
                    self.hits += 1
                    print(name, form + how, where, "behind", data[max(0, at - 48):at])

    def bytes(self, data, where, depth=0):
        self.plain(data, where, "")
        once = undone(data)
        if once != data:
            self.plain(once, where, "+escaped")
            twice = undone(once)
            if twice != once:
                self.plain(twice, where, "+escaped twice")
        for text in (data, undone(data), undone(undone(data))):
            joined = re.sub(rb"(?:[\r\n]|\\+[rn])+[ \t]*", b"", text)
            if joined != text:
                self.plain(joined, where, "+broken lines")
        if depth < 2:
            for part in inflated(data):
                self.bytes(part, where + " (inflated)", depth + 1)

    def file(self, path):
        for start, _, files in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), [], [os.path.basename(path)])]:
            for name in files:
                full = os.path.join(start, name)
                if os.path.islink(full) or not os.path.isfile(full):
                    continue
                with open(full, "rb") as f:
                    data = f.read(512 << 20)
                # In pieces that overlap, because undoing escapes of everything at once takes much memory.
                for at in range(0, max(len(data), 1), 8 << 20):
                    self.bytes(data[at:at + (8 << 20) + 65536], full)

    def memory(self, pid):
        looked = 0
        with open("/proc/%s/mem" % pid, "rb", 0) as mem, open("/proc/%s/maps" % pid) as maps:
            for line in maps:
                span, rights = line.split()[:2]
                if rights[0] != "r" or "[v" in line:
                    continue
                low, high = (int(x, 16) for x in span.split("-"))
                while low < high:
                    n = min(high - low, 8 << 20)
                    try:
                        mem.seek(low)
                        data = mem.read(n)
                    except OSError:
                        break
                    looked += len(data)
                    if data.count(0) != len(data):
                        self.bytes(data, "memory of %s at %x" % (pid, low))
                    low += max(n - 65536, 1) if n == (8 << 20) else n
        return looked


def main():
    search, kind, things = Search(sys.argv[1]), sys.argv[2], sys.argv[3:]
    bad = False
    for thing in things:
        try:
            if kind == "file":
                search.file(thing)
            elif search.memory(thing) == 0:
                raise OSError("not one page of it could be read")
        except OSError as e:
            print("cannot look at", thing, e, file=sys.stderr)
            bad = True
    return 2 if bad else 1 if search.hits else 0


if __name__ == "__main__":
    sys.exit(main())
