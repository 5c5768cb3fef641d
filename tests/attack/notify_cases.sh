# shellcheck shell=bash disable=SC2034,SC2154
# notify_cases.sh - case 43, judged by the log: what the witness wrote while callers died in its hands.
#
# Sourced by judge.sh after host_cases.sh; uses its ok, not_ok and skip, and wait_for of host_cases.sh. The
# halves that run inside are reuse.c and storm.c.

# kept PROGRAM WEAKEN NAME FLAGS -- COMMAND...: as box, of a box that is kept with its log.
kept() {
	local program=$1 weaken=$2 named=$3
	shift 3
	(
		cd "$work/ws" || exit 125
		exec "${user_env[@]}" ${weaken:+OSTIARY_WEAKEN="$weaken"} timeout -k 5 120 \
			"$work/bin/$program" run -q --keep -n "$named" --workspace "$work/ws" "$@" 6>&-
	)
}
log_of() { echo "$work/xdg/state/ostiary/boxes/$1/audit.jsonl"; }
drop_box() { "${user_env[@]}" "$work/bin/ostiary" rm -f "$1" >/dev/null 2>&1; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; } # of records, one a line

# --- 43: a number that changes hands --------------------------------------------------------------------

# Where processes are counted anew, and somebody may say which number is next.
alone=(unshare --pid --fork --mount-proc)
[ "$(id -u)" = 0 ] || alone=(unshare --user --map-current-user --keep-caps --pid --fork --mount-proc)

# reuse PROGRAM WEAKEN: one run. Sets $met, how often a number came round, $false_who, how many calls were
# written down as another process's, and $false_words, how many with another process's words.
reuse() {
	local named="reuse-$$-$RANDOM" log status numbers
	(
		cd "$work/ws" || exit 125
		exec "${user_env[@]}" ${2:+OSTIARY_WEAKEN="$2"} timeout -k 5 120 "${alone[@]}" bash "$here/reuse_host.sh" \
			"$work/bin/$1" run -q --keep -n "$named" --workspace "$work/ws" -- "$inside" reuse 6>&-
	) </dev/null >"$res/reuse" 2>"$res/reuse.err"
	status=$?
	log=$(log_of "$named")
	numbers=$(awk '$1 == "thread" { print $2 }' "$res/reuse")
	process=$(awk '$1 == "thread" { print $4; exit }' "$res/reuse")
	# The heir asks for mounts (0x20000), the thread before it for a user namespace.
	grep -s '"note":"0x20000 = EPERM"' "$log" | field pid >"$res/reuse.heirs"
	met=$(grep -cxF "${numbers:-none}" "$res/reuse.heirs")
	false_who=$(grep -cx "${process:-none}" "$res/reuse.heirs")
	false_words=$(grep -s '"kind":"bind"' "$log" | grep -c words-of-another)
	drop_box "$named"
	return $status
}

if ! "${alone[@]}" bash -c '{ echo 100 >/proc/sys/kernel/ns_last_pid; } 2>/dev/null'; then
	skip 43 "${name[43]}" "nobody may choose the numbers of processes on this machine"
	note[43]='no control here'
else
	# On a busy machine another process may take each number first, and then a run shows nothing: it is
	# made again until a number came round. The control has as many runs to succeed in both ways once.
	for _ in 1 2 3 4 5; do
		reuse ostiary ''
		full="$? $false_who $false_words" full_met=$met
		[ "$full/$met" = '0 0 0/0' ] || break
	done
	reuse ostiary-weak wait-held
	held="$? $false_who $false_words"
	weak_who=0 weak_words=0
	for _ in 1 2 3 4 5; do
		reuse ostiary-weak wait-held,notify-id
		weak=$?
		[ "$false_who" = 0 ] || weak_who=1
		[ "$false_words" = 0 ] || weak_words=1
		weak="$weak $weak_who $weak_words"
		[ "$weak" != '0 1 1' ] || break
	done
	if [ "$full" != '0 0 0' ] || [ "$held" != '0 0 0' ]; then
		not_ok 43 "${name[43]}" "status, calls of another process, words of another process: $full in the full box, $held when the number had come round for sure: $(tail -n 1 "$res/reuse.err")"
	elif [ "$weak" != '0 1 1' ]; then
		not_ok 43 "${name[43]}" "no positive control: without notify-id it is $weak: $(tail -n 1 "$res/reuse.err")"
	elif [ "$full_met" = 0 ]; then
		not_ok 43 "${name[43]}" "no number came round: $(tr '\n' ' ' <"$res/reuse")"
	else
		ok 43 "${name[43]}"
		marks[43]=+notify-id+
	fi
fi

# --- 43k: callers that die, stand still and are interrupted in flight -----------------------------------

# storm NAME FLAGS...: one run; prints "BEGUN ANSWERED WRONG RECORDED LOST WITNESS STATUS". LOST: processes that
# executed a program and have no end in the log. WITNESS: same, or what became of it.
storm() {
	local named=$1 begun='' answered wrong supervisor before after recorded lost status log
	shift
	mkfifo "$res/storm.in" "$res/storm.out"
	kept ostiary '' "$named" "$@" -- "$inside" storm <"$res/storm.in" >"$res/storm.out" 2>"$res/storm.err" &
	local cli=$!
	exec 4>"$res/storm.in" 5<"$res/storm.out"
	read -r -t 60 _ <&5
	supervisor=$("${user_env[@]}" "$work/bin/ostiary" ps -a --json |
		grep -o "\"id\":\"$named\".*" | grep -o '"supervisor_pid":[0-9]*' | head -n 1 | cut -d: -f2)
	before=$(pgrep -P "${supervisor:-1}" -f '^ostiary-witness')
	echo >&4
	read -r -t 100 _ begun answered wrong <&5
	after=$(pgrep -P "${supervisor:-1}" -f '^ostiary-witness')
	echo >&4
	exec 4>&- 5<&-
	wait $cli
	status=$?
	rm -f "$res/storm.in" "$res/storm.out"
	log=$(log_of "$named")
	recorded=$(grep -s '"method":"unshare"' "$log" | grep -c '"verdict":"deny"')
	lost=$(comm -23 <(grep -s '"kind":"exec"' "$log" | field pid | sort -u) \
		<(grep -s '"kind":"exit"' "$log" | field pid | sort -u) | wc -l)
	[ -n "$before" ] && [ "$before" = "$after" ] && after=same
	echo "${begun:-0} ${answered:-0} ${wrong:-0} $recorded $lost ${after:-none} $status"
}

# is_whole BEGUN ANSWERED WRONG RECORDED LOST WITNESS STATUS
is_whole() {
	[ "$2" -gt 12000 ] && [ "$3" = 0 ] && [ "$4" -ge "$2" ] && [ "$4" -le "$1" ] &&
		[ "$5" = 0 ] && [ "$6" = same ] && [ "$7" = 0 ]
}

read -ra got <<<"$(storm "storm-$$")"
"${user_env[@]}" "$work/bin/ostiary" audit verify "storm-$$" >/dev/null 2>&1
verified=$?
drop_box "storm-$$"
read -ra deaf <<<"$(storm "deaf-$$" --audit off)"
drop_box "deaf-$$"
if ! is_whole "${got[@]}" || [ $verified != 0 ]; then
	not_ok 43k "${name[43k]}" "begun, answered, wrongly, recorded, ends that are missing, witness, status: ${got[*]}; verify $verified: $(tail -n 1 "$res/storm.err")"
elif [ "${deaf[2]}" != 0 ] || is_whole "${deaf[@]}"; then
	not_ok 43k "${name[43k]}" "no positive control: without a log it is ${deaf[*]}"
else
	ok 43k "${name[43k]}"
fi
