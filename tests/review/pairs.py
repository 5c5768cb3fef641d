#!/usr/bin/env python3
"""pairs.py - two random trees for the diff: DIR/before and DIR/after, COUNT files each, with every kind
of change a patch can carry; and a comparison of trees. Called by tests/review_diff.sh.

  pairs.py make DIR COUNT SEED [easy]    pairs.py same TREE TREE

Easy trees are what GNU patch can take too: plain names and no empty files.
"""
import os
import random
import stat
import sys


def line(r):
    kind = r.randrange(12)
    if kind == 0:
        return b""
    if kind == 1:
        return bytes(r.choice(b"\x01\x1b\x7f\xff\xc3\x28ab\t") for _ in range(r.randrange(8)))
    if kind == 2:
        return "grüße \u202e \u200b \u4e2d".encode()
    if kind == 3:
        return r.choice([b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"diff --git a/x b/x", b"\\ No newline at end of file"])
    if kind == 4:
        return b"}"
    return b"line %d" % r.randrange(30)


def text(r):
    if not is_easy and r.randrange(8) == 0:
        return r.randbytes(r.choice([1, 51, 52, 53, 1000, 70000])) + b"\0"
    end = r.choice([b"\n", b"\n", b"\n", b"\r\n"])
    lines = [line(r) for _ in range(r.choice([0, 1, 2, 5, 20, 60, 200]))]
    data = b"".join(x + end for x in lines)
    if data and r.randrange(4) == 0:
        data = data[: -len(end)]
    return data


def edit(r, data):
    lines = data.splitlines(keepends=True)
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(lines) + 1)
        what = r.randrange(4)
        if what == 0:
            lines[at:at] = [line(r) + b"\n" for _ in range(r.randrange(1, 4))]
        elif what == 1:
            del lines[at : at + r.randrange(1, 4)]
        elif what == 2 and at < len(lines):
            lines[at] = line(r) + b"\n"
        elif lines:
            lines[-1] = lines[-1].rstrip(b"\n") + (b"" if r.randrange(2) else b"\n")
    # A line without a newline can only be the last.
    lines = lines or ([b"all new\n"] if is_easy else [])
    fixed = [x if x.endswith(b"\n") else x + b"\n" for x in lines[:-1]] + lines[-1:]
    return b"".join(fixed)


def name(r, i):
    if is_easy:
        return r.choice([b"plain%d", b"dir/deep%d", b"d%d/e/f", b"-dash%d"]) % i
    odd = [b"plain%d", b"with space %d", b"quote\"%d", b"back\\slash%d", b"uml\xc3\xa4ut%d", b"bad\xff%d", b"dir a/deep %d",
           b"d%d/e/f", b"tab\t%d", b"-dash%d", b"new\nline%d", b"rtl\xe2\x80\xae%d", b"x b/x%d"]
    return r.choice(odd) % i


def put(root, rel, data, mode):
    path = os.path.join(root, rel)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, mode)


def link(root, rel, target):
    path = os.path.join(root, rel)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def make(where, count, seed):
    r = random.Random(seed)
    before, after = (os.path.join(os.fsencode(where), x) for x in (b"before", b"after"))
    os.makedirs(before)
    os.makedirs(after)
    for i in range(count):
        rel, mode = name(r, i), r.choice([0o644, 0o644, 0o755])
        data = text(r) or (b"something\n" if is_easy else b"")
        what = r.randrange(10)
        if what == 0:  # added
            put(after, rel, data, mode)
        elif what == 1:  # deleted
            put(before, rel, data, mode)
        elif what == 2:  # renamed, with or without a change
            put(before, rel, data, mode)
            put(after, b"moved/" + rel, edit(r, data) if r.randrange(2) else data, mode)
        elif what == 3:  # the mode alone
            put(before, rel, data, 0o644)
            put(after, rel, data, 0o755)
        elif what == 4:  # links
            kind = r.randrange(4)
            if kind != 0:
                link(before, rel, b"target %d" % i)
            if kind == 1:
                put(after, rel, data, mode)
            elif kind != 2:
                link(after, rel, b"other\xff %d" % i)
        elif what == 5:  # unchanged
            put(before, rel, data, mode)
            put(after, rel, data, mode)
        else:
            put(before, rel, data, mode)
            put(after, rel, edit(r, data), mode if r.randrange(5) else mode ^ 0o111)


def tree(root):
    found = {}
    for at, dirs, files in os.walk(os.fsencode(root)):
        for f in files + [d for d in dirs if os.path.islink(os.path.join(at, d))]:
            path = os.path.join(at, f)
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                found[os.path.relpath(path, os.fsencode(root))] = ("link", os.readlink(path))
            else:
                found[os.path.relpath(path, os.fsencode(root))] = (bool(st.st_mode & 0o100), open(path, "rb").read())
    return found


def same(one, two):
    a, b = tree(one), tree(two)
    wrong = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
    for k in wrong[:3]:
        print(k, str(a.get(k))[:120], str(b.get(k))[:120])
    print(f"{len(b)} files, {len(wrong)} differ")
    return 1 if wrong or not b else 0


is_easy = sys.argv[-1] == "easy"
if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    sys.exit(same(sys.argv[2], sys.argv[3]))
