# lib_git.sh - what the suites of commits share: who commits, a small repository of its own for each thought, and what a box
# does there most often. Source it after lib_life.sh and lib_review.sh.
# shellcheck shell=bash disable=SC2034,SC2154
git config --global user.name Tester
git config --global user.email tester@example.net
git config --global init.defaultBranch main
git config --global protocol.file.allow always

# repo NAME: a repository with one commit of two files, and we are in it.
repo() {
	fresh "$1"
	git init -q && echo one >a && echo two >b && git add . && git commit -qm first
}
COMMIT='echo more >>a; echo new >c; git add -A; git commit -qm "from the box"'
