#!/usr/bin/env python3
"""gen_fold.py - makes src/policy/fold_table.h from Python's Unicode tables.

A code point stands in the table if it becomes something else by compatibility decomposition
(NFKD), case folding and the loss of accents and invisible marks. Left out are scripts without
case (results of category Lo) and expansions beyond four code points, which would only make a text
long. Run by hand when Unicode grows; the result is checked in, so that a build needs no Python.
"""
import unicodedata as u

# Windows' "best fit" conversions: no compatibility form, but read as these by servers on it.
BEST_FIT = {0x2044: "/", 0x2215: "/", 0x2216: "\\", 0x29F5: "\\", 0x2236: ":", 0x2032: "'"}
MARKS = (range(0x300, 0x370), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00), range(0x20D0, 0x2100),
         range(0xFE00, 0xFE30), range(0xE0000, 0x110000))
BLANKS = (0x115F, 0x1160, 0x3164, 0xFFA0)


def is_dropped(c):
    return u.category(chr(c)) in ("Mn", "Me", "Cf") or c in BLANKS


def fold(c):
    if c in BEST_FIT:
        return BEST_FIT[c]
    s = chr(c)
    for _ in range(3):
        s = u.normalize("NFKD", u.normalize("NFKD", s).casefold())
    return "".join(BEST_FIT.get(ord(x), x) for x in s if not is_dropped(ord(x)))


def is_wanted(c, f):
    if f == chr(c) or len(f) > 4 or any(u.category(x) == "Lo" for x in f):
        return False
    if len(f) > 1 and max(f) > "\uffff":  # notes and signs that were put together of several
        return False
    # A mark of a script that has no case is a letter to its readers.
    return f != "" or u.category(chr(c)) not in ("Mn", "Me") or any(c in r for r in MARKS)


table = {}
for c in range(0x80, 0x110000):
    if u.category(chr(c)) in ("Cn", "Co", "Cs") or 0xAC00 <= c <= 0xD7A3:
        continue
    f = fold(c)
    if is_wanted(c, f):
        table[c] = f

runs = []  # first, last, step of the source, step of the target, first target
for c, f in sorted(table.items()):
    if len(f) > 1:
        continue
    to = ord(f) if f else 0
    if runs:
        first, last, step, gain, target = runs[-1]
        if first == last and c - last in (1, 2) and (to - target in (0, c - last)):
            runs[-1] = (first, c, c - last, to - target, target)
            continue
        if first != last and c - last == step and to == target + (c - first) // step * gain:
            runs[-1] = (first, c, step, gain, target)
            continue
    runs.append((c, c, 1, 0, to))

longer = [(c, f) for c, f in sorted(table.items()) if len(f) > 1]

print(f"""/* fold_table.h - made by tools/gen_fold.py from Unicode {u.unidata_version}; included by fold.c
 * alone. */
/* clang-format off */
static const struct {{
        uint32_t first, last;
        uint8_t step, gain; /* of the code point, and of what it becomes */
        uint32_t to;        /* 0: nothing */
}} fold_runs[] = {{""")


def rows(cells, n):
    for i in range(0, len(cells), n):
        print("        " + " ".join(cells[i:i + n]))


rows([f"{{0x{a:x},0x{b:x},{s},{g},0x{t:x}}}," for a, b, s, g, t in runs], 3)
print("};\nstatic const struct {\n        uint32_t from;\n        uint16_t to[4];\n} fold_longer[] = {")
rows(["{0x%x,{%s}}," % (c, ",".join("0x%x" % ord(x) for x in f)) for c, f in longer], 3)
print("};\n/* clang-format on */")
