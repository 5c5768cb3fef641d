#!/bin/sh
# gen_lenders.sh data/lenders - its rows as C, which the program carries inside. Called by the Makefile.
# A row that is neither a place nor a field ends the build with its line.
set -eu
awk -v file="$1" '
function fail(why) {
	printf "%s:%d: %s\n", file, NR, why | "cat >&2"
	is_bad = 1
	exit 1
}
BEGIN {
	print "/* Made by tools/gen_lenders.sh from data/lenders; changes here are lost. */"
	print "#include \"policy/lenders_table.h\"\n"
}
/["\\?]/ && !/^#/ { fail("quotes, backslashes and question marks have no place here") }
/^[ \t]*(#|$)/ { next }
$1 == "field" {
	sure = NF == 3 && $3 == "sure"
	piece = NF == 4 && $3 == "as" ? $4 : ""
	if (NF != 2 && !sure && piece !~ /^(id|key|token|none)$/) fail("field NAME [sure] or field NAME as id|key|token|none")
	if ($2 !~ /^\*?[a-z0-9]+$/) fail("a name of a field is small letters and digits")
	fields = fields sprintf("        {\"%s\", \"%s\", %s},\n", $2, piece, sure || (piece && piece != "none") ? "true" : "false")
	next
}
$1 !~ /^\*/ { fail("a place begins with *") }
{
	host = query = ""
	lends = 0
	at = 2
	if ($at ~ /^host=/) host = substr($(at++), 6)
	if ($at ~ /^query=/) query = substr($(at++), 7)
	if ($at == "all" || $at == "id") lends = $(at++) == "all" ? "LENDERS_ALL" : "LENDERS_ID"
	if (at > NF) fail("a place is PATH [host=] [query=] [all|id] WHO")
	who = $at
	while (++at <= NF) who = who " " $at
	places = places sprintf("        {\"%s\", \"%s\", \"%s\", \"%s\", %s},\n", tolower($1), host, query, who, lends)
}
END {
	if (is_bad) exit 1
	printf "const struct lender_place lender_places[] = {\n%s        {0},\n};\n\n", places
	printf "const struct lender_field lender_fields[] = {\n%s        {0},\n};\n", fields
}' "$1"
