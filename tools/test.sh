#!/bin/bash
# test.sh - run every suite, as root and as an ordinary user, and add up what they say.
#
# Called by `make test` and `make asan`; `tools/test.sh NAME...` runs only suites whose name contains
# one of the words. A suite is a unit program, or a script in tests/ whose head has a line like
#     # suite: users=root,user timeout=120
# users: root, user, or any (once, as whoever started us). Two run at a time (TEST_JOBS), unless one of them says
# alone=yes: it fills the machine, or looks at what belongs to all of it. A suite prints `ok NAME`, `not ok NAME: why`
# or `skip NAME: why`, one line each. It never fails in silence: a bad exit without a `not ok`, no line
# at all and running out of time are failures of the suite itself.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
variant=${VARIANT:-release}
me=$(id -u)
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

passed=0 failed=0 skipped=0
failures=() skips=()
made_user='' run_dir=''

is_tty=''
[ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && is_tty=1

# --- the ordinary user, and a tree it can read -------------------------------------------------

jobs_max=${TEST_JOBS:-2}
# What runs now, by pid.
declare -A job_name=() job_who=() job_limit=() job_start=()
started=0
finish() {
	local pid
	for pid in "${!job_name[@]}"; do
		kill "$pid" 2>/dev/null # timeout(1) passes it on to the suite's whole group
	done
	for pid in "${!job_name[@]}"; do wait "$pid" 2>/dev/null; done
	if [ -n "$run_dir" ]; then
		# Only now: two runs in one tree must not take each other's logs away.
		rm -rf "$top/out/test"
		mkdir -p "$top/out" && cp -a "$run_dir/logs" "$top/out/test"
		rm -rf "$run_dir"
	fi
	if [ -n "$made_user" ]; then
		userdel "$made_user" 2>/dev/null
	fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

run_dir=$(mktemp -d /tmp/ostiary-test.XXXXXX) || exit 1
chmod 755 "$run_dir"
logs=$run_dir/logs
mkdir "$logs"
mkdir -m 700 "$run_dir/home"

user_uid='' user_gid='' user_top=$top user_home=$run_dir/home

# Root's checkout may lie where others cannot go, and files that the user half makes must not end up in
# it: the user gets a copy of its own, compiled programs included.
prepare_user() {
	user_uid=$me user_gid=$(id -g)
	[ "$me" = 0 ] || return 0

	local name
	name=$(id -un 1000 2>/dev/null)
	if [ -z "$name" ]; then
		useradd --no-create-home --home-dir /nonexistent --shell /bin/sh ostiary-test || return 1
		made_user=ostiary-test name=ostiary-test
	fi
	user_uid=$(id -u "$name") user_gid=$(id -g "$name")
	user_top=$run_dir/tree user_home=$run_dir/user-home
	mkdir -p "$user_top/out"
	mkdir -m 700 "$user_home"
	find . -mindepth 1 -maxdepth 1 ! -name .git ! -name out -exec cp -a {} "$user_top/" \;
	# Programs, not objects; no caches: SUITE_CACHE says where large things that suites fetch may lie.
	local part
	for part in out/*; do
		case $part in
		out/test | out/test-* | out/vm | out/bench | out/fuzz | out/*.deb) continue ;;
		out/release | out/weak | out/asan)
			[ -x "$part/ostiary" ] || continue
			mkdir -p "$user_top/$part"
			cp -a "$part/ostiary" "$user_top/$part/"
			[ ! -e "$part/ostiary-door" ] || cp -a "$part/ostiary-door" "$user_top/$part/"
			[ "$part" != "out/$variant" ] || [ ! -d "$part/unit" ] || cp -a "$part/unit" "$user_top/$part/"
			continue
			;;
		esac
		cp -a "$part" "$user_top/out/"
	done
	chown -R "$user_uid:$user_gid" "$user_top" "$user_home"
}

# --- one suite ------------------------------------------------------------------------------

seconds_since() {
	local now=$EPOCHREALTIME
	local tenths=$(((${now/[.,]/} - ${1/[.,]/}) / 100000))
	printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

note_failure() { # suite, why, log
	failed=$((failed + 1))
	failures+=("$1: $2"$'\t'"$3")
}

# show_running: on a terminal, what is being waited for.
show_running() {
	[ -n "$is_tty" ] || return 0
	local pid words=''
	for pid in "${!job_name[@]}"; do words="$words  ${job_name[$pid]} (${job_who[$pid]})"; done
	printf '\r\033[K%.79s' "${words:+ $words ...}"
}

log_of() { echo "$logs/$(echo "$1-$2" | tr / _).log"; }

# start_suite NAME WHO TIMEOUT PROGRAM: WHO is root or user, PROGRAM a path relative to the tree.
start_suite() {
	local name=$1 who=$2 limit=$3 program=$4
	local log tree=$top home=$run_dir/home leaks=0
	# The search for leaks at a program's end wants ptrace, which a box does not give.
	[[ $program == */unit/* ]] && leaks=1
	log=$(log_of "$name" "$who")
	: >"$log"

	local as=()
	if [ "$who" = user ]; then
		tree=$user_top home=$user_home
		[ "$me" = 0 ] && as=(setpriv --reuid "$user_uid" --regid "$user_gid" --clear-groups)
	fi
	# Sanitizers write here, because most of our processes have no terminal to write to.
	mkdir -m 1777 "$log.faults"
	local sanitizer="log_path=$log.faults/report:print_stacktrace=1"

	# A session of its own: no suite gets our terminal. The environment is the same on every machine.
	(
		cd "$tree" || exit 125
		exec env -i PATH="$system_path" HOME="$home" LANG=C.UTF-8 TERM=xterm-256color \
			OSTIARY="$tree/out/$variant/ostiary" OSTIARY_WEAK="$tree/out/weak/ostiary" \
			VARIANT="$variant" SUITE_USER="$who" SUITE_CACHE="$top/out" ${FUZZ_SECONDS:+FUZZ_SECONDS="$FUZZ_SECONDS"} \
			${MODEL_SECONDS:+MODEL_SECONDS="$MODEL_SECONDS"} SUITE_PORTS=$((20000 + started % 12 * 1000)) \
			ASAN_OPTIONS="$sanitizer:detect_leaks=$leaks" UBSAN_OPTIONS="$sanitizer" \
			setsid -w timeout -k 10 "$limit" "${as[@]}" "./$program"
	) </dev/null >"$log" 2>&1 &
	started=$((started + 1))
	job_name[$!]=$name job_who[$!]=$who job_limit[$!]=$limit job_start[$!]=$EPOCHREALTIME
	show_running
}

# reap_suite: wait for the next one that ends, and count what it said.
reap_suite() {
	local pid='' status
	wait -n -p pid "${!job_name[@]}"
	status=$?
	[ -n "$pid" ] || return 0
	local label="${job_name[$pid]} (${job_who[$pid]})" limit=${job_limit[$pid]} start=${job_start[$pid]} log
	log=$(log_of "${job_name[$pid]}" "${job_who[$pid]}")
	unset "job_name[$pid]" "job_who[$pid]" "job_limit[$pid]" "job_start[$pid]"

	local ok=0 bad=0 left=0 line
	while IFS= read -r line; do
		case $line in
		"ok "*) ok=$((ok + 1)) ;;
		"not ok "*)
			bad=$((bad + 1))
			note_failure "$label" "${line#not ok }" "$log"
			;;
		"skip "*)
			left=$((left + 1))
			skips+=("$label: ${line#skip }")
			;;
		esac
	done < <(grep -aE '^(ok|not ok|skip) ' "$log")
	passed=$((passed + ok)) skipped=$((skipped + left))

	local broken=''
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		broken="did not end within $limit s"
	elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		broken="ended with status $status and named no failed test"
	elif [ $((ok + bad + left)) = 0 ]; then
		broken="printed no result"
	fi
	if [ -n "$broken" ]; then
		bad=$((bad + 1))
		note_failure "$label" "$broken" "$log"
	fi
	if compgen -G "$log.faults/*" >/dev/null; then
		bad=$((bad + 1))
		cat "$log.faults"/* >"$log.sanitizer"
		note_failure "$label" "a sanitizer found a fault: $(grep -am 1 -E 'ERROR|runtime error' "$log.sanitizer")" "$log.sanitizer"
	fi
	rm -rf "$log.faults"
	local extra=''
	[ "$bad" = 0 ] || extra=", $bad FAILED"
	[ "$left" = 0 ] || extra="$extra, $left skipped"
	[ -z "$is_tty" ] || printf '\r\033[K'
	printf '  %-44s %4d ok%s  (%s s)\n' "$label" "$ok" "$extra" "$(seconds_since "$start")"
	show_running
}

# run_suite NAME WHO TIMEOUT PROGRAM IS_ALONE: when there is room for it.
run_suite() {
	local room=$jobs_max
	[ "$5" = no ] || room=1
	while [ ${#job_name[@]} -ge "$room" ]; do reap_suite; done
	start_suite "$1" "$2" "$3" "$4"
	[ "$5" = no ] || reap_suite
}

# --- all suites -----------------------------------------------------------------------------

head_word() { # file, key, default
	local value
	value=$(sed -n "1,20s/.*suite:.*\b$2=\([a-z0-9,]*\).*/\1/p" "$1" | head -n 1)
	echo "${value:-$3}"
}

wanted() { # name
	[ ${#words[@]} = 0 ] && return 0
	local word
	for word in "${words[@]}"; do
		[[ $1 == *"$word"* ]] && return 0
	done
	return 1
}

# dispatch NAME PROGRAM HEAD DEFAULT_USERS: run once per user that the head names.
dispatch() {
	local name=$1 program=$2 users limit alone who
	wanted "$name" || return 0
	users=$(head_word "$3" users "$4")
	limit=$(head_word "$3" timeout 240)
	alone=$(head_word "$3" alone no)
	[ "$alone" != no ] || limit=$((limit * jobs_max)) # two at a time take longer each
	for who in ${users//,/ }; do
		case $who in
		any) [ "$me" = 0 ] && who=root || who=user ;;
		esac
		if [ "$who" = root ] && [ "$me" != 0 ]; then
			skipped=$((skipped + 1))
			skips+=("$name (root): not root")
		elif [ "$who" = user ] && [ -z "$user_uid" ]; then
			note_failure "$name (user)" "no ordinary user could be made" /dev/null
		else
			run_suite "$name" "$who" "$limit" "$program" "$alone"
		fi
	done
}

words=("$@")
begin=$EPOCHREALTIME
prepare_user || user_uid=''
[ -z "$user_uid" ] || echo "Suites run as uid $me$([ "$me" != 0 ] || echo " and as uid $user_uid"); logs are in out/test."

for source in tests/unit/*.c; do
	[ -e "$source" ] || continue
	unit=$(basename "$source" .c)
	dispatch "unit/$unit" "out/$variant/unit/$unit" "$source" any
done

for script in tests/*.sh tests/attack/run.sh tests/vm/*.sh; do
	[ -e "$script" ] || continue
	name=${script#tests/} name=${name%.sh}
	case ${name##*/} in lib*) continue ;; esac
	if ! head -n 20 "$script" | grep -q '# suite:'; then
		note_failure "$name" "has no '# suite:' line in its head (a library is named lib*.sh)" /dev/null
		continue
	fi
	[ -x "$script" ] || {
		note_failure "$name" "is not executable" /dev/null
		continue
	}
	dispatch "$name" "$script" "$script" root,user
done

while [ ${#job_name[@]} -gt 0 ]; do reap_suite; done

if [ ${#skips[@]} -gt 0 ]; then
	printf '\nSkipped:\n'
	printf '  %s\n' "${skips[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
	printf '\nFailed:\n'
	shown=''
	for entry in "${failures[@]}"; do
		printf '  %s\n' "${entry%%$'\t'*}"
	done
	for entry in "${failures[@]}"; do
		log=${entry##*$'\t'}
		[ -s "$log" ] || continue
		case $shown in *"|$log|"*) continue ;; esac
		shown="$shown|$log|"
		if grep -qa '^not ok ' "$log" && ! tail -n 3 "$log" | grep -qa '^not ok '; then
			printf '\nFrom %s, around what failed:\n' "out/test/${log##*/}"
			grep -a -B 3 -A 1 '^not ok ' "$log" | head -n 30 | sed 's/^/    /'
		else
			printf '\nThe end of %s:\n' "out/test/${log##*/}"
			tail -n 20 "$log" | sed 's/^/    /'
		fi
	done
fi
[ $((passed + failed)) -gt 0 ] || echo "No test ran."
printf '\n%s s\n' "$(seconds_since "$begin")"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
