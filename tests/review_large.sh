#!/bin/bash
# suite: soak=user timeout=1800
# tier: minutes of processor time; review_classes counts calls and rows of a small tree in every run
# review_large.sh - what diff, apply, undo and rm cost grows as a tree does: 50,000 and 200,000 files, 2,500 and 10,000
# levels, by processor time. Four times as much may cost six times; a path of every level is told, so levels may cost twelve.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_review.sh"
files=${LARGE_FILES:-50000} levels=${LARGE_LEVELS:-2500}
cat >"$work/make.py" <<'PY'
import os, sys
kind, n = sys.argv[1], int(sys.argv[2])
for i in range(n):
    if kind == "levels":
        os.mkdir("d")
        open("f", "w").write("x\n")
        os.chdir("d")
        continue
    if i % 1000 == 0:
        os.mkdir(f"d{i // 1000}")
    open(f"d{i // 1000}/f{i}", "w").write("x\n")
PY
export SAY_LIMIT=1800
ticks() { awk '{print $14 + $15 + $16 + $17}' /proc/$$/stat; }
# spend NAME COMMAND...: hundredths of a second, in $NAME
spend() {
	local name=$1 before
	shift
	before=$(ticks)
	say "$@"
	printf -v "$name" %d $(($(ticks) - before))
}
for kind in files levels; do
	n=${!kind}
	for times in 1 4; do
		fresh "$kind-$times"
		cp "$work/make.py" .
		say "$ostiary" run -q --name "$tag-$kind-$times" -- python3 make.py $kind $((n * times))
		same "$kind: $((n * times)) are made" "$code" 0
		spend "diff_$times" "$ostiary" diff --stat "$tag-$kind-$times"
		same "$kind: $((n * times)) are told" "$code" 0
		spend "apply_$times" "$ostiary" apply --yes "$tag-$kind-$times"
		[ $kind = levels ] || same "$kind: $((n * times)) have landed" "$(find . -name 'f[0-9]*' | wc -l)" $((n * times))
		spend "undo_$times" "$ostiary" undo --yes
		same "$kind: $((n * times)) are gone again" "$(find . -mindepth 1 | wc -l)" 1
		spend "rm_$times" "$ostiary" rm -f "$tag-$kind-$times"
	done
	most=6
	[ $kind = files ] || most=12
	for what in diff apply undo rm; do
		one=${what}_1 four=${what}_4
		# Below a fifth of a second nothing is measured.
		[ "${!four}" -le $((most * (${!one} > 20 ? ${!one} : 20))) ]
		check "$kind: $what of four times as many costs no more than $most times" $? "${!one} and ${!four} hundredths of a second"
		echo "# $kind: $what ${!one} and ${!four} hundredths of a second"
	done
done
remove_boxes
nothing_left 'nothing is left of these boxes'
exit $bad
