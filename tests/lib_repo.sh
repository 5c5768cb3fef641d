# lib_repo.sh - for suites that look at the repository itself and start no box: a scratch directory and how a check is
# told. Sourced from the top of the tree.
# shellcheck shell=sh disable=SC2034
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
report() { # status, name, why
	if [ "$1" = 0 ]; then echo "ok $2"; else
		echo "not ok $2: $3"
		bad=1
	fi
}
