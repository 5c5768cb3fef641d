#!/bin/bash
# suite: check=any test=any soak=root,user timeout=400
# tier: it asks the program and starts no box, so that it is in check too; who asks makes no difference
# policy.sh - `ostiary policy check`: every example of docs/policy.md has the verdict that the page gives, and
# the command's exit codes, layers, words and JSON are what the manual says. Contacts nobody.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
unset http_proxy https_proxy
mkdir -p "$HOME/.config/ostiary"

# --- the page -------------------------------------------------------------------------------------

rules=$work/rules block='' blocks=0 checks=0
policy_check() { "$ostiary" policy check "$@"; }
one_check() { # "VERDICT REQUEST [flags]"
	local want=${1%% *} rest=${1#* } got code wanted_code=1
	rest=${rest#"${rest%%[! ]*}"}
	local request=${rest%% --*} flags=()
	if [ "$request" != "$rest" ]; then
		local flag=${rest#"$request" }
		local name=${flag%% *} value=${flag#* }
		value=${value#\'}
		flags=("$name" "${value%\'}")
	fi
	got=$(policy_check "$request" --policy "$rules" "${flags[@]}" 2>&1)
	code=$?
	[ "$want" != allowed ] || wanted_code=0
	case $want:$got in
	allowed:*"allowed by $rules:"*) true ;;
	denied:denied\ by* | asks:asks*) true ;;
	# Some are refused before any rule is asked.
	denied:*'no URL that the door would accept'*) code=$wanted_code ;;
	*) false ;;
	esac && [ "$code" = "$wanted_code" ]
	check "docs/policy.md: $want $rest" $? "status $code: $got"
	checks=$((checks + 1))
}
one_wrong() {
	local got
	printf '%s\n' "$1" >"$work/wrong"
	got=$(policy_check --policy "$work/wrong" 2>&1)
	[ $? = 1 ] && grep -qE 'line 1, column [0-9]+: ' <<<"$got"
	check "docs/policy.md: refused: $1" $? "$got"
	checks=$((checks + 1))
}
while IFS= read -r line; do
	case $line in
	'```policy')
		block=policy blocks=$((blocks + 1))
		: >"$rules"
		continue
		;;
	'```check') block=check && continue ;;
	'```wrong') block=wrong && continue ;;
	'```'*)
		[ "$block" != policy ] || {
			out=$(policy_check --policy "$rules" 2>&1)
			check "docs/policy.md: block $blocks is good" $? "$out"
		}
		block='' && continue
		;;
	esac
	case $block in
	policy) printf '%s\n' "$line" >>"$rules" ;;
	check) one_check "$line" ;;
	wrong) one_wrong "$line" ;;
	esac
done <docs/policy.md
[ "$blocks" -ge 6 ] && [ "$checks" -ge 45 ]
check 'the page has its examples' $? "$blocks blocks, $checks checks"

# Every line that the page of secrets gives to copy can be read.
grep -oE '`secret [A-Z_]+ from [^`]*`' docs/secrets.md | tr -d '`' >"$work/secrets"
out=$(policy_check --policy "$work/secrets" 2>&1)
check 'docs/secrets.md: every line can be read' $? "$out"
[ "$(wc -l <"$work/secrets")" -ge 12 ]
check 'docs/secrets.md: it has its lines' $? "$(wc -l <"$work/secrets")"

# --- layers, words, exit codes --------------------------------------------------------------------

own=$HOME/.config/ostiary/policy
out=$(policy_check 'GET https://a.org/')
same 'no file at all denies (84, E11)' "$?:${out%%$'\n'*}" '1:denied by default'
holds 'a refusal gives the line that would allow it' "$out" '  allow GET a.org/'
printf '# mine\nallow * a.org\ndeny! * evil.org\n' >"$own"
out=$(policy_check 'GET https://a.org/')
same 'your own file is read' "$?:${out%%$'\n'*}" '0:allowed by user policy:2'
printf 'deny * a.org reason="not today"\nallow * evil.org\n' >"$work/p"
out=$(policy_check GET https://a.org/ --policy "$work/p")
same 'a file that is named goes before it' "$?:${out%%$'\n'*}" "1:denied by $work/p:1"
holds 'and its reason is told' "$out" 'reason: not today'
out=$(policy_check 'GET https://evil.org/' --policy "$work/p")
same 'deny! goes before everything' "$?:${out%%$'\n'*}" '1:denied by user policy:3'
holds 'and has no cure' "$out" 'cannot be overridden'
out=$(policy_check 'POST https://api.anthropic.com/v1/messages' --profile claude --data '{"messages":[]}')
same "a profile's rules" "$?:${out%%$'\n'*}" '0:allowed by profile claude'
out=$(XDG_CONFIG_HOME=$work/none policy_check 'GET https://a.org/')
same 'XDG_CONFIG_HOME is honoured' "$?:${out%%$'\n'*}" '1:denied by default'
printf 'splice pin.org\n' >"$work/s"
out=$(policy_check 'GET https://pin.org/' --policy "$work/s")
same 'splice is told as what it is' "$?:${out%%$'\n'*}" "0:passed on undeciphered, allowed by $work/s:1"
printf 'allow * *.github.io\n' >"$work/g"
out=$(policy_check --policy "$work/g" 2>&1)
holds 'a wildcard over strangers gets a warning' "$out" 'belong to many different people'

# A form in parts is read by the door's own reader.
printf 'deny POST m.org form:Action=Delete*\nallow * m.org\n' >"$work/m"
parts() { printf -- '--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n--b--\r\n' "$1" "$2"; }
multipart() { policy_check 'POST https://m.org/' --policy "$work/m" --header 'Content-Type: multipart/form-data; boundary=b' --data "$1" | head -n 1; }
same 'a field of a form in parts is found' "$(multipart "$(parts Action DeleteAll)")" "denied by $work/m:1"
same 'in another spelling too' "$(multipart "$(parts 'action[]' DeleteAll)")" "denied by $work/m:1, which speaks of one way in which this request can be read"
for name in '[Action]' 'Action]' ']Action' '[Action' 'Action[0]x'; do
	same "and $name" "$(multipart "$(parts "$name" DeleteAll)")" "denied by $work/m:1, which speaks of one way in which this request can be read"
done
same 'a name that only some servers decode is not read' "$(multipart "$(parts '=?utf-8?b?QWN0aW9u?=' DeleteAll)")" "denied by $work/m:1, which looks into the body, and the body cannot be read"
same 'another one passes' "$(multipart "$(parts Action List)")" "allowed by $work/m:2"
same 'parts that cannot be told apart do not' "$(multipart '--b
Content-Disposition: form-data; name="Action"

x')" "denied by $work/m:1, which looks into the body, and the body cannot be read"

# What a field makes of the method, wherever a server looks for one.
printf 'deny DELETE,PUT,PATCH o.org/**\nallow POST,GET o.org\n' >"$work/o"
for data in '_method=DELETE' '[_method]=DELETE' '_HttpMethod=DELETE' '{"_method":"DELETE"}' '{"_METHOD":"put"}'; do
	same "$data is another method" "$(policy_check 'POST https://o.org/x' --policy "$work/o" --data "$data" | head -n 1)" "denied by $work/o:1"
done
same 'JSON without one passes' "$(policy_check 'POST https://o.org/x' --policy "$work/o" --header 'Content-Type: application/json' --data '{"method":"DELETE","a":{"_method":"PUT"}}' | head -n 1)" "allowed by $work/o:2"

out=$(policy_check 'GET https://a.org/x' --json)
same 'JSON' "$?:$(python3 -c 'import json,sys; d=json.loads(sys.argv[1])["data"]; print(d["verdict"], d["layer"], d["line"], d["rule"])' "$out")" \
	'0:allow user policy 2 allow * a.org'
printf 'alow * b.org\n' >"$work/bad"
out=$(policy_check 'GET https://a.org/' --policy "$work/bad" 2>&1)
same 'a broken file is our failure, not a verdict' "$?" 119
holds 'and names line, column and cure' "$out" "$work/bad, line 1, column 1: a line does not begin with \"alow\" (did you mean \"allow\"?)"
out=$(policy_check --policy "$work/bad" --json)
same 'a broken file in JSON' "$?:$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["data"][0]["good"])' "$out")" '1:False'
for request in 'get https://a.org/' 'GET ftp://a.org/' 'GET https://a.org/#x' 'GET https://a@b.org/' 'GET https://a.org:0/' \
	'GET https://127.1/' 'GET https://a.org/%00' 'GET https://a.org/x/..%2fy' 'tcp://a.org' 'GET https://[::1/' ''; do
	policy_check "$request" >/dev/null 2>"$work/err"
	same "bad usage: '$request'" "$?" 64
done
policy_check >/dev/null 2>&1
same 'nothing to check is bad usage' "$?" 64
"$ostiary" policy frob >/dev/null 2>&1
same 'an unknown verb is bad usage' "$?" 64
out=$("$ostiary" help policy)
holds 'the help says that a broken file changes nothing' "$out" 'changes nothing'
exit $bad
