# shellcheck shell=bash disable=SC2034,SC2154
# host_cases.sh - cases that are judged from outside: boxes started wrongly, starved, killed.
#
# Sourced by judge.sh after the cases that run inside; uses its ok, not_ok and skip.

# wait_for SECONDS COMMAND...: until the command succeeds. The seconds are for a machine that is busy with something else.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# held MARK: the host's pid of `inside hold N MARK`, which runs in a box.
held() {
	pgrep -f "^$inside hold [0-9]+ $1\$" | head -n 1
}
is_held() { [ -n "$(held "$1")" ]; }
is_gone() { [ -z "$(held "$1")" ]; }
is_ours() { [ "$(readlink "/proc/$1/exe" 2>/dev/null)" = "$work/bin/ostiary" ] || [[ $(cat "/proc/$1/comm" 2>/dev/null) == ostiary* ]]; }
parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

# start_held MARK: a box that stands still; its pids in $box_cli $box_command $box_init $box_supervisor.
start_held() {
	box ostiary '' -- "$inside" hold 150 "$1" </dev/null >/dev/null 2>&1 &
	box_cli=$!
	wait_for 60 is_held "$1" || return 1
	box_command=$(held "$1")
	box_init=$(parent_of "$box_command")
	box_supervisor=$(parent_of "$box_init")
	# Nothing is killed that is not ours.
	is_ours "$box_init" && is_ours "$box_supervisor"
}

# --- 42: without its supervisor a box ends --------------------------------------------------------

mark="mark42-$$"
if ! start_held "$mark"; then
	not_ok 42 "${name[42]}" "the box did not start, or is not the child of a supervisor"
else
	kill -KILL "$box_supervisor"
	if wait_for 60 is_gone "$mark"; then
		ok 42 "${name[42]}"
	else
		not_ok 42 "${name[42]}" "the box lived on without its supervisor"
		kill -KILL "$box_command"
	fi
	wait "$box_cli" 2>/dev/null
fi

# --- R10: a box that would run for ever ---------------------------------------------------------------

box ostiary '' --limit time=1 -- "$inside" hold 150 </dev/null >/dev/null 2>"$res/time.err"
status=$?
if [ "$status" = 124 ] && [ -s "$res/time.err" ]; then
	ok R10 "${name[R10]}"
else
	not_ok R10 "${name[R10]}" "the exit code is $status, not 124, or no sentence says why"
fi

# --- B9: whatever is killed, nothing is left in the user's tree --------------------------------------

tree_state() { find "$work/ws" "$work/tree" -printf '%p %y %s %m %T@\n' | sort; }
tree_state >"$res/tree.before"
left=''
for victim in init supervisor all; do
	mark="markB9-$victim-$$"
	if ! start_held "$mark"; then
		left="the box did not start, or is not the child of a supervisor"
		break
	fi
	case $victim in
	init) kill -KILL "$box_init" ;;
	supervisor) kill -KILL "$box_supervisor" ;;
	all) kill -KILL "$box_supervisor" "$box_init" "$box_cli" 2>/dev/null ;;
	esac
	wait "$box_cli" 2>/dev/null
	wait_for 60 is_gone "$mark" || left="a box lived on after its $victim was killed"
	tree_state >"$res/tree.after"
	cmp -s "$res/tree.before" "$res/tree.after" || left="the tree changed after its $victim was killed: $(diff "$res/tree.before" "$res/tree.after" | head -n 2 | tr '\n' ' ')"
	grep -q " $work/" /proc/self/mountinfo && left="a mount was left after its $victim was killed"
	[ -z "$left" ] || break
done
if [ -z "$left" ]; then
	ok B9 "${name[B9]}"
else
	not_ok B9 "${name[B9]}" "$left"
fi

# --- B10: no namespaces, no walls, so no command ------------------------------------------------------

no_namespaces=(unshare --user --map-current-user --keep-caps sh -c
	'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh)
if ! "${no_namespaces[@]}" true 2>/dev/null; then
	skip B10 "${name[B10]}" "this machine cannot switch user namespaces off for a test"
else
	out=$(cd "$work/ws" && "${user_env[@]}" timeout 100 "${no_namespaces[@]}" "$work/bin/ostiary" run -q --rm \
		--workspace "$work/ws" -- /bin/sh -c 'echo it-ran' 2>&1 </dev/null)
	status=$?
	if [[ $out == *it-ran* ]]; then
		not_ok B10 "${name[B10]}" "the command ran without walls"
	elif [ "$status" = 0 ] || [ "$status" = 124 ]; then
		not_ok B10 "${name[B10]}" "the exit code was $status"
	else
		ok B10 "${name[B10]}"
	fi
fi

# --- B10e: the installed program knows no switch ------------------------------------------------------

run_plain ostiary "$(IFS=, && echo "${layers[*]}")" "$res/switch.plain"
if grep -aq OSTIARY_WEAKEN "$work/bin/ostiary"; then
	not_ok B10e "${name[B10e]}" "the installed program reads OSTIARY_WEAKEN"
elif ! grep -q '^case ' "$res/switch.plain"; then
	not_ok B10e "${name[B10e]}" "the box did not start"
elif grep -q '^case [^ ]* escaped' "$res/switch.plain"; then
	not_ok B10e "${name[B10e]}" "$(grep -m 1 '^case [^ ]* escaped' "$res/switch.plain")"
else
	ok B10e "${name[B10e]}"
fi

# --- B11: no helper is looked for along PATH ----------------------------------------------------------

mkdir -p "$work/ws/evil"
for helper in newuidmap newgidmap mount umount fusermount ip nft sh bash git systemd-run systemctl \
	busctl id getent cp rm tar env ldd; do
	printf '#!/bin/sh\necho %s >>%s/evil-ran\n' "$helper" "$work/host" >"$work/ws/evil/$helper"
	chmod 755 "$work/ws/evil/$helper"
done
(
	cd "$work/ws" || exit 125
	"${user_env[@]}" PATH="$work/ws/evil:.:$PATH" "$work/bin/ostiary" run -q --rm \
		--workspace "$work/ws" -- "$inside" 8n
) </dev/null >"$res/path.plain" 2>&1
rm -rf "$work/ws/evil"
if ! grep -q '^case 8n ' "$res/path.plain"; then
	not_ok B11 "${name[B11]}" "the box did not start"
elif [ -e "$work/host/evil-ran" ]; then
	not_ok B11 "${name[B11]}" "ran from the search path: $(sort -u "$work/host/evil-ran" | tr '\n' ' ')"
else
	ok B11 "${name[B11]}"
fi

# --- 22w: the workspace turns into a link to the home between check and use ----------------------------

mkdir -p "$work/swap/w"
ln -s "$work/home" "$work/swap/link"
mkfifo "$work/swap/hold"
"$work/bin/plant" swap "$work/swap/w" "$work/swap/link" <"$work/swap/hold" &
swapper=$!
exec 9>"$work/swap/hold"
seen='' started=0 refused=0
for _ in $(seq 40); do
	out=$(cd / && "${user_env[@]}" timeout 100 "$work/bin/ostiary" run -q --rm --workspace "$work/swap/w" \
		-- /bin/sh -c 'echo started; cat .ssh/id_attack' 2>/dev/null </dev/null 9>&-)
	[[ $out == *started* ]] && started=$((started + 1)) || refused=$((refused + 1))
	[[ $out == *"$canary"* ]] && seen=$((seen + 1))
done
exec 9>&-
wait "$swapper" 2>/dev/null
if [ -n "$seen" ]; then
	not_ok 22w "${name[22w]}" "the home was shown as a workspace in $seen of 40 starts"
elif [ "$started" = 0 ] || [ "$refused" = 0 ]; then
	skip 22w "${name[22w]}" "the race was never met: $started of 40 boxes started, $refused were refused"
else
	ok 22w "${name[22w]}"
fi

# --- 23w: what is to be shown turns into a link to /proc between check and use ---------------------------

# Two ways to be led astray: the host's /proc is shown in its place, or it is mounted over the box's own.
mkdir -p "$work/swap23/w/sub"
ln -s /proc "$work/swap23/link"
mkfifo "$work/swap23/hold"
below_proc='grep -o " /proc/[^ ]*" /proc/self/mountinfo | sort | tr "\n" " "'
swapped_box() { # a box that shows what is swapped; prints what stands below its /proc
	(cd / && "${user_env[@]}" timeout 100 "$work/bin/ostiary" run -q --rm --workspace "$work/swap23/w" \
		--bind "$work/swap23/w/sub:ro" -- /bin/sh -c "echo started \$($below_proc); [ -L sub ] || ls sub" 2>/dev/null </dev/null 9>&-)
}
ordinary=$(swapped_box)
"$work/bin/plant" swap "$work/swap23/w/sub" "$work/swap23/link" <"$work/swap23/hold" &
swapper=$!
exec 9>"$work/swap23/hold"
odd='' started=0 refused=0
for _ in $(seq 40); do
	out=$(swapped_box)
	[[ $out == started* ]] && started=$((started + 1)) || refused=$((refused + 1))
	[ -z "$out" ] || [ "$out" = "$ordinary" ] || odd=$out
done
exec 9>&-
wait "$swapper" 2>/dev/null
if [ -n "$odd" ]; then
	not_ok 23w "${name[23w]}" "beside \"$ordinary\" it was once \"${odd:0:200}\""
elif [[ $ordinary != started* ]] || [ "$started" = 0 ]; then
	not_ok 23w "${name[23w]}" "no box started"
elif [ "$refused" = 0 ]; then
	skip 23w "${name[23w]}" "the race was never met: $started of 40 boxes started, none was refused"
	note[23w]='no control here'
else
	ok 23w "${name[23w]}"
fi

# --- 26, 26h: mounts of one side do not spread to the other, in a workspace shown as it is -------------

# spreads_out WEAKEN: does a mount made in the box show up in our own mount table?
spreads_out() {
	local cli seen=1
	box ostiary-weak "$1" --live -- "$inside" 26 </dev/null >/dev/null 2>&1 &
	cli=$!
	# As long as it lives, however slowly it starts.
	while kill -0 "$cli" 2>/dev/null; do
		[[ $(</proc/self/mountinfo) != *ostiary-attack-26\ * ]] || seen=0
		sleep 0.02
	done
	wait "$cli"
	return $seen
}

# spreads_in WEAKEN: does a mount that we make while the box runs show up in there?
spreads_in() {
	local cli seen=1
	mkdir -p "$work/ws/late"
	mkfifo "$res/late.in"
	# shellcheck disable=SC2016
	box ostiary-weak "$1" --live -- /bin/sh -c 'echo ready; read _; cat late/secret' \
		<"$res/late.in" >"$res/late" 2>/dev/null &
	cli=$!
	exec 4>"$res/late.in"
	wait_for 60 grep -q ready "$res/late"
	mount -t tmpfs -o size=64k ostiary-late "$work/ws/late" && echo "$canary" >"$work/ws/late/secret"
	echo >&4
	exec 4>&-
	rm "$res/late.in"
	wait "$cli"
	grep -q "$canary" "$res/late" && seen=0
	umount "$work/ws/late"
	rmdir "$work/ws/late"
	return $seen
}

if [ "$as" = user ] || ! grep -q ' / / .* shared:' /proc/self/mountinfo; then
	for id in 26 26h; do
		skip "$id" "${name[$id]}" "only root can mount on the host, and in mounts that spread"
		note[$id]='not applicable'
	done
else
	if spreads_in ''; then
		not_ok 26h "${name[26h]}" "a mount that the host made later was seen in the full box"
	elif ! spreads_in propagation && ! spreads_in propagation && ! spreads_in propagation; then
		not_ok 26h "${name[26h]}" "no positive control: without propagation it was not seen either"
	else
		ok 26h "${name[26h]}"
		marks[26h]=+propagation+
	fi
	if spreads_out seccomp,caps,landlock; then
		not_ok 26 "${name[26]}" "the host saw it with the propagation layer in place"
	elif ! spreads_out seccomp,caps,landlock,propagation; then
		not_ok 26 "${name[26]}" "no positive control: without seccomp, caps, landlock and propagation it was not seen either"
	else
		ok 26 "${name[26]}"
		marks[26]=+seccomp+caps+landlock+propagation+
	fi
fi
