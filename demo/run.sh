#!/bin/sh
# run.sh - show each wall of a box by a real attempt; called by `make demo`.
#
# The same small agent runs twice: on the bare machine, where every attempt must work (else the attempt
# proves nothing), and in a box, where only its own work may. Both are judged here, outside, by what is
# on the host afterwards: walls (agent.sh), the door, a key that the agent never has (keys.sh), and the way of
# its work to your files: diff, apply, undo. Ends with a status other than 0 when one wall is open. OSTIARY names
# another program to try, DEMO_FLAGS more flags for `ostiary run`, DEMO_UNTIL the part after which it ends (walls,
# door, keys or review). It plants one file in the home directory and takes it away again.
set -u
here=$(cd "$(dirname "$0")" && pwd)
ostiary=${OSTIARY:-$here/../out/release/ostiary}
witness=$here/../out/demo/witness
origin=$here/../out/demo/origin
for program in "$ostiary" "$witness" "$origin"; do
	[ -x "$program" ] || {
		echo "The demo needs $program. Run 'make demo', which builds it." >&2
		exit 1
	}
done
command -v curl >/dev/null || {
	echo "The demo needs curl. Run 'make demo', which installs it." >&2
	exit 1
}

good='ok ' bad='BAD' red='' green='' plain=''
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in *[Uu][Tt][Ff]*) good=$(printf '\342\234\223') bad=$(printf '\342\234\227') ;; esac
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ]; then
	red=$(printf '\033[31m') green=$(printf '\033[32m') plain=$(printf '\033[0m')
fi

[ -d "${HOME:-}" ] && [ -w "$HOME" ] || HOME=''
work=$(mktemp -d "${TMPDIR:-/tmp}/ostiary-demo.XXXXXX") || exit 1
tag=${work##*.}
if [ -z "$HOME" ]; then
	HOME=$work/home
	export HOME
	mkdir "$HOME"
fi
pids='' segment=''
clean() {
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
	[ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
	[ -z "${box:-}" ] || "$ostiary" rm -f "$box" >/dev/null 2>&1
	[ -z "${project:-}" ] || review rm -f "$box" >/dev/null 2>&1
	# A box that has just ended may still lay up a certificate for the next one.
	soon rm -rf "$HOME/.ostiary-demo-$tag-state" 2>/dev/null
	rm -rf "$work" "$HOME/.ostiary-demo-$tag" "$HOME/.ostiary-demo-$tag-state" "/dev/shm/"*"-$tag" "/var/tmp/"*"-$tag"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP

# now WORDS: what is being done, on a terminal alone, until the next line takes its place.
now() {
	[ -t 1 ] && [ -t 2 ] && [ "${TERM:-dumb}" != dumb ] || return 0
	printf '\r\033[K%s' "${1:+ ... $1}" >&2
}

# soon COMMAND...: wait until it is true; half a minute is for a machine that is busy with something else.
soon() {
	tries=0
	until "$@"; do
		[ "$tries" -lt 1500 ] || return 1
		tries=$((tries + 1))
		sleep 0.02
	done
}
is_gone() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
random() { od -An -N8 -tx8 /dev/urandom | tr -d ' '; }
digits() { od -An -N4 -tu4 /dev/urandom | tr -d ' '; }

# A file of /etc that no program in a box needs.
etc_file=/etc/passwd-
for place in /etc/subuid /etc/fstab /etc/crontab /etc/adduser.conf /etc/pam.conf; do
	if [ -s "$place" ] && [ -r "$place" ]; then
		etc_file=$place
		break
	fi
done

# attempt WHERE COMMAND...: plant what an agent could go for, run COMMAND with the agent and its
# arguments, and leave in $reached a word for each thing that it got at.
attempt() {
	where=$1
	shift
	trace=$where-$(random) host=$work/$where-$tag out=$work/$where.out
	in_home=$(random) in_env=$(random) in_fd=$(random) in_proc=$(random)
	shared=$work/shared-$where in_args=600.0$(digits) size=$(($(digits) % 90000 + 4096))
	mkdir -p "$host" "$work/$where" "$shared"
	echo draft >"$work/$where/notes.txt"
	cp "$here/agent.sh" "$work/$where/"
	echo "$in_home" >"$HOME/.ostiary-demo-$tag"
	echo "$in_fd" >"$work/$where.fd"
	for place in "$host/file" "/dev/shm/$where-$tag" "/var/tmp/$where-$tag"; do echo mine >"$place"; done
	mkfifo -m 666 "$shared/pipe"
	cat <>"$shared/pipe" >"$work/$where.pipe" &
	reader=$!
	segment=$(ipcmk -M "$size" -p 0666 2>/dev/null | tr -dc 0-9)
	env SECRET="$in_proc" sleep "$in_args" &
	victim=$!
	pids="$pids $victim $reader"
	# Both have to be what they are for before anybody goes for them.
	soon grep -qs "$in_proc" "/proc/$victim/environ"
	echo open >"$shared/pipe"

	(
		cd "$work/$where" || exit 1
		DEMO_TOKEN=$in_env
		export DEMO_TOKEN
		"$@" sh ./agent.sh "$trace" "$HOME/.ostiary-demo-$tag" "$host" "$port" "$victim" \
			"$shared" "$etc_file"
	) >"$out" 2>&1 9<"$work/$where.fd" </dev/null
	status=$?

	# The witness takes one caller after the other: when this word is there, so is what came before.
	sync=$(random)
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && echo $sync >&3"
	soon grep -qs "$sync" "$work/arrived"
	echo "$sync" >"$shared/pipe"
	soon grep -qs "$sync" "$work/$where.pipe"

	reached=''
	has() { grep -qs "$1" "$2" && reached="$reached $3"; }
	has "^project: draft $trace" "$out" work
	has "$trace" "$work/$where/notes.txt" project
	has "$in_home" "$out" home
	has "$in_env" "$out" environment
	has "$in_fd" "$out" descriptor
	has "$trace" "$work/arrived" network
	for place in "$host/file" "/dev/shm/$where-$tag" "/var/tmp/$where-$tag"; do
		has "$trace" "$place" files
	done
	has "$trace" "$work/$where.pipe" pipe
	has "^name: $(uname -n)$" "$out" name
	has "^etc: $(cksum <"$etc_file")" "$out" etc
	has "^ipc: .* $size " "$out" ipc
	has "^process:.*\($in_proc\|$in_args\)" "$out" process-read
	! grep -qs '^process: sent a signal' "$out" || soon is_gone "$victim"
	is_gone "$victim" && reached="$reached process-end"
	reached="$reached "
	kill "$victim" "$reader" 2>/dev/null
	wait "$victim" "$reader" 2>/dev/null
	[ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
	segment=''
}

"$witness" "$work/arrived" >"$work/port" &
pids=$!
soon test -s "$work/port"
port=$(cat "$work/port")

failed=0
say() { # is it as it should be (0 or not), what, words
	now ''
	if [ "$1" = 0 ]; then
		printf ' %s%s%s %-34s %s\n' "$green" "$good" "$plain" "$2" "$3"
	else
		printf ' %s%s %-34s %s%s\n' "$red" "$bad" "$2" "$4" "$plain"
		failed=$((failed + 1))
	fi
}
# part_ends NAME: the end, when no more than this part was asked for.
part_ends() { [ "${DEMO_UNTIL:-}" != "$1" ] || the_end; }
the_end() {
	echo
	if [ "$failed" != 0 ]; then
		echo "$failed of these are not as they should be on this machine. 'ostiary doctor' may say why."
		exit 1
	fi
	echo "Next: 'make install' (to ~/.local), then 'ostiary run claude'."
	exit 0
}
in_box() { case $inside in *" $1 "*) return 0 ;; *) return 1 ;; esac }

# keeps WHAT TITLE WORDS WORDS-WHEN-OPEN: shut in the box, and open outside it.
keeps() {
	case $outside in
	*" $1 "*) ;;
	*)
		say 1 "$2" '' "the same attempt failed outside the box as well, so it shows nothing"
		return
		;;
	esac
	! in_box "$1"
	say $? "$2" "$3" "$4"
}

now 'an agent tries it on this machine as it is'
attempt outside
outside=$reached
now 'and in a box'
# shellcheck disable=SC2086
attempt boxed timeout 120 "$ostiary" run -q --rm --bind "$work/shared-boxed" ${DEMO_FLAGS:-} --
inside=$reached

now ''
echo
echo "A small agent just ran twice: on this machine as it is, where each attempt"
echo "below worked, and in a box. This is what the box let through, judged outside."
echo
if [ "$status" != 0 ]; then
	echo "The box did not run the agent (status $status):"
	sed 's/^/    /' "$work/boxed.out"
fi
in_box work
say $? 'edits the project' 'it wrote to notes.txt and read it back' 'it could not edit notes.txt in its workspace'
keeps project 'your files stay as they were' 'notes.txt on the host is still a draft' 'its edit is on the host already'
keeps home 'cannot see your home' 'a file planted there stayed unread' 'it read a file in your home directory'
keeps environment 'cannot see your environment' 'an exported variable did not get in' 'it read an exported variable'
keeps descriptor 'cannot use what you had open' 'an inherited descriptor was closed' 'it read from a descriptor of the caller'
keeps network 'cannot reach your machine' "nothing arrived at 127.0.0.1:$port" "it connected to 127.0.0.1:$port on the host"
keeps files 'cannot write to the host' '/tmp, /var/tmp and /dev/shm are its own' 'it wrote to a file of the host'
keeps pipe 'cannot use a shared pipe' 'read-only is read-only, also for pipes' 'it wrote to a pipe in a read-only directory'
keeps process-read 'cannot look into processes' "/proc/$victim of the host stayed unread" 'it read the words or variables of a process'
keeps process-end 'cannot end processes' "process $victim lived on" 'it ended a process of the host'
keeps name 'cannot learn whose machine it is' "the host's name stayed unread" "it read the host's name"
keeps etc 'cannot learn its configuration' "$etc_file stayed unread" "it read $etc_file"
if command -v ipcmk >/dev/null 2>&1; then
	keeps ipc 'cannot see shared memory' 'a segment of the host was not listed' 'it saw a shared memory segment of the host'
fi
rights=$(grep '^right: ' "$work/boxed.out" | grep -v ' 0$' | cut -d' ' -f2 | tr '\n' ' ')
[ "$(grep -c '^right: ' "$work/boxed.out")" = 8 ] && [ -z "$rights" ]
say $? 'holds no rights' 'the kernel says so, of 8 kinds of them' "by the kernel's own account: $rights"
part_ends walls

# The door: a host that no rule names is refused in words, and the words hold the cure. The name is made up
# and led to our own listener, so that nothing leaves this machine.
box=demo-$tag ask='exec 3<>/dev/tcp/api.example.test/80 && printf "GET /hello HTTP/1.1\r\nHost: api.example.test\r\nConnection: close\r\n\r\n" >&3 && cat <&3'
visit() { timeout 120 "$ostiary" exec "$box" -- bash -c "$ask" 2>&1 </dev/null; }
now 'a box asks for a host that no rule names'
timeout 120 "$ostiary" create -w none --name "$box" --level strict >"$work/door" 2>&1
visit >"$work/refused"
cure=$(grep -o "ostiary allow $box '.*'" "$work/refused")
[ -n "$cure" ]
say $? 'refuses a host that no rule names' 'and says what a person can do:' "$(tail -n 1 "$work/door" "$work/refused" | tail -n 1)"
[ -z "$cure" ] || echo "      $cure"
rule=$(printf '%s' "$cure" | cut -d"'" -f2)
"$ostiary" allow "$box" "$rule to=127.0.0.1:$port" >>"$work/door" 2>&1
visit | tail -n 1 | grep -qx hello
say $? 'lets it pass once you say so' 'it got "hello"; no restart was needed' 'the same request still fails'
"$ostiary" log "$box" >"$work/log" 2>&1
[ "$(grep -c '  GET  *api.example.test' "$work/log")" = 2 ]
say $? 'wrote both down' "both are in: ostiary log $box --kind http" "$(tail -n 1 "$work/log")"
"$ostiary" rm -f "$box" >/dev/null 2>&1 && box=''
part_ends door

# Keys: the agent works with one that it never has, and what it has instead is a tripwire. The origin is a
# server of this demo behind made-up names; it repeats every request in its answer. On the bare machine
# curl's own configuration leads there, in the box the rules do.
now 'an agent works with a key'
"$origin" "$work/origin.pem" "$work/seen" >"$work/origin.port" &
pids="$pids $!"
soon test -s "$work/origin.port"
origin_port=$(cat "$work/origin.port")
mkdir "$work/curl"
printf 'cacert = "%s"\nconnect-to = "::127.0.0.1:%s"\n' "$work/origin.pem" "$origin_port" >"$work/curl/.curlrc"

# work_with_key WHERE COMMAND...: make up a key, run COMMAND with demo/keys.sh, and leave in $reached a word
# for each thing that happened to the key.
work_with_key() {
	where=$1 trace=$1-$(random) out=$work/keys-$1.out
	shift
	DEMO_KEY=sk_test_$(random) # the shape of a real one
	mkdir "$work/keys-$where"
	cp "$here/keys.sh" "$work/keys-$where/"
	(
		cd "$work/keys-$where" || exit 1
		export DEMO_KEY
		"$@" sh ./keys.sh "$trace"
	) >"$out" 2>"$work/keys-$where.err" </dev/null
	status=$?

	reached=''
	tr -d '\r' <"$work/seen" | sed -n "/ \/$trace\/work /,/^\$/p" >"$work/work.seen"
	has "uthorization: Bearer $DEMO_KEY\$" "$work/work.seen" used
	sed '/^answer: /d' "$out" >"$out.looked"
	has "$DEMO_KEY" "$out.looked" key
	has "^answer:.*uthorization: Bearer .*$DEMO_KEY" "$out" echo
	has " /$trace/harmless " "$work/seen" harmless
	has " /$trace/in-" "$work/seen" stolen
	reached="$reached "
}
CURL_HOME=$work/curl
export CURL_HOME
work_with_key outside
unset CURL_HOME
outside=$reached
lead="to=127.0.0.1:$origin_port ca=$work/origin.pem"
# shellcheck disable=SC2086
work_with_key boxed timeout 120 "$ostiary" run --rm --level strict --secret DEMO_KEY@api.example.test \
	--allow "* api.example.test $lead" --allow "* other.example.test $lead" ${DEMO_FLAGS:-} --
inside=$reached
if [ "$status" != 0 ]; then
	echo "The box did not run the agent with its key (status $status):"
	sed 's/^/    /' "$work/keys-boxed.err"
fi
placeholder=$(sed -n 's/^key: //p' "$out")
in_box used
say $? 'works with a key of yours' "the server got $DEMO_KEY" 'the server did not get the key'
if [ ${#placeholder} = ${#DEMO_KEY} ]; then
	keeps key 'and never has it' "the agent sees $placeholder" 'it read the key'
else
	say 1 'and never has it' '' "it has no placeholder of the same length, but \"$placeholder\""
fi
if in_box echo || grep -q "^answer:.*uthorization: Bearer $placeholder" "$out"; then
	keeps echo 'nor from an answer' 'the server repeats it, the door hides it' 'the answer told it the key'
else
	say 1 'nor from an answer' '' 'the answer did not reach it'
fi
alarm=$(grep -o 'alarm: .* request to other.example.test' "$work/keys-boxed.err" | head -n 1)
if in_box stolen || { [ -n "$alarm" ] && in_box harmless; }; then
	keeps stolen 'the placeholder is a tripwire' 'sent in base64 and hex, and caught:' 'it left for another host'
	echo "${alarm:-no alarm}" | fold -s -w 72 | sed 's/^/      /'
else
	say 1 'the placeholder is a tripwire' '' 'there was no alarm, or what is harmless did not pass either'
fi
part_ends keys

# The way back to your files: what the agent did is looked at, the harmless part of it lands, and all of it can be taken back. The agent
# writes a line and plants a hook where the project keeps them; on a plain copy of its work that hook runs at the next commit.
box=demo-$tag-review project=$work/review
# The user's own history stays as it is.
review() { XDG_STATE_HOME=$HOME/.ostiary-demo-$tag-state timeout 120 "$ostiary" "$@" </dev/null; }
mkdir "$project"
now 'an agent changes a project and plants a git hook'
echo draft >"$project/notes.txt"
commit() { (cd "$1" && git -c user.name=demo -c user.email=demo@example.test -c safe.directory='*' commit -q --allow-empty -m next) >/dev/null 2>&1; }
sums() { (cd "$project" && find . -type f -exec cksum {} + && find . -printf '%p %y %m\n') | sort | cksum; }
has_git=''
if command -v git >/dev/null 2>&1 && git init -q "$project" 2>/dev/null; then
	has_git=1
	git -C "$project" -c safe.directory='*' config core.hooksPath .githooks
fi
before=$(sums)
(cd "$project" && review run -q --name "$box" -- sh -c 'echo final >notes.txt; echo more >more.txt; mkdir -p .githooks
	printf "#!/bin/sh\ntouch $0\n" >.githooks/pre-commit; chmod 755 .githooks/pre-commit' "$work/hook-ran") >"$work/review.out" 2>&1
review diff "$box" >"$work/diff" 2>&1
grep -q '^+final' "$work/diff" && grep -q '^runs on commit: .githooks/pre-commit' "$work/diff" && [ "$(sums)" = "$before" ]
say $? 'shows what the agent changed' 'and what of it would run on your machine:' "$(tail -n 1 "$work/review.out" "$work/diff" | tail -n 1)"
grep '^runs on commit' "$work/diff" | sed 's/^/      /'
ran=''
if [ -n "$has_git" ]; then
	cp -r "$project" "$work/copied" && mkdir "$work/copied/.githooks" && review cp --yes "$box:.githooks/pre-commit" "$work/copied/.githooks/" >/dev/null 2>&1 && chmod 755 "$work/copied/.githooks/pre-commit"
	commit "$work/copied"
	[ -e "$work/hook-ran" ] && ran=1
	rm -f "$work/hook-ran"
fi
review apply "$box" --yes >"$work/apply" 2>&1
[ "$(cat "$project/notes.txt" "$project/more.txt" 2>/dev/null)" = "final
more" ]
say $? 'lets the harmless part land' "with: ostiary apply $box --yes" "$(tail -n 1 "$work/apply")"
if [ -n "$has_git" ] && [ -z "$ran" ]; then
	say 1 'and not what would run' '' 'the planted hook does not run on a plain copy either, so it shows nothing'
else
	after=$(sums)
	[ -z "$has_git" ] || { cp -r "$project" "$work/landed" && commit "$work/landed"; }
	[ ! -e "$project/.githooks/pre-commit" ] && [ ! -e "$work/hook-ran" ] && [ "$after" = "$(sums)" ]
	say $? 'and not what would run' 'the hook stayed in the box; a commit ran nothing' 'the planted hook is on the host'
fi
(cd "$project" && review undo) >"$work/undo" 2>&1
[ "$(sums)" = "$before" ]
say $? 'takes it back' 'ostiary undo: every byte is as before' "$(tail -n 1 "$work/undo")"
review rm -f "$box" >/dev/null 2>&1 && box=''
part_ends review

# The program's own attacks cover the layers behind these walls, which a script cannot reach.
now 'ostiary probe attacks a box from inside'
if (cd "$work/boxed" && timeout 240 "$ostiary" probe) >"$work/probe" 2>&1 </dev/null; then
	say 0 'ostiary probe' "$(grep -c '^ok' "$work/probe") attacks from inside, no open wall" ''
else
	say 1 'ostiary probe' '' 'found an open wall:'
	grep -v '^ok' "$work/probe" | head -n 8 | sed 's/^/      /'
fi
the_end
