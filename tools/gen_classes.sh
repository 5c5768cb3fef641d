#!/bin/sh
# gen_classes.sh - the rows of data/classes as C, which the program carries inside, and as the table of
# docs/classes.md.
#
#   gen_classes.sh data/classes                  C on standard output; called by the Makefile
#   gen_classes.sh --page PROGRAM docs/classes.md  put the tables that PROGRAM prints into the page
#
# A row that is not CLASS PATTERN WHY, and a class that there is not, end the build with its line.
set -eu

if [ "$1" = --page ]; then
	new=$(mktemp)
	# Everything up to the fence after the heading of the tables stays.
	awk '{ print } /^## The tables/ { seen = 1 } seen && /^```$/ { exit }' "$3" >"$new"
	env -u XDG_CONFIG_HOME HOME=/nonexistent "$2" diff --classes >>"$new"
	echo '```' >>"$new"
	cat "$new" >"$3"
	rm -f "$new"
	exit
fi

awk -v file="$1" '
function fail(why) {
	printf "%s:%d: %s\n", file, NR, why | "cat >&2"
	is_bad = 1
	exit 1
}
# Nothing in a row can end the literal; the question mark, because two of them begin a trigraph.
function quoted(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/\?/, "\\?", s)
	return "\"" s "\""
}
BEGIN {
	enum["plain"] = "FILE_PLAIN"
	enum["runs-on-commit"] = "FILE_RUNS_ON_COMMIT"
	enum["runs-on-open"] = "FILE_RUNS_ON_OPEN"
	enum["runs-on-build"] = "FILE_RUNS_ON_BUILD"
	enum["runs-in-ci"] = "FILE_RUNS_IN_CI"
	enum["steers-agent"] = "FILE_STEERS_AGENT"
	enum["configures-ostiary"] = "FILE_CONFIGURES_OSTIARY"
	head["git"] = "const struct file_class_row file_class_git_rows[]"
	head["anywhere"] = "const struct file_class_row file_class_rows[]"
	head["ignored"] = "const char *const file_class_ignored[]"
	print "/* Made by tools/gen_classes.sh from data/classes; changes here are lost. */"
	print "#include \"policy/file_class_table.h\"\n"
}
/^[ \t]*(#|$)/ { next }
/^\[.*\]$/ {
	part = substr($0, 2, length($0) - 2)
	if (!(part in head)) fail("there is no part " part)
	next
}
part == "" { fail("a row before the first part") }
part == "ignored" { rows[part] = rows[part] "        " quoted($1) ",\n"; n[part]++; next }
!($1 in enum) { fail("there is no class " $1) }
NF < 2 || (NF < 3 && $1 != "plain") { fail("a row is CLASS PATTERN WHY") }
{
	why = ""
	for (i = 3; i <= NF; i++) why = why (i > 3 ? " " : "") $i
	rows[part] = rows[part] "        {" enum[$1] ", " quoted($2) ", " quoted(why) "},\n"
	n[part]++
}
END {
	if (is_bad) exit 1
	for (k = split("git anywhere ignored", order, " "); k > 0; k--) {
		p = order[k]
		name = head[p]
		sub(/.* \*?(const )?/, "", name)
		sub(/\[\]/, "", name)
		printf "%s = {\n%s};\nconst size_t %s_n = %d;\n\n", head[p], rows[p], name, n[p]
	}
}' "$1"
