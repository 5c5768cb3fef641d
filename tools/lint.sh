#!/bin/bash
# lint.sh - layout, static analysis and include arrows; called by `make lint`.
#
# Every check runs even when an earlier one failed, and each prints one line. Findings go to the screen.
# It changes no file: `clang-format -i FILE` mends layout.
set -u
cd "$(dirname "$0")/.." || exit 1
gen=out/release/gen
flags=(-std=gnu17 -D_GNU_SOURCE -Isrc -Itests "-I$gen" '-DOSTIARY_VERSION="lint"')
bad=0

check() { # name, command...
	local name=$1 out status
	shift
	out=$("$@" 2>&1)
	status=$?
	if [ "$status" = 0 ]; then
		printf 'ok      %s\n' "$name"
	else
		printf 'FAILED  %s\n' "$name"
		printf '%s\n' "$out" | head -n "${LINT_LINES:-60}"
		bad=1
	fi
}

mapfile -t code < <(find src tools -name '*.c')
mapfile -t tests < <(find tests bench demo -name '*.c' 2>/dev/null)
mapfile -t headers < <(find src tests -name '*.h')
mapfile -t scripts < <(find tools tests demo bench packaging .ci -type f \( -name '*.sh' -o -name run -o -name postinst -o -name prerm \))

tidy() {
	printf '%s\0' "${code[@]}" |
		xargs -0 -P "$(nproc)" -n 4 sh -c 'out=$(clang-tidy --quiet "$@" -- '"$(printf '%q ' "${flags[@]}")"' 2>/dev/null)
			status=$?; [ -z "$out" ] || printf "%s\n" "$out"; exit $status' tidy
}

check 'clang-format' clang-format --dry-run -Werror "${code[@]}" "${tests[@]}" "${headers[@]}"
# clang calls a variable that only its cleanup uses unused; gcc, which builds the program, knows better.
check 'clang compiles without a warning' clang -fsyntax-only -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wswitch-enum -Wvla -Wno-unused-variable -Werror "${flags[@]}" "${code[@]}"
check 'clang-tidy' tidy
# It does not know the cleanup attribute.
check 'cppcheck' cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	--library=tools/cppcheck.cfg \
	--inline-suppr --suppress=missingIncludeSystem --suppress=unusedStructMember --suppress=varFuncNullUB \
	--suppress=nullPointerRedundantCheck --suppress=resourceLeak --suppress=memleak \
	-j "$(nproc)" -D_GNU_SOURCE -D__x86_64__ -Isrc "-I$gen" src
check 'include arrows' sh tools/arrows.sh
if command -v shellcheck >/dev/null 2>&1; then
	# A sourced file shares its variables with whoever sources it; one file alone does not show that.
	check 'shellcheck' shellcheck --severity=warning --exclude=SC2154,SC2034,SC2046,SC2148 "${scripts[@]}"
else
	echo 'skip    shellcheck: not installed'
fi
exit "$bad"
