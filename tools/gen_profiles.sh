#!/bin/sh
# gen_profiles.sh - turn profile files into C, so that the program carries them inside.
#
# Called by the Makefile with the files in order of their names; writes to standard output. Every
# line becomes one string literal, escaped byte by byte, so nothing in a profile can end the literal.
set -eu

echo '/* Made by tools/gen_profiles.sh from profiles/; changes here are lost. */'
echo '#include "policy/profile_builtin.h"'
echo
echo '#include <stddef.h>'
echo
echo 'const struct profile_builtin profile_builtins[] = {'
for file in "$@"; do
	name=$(basename "$file" .profile)
	printf '        {"%s",\n' "$name"
	# The question mark is escaped because two of them begin a trigraph.
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/	/\\t/g' \
		-e 's/^/         "/' -e 's/$/\\n"/' "$file"
	printf '         },\n'
done
echo '        {NULL, NULL},'
echo '};'
