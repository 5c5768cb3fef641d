# lib_review.sh - what the suites of apply and undo share: a workspace of their own for each thought, a box that
# did something in it, and a picture of a tree for comparing. Source it after lib_life.sh.
# shellcheck shell=bash disable=SC2154,SC2034

# fresh NAME: an empty workspace of that name, and we are in it.
fresh() {
	mkdir "$work/$1" && cd "$work/$1" || exit 1
}
# box NAME SCRIPT: a box that has ended after it did that here.
box() {
	sleep 0.05 # what was made here just now is older than the box, by the kernel's clock too
	say "$ostiary" run -q --name "$1" -- sh -c "$2"
	[ "$code" = 0 ] || not_ok "the box $1 ran" "$err"
}
# shot DIR: everything in it: names, kinds, modes, contents, targets.
shot() { (cd "$1" && find . -mindepth 1 \( -type f -printf '%p %m f ' -exec sha256sum {} \; -o -type l -printf '%p l %l\n' -o -printf '%p %m %y\n' \) | LC_ALL=C sort); }
# absent PATH: 1 when there is nothing, else 0. records: the numbers of all records of undo, oldest first.
absent() { [ -e "$1" ] || [ -L "$1" ] && echo 0 || echo 1; }
records() { find "$HOME/.local/state/ostiary/undo" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort -n; }
# answer ANSWERS COMMAND...: on a terminal, one answer for each question; $out and $code.
answer() {
	out=$(python3 "$here/review/answer.py" "$@")
	code=$?
}
json() { python3 -c "import json, sys; d = json.load(sys.stdin); d = d[\"data\"] if \"ostiary\" in d else d; print($1)"; }
# remove_boxes: all of them.
remove_boxes() {
	local b
	cd "$work" || exit 1
	for b in $("$ostiary" ps -aq); do "$ostiary" rm --force "$b" >/dev/null 2>&1; done
}
