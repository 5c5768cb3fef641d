#!/bin/bash
# judge.sh - run every case in the full box, once per missing wall and per set of walls; compare with
# what the case table says; print results and the table of cases and layers.
#
# Started by run.sh, which planted the host's side. Rules: in the full box every case is blocked or
# not applicable. Without its set of layers it escapes. Without any part of the set it does not. No
# single layer frees a case whose set is another. What no switch frees is the kernel's doing.
# shellcheck disable=SC2034,SC2154
set -u
# shellcheck source=tests/attack/lib_box.sh
. "$here/lib_box.sh"

layers=(seccomp landlock caps nnp nosuid dumpable pidns netns ipcns utsns userns-limits overlay-ro
	etc-filter env fds rlimits cgroup masks tiocsti highuid propagation keyring pty home-mask cwd
	notify-memory notify-id)
codes=(sc ll ca np ns du pi ne ip ut ul ov et en fd rl cg ma ts hu pr ke pt hm cw nm ni)
res=$work/res
bad=0
declare -A marks note

ok() { echo "ok attack-$1 $2"; }
not_ok() {
	echo "not ok attack-$1 $2: $3"
	note[$1]=FAILED
	bad=1
}
skip() { echo "skip attack-$1 $2: $3"; }

# --- the case table, from the attacker itself ------------------------------------------------------

ids=()
declare -A name start set_of user_set root_set
while IFS=$'\t' read -r id _ _ how user root words; do
	ids+=("$id")
	name[$id]=$words start[$id]=$how user_set[$id]=$user root_set[$id]=$root
	[ "$as" = root ] && set_of[$id]=$root || set_of[$id]=$user
done < <("$inside" list)

# --- runs; a result is kept by the walls that were missing -------------------------------------------

result_of() { # start, layers joined by '+'
	echo "$res/$1.$2"
}

# measure START LAYERS [CASE...]: run unless it was run already.
measure() {
	local how=$1 layers_off=$2 result weaken
	result=$(result_of "$how" "$layers_off")
	[ "$how" != limit ] && [ -e "$result" ] && return
	touch "$result"
	weaken=${layers_off//+/,}
	shift 2
	case $how in
	plain) run_plain ostiary-weak "$weaken" "$result" "$@" ;;
	tty) run_tty ostiary-weak "$weaken" "$result" ;;
	limit) [ -n "$(verdict "$result" "$1")" ] || run_limit ostiary-weak "$weaken" "$result" "$1" ;;
	esac
}

without() { # set, layer
	local IFS=+ out=() l
	for l in $1; do [ "$l" = "$2" ] || out+=("$l"); done
	echo "${out[*]}"
}

# Full boxes: the program people install, and the test build with every wall in place.
echo "# full box"
run_plain ostiary '' "$res/full.plain"
run_tty ostiary '' "$res/full.tty"
for id in "${ids[@]}"; do
	[ "${start[$id]}" = limit ] && run_limit ostiary '' "$res/full.limit" "$id"
done
if ! grep -q '^case ' "$res/full.plain"; then
	not_ok start "the full box" "it did not start: $(tail -n 2 "$res/full.plain.err" | tr '\n' ' ')"
	exit 1
fi
# The test build with nothing left out is the same box; if not, nothing below says anything.
run_plain ostiary-weak '' "$res/weak.plain"
if ! grep -q '^case ' "$res/weak.plain"; then
	not_ok start "the test build's box" "it did not start: $(tail -n 2 "$res/weak.plain.err" | tr '\n' ' ')"
	exit 1
fi
if ! diff <(cut -d' ' -f1-3 "$res/full.plain") <(cut -d' ' -f1-3 "$res/weak.plain") >/dev/null; then
	not_ok weak "the test build is the same box" "$(diff <(cut -d' ' -f1-3 "$res/full.plain") <(cut -d' ' -f1-3 "$res/weak.plain") | grep '^[<>]' | tr '\n' ' ')"
else
	ok weak "the test build with every wall gives the same verdicts"
fi
sort -u "$events" >"$res/events.full"
grep -q attacked "$work/tree/file" && echo tree-file >>"$res/events.full"
: >"$events"

# The same programs with no box at all: the control for walls that have no switch.
echo "# no box"
(cd "$work/ws" && "${user_env[@]}" ./inside all 6>&- 7<"$work/secret-dir/secret" \
	8<"$work/secret-dir" </dev/null >"$res/host.plain" 2>/dev/null)

# Who holds processes and memory depends on the machine: a group where there is one (the column of
# root in the table), else limits of each process and a watch from outside (the column of a user).
measure limit rlimits R1
for id in "${ids[@]}"; do
	[ "${start[$id]}" = limit ] || continue
	case $(verdict "$(result_of limit rlimits)" R1) in
	blocked) set_of[$id]=${root_set[$id]} ;;
	escaped) set_of[$id]=${user_set[$id]} ;;
	esac
done

echo "# one wall at a time"
for layer in "${layers[@]}"; do
	measure plain "$layer"
	case $layer in seccomp | tiocsti | pty) measure tty "$layer" ;; esac
done
everything=$(IFS=+ && echo "${layers[*]}")
measure plain "$everything"
if ! grep -q '^case ' "$(result_of plain "$everything")"; then
	not_ok start "a box without any wall" "it did not start: $(tail -n 1 "$(result_of plain "$everything").err")"
fi

# --- the verdict on each case ------------------------------------------------------------------------


# judge_set ID: prints why the table is wrong about this case, or nothing.
judge_set() {
	local id=$1 how=${start[$1]} set=${set_of[$1]%\?} layer part
	measure "$how" "$set" $([ "$how" = limit ] && echo "$id")
	if [ "$(verdict "$(result_of "$how" "$set")" "$id")" != escaped ]; then
		echo "no positive control: without $set it is still $(verdict "$(result_of "$how" "$set")" "$id") ($(detail "$(result_of "$how" "$set")" "$id")$(tail -n 1 "$(result_of "$how" "$set").err" 2>/dev/null))"
		return
	fi
	for layer in ${set//+/ }; do
		part=$(without "$set" "$layer")
		[ -n "$part" ] || continue
		measure "$how" "$part" $([ "$how" = limit ] && echo "$id")
		if [ "$(verdict "$(result_of "$how" "$part")" "$id")" = escaped ]; then
			echo "it escapes already without $part: $layer does not stop it"
			return
		fi
	done
	for layer in "${layers[@]}"; do
		[ "$layer" != "$set" ] || continue
		[ -e "$(result_of "$how" "$layer")" ] || continue
		if [ "$(verdict "$(result_of "$how" "$layer")" "$id")" = escaped ]; then
			echo "it escapes without $layer alone, which is not in its set $set"
			return
		fi
	done
}

judge_case() {
	local id=$1 how=${start[$1]} set=${set_of[$1]} full why
	if [ "${VARIANT:-release}" = asan ] && [ "$id $set" = 'R3 rlimits' ]; then
		skip "$id" "${name[$id]}" "the sanitizers' build leaves that limit out: its own memory would count"
		note[$id]='not in this build'
		return
	fi
	full=$(verdict "$res/full.$how" "$id")
	case $full in
	escaped)
		not_ok "$id" "${name[$id]}" "escaped from the full box: $(detail "$res/full.$how" "$id")"
		note[$id]=ESCAPED
		return
		;;
	n/a)
		skip "$id" "${name[$id]}" "not applicable: $(detail "$res/full.$how" "$id")"
		note[$id]='not applicable'
		return
		;;
	blocked) ;;
	*)
		not_ok "$id" "${name[$id]}" "no verdict from the full box"
		return
		;;
	esac
	case $set in
	kernel | shape)
		if [ "$how" = plain ] && [ "$(verdict "$(result_of plain "$everything")" "$id")" = escaped ]; then
			not_ok "$id" "${name[$id]}" "a layer of ours decides after all: it escapes without all of them"
		elif [ "$set" = kernel ]; then
			skip "$id" "${name[$id]}" "blocked by the kernel in any user namespace, no layer of ours is needed"
			note[$id]='the kernel itself'
		elif [ "$how" = plain ] && [ "$(verdict "$res/host.plain" "$id")" != escaped ]; then
			skip "$id" "${name[$id]}" "blocked, and outside of any box too: nothing was proven here"
			note[$id]='no control here'
		else
			ok "$id" "${name[$id]}"
			note[$id]='by the shape of the box'
		fi
		return
		;;
	esac
	why=$(judge_set "$id")
	if [ -z "$why" ]; then
		ok "$id" "${name[$id]}"
		marks[$id]="+$set+"
	elif [[ $set == *\? ]]; then
		skip "$id" "${name[$id]}" "blocked by this kernel's own settings, whatever layers are missing"
		note[$id]="the kernel's settings"
	else
		not_ok "$id" "${name[$id]}" "$why"
		note[$id]='FAILED: no control'
	fi
}

echo "# cases"
for id in "${ids[@]}"; do
	[ "${start[$id]}" = host ] || judge_case "$id"
done

# What arrived on the host while the full boxes ran, told by the host itself.
declare -A event_case=([abstract]=35 [dgram]=B2 [tcp]=96 [udp]=96u [tcp6]=96v [tree-sock]=36 [tree-fifo]=36f [signal]=37
	[ws-sock]=B1 [ws-fifo]=B1 [home-sock]=B1 [mount]=26 [tree-file]=F2)
if [ -s "$res/events.full" ]; then
	while read -r what _; do
		not_ok "${event_case[$what]:-host}" "seen from the host" "a full box reached it: $what"
	done <"$res/events.full"
else
	ok host "nothing arrived on the host while the full boxes ran"
fi

# shellcheck source=tests/attack/host_cases.sh
. "$here/host_cases.sh"
# shellcheck source=tests/attack/notify_cases.sh
. "$here/notify_cases.sh"
# shellcheck source=tests/attack/roles.sh
. "$here/roles.sh"

# --- the table ---------------------------------------------------------------------------------------

{
	echo "Which walls must be missing before a case escapes (x), started as $as."
	echo
	for i in "${!layers[@]}"; do
		printf '%s %-15s' "${codes[$i]}" "${layers[$i]}"
		[ $((i % 4)) = 3 ] && echo
	done
	printf '\n\n%-5s' case
	printf '%s ' "${codes[@]}"
	echo
	for id in "${ids[@]}"; do
		line=$(printf '%-5s' "$id")
		if [ -n "${marks[$id]:-}" ]; then
			for layer in "${layers[@]}"; do
				[[ ${marks[$id]} == *"+$layer+"* ]] && line+='x  ' || line+='.  '
			done
			line=${line%% }
		else
			line+="(${note[$id]:-judged from the host}) ${name[$id]}"
		fi
		echo "$line" | sed 's/ *$//'
	done
} >"$res/table"
sed 's/^/# /; s/ *$//' "$res/table"
exit $bad
