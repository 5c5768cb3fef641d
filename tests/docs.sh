#!/bin/bash
# suite: check=any test=any soak=any timeout=240
# tier: documents change with every commit; it reads files and starts nothing
# docs.sh - the pages say nothing that is not there: links, files, commands, flags and variables exist, every page is
# reached from the README, and each promise of SPECIFICATION.md is tied to tests that run.
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
none() { # name, what is wrong
	[ -z "$2" ]
	report $? "$1" "$2"
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
pages=(README.md DESIGN.md SPECIFICATION.md CONTRIBUTING.md docs/*.md docs/rooms/*.md)

# --- links ------------------------------------------------------------------------------------------

links() { grep -oE '\]\([^)]+\)' "$1" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(http|$)' | sort -u; }
wrong=''
for page in "${pages[@]}"; do
	for link in $(links "$page"); do
		[ -e "$(dirname "$page")/$link" ] || wrong="$wrong $page:$link"
	done
done
none 'links between the pages lead somewhere' "$wrong"

seen=' README.md ' queue=(README.md)
while [ ${#queue[@]} -gt 0 ]; do
	page=${queue[0]} queue=("${queue[@]:1}")
	for link in $(links "$page" | grep '\.md$'); do
		next=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
		case $seen in *" $next "*) ;; *) seen="$seen$next " queue+=("$next") ;; esac
	done
done
wrong=''
for page in "${pages[@]}"; do
	case $page in docs/NEXT.md) continue ;; esac # for whoever goes on with the work
	case $seen in *" $page "*) ;; *) wrong="$wrong $page" ;; esac
done
none 'every page is reached from the README' "$wrong"

wrong=''
for room in src/*/; do
	room=$(basename "$room")
	grep -qE "^\| \[?$room\b|[[(, |]$room(\]|,| \|)" docs/rooms/README.md || wrong="$wrong $room"
done
none 'docs/rooms/README.md has every room' "$wrong"

# --- files, commands, flags, variables ------------------------------------------------------------

wrong=''
for path in $(grep -hoE '`(src|tests|tools|docs|bench|demo|packaging|profiles|man|completions)/[A-Za-z0-9_./-]+`' "${pages[@]}" | tr -d '`' | sort -u); do
	[ -e "$path" ] || [ "$path" = src/ROOM ] || wrong="$wrong $path"
done
# Rooms are named without src/: `box/build.c`.
for path in $(grep -hoE '`[a-z]+/[a-z0-9_]+\.[ch]`' "${pages[@]}" | tr -d '`' | sort -u); do
	[ -e "src/$path" ] || [ -e "$path" ] || wrong="$wrong $path"
done
none 'files that the pages name exist' "$wrong"

mapfile -t commands < <("$ostiary" help --all | sed -nE 's/^  ([a-z]+)( .*|$)/\1/p' | sort -u)
for command in "${commands[@]}"; do
	"$ostiary" help "$command" | sed -n '/^Flags:/,$p' | grep -E '^  ' | sed -E 's/^ +//; s/  .*//' |
		tr ', [=' '\n' | grep -E '^--?[A-Za-z0-9]' | sort -u >"$work/$command"
done
# Lines of a transcript, and what stands in back quotes: up to the words that belong to another program.
{
	grep -hoE '^(\$ |    )?(.*\$\()?ostiary [a-z].*' "${pages[@]}"
	grep -hoE '`ostiary [a-z][^`]*`' "${pages[@]}" | tr -d '`'
} | sed -E 's/^.*ostiary ([a-z])/\1/; s/ -- .*//; s/[;|)#].*//' | sort -u >"$work/.lines"
wrong=''
while read -r command rest; do
	[ -e "$work/$command" ] || {
		wrong="$wrong [ostiary $command]"
		continue
	}
	set -f
	for word in $rest; do
		case $word in
		--) break ;;
		--[a-z0-9]* | -[A-Za-z]) ;;
		*) continue ;;
		esac
		flag=$(grep -oE '^--?[A-Za-z0-9-]+' <<<"$word")
		grep -qx -e "$flag" "$work/$command" || wrong="$wrong [ostiary $command $flag]"
	done
	set +f
done <"$work/.lines"
none 'commands and flags that the pages name exist' "$wrong"

wrong=''
sort -u "$work"/[a-z]* >"$work/.flags"
# Flags without a command beside them; those of other programs are named with their program.
for flag in $(grep -hoE '`--[a-z][a-z-]+' "${pages[@]}" | tr -d '`' | sort -u); do
	grep -qx -e "$flag" "$work/.flags" || wrong="$wrong $flag"
done
none 'flags that the pages name alone exist' "$wrong"

wrong=''
for name in $(grep -hoE 'OSTIARY_[A-Z_]+' "${pages[@]}" man/ostiary.1 | sort -u); do
	case $name in OSTIARY_WEAK) continue ;; esac # the tests' own
	grep -rqF "\"$name" src || wrong="$wrong $name"
done
for name in $(grep -rhoE 'getenv\("OSTIARY_[A-Z_]+"' src | grep -oE 'OSTIARY_[A-Z_]+' | sort -u); do
	case $name in OSTIARY_WEAKEN | OSTIARY_SCALE | OSTIARY_PROBE_SECRET) continue ;; esac # not in the release build; the probe's own
	grep -q "$name" man/ostiary.1 || wrong="$wrong man:$name"
done
none 'variables that the pages name are read, and the manual page has those that are read' "$wrong"

# --- promises --------------------------------------------------------------------------------------

grep -E '^\| [0-9]+\.[0-9]+ \|' SPECIFICATION.md >"$work/.rows"
wrong=$(awk -F'[ .|]+' '{ n[$2]++; if ($3 != n[$2]) print $2 "." $3 }' "$work/.rows" | tr '\n' ' ')
[ "$(wc -l <"$work/.rows")" -ge 100 ]
report $? 'SPECIFICATION.md has its rows' "only $(wc -l <"$work/.rows") were found"
none 'promises are numbered one by one' "$wrong"

wrong='' gone=''
while IFS='|' read -r _ number _ tests _; do
	number=${number// /} runs=''
	case $tests in *'every suite'* | *'make bench'*) runs=1 ;; esac
	for name in $(grep -oE '(tests|bench|demo|tools)/[A-Za-z0-9_/.-]+' <<<"$tests" | sed 's/[.]$//'); do
		[ -e "$name" ] || gone="$gone $number:$name"
		case $name in
		tests/unit/*.c | tests/fuzz/*.c) runs=1 ;;
		*.sh) grep -q '^# suite:' "$name" 2>/dev/null && runs=1 ;;
		esac
	done
	[ -n "$runs" ] || wrong="$wrong $number"
done <"$work/.rows"
none 'every test that SPECIFICATION.md names exists' "$gone"
none 'every promise names a test that a tier runs' "$wrong"
none 'each promise has the first tier that runs its tests' "$(python3 tools/promises.py)"

# attack-4, 5, 7 and attack-R1 to R10: the first and the last of a row exist, and so does each that is named.
sed -nE 's/.*\{"([0-9A-Zrole-]+[a-z0-9]*)", .*/\1/p' tests/attack/*.c >"$work/.cases"
grep -ohE '\brole-[a-z0-9]+' tests/attack/*.sh >>"$work/.cases"
wrong=''
while read -r list; do
	for case_ in $(tr ', ' '\n\n' <<<"$list" | grep -vx to); do
		grep -qx -e "$case_" "$work/.cases" || wrong="$wrong attack-$case_"
	done
done < <(grep -oE 'attack-[A-Za-z0-9-]+((, | to )[A-Za-z0-9-]+)*' "$work/.rows" | sed 's/^attack-//')
none 'attacks that SPECIFICATION.md names exist' "$wrong"

wrong=''
for suite in $(grep -rl '^# suite:' tests --include='*.sh' | sort); do
	grep -qF -e "\`$suite\`" SPECIFICATION.md || wrong="$wrong $suite"
done
none 'every suite stands at a promise' "$wrong"
exit $bad
