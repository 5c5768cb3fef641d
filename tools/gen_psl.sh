#!/bin/sh
# gen_psl.sh - turn the packed public suffix list into a C array, so that the program carries it inside.
#
# Called by the Makefile with the file that Debian's package `publicsuffix` installs; writes to standard
# output. The first 16 bytes name the format and are checked here, at build time.
set -eu
file=$1
[ -r "$file" ] || {
	echo "gen_psl: $file is missing. \`make setup\` installs it (Debian's package publicsuffix)." >&2
	exit 1
}
[ "$(head -c 12 "$file")" = '.DAFSA@PSL_0' ] || {
	echo "gen_psl: $file is not a packed public suffix list of a kind we know." >&2
	exit 1
}
echo '/* Made by tools/gen_psl.sh from the public suffix list; changes here are lost. */'
echo 'static const uint8_t psl_graph[] = {'
tail -c +17 "$file" | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
echo '};'
