#!/bin/bash
# suite: check=any test=any soak=any timeout=900
# tier: help, manual page and completions are compared, no box is started: cheap enough for every commit
# surface.sh - what the program says of itself, the manual page and the completions agree, flag by flag.
set -u
cd "$(dirname "$0")/.." || exit 1
ostiary=${OSTIARY:-out/release/ostiary}
bad=0
report() { # status, name, why
	if [ "$1" = 0 ]; then echo "ok $2"; else
		echo "not ok $2: $3"
		bad=1
	fi
}

# The table of commands is `ostiary help --all`.
mapfile -t commands < <("$ostiary" help --all | sed -nE 's/^  ([a-z]+)( .*|$)/\1/p' | sort -u)
[ ${#commands[@]} -ge 15 ]
report $? 'help lists the commands' "only ${#commands[@]} were found"

# Everything is held against the help, because the table that prints its flags is the one that reads them. What each
# place has for each command is put into a file: $work/PLACE.COMMAND, one flag a line.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
declare -A help=()
for command in "${commands[@]}"; do
	help[$command]=$("$ostiary" help "$command" 2>&1)
	report $? "help $command" "${help[$command]}"
	[ "${help[$command]}" = "$("$ostiary" "$command" --help 2>&1)" ]
	report $? "$command --help says the same" 'it says something else'
	sed -n '/^Flags:/,$p' <<<"${help[$command]}" | grep -E '^  ' | sed -E 's/^ +//; s/  .*//' |
		tr ', [=' '\n' | grep -E '^--?[A-Za-z0-9]' | sort -u >"$work/help.$command"
done
sort -u "$work"/help.* >"$work/all"

# bash: what is offered after "--", behind each of the command's own words.
bash -c '. completions/ostiary.bash; ostiary() { :; }; work=$1; shift
	for command; do
		case $command in
		secret) after=("" set ls import passwd) ;;
		profile | policy | snapshots | revoke) after=("" x) ;;
		*) after=("") ;;
		esac
		for word in "${after[@]}"; do
			COMP_WORDS=(ostiary "$command" ${word:+"$word"} --)
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_ostiary
			printf "%s\n" "${COMPREPLY[@]}"
		done | grep -E "^--[a-z0-9]" | sort -u >"$work/bash.$command"
	done' - "$work" "${commands[@]}"

# zsh: _arguments is replaced by one that prints the specifications it is given.
command -v zsh >/dev/null && zsh -fc 'work=$1; shift; names=("$@"); set --
	_describe() { :; }
	_arguments() {
		if [[ $1 == -C ]]; then state=argument; words=($name); else print -rl -- "$@"; fi
	}
	for name in $names; do . completions/ostiary.zsh >$work/zsh.$name; done' - "$work" "${commands[@]}" 2>"$work/zsh.said"
# fish: what it offers.
command -v fish >/dev/null && fish --no-config -c 'function ostiary; end; source completions/ostiary.fish
	for name in $argv[2..-1]
		begin; complete -C "ostiary $name -"; complete -C "ostiary $name --"; end >$argv[1]/fish.$name
	end' "$work" "${commands[@]}" 2>"$work/fish.said"
for command in "${commands[@]}"; do
	for shell in zsh fish; do
		[ -e "$work/$shell.$command" ] || continue
		sed -i -nE 's/^(\([^)]*\))?\*?(--?[A-Za-z0-9][A-Za-z0-9-]*)=?([[:space:]].*|\[.*|$)/\2/p' "$work/$shell.$command"
	done
done

# The manual page: a section that says "as for run" or "those of timeline" has those flags too.
man_text=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' man/ostiary.1)
section() { sed -n "/^\\.SS $1\$/,/^\\.S[SH] /p" <<<"$man_text" | sed '1d; $d'; }
flags_in() { grep -oE '(^|[^A-Za-z0-9-])--?[A-Za-z0-9][A-Za-z0-9-]*' | sed -E 's/^[^-]//' | sort -u; }
# lacks WANTED THERE: lines of the one file that the other has not. Asked 500 times, so without a program.
lacks() {
	local line
	local -A there=()
	while read -r line; do there[x$line]=1; done <"$2"
	while read -r line; do [ -n "${there[x$line]:-}" ] || printf '%s ' "$line"; done <"$1"
}

for command in "${commands[@]}"; do
	flags=$work/help.$command
	section "$command" >"$work/section"
	case $command in
	shell | create | explain) section run ;;
	log) section timeline ;;
	esac | cat "$work/section" - | flags_in >"$work/man"
	wrong=$(lacks "$flags" "$work/man")
	[ -z "$wrong" ] && [ -s "$work/section" ]
	report $? "the manual page has $command and its flags" "missing: $wrong"
	# A flag that heads a paragraph is the command's own; another that is spoken of is one of some command.
	grep -A1 '^\.TP' "$work/section" | grep -E '^\.B' | flags_in >"$work/heads"
	flags_in <"$work/section" | grep -E '^--' >"$work/spoken"
	wrong=$(lacks "$work/heads" "$flags")$(lacks "$work/spoken" "$work/all")
	[ -z "$wrong" ]
	report $? "the manual page has no other flags of $command" "too many: $wrong"

	for shell in bash zsh fish; do
		name="$shell completes the flags of $command"
		if ! command -v $shell >/dev/null; then
			echo "skip $name: $shell is not installed"
			continue
		fi
		# bash offers no single letters.
		if [ $shell = bash ]; then grep -E '^--' "$flags"; else cat "$flags"; fi >"$work/wanted"
		wrong="$(lacks "$work/wanted" "$work/$shell.$command")/$(lacks "$work/$shell.$command" "$work/wanted")"
		[ "$wrong" = / ]
		report $? "$name" "missing/too many: $wrong"
	done

	# There is an example, and it uses commands and flags that exist.
	wrong=''
	sed -nE '/^Examples?:/,/^$/s/^ .*ostiary ([a-z]+.*)$/\1/p' <<<"${help[$command]}" | tr -d ")" >"$work/examples"
	while read -r other line; do
		set -f
		for word in ${line%%-- *}; do
			[[ ! $word =~ ^--?[A-Za-z] ]] || echo "${word%%=*}"
		done >"$work/used"
		set +f
		wrong=$wrong$(lacks "$work/used" "$work/help.$other" 2>&1)
	done <"$work/examples"
	case $command in version | help) ;; *) [ -s "$work/examples" ] || wrong="$wrong no example" ;; esac
	[ -z "$wrong" ]
	report $? "the examples of $command use flags that exist" "wrong: $wrong"
done

# --- the overview ------------------------------------------------------------------------------------
overview=$("$ostiary" help)
[ "$(wc -l <<<"$overview")" -le 23 ] && [ "$(wc -L <<<"$overview")" -le 80 ]
report $? 'the overview fits a screen of 80 by 24, with a line for the prompt' "$(wc -l <<<"$overview") lines, $(wc -L <<<"$overview") columns"
first=$(sed -nE '/^The first day/,/^$/s/^  ([a-z]+) .*/\1/p' <<<"$overview" | tr '\n' ' ')
[ "$first" = 'run ps diff apply undo allow exec stop rm doctor ' ]
report $? 'the ten commands of the first day come first' "$first"
groups=$(grep -cE '^(The first day|Boxes|Rules|Secrets|Record)( |$)' <<<"$overview")
[ "$groups" = 5 ]
report $? 'in five groups' "$groups"
wrong=''
for command in "${commands[@]}"; do
	[ "$(grep -cwE "$command" <<<"$(sed 1d <<<"$overview" | sed -E 's/^  ([a-z]+) .*/\1/; /^More:/d')")" = 1 ] || wrong="$wrong $command"
done
[ -z "$wrong" ]
report $? 'each command is in one of them' "$wrong"

# --- letters -----------------------------------------------------------------------------------------
# A letter stands for one long flag everywhere; -f is the habit of two worlds (rm -f, tail -f), and stays both.
for command in "${commands[@]}"; do
	sed -nE '/^Flags:/,$s/^  -([A-Za-z]), --([a-z0-9-]+).*/\1 \2/p' <<<"${help[$command]}"
done | sort -u >"$work/letters"
wrong=$(cut -d' ' -f1 "$work/letters" | uniq -d | grep -vx f | tr '\n' ' ')
[ -z "$wrong" ] && [ "$(grep -c '^f ' "$work/letters")" = 2 ] && [ "$(wc -l <"$work/letters")" -ge 12 ]
report $? 'a letter means one thing in every command' "$wrong $(tr '\n' ',' <"$work/letters")"
while IFS='|' read -r line want; do
	# shellcheck disable=SC2086 # words are meant
	said=$("$ostiary" $line 2>&1)
	[[ $said == *"is --$want now"* ]]
	report $? "an old letter works and says its new name: $line" "$said"
done <<-'OLD'
	stop -t 1 no-such-box|time
	fork -n 2 no-such-box|number
	exec -w /tmp no-such-box -- true|cwd
	apply -n no-such-box|dry-run
	undo -n 99999|dry-run
OLD

# --- words of other tools ----------------------------------------------------------------------------
"$ostiary" help other-tools >"$work/other"
sed -n '2,/^Flags/s/^  \([a-z][a-z]*\) .*/\1/p' "$work/other" >"$work/words"
wrong=''
while read -r word; do
	"$ostiary" "$word" --no-such-flag >"$work/said" 2>&1
	code=$?
	# Understood (then the flag is what is wrong), or answered with what to type.
	[ $code = 64 ] && grep -qE '^ostiary: (unknown flag --no-such-flag|there is no command "[a-z]+"(;|:) )' "$work/said" || wrong="$wrong $word:$code"
done <"$work/words"
[ -z "$wrong" ] && [ "$(wc -l <"$work/words")" -ge 40 ]
report $? 'a command of another tool is understood or answered' "$wrong ($(wc -l <"$work/words") words)"
for word in inspect stats images start mcp; do
	said=$("$ostiary" $word 2>&1)
	[[ $said == *ostiary\ * ]] && [[ $said != *'did you mean'* ]]
	report $? "$word is answered, not guessed at" "$said"
done
[ "$("$ostiary" sandbox version)" = "$("$ostiary" version)" ]
report $? 'the word sandbox before a command is passed over' ''
sed -n '/^Flags/,$s/^  \(-[^ ]*\) .*/\1/p' "$work/other" >"$work/words"
wrong=''
while read -r word; do
	# explain starts nothing; what only a box that is made has is tried there, with a slip behind it.
	! "$ostiary" explain "$word" 1 1 2>&1 | grep -q "unknown flag $word" ||
		! "$ostiary" create "$word" 1 --no-such-flag 2>&1 | grep -q "unknown flag $word" || wrong="$wrong $word"
done <"$work/words"
[ -z "$wrong" ] && [ "$(wc -l <"$work/words")" -ge 50 ]
report $? 'a flag of another tool is understood or answered' "$wrong ($(wc -l <"$work/words") flags)"
plan() { HOME=$work XDG_STATE_HOME=$work XDG_DATA_HOME=$work "$ostiary" explain --json -w none "$@" -- true 2>&1; }
[[ $(plan --memory 512m --cpus 2 --pids-limit 77 --ttl 5m) == *'"memory","value":536870912'* ]] && [[ $(plan --pids-limit 77) == *'"pids","value":77'* ]]
report $? '--memory, --cpus, --pids-limit and --ttl are limits' "$(plan --memory 512m --cpus 2 --pids-limit 77 --ttl 5m | head -c 300)"
[[ $(plan --network none) == *'"rule":"deny * *"'* ]]
report $? '--network none is a rule' "$(plan --network none | head -c 300)"
[[ $(plan --network host) == *'--allow HOST'* ]]
report $? 'another network is answered' "$(plan --network host | head -c 300)"
[[ $(plan -v /opt:/opt:ro) == *'/opt'* ]] && [[ $(plan -v /opt:/app) == *'--bind /opt:rw'* ]] && [[ $(plan -v cache:/var/cache) == *'persist ~/cache'* ]]
report $? '-v SRC:SRC is a bind; another place is answered with the exact flag' "$(plan -v /opt:/app | head -c 300)"
[[ $(plan --ro-bind /opt /opt) == *'/opt'* ]] && [[ $(plan --ro-bind /opt /app) == *'--bind /opt:ro'* ]]
report $? '--ro-bind likewise' "$(plan --ro-bind /opt /app | head -c 300)"
[[ $(plan --bind /opt /opt) == *'takes one path'* ]] && [[ $(plan --allow ./dir) == *'--bind ./dir:rw'* ]] && [[ $(plan --allow /opt) == *'--bind /opt:rw'* ]]
report $? "bubblewrap's --bind and nono's --allow are answered" "$(plan --bind /opt /opt | head -c 200) $(plan --allow ./dir | head -c 200)"
printf '# a comment\nFIRST=one two\nSECOND=2\r\n' >"$work/env"
[[ $(plan --env-file "$work/env") == *'"FIRST"'*'"SECOND"'* ]]
report $? '--env-file' "$(plan --env-file "$work/env" | head -c 300)"
plan --env-file "$work/nowhere" >"$work/said"
[ $? = 119 ]
report $? 'one that is not there' "$(cat "$work/said")"

# --- behind the word of an agent, a flag is the agent's unless it is a long one of ours ----------------
wrong='' n=0
while read -r word; do
	# What run has itself by this name is ours; everything else is answered with the line that passes it on.
	! grep -qE -- "(^|[ ,])$word([ =,[]|\$)" <<<"${help[run]}" || [[ $word != --* ]] || continue
	said=$("$ostiary" run claude "$word" 1 2>&1)
	[ $? = 64 ] && [[ $said == *"go after --: ostiary run claude -- $word"* ]] || wrong="$wrong $word"
	n=$((n + 1))
done <"$work/words"
[ -z "$wrong" ] && [ "$n" -ge 50 ]
report $? 'a borrowed flag behind an agent is not ours' "$wrong ($n flags)"
for flag in -p -m -c -d -n -w -e -i --model --continue --resume=4711; do
	said=$("$ostiary" run claude "$flag" "fix it" 2>&1)
	[ $? = 64 ] && [[ $said == *"go after --: ostiary run claude -- $flag"* ]]
	report $? "run claude $flag names the line that passes it on" "$said"
done
said=$("$ostiary" run claude --resume 4711 2>&1)
[ $? = 64 ] && [[ $said == *'ostiary run claude -- --resume 4711'* ]]
report $? 'run claude --resume ID is not silently something else' "$said"
said=$("$ostiary" run claude -d 2>&1)
[[ $said == *'--detach'* ]]
report $? 'a letter that both may have is answered with our long flag, too' "$said"
[[ $(plan --memory gpt-5b) == *'gpt-5b'* ]] && [[ $(plan -m 2gb) == *'"memory","value":2147483648'* ]]
report $? 'a size is understood, and a word that is none is shown as it was typed' "$(plan --memory gpt-5b | head -c 200)"

# --- lines of other tools that name no program of ours ------------------------------------------------
try() { HOME=$work XDG_STATE_HOME=$work XDG_DATA_HOME=$work "$ostiary" "$@" 2>&1; }
said=$(try explain -w none -it ubuntu bash)$(try explain -w none ubuntu bash)
[[ $said == *'ubuntu is not on your PATH'*'ostiary run bash'* ]]
report $? 'an image is answered with what is run here' "$said"
said=$(try explain -w none node:20 npm test)
[[ $said == *'ostiary run npm ...'* ]]
report $? 'also one with a tag' "$said"
said=$(try explain -w none 'echo hi && ls')
[[ $said == *"ostiary run -- sh -c 'echo hi && ls'"* ]]
report $? 'a line in one word is answered with sh -c' "$said"
said=$(try explain -w none clade)
[ $? = 64 ] && [[ $said == *'ostiary explain claude'* ]]
report $? 'a slip of an agent is no box that could be explained' "$said"
said=$(try explain -w none nosuchcommand)
[ $? = 127 ] && [[ $said == *'nosuchcommand is not on your PATH'* ]]
report $? 'nor is a command that is nowhere' "$said"
said=$(try why box GET)
[ $? = 64 ] && [[ $said == *"GET is a method, and its URL is missing"* ]]
report $? 'a method without a URL is no host for why' "$said"
said=$(try policy check POST)
[ $? = 64 ] && [[ $said == *"POST is a method, and its URL is missing"* ]]
report $? 'nor for policy check' "$said"
said=$(try -c 'echo hi')
[ $? = 64 ] && [[ $said == *"ostiary run -- sh -c 'echo hi'"* ]]
report $? 'ostiary -c likewise' "$said"
said=$(try --level strict)
[ $? = 64 ] && [[ $said == *'flags stand behind a command: ostiary run --level'* ]]
report $? 'a flag before the command is told its place' "$said"

# --- suggestions -------------------------------------------------------------------------------------
for pair in 'mcpp|cp' 'xps|ps' 'xrm|rm'; do
	said=$("$ostiary" "${pair%|*}" 2>&1)
	[[ $said != *"did you mean: ostiary ${pair#*|}"* ]]
	report $? "${pair%|*} is no slip of ${pair#*|}" "$said"
done
for pair in 'rnu|run' 'exce|exec' 'dif|diff' 'snapshto|snapshot' 'aply|apply'; do
	said=$("$ostiary" "${pair%|*}" 2>&1)
	[[ $said == *"did you mean: ostiary ${pair#*|}"* ]]
	report $? "${pair%|*} is one of ${pair#*|}" "$said"
done

# --- exit codes --------------------------------------------------------------------------------------
wrong='' n=0
while read -r code kind; do
	n=$((n + 1))
	grep -qE "^\| $code \| \`$kind\` \|" docs/json.md || wrong="$wrong page:$code"
	grep -qxF ".BR $code \" (${kind//-/\\-})\"" man/ostiary.1 || wrong="$wrong man:$code"
done < <("$ostiary" help exit-codes | sed -nE 's/^  ([0-9]+) +([a-z-]+) .*/\1 \2/p')
[ -z "$wrong" ] && [ $n = 12 ] && [ "$(grep -cE '^\| [0-9]+ \| `[a-z-]+` \|' docs/json.md)" = 12 ]
report $? 'the table of exit codes is the one of the manual page and of docs/json.md' "$wrong ($n)"

bash -n completions/ostiary.bash
report $? 'the completion for bash parses' 'bash -n refused it'
# What bash offers for the first word is the table itself.
offered=$(bash -c '. completions/ostiary.bash; COMP_WORDS=(ostiary ""); COMP_CWORD=1; _ostiary; printf "%s\n" "${COMPREPLY[@]}"' | sort -u)
[ "$offered" = "$(printf '%s\n' "${commands[@]}")" ]
report $? 'bash offers exactly the commands' "it offers $(tr '\n' ' ' <<<"$offered")"
for shell in zsh fish; do
	if command -v $shell >/dev/null; then
		$shell -n completions/ostiary.$shell 2>/dev/null
		report $? "the completion for $shell parses" "$shell -n refused it"
		[ ! -s "$work/$shell.said" ]
		report $? "the completion for $shell says nothing" "$(head -n 2 "$work/$shell.said")"
	else
		echo "skip the completion for $shell parses: $shell is not installed"
	fi
done

if command -v man >/dev/null; then
	warnings=$(LC_ALL=C MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z man/ostiary.1 2>&1 >/dev/null)
	[ -z "$warnings" ]
	report $? 'the manual page is clean' "$(head -n 3 <<<"$warnings")"
else
	echo 'skip the manual page is clean: man is not installed'
fi

exit $bad
