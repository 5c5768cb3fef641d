#!/bin/bash
# suite: users=any timeout=60
# surface.sh - what the program says of itself, the manual page, the completions and the README agree.
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

man_text=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' man/ostiary.1)
for command in "${commands[@]}"; do
	help=$("$ostiary" help "$command" 2>&1)
	report $? "help $command" "$help"
	missing=''
	for file in completions/ostiary.bash completions/ostiary.zsh completions/ostiary.fish; do
		grep -qw -- "$command" "$file" || missing="$missing $file"
	done
	grep -qE "^\.(B|BR|SS|It|TP|Nm).*\b$command\b" <<<"$man_text" || missing="$missing man/ostiary.1"
	for flag in $(grep -oE '(^|[ ,\[])--[a-z][a-z-]+' <<<"$help" | tr -d ' ,[' | sort -u); do
		grep -qE -- "$flag([^a-z-]|$)" <<<"$man_text" || missing="$missing man:$flag"
		grep -qE -- "$flag([^a-z-]|$)" completions/ostiary.bash || missing="$missing bash:$flag"
		grep -qE -- "$flag([^a-z-]|$)" completions/ostiary.zsh || missing="$missing zsh:$flag"
		grep -qE -- "-l ${flag#--}([^a-z-]|$)" completions/ostiary.fish || missing="$missing fish:$flag"
	done
	[ -z "$missing" ]
	report $? "$command and its flags are documented and completed" "missing:$missing"
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

# Links between our own pages lead somewhere.
dead=''
for page in *.md docs/*.md docs/rooms/*.md; do
	for link in $(grep -oE '\]\([^)#]+\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^http'); do
		[ -e "$(dirname "$page")/$link" ] || dead="$dead $page:$link"
	done
done
[ -z "$dead" ]
report $? 'links between the pages lead somewhere' "dead:$dead"

# Every test that SPECIFICATION.md names exists.
gone=''
for name in $(grep -oE '(tests|bench|demo)/[A-Za-z0-9_/.-]+' SPECIFICATION.md | sed 's/[.]$//' | sort -u); do
	[ -e "$name" ] || gone="$gone $name"
done
[ -z "$gone" ]
report $? 'every test that SPECIFICATION.md names exists' "missing:$gone"
exit $bad
