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

# The table of commands stands in `ostiary help` after the word "Commands:".
mapfile -t commands < <("$ostiary" help | sed -n '/^Commands:/,/^$/p' | sed -nE 's/^  ([a-z]+)( .*|$)/\1/p' | sort -u)
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
