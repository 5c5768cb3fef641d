#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: the index of git does not depend on the caller
# review_index.sh - `git status` on the host rewrites the index all the time. That is no conflict with a commit of the
# box and does not stand in an undo's way; something staged on the host is, and does.
set -u
. "$(dirname "$0")/lib_life.sh"
command -v git >/dev/null || { skip review_index 'git is missing' && exit 0; }
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.test GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.test
commit='git -c user.name=b -c user.email=b@example.test commit -q'
# refresh: times are written anew; says whether the file changed, which is the control.
refresh() {
	local was
	was=$(sha256sum .git/index)
	touch -d "2001-02-0$((++day))" a && git update-index --refresh >/dev/null
	[ "$(sha256sum .git/index)" != "$was" ]
}
day=0
fresh() {
	rm -rf ./* .git
	git init -q . && echo one >a && git add a && git commit -qm one && sleep 0.1
}

fresh
box=$tag-i
"$ostiary" create -q --name "$box" >/dev/null
"$ostiary" exec "$box" -- sh -c "echo two >b && git add b && $commit -m two"
refresh
check 'the host writes its index anew (control)' $?
say "$ostiary" apply "$box" --yes
same 'and the commit of the box lands' "$code" 0
same 'the host has it' "$(git log --format=%s | tr '\n' ' ')$(git status --short)" 'two one '
refresh
check 'again (control)' $?
say "$ostiary" undo
same 'which does not stand in the way of undo' "$code" 0
same 'the host is as it was' "$(git log --format=%s | tr '\n' ' ')$(git status --short)" 'one '
refresh
check 'once more (control)' $?
say "$ostiary" apply "$box" --yes
same 'nor of a second apply' "$code $(git log --format=%s | tr '\n' ' ')$(git status --short)" '0 two one '
echo three >c && git add c
say "$ostiary" undo
holds 'something that was staged since stays' "$err" '.git/index is left as it is'
"$ostiary" rm -f "$box" >/dev/null

fresh
"$ostiary" create -q --name "$box" >/dev/null
"$ostiary" exec "$box" -- sh -c "echo two >b && git add b && $commit -m two"
echo three >c && git add c
say "$ostiary" apply "$box" --yes
holds 'something staged on the host is a conflict' "$err$out" '.git/index'
same 'and stays' "$(git status --short c)" 'A  c'
"$ostiary" rm -f "$box" >/dev/null
nothing_left 'nothing is left'
exit $bad
