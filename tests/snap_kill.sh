#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: each kill is tried 4 times in test, 12 times as both users in soak
# snap_kill.sh - SIGKILL at random moments of snapshot, fork, squash and gc, to the command and to the supervisor: the
# box shows the same files afterwards, and what is left over is swept. Squashed layers show what they showed, mounted.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$here/lib_snap.sh"
. "$here/lib_tier.sh"
rounds=${SNAP_ROUNDS:-$(by_tier 4 12)}
sweeps=$(by_tier 7 20)
seed=${SNAP_SEED:-$RANDOM}
RANDOM=$seed
echo "# seed $seed"
nap() { sleep "0.0$(printf %03d $((RANDOM % ${1:-30})))"; }

mkdir -p d/e
echo host >host
echo host >d/e/f

# --- the command is killed ------------------------------------------------------------------------------------
o run -q -n "$tag-a" -- sh -c 'echo box >host; rm -r d; mkdir d; seq 50 | while read -r i; do echo $i >d/$i; done; echo m >~/m'
before=$(shows "$tag-a")
o stop "$tag-a" >/dev/null
worse=0
for ((i = 0; i < rounds; i++)); do
	o exec "$tag-a" -- sh -c "echo $i >round" && o stop "$tag-a" >/dev/null
	"$ostiary" snapshot "$tag-a" </dev/null >/dev/null 2>&1 &
	cli=$!
	nap 12
	kill -KILL "$cli" 2>/dev/null
	wait "$cli" 2>/dev/null
	[ "$(o exec "$tag-a" -- cat round)" = "$i" ] || worse=$((worse + 1))
	o stop "$tag-a" >/dev/null
done
same 'a snapshot that was killed hides nothing' "$worse" 0
same 'the box shows what it showed' "$(shows "$tag-a" | grep -v ' round\|^\./round')" "$before"
o stop "$tag-a" >/dev/null
o snapshots -q | while read -r s; do o run -q --rm --from "$s" -- cat host || echo bad; done | sort -u >"$work/all"
check 'every snapshot that there is can be used' "$(grep -vqx box "$work/all"; echo $((1 - $?)))" "$(cat "$work/all")"

# --- forks ------------------------------------------------------------------------------------------------------
for ((i = 0; i < rounds; i++)); do
	"$ostiary" fork "$tag-a" --number 5 </dev/null >/dev/null 2>&1 &
	cli=$!
	nap 12
	kill -KILL "$cli" 2>/dev/null
	wait "$cli" 2>/dev/null
done
same 'a fork that was killed leaves the parent as it was' "$(shows "$tag-a" | grep -v ' round\|^\./round')" "$before"
worse=0 half=0
for box in $(o ps -a -q | grep -v "$tag-a"); do
	if [ -e "$boxes/$box/stack" ] && [ -e "$boxes/$box/meta" ]; then
		[ "$(o exec "$box" -- cat host)" = box ] || worse=$((worse + 1))
	else
		half=$((half + 1))
	fi
done
same "every fork that is whole works ($half were not)" "$worse" 0
o ps -a -q | grep -v "$tag-a" | xargs -r "$ostiary" rm -f >/dev/null 2>&1
same 'and all can be removed' "$(o ps -a -q)" "$tag-a"

# --- the supervisor is killed ---------------------------------------------------------------------------------------
worse=0
for ((i = 0; i < rounds; i++)); do
	o exec "$tag-a" -- sh -c "echo $i >round"
	"$ostiary" snapshot "$tag-a" </dev/null >/dev/null 2>&1 &
	cli=$!
	nap 25
	pid=$(sed -n 's/^pid //p' "$boxes/$tag-a/meta")
	[ "${pid:-0}" -gt 1 ] && kill -KILL "$pid" 2>/dev/null
	wait "$cli" 2>/dev/null
	[ "$(o exec "$tag-a" -- cat round)" = "$i" ] || worse=$((worse + 1))
done
same 'nor does a supervisor that was killed meanwhile' "$worse" 0
same 'the box still shows what it showed' "$(shows "$tag-a" | grep -v ' round\|^\./round')" "$before"

# --- squash ---------------------------------------------------------------------------------------------------------
o create -n "$tag-s" >/dev/null
for ((i = 0; i < 16; i++)); do
	# Every sign an overlay knows: files replaced, deleted, made again; directories too.
	o exec "$tag-s" -- sh -c "mkdir -p d/e t 2>/dev/null; mkdir -p t; echo $i >t/$i; echo $i >>all; rm -rf t/$((i - 2)) d/$((i % 3)); mkdir d/$((i % 3))
		echo $i >d/$((i % 3))/f; [ $((i % 4)) = 0 ] && rm -rf d/e && echo file >d/e; [ $((i % 4)) = 1 ] && rm -rf d/e && mkdir d/e
		[ $((i % 5)) = 0 ] && rm -f host; [ $((i % 5)) = 2 ] && echo $i >host; ln -f all link$((i % 2)); true"
	o snapshot "$tag-s" "$tag-s$i" >/dev/null
done
layers_of() { grep -c '^layer ' "$boxes/$1/stack"; }
few() { [ "$(layers_of "$tag-s")" -lt 16 ]; }
same 'sixteen layers are left alone' "$(layers_of "$tag-s")" 16
o exec "$tag-s" -- sh -c 'echo extra >extra'
o snapshot "$tag-s" >/dev/null
wait_for 60 few
check 'one more, and they are squashed in the background' $? "$(layers_of "$tag-s")"
grep -q squash "$boxes/$tag-s/stack"
check 'the list says so' $?
# The last but one snapshot still lists all layers one by one: the same files, through the long list and the short.
o create -n "$tag-long" --from "$tag-s15" >/dev/null
same 'a snapshot keeps its own list' "$(layers_of "$tag-long")" 16
want=$(shows "$tag-s")
same 'mounted, squashed layers show what they showed' "$(grep -v '^\./extra' <<<"$want")" "$(shows "$tag-long")"
o snapshots -q | xargs "$ostiary" snapshots rm >/dev/null
same 'also when the old layers are gone' "$(shows "$tag-s")" "$want"
for ((i = 0; i < sweeps; i++)); do
	o exec "$tag-s" -- sh -c "echo $i >>more"
	o snapshot "$tag-s" >/dev/null
	nap 20
	for pid in $(orphans); do # what squashes has left the command that started it
		grep -qs snapshot "/proc/$pid/cmdline" && kill -KILL "$pid" 2>/dev/null
	done
	"$ostiary" gc </dev/null >/dev/null 2>&1 &
	cli=$!
	nap 10
	kill -KILL "$cli" 2>/dev/null
	wait "$cli" 2>/dev/null
done
same 'killed while they squash and sweep, nothing is hidden' "$(o exec "$tag-s" -- sh -c 'wc -l <more; cat more | md5sum')" "$(printf '%s\n%s' $sweeps "$(seq 0 $((sweeps - 1)) | md5sum)")"
same 'the older files are there too' "$(shows "$tag-s" | grep -v '^\./more')" "$want"
away
frozen_left() { find "$frozen" -mindepth 1 -maxdepth 1 ! -name lock | wc -l; }
swept() { # what squashed last may still be at it
	o gc >/dev/null 2>&1
	[ "$(frozen_left)" = 0 ]
}
wait_for 60 swept
same 'in the end every layer is swept' "$(frozen_left)" 0
nothing_left 'nothing is left of the boxes'
exit $bad
