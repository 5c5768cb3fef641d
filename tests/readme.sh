#!/bin/bash
# suite: test=user soak=root,user timeout=200
# tier: a reader is an ordinary user
# readme.sh - the first minute of README.md, typed as it stands there: every command prints what the page says.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
for tool in cc make curl; do
	has $tool || { skip 'README' "$tool is not installed" && exit 0; }
done
/usr/bin/python3 "$top/tests/readme.py" "$top/README.md" "$ostiary" || bad=1
exit $bad
