#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: lines are read before it matters who starts the box; both users in soak
# limits_policy.sh - `limit` and `bind` lines of policy files hold as flags do: from your own file, a named one, a
# profile, a trusted project; a project and the administrator only take away; what is not held is not accepted.
set -u
. "$(dirname "$0")/lib_life.sh"
conf=$HOME/.config/ostiary
mkdir -p "$conf/profiles" "$work/shown" "$work/data/deep"
echo host >"$work/shown/file"
echo host >"$work/data/file"
echo host >"$work/data/deep/file"
box() { say "$ostiary" run -q --rm --name "$tag-box" "$@"; }

# --- limits ------------------------------------------------------------------------------------------
echo 'limit files=77 pids=50' >"$conf/policy"
box -- sh -c 'ulimit -Hn'
same "a limit of your own file holds" "$code $out" '0 77'
box --limit files=99 -- sh -c 'ulimit -Hn'
same 'a flag goes before it' "$code $out" '0 99'
printf 'limit files=55\nlimit files=66\n' >"$work/p"
box --policy "$work/p" -- sh -c 'ulimit -Hn'
same 'a file that is named goes before your own, its first line before its second' "$code $out" '0 55'
printf 'extends default\nlimit files=44\n' >"$conf/profiles/low.profile"
box --profile low -- sh -c 'ulimit -Hn'
same "your file goes before a profile's limit" "$code $out" '0 77'
rm "$conf/policy"
box --profile low -- sh -c 'ulimit -Hn'
same "a profile's limit holds" "$code $out" '0 44'
echo 'limit time=1s' >"$conf/policy"
box -- sleep 100
same 'a limit of time in a file ends the box' "$code $err" '124 ostiary: the time limit of 1 s is over'
rm "$conf/policy"
say "$ostiary" explain --policy "$work/p" --limit memory=123M -- true
holds 'explain shows what holds' "$out" 'files               55'

echo 'limit files=60 memory=none' >.ostiary
box -- sh -c 'ulimit -Hn'
[ "$out" != 60 ]
check "a project's limit does not count before it is trusted" $? "$out"
"$ostiary" trust "$work/ws" >/dev/null 2>&1 || "$ostiary" trust --yes "$work/ws" >/dev/null
box -- sh -c 'ulimit -Hn'
same 'then it takes away' "$code $out" '0 60'
box --limit files=50 -- sh -c 'ulimit -Hn'
same 'and never gives' "$code $out" '0 50'
box --limit files=500 -- sh -c 'ulimit -Hn'
same 'not to a flag either' "$code $out" '0 60'
rm .ostiary

# --- what is not held is not accepted ------------------------------------------------------------------
for bad_line in 'limit spend=5usd' 'limit memory=4G spend=2.50usd' 'limit colour=red' 'limit memory' 'limit'; do
	echo "$bad_line" >"$work/bad"
	box --policy "$work/bad" -- true
	[ "$code" != 0 ] && [[ $err == "ostiary: "*"line 1, column "* ]] && [ "$(wc -l <<<"$err")" = 1 ]
	check "\"$bad_line\" in a file stops the box with its place" $? "status $code: $err"
done
echo 'limit spend=5usd' >"$work/bad"
box --policy "$work/bad" -- true
holds 'spend: the sentence says why' "$err" 'is not held yet'
box --limit spend=5usd -- true
[ "$code" = 64 ] && [[ $err == *'is not held yet'* ]]
check 'spend as a flag too' $? "status $code: $err"

# --- while a box runs ---------------------------------------------------------------------------------------
echo 'allow * example.org' >"$conf/policy"
"$ostiary" create -q --name "$tag-wait" >/dev/null
say "$ostiary" policy reload "$tag-wait"
[ "$code" = 0 ] && [[ $err$out != *'limit and bind lines'* ]]
check 'reload says nothing of lines that are as before' $? "status $code: $out$err"
echo 'limit files=70' >>"$conf/policy"
say "$ostiary" policy reload "$tag-wait"
[ "$code" = 0 ] && [[ $err$out == *'limit and bind lines have changed; they count when a box starts'* ]]
check 'reload says that a new limit counts for the next box' $? "status $code: $out$err"
say "$ostiary" allow "$tag-wait" 'limit files=80'
[ "$code" = 64 ] && [[ $err == *'counts when a box starts'* ]]
check 'allow says the same' $? "status $code: $err"
"$ostiary" rm -f "$tag-wait" >/dev/null
rm "$conf/policy"

# --- binds ---------------------------------------------------------------------------------------------
printf 'bind %s\nbind ~/nothing-there ro\nbind %s rw\n' "$work/shown" "$work/data" >"$conf/policy"
box -- sh -c "cat '$work/shown/file'; echo x >'$work/shown/file'; echo box >'$work/data/file'; exit 0"
same 'a bind line shows a directory, read-only when nothing is said' "$code $out" '0 host'
same 'the host keeps what is read-only' "$(cat "$work/shown/file")" host
same 'and has what was written to the other' "$(cat "$work/data/file")" box
say "$ostiary" explain -- true
holds 'a line for what does not exist is left out, and said' "$out" 'nothing-there'
printf 'bind %s cow\n' "$work/data" >"$work/p"
box --policy "$work/p" -- sh -c "echo more >'$work/data/file'; cat '$work/data/file'"
same 'a file that is named goes before your own: copy-on-write' "$code $out $(cat "$work/data/file")" '0 more box'
box --bind "$work/data:ro" -- sh -c "echo more >'$work/data/file'"
[ "$code" != 0 ] && [ "$(cat "$work/data/file")" = box ]
check 'a flag goes before both' $? "status $code: $(cat "$work/data/file")"
printf 'bind %s ro\n' "$HOME/.config" >"$work/p"
box --policy "$work/p" -- true
[ "$code" != 0 ] && [[ $err == *"ostiary's own directory"* ]]
check 'a line cannot show what is ours' $? "status $code: $err"
rm "$conf/policy"

# --- the administrator, in a mount namespace of our own ------------------------------------------------------
cp -a /etc "$work/etc" 2>/dev/null
mkdir -p "$work/etc/ostiary"
printf 'limit files=70 disk=500M\nbind %s ro\n' "$work/data" >"$work/etc/ostiary/policy"
under_admin() {
	local enter=(unshare -m)
	[ "$(id -u)" = 0 ] || enter=(unshare -Um "--map-user=$(id -u)" "--map-group=$(id -g)" --keep-caps)
	say "${enter[@]}" sh -c "mount --bind '$work/etc' /etc || exit 99
		if [ \$(id -u) = 0 ]; then exec \"\$@\"; fi
		exec setpriv --ambient-caps=-all --inh-caps=-all \"\$@\"" - "$@"
}
under_admin true
if [ "$code" = 99 ] || [ "$code" = 1 ]; then
	skip 'the administrator' "no file can be mounted here: $err"
else
	admin() { under_admin "$ostiary" run -q --rm --name "$tag-box" "$@"; }
	admin -- sh -c "ulimit -Hn; cat '$work/data/file'"
	same "the administrator's lines hold" "$code $out" $'0 70\nbox'
	admin --limit files=30 -- sh -c 'ulimit -Hn'
	same 'who asks for less gets less' "$code $out" '0 30'
	admin --limit files=5000 -- sh -c 'ulimit -Hn'
	same 'who asks for more gets what the administrator set' "$code $out" '0 70'
	admin --limit files=none -- sh -c 'ulimit -Hn'
	same 'so does who asks for none' "$code $out" '0 70'
	under_admin "$ostiary" explain --limit files=5000 -- true
	holds 'and explain says who set it' "$out" 'system policy sets that limit'
	admin --bind "$work/data:rw" -- true
	[ "$code" != 0 ] && [[ $err == *'system policy:2'* ]]
	check "a flag cannot write where the administrator shows" $? "status $code: $err"
	admin --bind "$work/data/deep:cow" -- true
	[ "$code" != 0 ] && [[ $err == *'system policy:2'* ]]
	check 'nor below it' $? "status $code: $err"
	printf 'bind %s rw\n' "$work/data" >"$conf/policy"
	admin -- sh -c "echo evil >'$work/data/file'"
	[ "$code" != 0 ] && [ "$(cat "$work/data/file")" = box ]
	check 'nor can a line of yours' $? "status $code: $(cat "$work/data/file")"
	rm "$conf/policy"
fi

# --- what no control group holds is said at start -----------------------------------------------------------
say "$ostiary" run --rm --name "$tag-look" --limit cpu=0.5 --limit memory=100M -- true
if [[ $err == *'no control group here'* ]]; then
	holds 'the banner says that cpu is not limited' "$err" 'cpu is NOT limited'
	say "$ostiary" run --rm --name "$tag-look" --limit memory=none -- true
	[[ $err != *'no control group'* ]]
	check 'and nothing where nothing was asked for' $? "$err"
else
	say "$ostiary" explain --limit cpu=0.5 -- true
	holds 'a control group holds them here' "$out" 'control group'
fi
chmod -R u+rwX "$work/etc" 2>/dev/null
nothing_left 'nothing is left of all these boxes'
exit $bad
