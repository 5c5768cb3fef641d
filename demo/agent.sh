#!/bin/sh
# agent.sh - what a coding agent with all its permissions on might do, by accident or on purpose.
#
# demo/run.sh runs this file twice, once on the bare machine and once in a box, each time against things
# planted for that run. It only tries and prints what it got; whether a wall held is judged outside, by
# what really happened. Arguments: a word to leave as a trace, then what to go for.
trace=$1 home_file=$2 host_dir=$3 port=$4 pid=$5

# The work it was started for.
echo "$trace" >>notes.txt
echo "project: $(tr '\n' ' ' <notes.txt)"

# Your home directory.
echo "home: $(find "${home_file%/*}" -maxdepth 1 2>/dev/null | wc -l) names"
echo "home: $(cat "$home_file" 2>&1)"

# Your environment, and what the caller had open.
echo "environment: $(env | grep DEMO_TOKEN)"
echo "descriptor: $(cat <&9 2>&1)"

# The network: here the machine's own loopback, where databases and dashboards listen.
bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && echo '$trace' >&3" 2>/dev/null && echo 'network: connected'

# Files of the host.
for place in "$host_dir/file" "/dev/shm/${host_dir##*/}" "/var/tmp/${host_dir##*/}"; do
	echo "$trace" 2>/dev/null >>"$place" && echo "files: wrote $place"
done 2>/dev/null

# Other processes: look into one, then end it.
echo "process: $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/environ")"
kill "$pid" 2>/dev/null && echo "process: sent a signal to $pid"
exit 0
