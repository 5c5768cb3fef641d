#!/bin/bash
# suite: test=user soak=root,user timeout=900
# tier: what may not be read or written is refused to the user; root only repeats the rest
# bad_input.sh - wrong words, wrong places, a machine that lacks something: each gets one clear sentence on
# stderr, the right exit code, and leaves nothing behind: no box, no process, no mount.
set -u
. "$(dirname "$0")/lib_life.sh"
me=$(id -u)

# bad NAME STATUS PATTERN COMMAND...: it must fail with that status, one sentence that holds PATTERN, no output,
# and nothing left.
bad() {
	local name=$1 status=$2 pattern=$3 why=''
	shift 3
	say "$@"
	judge "$name" "$status" "$pattern"
}
judge() {
	local name=$1 status=$2 pattern=$3 why='' rest
	[ "$code" = "$status" ] || why="status $code, wanted $status; "
	[ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '* ]] || why="${why}not one sentence; "
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $err == *$pattern* ]] || why="${why}it does not say \"$pattern\"; "
	[ -z "$out" ] || why="${why}it prints \"$out\"; "
	rest=$(left)
	[ -z "$rest" ] || why="${why}left: $rest; "
	[ -z "$why" ]
	check "$name" $? "$why$err"
	[ -z "$rest" ] || rm -rf "${boxes:?}"/*
}
ostiary_run=("$ostiary" run -q --rm)

# --- words --------------------------------------------------------------------------------------------
bad 'an unknown command, with a suggestion' 64 'did you mean: ostiary run' "$ostiary" rnu
bad 'an unknown command, far from any' 64 'there is no command "zzzzzz"' "$ostiary" zzzzzz
bad 'an unknown flag, with a suggestion' 64 'did you mean --name?' "$ostiary" run --nmae x -- true
bad 'an unknown letter' 64 'unknown flag -Z' "$ostiary" run -Z -- true
bad 'a flag without its value' 64 '--name wants a value' "$ostiary" run --name
bad 'a flag with a value it does not take' 64 'takes no value' "$ostiary" run --quiet=yes -- true
bad 'nothing to run' 64 'say what to run' "$ostiary" run
bad 'an agent that is none, with a suggestion' 64 'did you mean: ostiary run claude' "$ostiary" run cluade
bad 'an unknown profile' 121 'there is no profile "nosuch"' "${ostiary_run[@]}" --profile nosuch -- true
bad 'an unknown profile, with a suggestion' 121 'did you mean "claude"' "${ostiary_run[@]}" --profile claud -- true
bad 'a profile that is a path' 121 profile "${ostiary_run[@]}" --profile ../../etc/passwd -- true
bad 'both --keep and --rm' 64 'ostiary: ' "$ostiary" run --keep --rm -- true
bad 'exec without a command' 64 'say what to run' "$ostiary" exec
for command in exec attach logs stop rm; do
	bad "$command of a box that is not there" 121 'there is no box "nobox"' "$ostiary" $command nobox $([ $command = exec ] && echo -- true)
done
bad 'a box name with an escape in it' 121 'there is no box' "$ostiary" stop $'a\033[2Jb'
[[ $err != *$'\033'* ]]
check 'which is not printed' $? 'the escape byte came back'
bad 'a word too many' 64 'one word too many' "$ostiary" ps extra
bad 'a bind that is not there' 119 'cannot be used: No such file' "${ostiary_run[@]}" --bind /nonexistent -- true
bad 'a bind with a mode that is none' 64 'the mode is ro, rw or cow, not "rx"' "${ostiary_run[@]}" --bind /usr:rx -- true
bad 'help of a command that is none, with a suggestion' 64 'did you mean: ostiary help exec' "$ostiary" help exce
for flag in --level=strikt --audit=fles --audit-full=paus --on-door-fault=stopp; do
	bad "${flag%=*} with a word that is none" 64 "${flag%=*} wants *; did you mean " "${ostiary_run[@]}" "$flag" -- true
done
bad 'a rule with a slip, with the line as it was read' 64 'read "allow GTE example.org": --allow, column 7: *GET?' "${ostiary_run[@]}" --allow 'GTE example.org' -- true
for command in ps snapshots; do
	say "$ostiary" $command --json -q
	[ "$code" = 64 ] && [[ $err == *'exclude each other'* ]] && [[ $out == '{"ostiary":1,"kind":"error",'* ]]
	check "two ways to print a list at once ($command): told to people and as JSON" $? "status $code: $out $err"
done
bad 'a directory to start in that is not there' 125 '/nonexistent' "${ostiary_run[@]}" --cwd /nonexistent -- true

# --- commands --------------------------------------------------------------------------------------------
echo text >notexec
printf '#!/nonexistent/interpreter\n' >badinterp
printf '\177ELF' >badelf
chmod 755 badinterp badelf
bad 'a command that is nowhere' 127 'nosuchcommand is not on your PATH' "${ostiary_run[@]}" -- nosuchcommand
bad 'a path that is not there' 127 '/nonexistent/x' "${ostiary_run[@]}" -- /nonexistent/x
bad 'an empty command' 127 'empty' "${ostiary_run[@]}" -- ''
bad 'a file that is not executable' 126 './notexec is there but' "${ostiary_run[@]}" -- ./notexec
bad 'a file of the system that is not executable' 126 '/etc/passwd is there but' "${ostiary_run[@]}" -- /etc/passwd
bad 'a directory' 126 '/usr is there but' "${ostiary_run[@]}" -- /usr
bad 'an interpreter that is not there' 127 'interpreter' "${ostiary_run[@]}" -- ./badinterp
bad 'a broken program' 126 './badelf' "${ostiary_run[@]}" -- ./badelf
# The same through exec; the box goes on.
"$ostiary" create -q --name "$tag-box" >/dev/null
for try in '127 nosuchcommand' '126 ./notexec' '126 /usr' '127 /nonexistent/x'; do
	say "$ostiary" exec "$tag-box" -- "${try#* }"
	[ "$code" = "${try% *}" ] && [ "$(grep -c '^ostiary: ' <<<"$err")" = 1 ]
	check "exec of ${try#* }" $? "status $code: $err"
done
say "$ostiary" exec "$tag-box" -- echo alive
same 'and the box goes on' "$out" alive
"$ostiary" rm -f "$tag-box" >/dev/null

# --- workspaces ---------------------------------------------------------------------------------------------
bad 'a workspace that is not there' 119 'No such file' "${ostiary_run[@]}" -w /nonexistent -- true
bad 'a workspace that is a file' 119 'is not a directory' "${ostiary_run[@]}" -w notexec -- true
ln -s nowhere dangling
bad 'a workspace that is a dangling link' 119 'symbolic link to something that does not exist' "${ostiary_run[@]}" -w dangling -- true
if [ "$me" != 0 ]; then
	mkdir -m 000 unreadable
	bad 'a workspace that you may not read' 119 'may not read' "${ostiary_run[@]}" -w unreadable -- true
	mkdir -p inner/deep && chmod 000 inner
	bad 'a workspace that you may not reach' 119 'Permission denied' "${ostiary_run[@]}" -w inner/deep -- true
	chmod 700 unreadable inner
	bad "root's home" 119 'ostiary: ' "${ostiary_run[@]}" -w /root -- true
else
	skip 'a workspace that you may not read' 'root may read everything'
fi
bad 'the workspace /' 122 'may not be /' "${ostiary_run[@]}" -w / -- true
bad 'the workspace /, insisted' 122 'may not be /' "${ostiary_run[@]}" -w / --force why -- true
bad 'the home directory' 122 'is your home directory' "${ostiary_run[@]}" -w "$HOME" -- true
holds 'it says how to insist' "$err" '--force REASON'
bad 'what contains the home directory' 122 'contains your home directory' "${ostiary_run[@]}" -w "$work" -- true
bad 'what contains our state' 122 "ostiary's own state directory" "${ostiary_run[@]}" -w "$HOME/.local/state" -- true
bad 'what lies in our state' 122 "ostiary's own state directory" "${ostiary_run[@]}" -w "$boxes" -- true
ln -s "$HOME/.local/state" sidedoor
bad 'our state through a link' 122 "ostiary's own state directory" "${ostiary_run[@]}" -w sidedoor -- true
bad 'a bind that contains our state' 122 "ostiary's own" "${ostiary_run[@]}" --bind "$HOME/.local:rw" -- true
for place in /proc /proc/self /sys /sys/kernel /dev /etc /usr /home /tmp /var; do
	bad "the workspace $place" 122 'ostiary: ' "${ostiary_run[@]}" -w $place -- true
done
say "${ostiary_run[@]}" -w "$HOME" --force 'a test' -- true
same 'the home directory, insisted on' "$code $err" '0 '
say "$ostiary" explain -w "$HOME" --force 'my own reason' -- true
holds 'explain repeats the reason' "$out" 'my own reason'
say "${ostiary_run[@]}" -w none -- sh -c 'ls -A | wc -l'
same 'no workspace at all works' "$code" 0

# in_ns SCRIPT ARGS: run a shell script in a mount namespace of our own, with the right to mount.
in_ns() {
	local enter=(unshare -m) script=$1
	shift
	[ "$me" = 0 ] || enter=(unshare -Um "--map-user=$me" "--map-group=$(id -g)" --keep-caps)
	say "${enter[@]}" sh -c 'plain() { if [ "$(id -u)" = 0 ]; then "$@"; else setpriv --ambient-caps=-all --inh-caps=-all "$@"; fi; }
		'"$script" - "$ostiary" "$@"
}
in_ns 'exit 0'
if [ "$code" != 0 ]; then
	skip 'surroundings that a mount namespace makes' "unshare is not possible here: $err"
	exit $bad
fi

mkdir -p ws/mounted
in_ns 'mount -t tmpfs inner ws/mounted && echo inside >ws/mounted/file && plain "$1" run -q --rm -w ws -- sh -c "cat mounted/file; echo x >mounted/new; echo y >new"; s=$?; ls ws/mounted ws; exit $s'
if [ "$code" = 0 ]; then
	[[ $out != *new* ]]
	check 'a workspace with a mount inside: nothing is written to either' $? "$out"
else
	out=''
	judge 'a workspace with a mount inside' 125 'has other filesystems mounted below it'
	holds 'it says what to do' "$err" 'use --live'
fi
in_ns 'mount -t tmpfs inner ws/mounted && echo inside >ws/mounted/file && plain "$1" run -q --rm --live -w ws -- cat mounted/file'
same 'with --live it is seen' "$code $out$err" '0 inside'
# A filesystem that cannot be below an overlay, and a link that leads to it.
in_ns 'mkdir -p odd && mount -t proc odd odd 2>/dev/null || exit 97; plain "$1" run -q --rm -w odd -- true'
if [ "$code" = 97 ]; then
	# No right to mount a proc: the one that is there will do, insisted on.
	bad 'a workspace that cannot be below an overlay' 125 'cannot carry an overlay: try --live' "${ostiary_run[@]}" -w /proc/sys/kernel --force 'a test' -- true
else
	judge 'a workspace that cannot be below an overlay' 125 'its filesystem'
fi

# --- state directories -----------------------------------------------------------------------------------------
bad 'XDG_STATE_HOME relative' 119 'which is not an absolute path' env XDG_STATE_HOME=here "${ostiary_run[@]}" -- true
bad 'XDG_DATA_HOME relative' 119 'which is not an absolute path' env XDG_DATA_HOME=here "${ostiary_run[@]}" -- true
bad 'XDG_STATE_HOME that is a file' 125 'Not a directory' env XDG_STATE_HOME="$work/ws/notexec" "${ostiary_run[@]}" -- true
bad 'XDG_STATE_HOME where nothing can be made' 125 'ostiary: ' env XDG_STATE_HOME=/proc/nope "${ostiary_run[@]}" -- true
if [ "$me" != 0 ]; then
	mkdir -m 500 locked
	bad 'XDG_STATE_HOME that you may not write' 125 'Permission denied' env XDG_STATE_HOME="$work/ws/locked" "${ostiary_run[@]}" -- true
	bad "XDG_STATE_HOME of somebody else" 125 'ostiary: ' env XDG_STATE_HOME=/etc "${ostiary_run[@]}" -- true
fi
bad 'HOME relative' 119 'which is not an absolute path' env HOME=here "${ostiary_run[@]}" -- true
bad 'HOME that is /' 119 'HOME is /' env HOME=/ XDG_STATE_HOME="$HOME/.local/state" XDG_DATA_HOME="$HOME/.local/share" "${ostiary_run[@]}" -- true
say env -u HOME XDG_STATE_HOME="$HOME/.local/state" XDG_DATA_HOME="$HOME/.local/share" XDG_CONFIG_HOME="$HOME/.config" "${ostiary_run[@]}" -- sh -c 'echo $HOME'
[ "$code $err" = '0 ' ] && [[ $out == /* ]]
check 'HOME unset: passwd knows it' $? "status $code: $out $err"
mkdir -p ol/lower ol/upper ol/work ol/merged
in_ns 'mount -t overlay o -o lowerdir=ol/lower,upperdir=ol/upper,workdir=ol/work ol/merged || exit 97
	XDG_STATE_HOME=$PWD/ol/merged plain "$1" run -q --rm -- true'
if [ "$code" = 97 ]; then
	skip 'a state directory on an overlay' "none can be mounted: $err"
else
	judge 'a state directory on an overlay' 123 'cannot hold a copy-on-write layer'
	holds 'it says what to do' "$err" 'set XDG_STATE_HOME'
fi

# --- a machine that lacks something -----------------------------------------------------------------------------
if [ "${VARIANT:-release}" = asan ]; then
	skip 'no /proc' 'the sanitizer itself wants it'
else
	in_ns 'mount -t tmpfs none /proc && plain "$1" run -q --rm -- true'
	judge 'no /proc' 123 '/proc is not there'
fi
in_ns 'mount -t tmpfs none /proc/sys && plain "$1" run -q --rm -- true'
if [ "$me" = 0 ] && [ "$code" = 0 ]; then
	skip 'a masked /proc' 'real root may mount its own'
else
	judge 'a masked /proc, as in a container' 123 'partly masked: are we inside another container?'
	holds 'and it leads to doctor' "$err" 'ostiary doctor'
fi
# A machine without user namespaces: no weaker box instead (B10). Root of the machine could lift the limit,
# so it is set in a user namespace, where nobody can.
no_ns() { # which
	say unshare -U "--map-user=$me" "--map-group=$(id -g)" --keep-caps sh -c 'echo 0 >"/proc/sys/user/max_$2_namespaces" || exit 97
		exec setpriv --ambient-caps=-all --inh-caps=-all "$1" run -q --rm -- sh -c "echo a box without walls"' - "$ostiary" "$1"
	judge "B10: $1 namespaces switched off" 123 'No space left on device'
	holds "which leads to doctor ($1)" "$err" 'ostiary doctor'
}
for kind in user mnt pid net ipc uts cgroup; do no_ns $kind; done
if command -v bwrap >/dev/null; then
	say bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --bind "$work" "$work" --proc /proc "${ostiary_run[@]}" -- echo fine
	if [ "$code" = 0 ]; then
		same 'inside bubblewrap' "$out$err" fine
	else
		judge 'inside bubblewrap' 125 'container'
	fi
	say bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --bind "$work" "$work" --proc /proc --tmpfs /proc/sys "${ostiary_run[@]}" -- true
	judge 'inside bubblewrap with a masked /proc' 123 'are we inside another container?'
	say bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --dev-bind / / --proc /proc "${ostiary_run[@]}" -- true
	judge 'inside bubblewrap without user namespaces' 123 'max_user_namespaces'
else
	skip 'inside bubblewrap' 'bwrap is not installed'
fi
# The leak checker would want a process of its own.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 say bash -c 'ulimit -u 1; exec "$@"' - "${ostiary_run[@]}" -- true
judge 'no process left' 123 'Resource temporarily unavailable'
wrong=''
for n in 4 6 8 10 12 16 20 24 28 32 40; do
	say bash -c 'ulimit -n '$n'; exec "$@"' - "${ostiary_run[@]}" -- true
	[ "$code" = 0 ] && continue
	{ { [ "$code" = 125 ] || [ "$code" = 123 ]; } && [ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '* ]]; } || wrong="$wrong $n: status $code, $err;"
done
[ -z "$wrong" ]
check 'too few descriptors, any number of them: one sentence' $? "$wrong"
"$ostiary" gc >/dev/null 2>&1
nothing_left 'and after gc nothing is left'
# A file size limit: our own files do not fit.
err=$(bash -c 'ulimit -f 0; exec "$@"' - "${ostiary_run[@]}" -- true </dev/null 2>&1)
code=$? out=''
judge 'a file size limit of nothing' 125 'File too large'

# --- descriptors and arguments --------------------------------------------------------------------------------
out=$("${ostiary_run[@]}" -- sh -c 'cat; echo done' <&-)
same 'stdin closed' "$? $out" '0 done'
"${ostiary_run[@]}" -- sh -c 'echo out; echo err >&2; exit 3' <&- >&- 2>&-
same 'all closed' $? 3
out=$("${ostiary_run[@]}" -- sh -c 'ls /proc/self/fd | wc -l' 7</etc/passwd 8>/dev/null 9</ </dev/null)
same 'open descriptors do not come along' "$out" "$("${ostiary_run[@]}" -- sh -c 'ls /proc/self/fd | wc -l' </dev/null)"
"${ostiary_run[@]}" -- sh -c 'exit 5' </dev/null >/dev/full
same 'a full stdout that nobody writes to' $? 5
mapfile -t numbers < <(seq 10000)
say "${ostiary_run[@]}" -- sh -c 'echo $# ${10000}' - "${numbers[@]}"
same '10,000 arguments' "$code $out$err" '0 10000 10000'
"$ostiary" create -q --name "$tag-many" >/dev/null
say "$ostiary" exec "$tag-many" -- sh -c 'echo $# ${10000}' - "${numbers[@]}"
same '10,000 arguments of exec' "$code $out$err" '0 10000 10000'
mapfile -t numbers < <(seq 100000)
say "$ostiary" exec "$tag-many" -- sh -c 'echo $#' - "${numbers[@]}"
same '100,000 arguments of exec' "$code $out$err" '0 100000'
"$ostiary" rm -f "$tag-many" >/dev/null
long=$(head -c 120000 /dev/zero | tr '\0' x)
say "${ostiary_run[@]}" -- sh -c 'echo ${#1}' - "$long"
same 'an argument of 120,000 letters' "$code $out" '0 120000'
say "${ostiary_run[@]}" -- printf '%s|' $'a\nb' '' $'\033[1m' '--rm'
same 'arguments are passed as they are' "$out" $'a\nb||\033[1m|--rm|'

# --- files of ours that somebody spoiled -------------------------------------------------------------------------
mkdir -p "$boxes"
touch "$boxes/a-file"
ln -s /etc "$boxes/a-link"
mkdir "$boxes/empty" "$boxes/.hidden" "$boxes/name with spaces"
mkfifo "$boxes/fifo"
mkdir "$boxes/fifos" && mkfifo "$boxes/fifos/lock" "$boxes/fifos/meta" "$boxes/fifos/opts"
mkdir "$boxes/links" && ln -s /etc/passwd "$boxes/links/meta" && ln -s /nonexistent/x "$boxes/links/lock"
mkdir "$boxes/dirs" "$boxes/dirs/lock" "$boxes/dirs/meta" "$boxes/dirs/opts"
SAY_LIMIT=60 say "$ostiary" ps -a
same 'ps with foreign files among the boxes' "$code" 0
SAY_LIMIT=60 say "$ostiary" ps -a --json
python3 -m json.tool <<<"$out" >/dev/null
check 'ps --json is still JSON' $? "$out"
SAY_LIMIT=60 say "$ostiary" gc
[ "$code" != 124 ]
check 'gc does not hang on them' $? "status $code"
[ -e /etc/passwd ] && [ -f "$boxes/a-file" ]
check 'and touches nothing that is not a box' $? "$(ls "$boxes")"
for name in fifos links dirs; do
	SAY_LIMIT=60 say "$ostiary" exec "$name" -- true
	{ [ "$code" = 125 ] || [ "$code" = 121 ] || [ "$code" = 119 ]; } && [[ $err == 'ostiary: '* ]]
	check "exec of a box whose files are $name" $? "status $code: $err"
done
rm -rf "${boxes:?}"/* "${boxes:?}"/.hidden
spoil() { # file, content (printf), name
	"$ostiary" create -q --name "$tag-spoilt" >/dev/null && "$ostiary" stop "$tag-spoilt" >/dev/null
	# shellcheck disable=SC2059 # a format is meant
	printf "$2" >"$boxes/$tag-spoilt/$1"
	SAY_LIMIT=60 say "$ostiary" ps -a --json
	python3 -m json.tool <<<"$out" >/dev/null && [ "$code" = 0 ]
	check "ps with $3" $? "status $code: $out $err"
	SAY_LIMIT=60 say "$ostiary" exec "$tag-spoilt" -- true
	{ [ "$code" = 0 ] && [ -z "$err" ]; } || { [ "$code" -gt 63 ] && [ "$code" -lt 128 ] && [ "$code" != 124 ] && [ "$(wc -l <<<"$err")" = 1 ] && [[ $err == 'ostiary: '* ]]; }
	check "exec with $3: it works, or one sentence" $? "status $code: $err"
	echo "# exec with $3: status $code $err"
	SAY_LIMIT=60 say "$ostiary" rm -f "$tag-spoilt"
	same "rm with $3" "$code" 0
}
spoil opts '' 'an empty opts file'
spoil opts 'name\n\n\nnonsense here\n' 'an opts file without sense'
spoil opts '\000\001\002\377\376' 'an opts file of bytes'
spoil opts 'workspace /nonexistent/gone\n' 'a workspace that is gone'
spoil opts 'workspace none\nlimit memory=lots\n' 'a limit without sense in opts'
spoil meta '' 'an empty meta file'
spoil meta 'state 99\npid -5\ncreated x\nexit 999999999999999999999\nname "\\' 'a meta file without sense'
spoil meta '\000\001\002\377\376' 'a meta file of bytes'
head -c 3000000 /dev/zero | tr '\0' a >"$work/huge"
"$ostiary" create -q --name "$tag-spoilt" >/dev/null && "$ostiary" stop "$tag-spoilt" >/dev/null
cp "$work/huge" "$boxes/$tag-spoilt/opts"
cp "$work/huge" "$boxes/$tag-spoilt/meta"
SAY_LIMIT=60 say "$ostiary" exec "$tag-spoilt" -- true
[ "$code" = 119 ] && [ "$(wc -l <<<"$err")" = 1 ]
check 'files of 3 MB' $? "status $code: $err"
"$ostiary" rm -f "$tag-spoilt" >/dev/null
# The workspace of a stopped box was moved away.
mkdir here && "$ostiary" create -q -w here --name "$tag-moved" >/dev/null && "$ostiary" stop "$tag-moved" >/dev/null && rmdir here
SAY_LIMIT=60 say "$ostiary" exec "$tag-moved" -- true
[ "$code" = 119 ] && [ "$(wc -l <<<"$err")" = 1 ] && [[ $err == *"$work/ws/here"* ]]
check 'waking a box whose workspace is gone' $? "status $code: $err"
"$ostiary" rm --yes "$tag-moved" >/dev/null
nothing_left 'nothing is left of the spoilt boxes'

# --- profiles ---------------------------------------------------------------------------------------------------
profiles=$HOME/.config/ostiary/profiles
mkdir -p "$profiles"
printf 'extends default\nabout   x\nlimt    memory=1G\n' >"$profiles/typo.profile"
bad 'a profile with a mistyped word: line, column, suggestion' 119 'line 3, column 1*limit' "${ostiary_run[@]}" --profile typo -- true
printf 'extends default\nlimit memory=lots\n' >"$profiles/value.profile"
bad 'a profile with a value without sense' 119 'line 2, column' "${ostiary_run[@]}" --profile value -- true
printf 'about "never closed\n' >"$profiles/quote.profile"
bad 'a profile with an open quote' 119 'line 1, column' "${ostiary_run[@]}" --profile quote -- true
printf 'extends loop\n' >"$profiles/loop.profile"
bad 'a profile that extends itself' 119 'extends itself' "${ostiary_run[@]}" --profile loop -- true
printf 'extends nosuch\n' >"$profiles/orphan.profile"
bad 'a profile that extends what is not there' 119 'nosuch' "${ostiary_run[@]}" --profile orphan -- true
head -c 5000 /dev/urandom >"$profiles/bytes.profile"
bad 'a profile of bytes' 119 'ostiary: ' "${ostiary_run[@]}" --profile bytes -- true
mkdir "$profiles/dir.profile"
bad 'a profile that is a directory' 119 'ostiary: ' "${ostiary_run[@]}" --profile dir -- true
printf 'extends default\npersist ../../etc\n' >"$profiles/climb.profile"
bad 'a profile that keeps what is not in the home' 119 'line 2' "${ostiary_run[@]}" --profile climb -- true
SAY_LIMIT=60 say "$ostiary" profile ls
same 'profile ls lists the others' "$code" 0
nothing_left 'at the end nothing is left'
exit $bad
