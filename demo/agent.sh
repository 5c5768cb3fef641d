#!/bin/sh
# agent.sh - what a coding agent with all its permissions on might do, by accident or on purpose.
#
# demo/run.sh runs this file twice, once on the bare machine and once in a box, each time against things
# planted for that run. It only tries and prints what it got; whether a wall held is judged outside, by
# what really happened. Arguments: a word to leave as a trace, then what to go for.
trace=$1 home_file=$2 host_dir=$3 port=$4 pid=$5 shared=$6 etc_file=$7

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

# Files of the host, and a pipe in a directory that was shared for reading.
for place in "$host_dir/file" "/dev/shm/${host_dir##*/}" "/var/tmp/${host_dir##*/}"; do
	echo "$trace" 2>/dev/null >>"$place" && echo "files: wrote $place"
done 2>/dev/null
echo "$trace" | dd of="$shared/pipe" oflag=nonblock conv=notrunc 2>/dev/null

# The machine: its name, its configuration, its shared memory.
echo "name: $(uname -n)"
echo "etc: $(cksum 2>/dev/null <"$etc_file")"
echo "ipc: $(tr '\n' ' ' 2>/dev/null </proc/sysvipc/shm)"

# Other processes: look into one, then end it.
echo "process: $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/environ")"
echo "process: $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
kill "$pid" 2>/dev/null && echo "process: sent a signal to $pid"

# What the kernel says it may do.
echo "right: capabilities $(grep -c '^Cap...:.*[1-9a-f]' /proc/self/status)"
echo "right: new-privileges $((1 - $(sed -n 's/^NoNewPrivs:[^0-9]*//p' /proc/self/status)))"
echo "right: unfiltered-calls $((2 - $(sed -n 's/^Seccomp:[^0-9]*//p' /proc/self/status)))"
# (a bind of one device node can hold no program)
echo "right: set-user-id-files $(awk '!/nosuid/ && $5 !~ "^/(dev|proc)/"' /proc/self/mountinfo | wc -l)"
echo "right: namespaces $(cat /proc/sys/user/max_user_namespaces)"
echo "right: keys $(wc -c 2>/dev/null </proc/keys || echo 0)"
echo "right: core-files $(awk '/^Max core/ {print $6}' /proc/self/limits)"
echo "right: kernel-root $(awk '$2 == 0' /proc/self/uid_map | wc -l)"
exit 0
