#!/bin/bash
# suite: check=any test=any soak=any timeout=60
# tier: shell against a false apt-get: cheap enough for every commit
# setup.sh - what tools/setup.sh says and does on machines that lack something, with a false apt-get.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib_repo.sh

# A machine with a shell and little else: everything the table asks for by command is missing.
mkdir "$work/bin"
for tool in sh cat env sleep; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "${FAKE_UID:-0}"\n' >"$work/bin/id"
fake() { # name, body
	printf '#!/bin/sh\necho "%s $*" >>%s/log\n%s\n' "$1" "$work" "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
chmod +x "$work/bin/id"
run() { out=$(PATH=$work/bin "$@" sh tools/setup.sh build 2>&1); }

sh tools/setup.sh build >"$work/out" 2>&1
report $? 'a machine that has everything passes' "$(cat "$work/out")"
sh tools/setup.sh build >"$work/out" 2>&1
[ ! -s "$work/out" ]
report $? 'and does so in silence' "$(cat "$work/out")"

run env
status=$?
[ "$status" = 1 ] && grep -q 'not a Debian or Ubuntu machine' <<<"$out" && grep -q 'gcc' <<<"$out"
report $? 'another system is told what to install' "status $status: $out"

fake apt-get 'exit 0'
run env
status=$?
[ "$status" = 0 ] && grep -q 'gcc .*the C compiler' <<<"$out" && grep -q 'install .*gcc.*make' "$work/log"
report $? 'missing packages are named with their purpose, then installed' "status $status: $out"
! grep -q update "$work/log"
report $? 'package lists are not fetched without need' "$(cat "$work/log")"

rm "$work/log"
run env FAKE_UID=1000
status=$?
[ "$status" = 1 ] && [ ! -e "$work/log" ] && grep -q 'no sudo' <<<"$out"
report $? 'without root and sudo nothing is tried and the command is printed' "status $status: $out"

fake sudo 'exec "$@"'
run env FAKE_UID=1000
status=$?
[ "$status" = 0 ] && grep -q '^sudo env .*apt-get.*install' "$work/log"
report $? 'an ordinary user installs through sudo' "status $status: $(cat "$work/log")"

rm "$work/log"
fake apt-get 'case "$*" in *update*) echo >'"$work"'/updated ;; *) [ -e '"$work"'/updated ] ;; esac'
run env
status=$?
[ "$status" = 0 ] && grep -q update "$work/log"
report $? 'stale package lists are refreshed once' "status $status: $(cat "$work/log")"

fake apt-get 'exit 1'
run env
status=$?
[ "$status" = 1 ] && grep -q 'could not install' <<<"$out"
report $? 'a package that cannot be had is an error with a sentence' "status $status: $out"
exit $bad
