#!/bin/sh
# phase.sh - run one step of a make target and note how long it took, for the summary of the tests.
#
# phase.sh NAME COMMAND...: the time goes to out/phases, which the first step of a run empties (`phase.sh --begin`).
# Ends with the status of the command.
if [ "$1" = --begin ]; then
	mkdir -p out && : >out/phases
	exit
fi
name=$1
shift
begin=$(date +%s%N)
"$@"
status=$?
mkdir -p out
tenths=$((($(date +%s%N) - begin) / 100000000))
echo "$name $((tenths / 10)).$((tenths % 10))" >>out/phases
exit $status
