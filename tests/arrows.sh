#!/bin/sh
# suite: check=any test=any soak=any timeout=60
# tier: it reads the tree and starts no box: cheap enough for every commit
# arrows.sh - the include arrows hold, the checker can fail, and DESIGN.md prints the same table.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib_repo.sh

out=$(sh tools/arrows.sh src)
report $? 'the rooms keep to the arrows' "$out"

# Positive controls: each kind of broken tree must be refused.
broken() { # name, room, include line
	rm -rf "$work/src"
	mkdir -p "$work/src/$2"
	echo "$3" >"$work/src/$2/a.c"
	! sh tools/arrows.sh "$work/src" >/dev/null
	report $? "refused: $1" 'the checker let it pass'
}
broken 'box includes workspace' box '#include "workspace/layer.h"'
broken 'base includes wire' base '  #  include "wire/frame.h"'
broken 'policy includes session' policy '#include "session/plan.h"'
broken 'an include that climbs' box '#include "../session/plan.h"'
broken 'a room that is not in the table' attic '#include "base/err.h"'

mkdir -p "$work/ok/box"
echo '#include "base/err.h"' >"$work/ok/box/a.c"
sh tools/arrows.sh "$work/ok" >/dev/null
report $? 'an arrow of the table passes' 'the checker refused it'

sh tools/arrows.sh --print >"$work/table"
sed -n '/^<!-- arrows -->$/,/^<!-- end -->$/p' DESIGN.md | grep -E '^[a-z]+:' >"$work/design"
cmp -s "$work/table" "$work/design"
report $? 'DESIGN.md prints the same table' "$(diff "$work/table" "$work/design" | tr '\n' ' ')"
exit $bad
