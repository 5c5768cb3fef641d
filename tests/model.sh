#!/bin/bash
# suite: users=root,user timeout=700
# model.sh - random work on random trees, through real overlays: diff tells the difference, apply makes it, undo takes it back.
#
# tests/model/ has the program. MODEL_SECONDS is how long it draws sequences (300, so ten minutes for both users; less under sanitizers, which are
# slow), MODEL_SEED where it begins: the same place every time, so that two runs can be compared; 0 is a new one. What
# failed once is kept, shortened, in tests/model/kept and tried first.
cd "$(dirname "$0")/.." || exit 1
variant=${VARIANT:-release}
model=$PWD/out/$variant/unit/model
seconds=${MODEL_SECONDS:-300}
[ "$variant" = asan ] && [ -z "${MODEL_SECONDS:-}" ] && seconds=90
if [ ! -x "$model" ]; then
	echo "not ok the model test: $model is missing; build it with make units"
	exit 1
fi
bad=0
"$model" --control || bad=1
"$model" --replay tests/model/kept/*.seq || bad=1
"$model" "$seconds" "${MODEL_SEED:-20261116000000}" || bad=1
exit $bad
