#!/bin/bash
# suite: test=any soak=any timeout=400
# tier: it needs what was built just now, which whoever started the run has
# install.sh - install puts the files where shells and man look for them; uninstall leaves nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib_repo.sh
unset VARIANT # only the release build is installed, whatever is tested

prefix="$work/with a space"
out=$(make install PREFIX="$prefix" 2>&1)
report $? 'install' "$out"
for path in bin/ostiary libexec/ostiary/ostiary-door share/man/man1/ostiary.1 share/bash-completion/completions/ostiary \
	share/zsh/site-functions/_ostiary share/fish/vendor_completions.d/ostiary.fish share/doc/ostiary/README.md; do
	[ -s "$prefix/$path" ]
	report $? "install places $path" 'the file is missing or empty'
done
dead=''
while IFS=: read -r page link; do
	link=${link#](} link=${link%)}
	case $link in http*) continue ;; esac
	[ -e "$(dirname "$page")/$link" ] || dead="$dead ${page##*/}:$link"
done < <(grep -roE '\]\([^)#]+' "$prefix/share/doc/ostiary" --include='*.md')
[ -z "$dead" ]
report $? 'links between the installed pages lead somewhere' "dead:$dead"
"$prefix/bin/ostiary" version >/dev/null 2>&1
report $? 'the installed program runs' "status $?"
cmp -s out/release/ostiary "$prefix/bin/ostiary"
report $? 'the installed program is the release build' 'they differ'

touch "$prefix/bin/other"
out=$(make uninstall PREFIX="$prefix" 2>&1)
report $? 'uninstall' "$out"
left=$(find "$prefix" ! -type d)
[ "$left" = "$prefix/bin/other" ]
report $? 'uninstall removes its own files and no other' "left: $left"
[ ! -e "$prefix/share/doc/ostiary" ]
report $? 'and the directory of its pages' "left: $(find "$prefix/share/doc" 2>/dev/null | head -n 5)"

out=$(make install DESTDIR="$work/dest" PREFIX=/usr 2>&1)
[ -x "$work/dest/usr/bin/ostiary" ]
report $? 'DESTDIR is honoured' "$out"

! out=$(make install VARIANT=weak PREFIX="$work/weak" 2>&1)
report $? 'the weak build cannot be installed' "$out"
[ ! -e "$work/weak" ]
report $? 'refusing to install it leaves nothing' 'files were placed'
exit $bad
