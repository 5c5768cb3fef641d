#!/bin/bash
# suite: check=any test=user soak=root,user timeout=700
# tier: check replays what failed once, test draws for 20 s as the user, soak for 300 s as both: longer finds more
# model.sh - random work on random trees, through real overlays: diff tells the difference, apply makes it, undo takes it back.
#
# tests/model/ has the program. MODEL_SECONDS is how long it draws sequences (less under sanitizers, which are slow),
# MODEL_SEED where it begins: the same place every time, so that two runs can be compared; 0 is a new one. What
# failed once is kept, shortened, in tests/model/kept and tried first; `make check` tries nothing else.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/lib_tier.sh
. tests/lib_tier.sh
variant=${VARIANT:-release}
model=$PWD/out/$variant/unit/model
seconds=$(by_tier 20 300)
[ "$variant" != asan ] || seconds=$(by_tier 20 90)
seconds=${MODEL_SECONDS:-$seconds}
if [ ! -x "$model" ]; then
	echo "not ok the model test: $model is missing; build it with make units"
	exit 1
fi
# What is killed leaves its trees; in the suite's home they are cleared away with it.
export TMPDIR=${TMPDIR:-${HOME:-/tmp}}
bad=0
[ "${TIER:-test}" = check ] || "$model" --control || bad=1
"$model" --replay tests/model/kept/*.seq || bad=1
[ "${TIER:-test}" = check ] || "$model" "$seconds" "${MODEL_SEED:-20261116000000}" || bad=1
exit $bad
