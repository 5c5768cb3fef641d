#!/bin/sh
# weak_files.sh - list the source files whose object can differ in the weak build.
#
# Called by the Makefile with the folder of the rooms. A file differs when it, or a header that it includes directly or
# through others, mentions OSTIARY_WEAK; every other object of the weak build is the release build's. Reads files only.
set -u
src=${1:-src}
find "$src" -name '*.[ch]' -exec awk -v src="$src" '
	FNR == 1 { files[++files_n] = FILENAME }
	/OSTIARY_WEAK/ { differs[FILENAME] = 1 }
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		includes[FILENAME] = includes[FILENAME] " " src "/" part[2]
	}
	END {
		do {
			grew = 0
			for (i = 1; i <= files_n; i++) {
				file = files[i]
				if (file in differs)
					continue
				n = split(includes[file], word, " ")
				for (k = 1; k <= n; k++)
					if (word[k] in differs) {
						differs[file] = 1
						grew = 1
						break
					}
			}
		} while (grew)
		for (i = 1; i <= files_n; i++)
			if (files[i] in differs && files[i] ~ /\.c$/)
				print files[i]
	}' {} + | sort
