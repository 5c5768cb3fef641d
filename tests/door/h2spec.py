#!/usr/bin/env python3
"""h2spec.py - cases after the sections of h2spec (summerwind/h2spec; RFC 7540, 9113 and 7541). A list of our own: it
follows h2spec's numbering, and is not made from its source, so numbers may differ here and there.

usage: h2spec.py HOST PORT tls|plain [SECTION]   /hello there must be answered. Exit 1 when a case fails.
"""
import sys
import traceback

import h2spec_frames
import h2spec_generic
import h2spec_messages
from h2raw import Closed, Conn, Failed


def main():
    target = (sys.argv[1], int(sys.argv[2]), sys.argv[3] == "tls")
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    cases = h2spec_generic.CASES + h2spec_frames.CASES + h2spec_messages.CASES
    failed, ran = 0, 0
    for name, is_bare, mine, case in cases:
        if not name.startswith(only):
            continue
        ran += 1
        try:
            c = Conn(target, is_bare, mine)
            try:
                case(c)
            finally:
                c.close()
            print("ok", name)
        except (Failed, Closed, OSError) as e:
            failed += 1
            print("not ok %s: %s" % (name, e or type(e).__name__))
        except Exception:
            failed += 1
            print("not ok %s: %s" % (name, traceback.format_exc().replace("\n", " | ")))
    print("%d of %d" % (ran - failed, ran))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
