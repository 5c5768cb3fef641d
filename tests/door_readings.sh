#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: the door reads requests alike whoever starts the box; both users in soak
# door_readings.sh - a refusal holds in every spelling that a common server takes for the same, and a request
# passes only if it also passes as what its override headers and fields make of it (findings C4, C5).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_readings curl openssl python3
door_ca && door_odd
check "the origin is up" $?
to=to=127.0.0.1:$odd_plain
cp tests/door/asks.py "$work/ws/"
cat >"$work/rules" <<-POLICY
	deny  *      a.example.test/private/**
	deny  *      a.example.test q:Action=Terminate*
	deny  *      a.example.test form:Kind=wipe
	deny  *      a.example.test form:user_id=evil*
	deny  *      a.example.test form:user[role]=admin*
	deny  DELETE a.example.test
	deny  *      a.example.test h:x-mode=wild
	ask   *      a.example.test/asked/**
	allow *      a.example.test $to
	allow POST   post.example.test $to
	deny  DELETE,PUT,PATCH line.example.test/**
	allow POST,GET line.example.test $to
	deny  *      path.example.test/private/**
	allow GET    path.example.test $to
POLICY
door_box readings --policy "$work/rules" >/dev/null
asks() { # host: the list on standard input
	timeout -k 2 120 "$ostiary" exec readings -- python3 asks.py "$1" 80
}
all_are() { # name, statuses as a pattern, host; the list on standard input
	local out
	out=$(asks "$3")
	[ -n "$out" ] && ! grep -qvE "^($2) " <<<"$out"
	check "$1" $? "$(grep -vE "^($2) " <<<"$out")"
}

all_are "a refused path is refused in every spelling" '403|400' a.example.test <<-'LIST'
	GET	/private/x
	GET	/PRIVATE/x
	GET	/pRiVaTe/x
	GET	/private./x
	GET	/private.../x
	GET	/private%20/x
	GET	/private%20./x
	GET	/private%C2%A0/x
	GET	/private::$DATA/x
	GET	/private:$i30:$INDEX_ALLOCATION/x
	GET	/%EF%BD%90%EF%BD%92%EF%BD%89%EF%BD%96%EF%BD%81%EF%BD%94%EF%BD%85/x
	GET	/%E2%93%9Frivate/x
	GET	/%F0%9D%90%A9rivate/x
	GET	/pri%C2%ADvate/x
	GET	/privat%C3%A9/x
	GET	/PRIVATE;v=1/x
	GET	/private%3Bv=1/x
	GET	/private%EF%BC%8Fx
	GET	/PRIVATE%2Fx
	GET	/PRIVATE%252Fx
	GET	/PRIVATE%5Cx
	GET	/%2550RIVATE/x
	GET	/%25u0070rivate/x
	GET	/private%c0%afx
	GET	//Private//x
	GET	/./PRIVATE/x
	GET	/%2e/PRIVATE/x
	GET	/.../private/x
	GET	/pub/%EF%BC%8E%EF%BC%8E/private/x
	GET	/pub/..%20/private/x
	GET	/PRIVATE/x?a=1
LIST
all_are "a field of the query or the form in every spelling and place" 403 a.example.test <<-'LIST'
	GET	/x?Action=TerminateInstances
	GET	/x?action=TerminateInstances
	GET	/x?ACTION=terminateinstances
	GET	/x?Action[]=TerminateInstances
	GET	/x?Action[0]=TerminateInstances
	GET	/x?Action%5B%5D=TerminateInstances
	GET	/x?%41ction=TerminateInstances
	GET	/x?a=1;Action=TerminateInstances
	GET	/x?Action=Describe&Action=TerminateInstances
	GET	/x?Action=+TerminateInstances
	GET	/x?Action=%2554erminateInstances
	GET	/x?%EF%BD%81ction=TerminateInstances
	POST	/x	=Action=TerminateInstances
	POST	/x	=action[]=TerminateInstances
	POST	/x	=Kind=wipe
	POST	/x	=kind=WIPE
	POST	/x	=Kind[]=wipe
	POST	/x?Kind=wipe	=a=1
	POST	/x?kind[]=wipe	=a=1
	GET	/x?Kind=wipe
	POST	/x	Content-Type: application/json	={"kind":"wipe"}
	GET	/x?[Action]=TerminateInstances
	GET	/x?Action%5D=TerminateInstances
	GET	/x?user[id=evil
	POST	/x	=user[id=evil
	POST	/x	=%5BKind%5D=wipe
	POST	/x	=Kind]=wipe
	POST	/x	=user[role]x=admin
	POST	/x	=user[role][]=admin
LIST
all_are "a header in every spelling" 403 a.example.test <<-'LIST'
	GET	/x	X-Mode: wild
	GET	/x	x_mode: wild
	GET	/x	X-Mode: WILD
	GET	/x	X-Mode: tame, wild
LIST
asks a.example.test <<<'GET	/ASKED/x' >"$work/asked" 2>/dev/null &
asked=$!
within 60 eval '"$ostiary" approvals | grep -q /ASKED/x'
check "what is asked about in another spelling does not pass unasked" $? "$(cat "$work/asked")"
"$ostiary" refuse readings/1 >/dev/null
wait "$asked"
holds "and is refused when the answer is no" "$(cat "$work/asked")" 403
all_are "what no refusal speaks of passes" '200|404|201' a.example.test <<-'LIST'
	GET	/json
	GET	/json/
	GET	/privately/x
	GET	/pub/private/x
	GET	/json?actions=TerminateInstances
	GET	/json?x[Action]=1
	POST	/json	=Kind=wiped
	POST	/json	=a=1
	GET	/json	X-Mode: tame
LIST
all_are "a method in every override" 403 a.example.test <<-'LIST'
	POST	/x	X-HTTP-Method-Override: DELETE
	POST	/x	X_HTTP_Method_Override: DELETE
	POST	/x	x-http_method-override: delete
	POST	/x	X-HTTP-Method: DELETE
	POST	/x	X-Method-Override: DELETE
	GET	/x	X-HTTP-Method-Override: PATCH, DELETE
	POST	/x?_method=DELETE
	POST	/x?_METHOD=delete
	POST	/x?_method[]=DELETE
	GET	/x?_method=delete
	POST	/x	=a=1&_method=DELETE
	POST	/x	=%5Fmethod=delete
	POST	/x	=_method=DELETE&b=%
	POST	/x	=a=1;_method=DELETE
	POST	/x	=a=1&%5B_method%5D=DELETE
	POST	/x	=_method]=DELETE
	POST	/x	=]_method=DELETE
	POST	/x	=[_method=DELETE
	POST	/x?[_method]=DELETE
	POST	/x?_HttpMethod=DELETE
	POST	/x?$httpMethod=DELETE
LIST
all_are "a path in every override" 403 path.example.test <<-'LIST'
	GET	/pub	X-Original-URL: /private/x
	GET	/pub	X_Original_URL: /private/x
	GET	/pub	X-Rewrite-URL: /PRIVATE/x
	GET	/pub	X-Original-URI: /private/x?a=1
	GET	/pub	X-Forwarded-Path: private/x
	GET	/pub	X-Forwarded-Uri: //path.example.test/private/x
	GET	/pub	X-Forwarded-Prefix: /private
	GET	/pub	X-Original-URL: https://path.example.test/private/x
	GET	/pub	X-Original-URL: /a/..%2Fprivate/x
	GET	/pub	X-Original-URL: /a	X-Original-URL: /private/x
	GET	/pub	X-Original-URL: https://other.example.test/
	GET	/pub	X-HTTP-Method-Override: POST
	GET	/pub	X-Forwarded-Host: other.example.test
	GET	/pub	X_Forwarded_Host: other.example.test
	GET	/pub	X-Forwarded-Host: path.example.test, other.example.test
	GET	/pub	X-Host: other.example.test
	GET	/pub	Forwarded: for=1.2.3.4;host=other.example.test
	GET	/pub	Forwarded: for=1.2.3.4, host="other.example.test:80"
LIST
all_are "an override that is allowed passes" '200|404' path.example.test <<-'LIST'
	GET	/json	X-Original-URL: /pub/x
	GET	/json	X-Forwarded-Host: path.example.test:8080
	GET	/json	Forwarded: for=1.2.3.4;proto=https
	GET	/json	X-HTTP-Method-Override: GET
	GET	/json	X-Forwarded-Prefix: /pub
LIST
all_are "a form where only POST is allowed may not be another method" 403 post.example.test <<-'LIST'
	POST	/x	=_method=DELETE
	POST	/x	=_method=put&b=%
	POST	/x?_method=PUT	=a=1
LIST
for host in post line; do
	all_are "nor may a body without a type or one of JSON: $host" 403 $host.example.test <<-'LIST'
		POST	/x	Content-Type:	=_method=DELETE
		POST	/x	Content-Type: ;	=a=1&[_method]=DELETE
		POST	/x	Content-Type:	={"a":1,"_method":"DELETE"}
		POST	/x	Content-Type: application/json	={"_method":"DELETE"}
		POST	/x	Content-Type: application/json	={"_METHOD":"delete"}
		POST	/x	Content-Type: application/vnd.api+json; charset=utf-8	={"_HttpMethod":"DELETE"}
		POST	/x	Content-Type: application/json	={"\u005fmethod":"DELETE","a":1,"a":2}
		POST	/x	Content-Type: application/json; charset=utf-16	={"a":1}
		POST	/x	Content-Type: application/jsonl	={"_method":"DELETE"}
	LIST
	all_are "but any other passes: $host" '200|404' $host.example.test <<-'LIST'
		POST	/json	Content-Type:	=a=1&payment_method=card
		POST	/json	Content-Type:	=100% of it; all
		POST	/json	Content-Type:	={"a":1}
		POST	/json	Content-Type: application/json	={"a":"_method=DELETE","method":"DELETE"}
		POST	/json	Content-Type: application/json	={"a":1,"a":2}
		POST	/json	Content-Type: application/json	=not JSON
		POST	/json	Content-Type: application/jsonl	={"a":1}
		POST	/json	Content-Type: text/plain	=_method=POST
	LIST
done
all_are "and any other form passes, a broken one too" '200|404' post.example.test <<-'LIST'
	POST	/json	=a=1
	POST	/json	=100% of it; all
	POST	/json	=_method=POST
LIST
head -c 3000000 /dev/zero | tr '\0' x >"$work/ws/large"
same "and a large one" "$(in_box readings curl -s -m 60 -o /dev/null -w '%{http_code}' --data-binary @large http://post.example.test/json)" 404
head -c 9000000 /dev/zero | tr '\0' x >"$work/ws/upload"
up() { in_box readings curl -s -m 60 -w '%{http_code}' "$@" http://post.example.test/json; }
out=$(up -F file=@upload -F _method=DELETE)
holds "a form whose end is not read may hide another method" "$out" "a field _method in it could make it PUT, PATCH or DELETE"
holds "and the refusal says what allows it" "$out" "POST,PUT,PATCH,DELETE post.example.test/json"
holds "and JSON whose end is not read" "$(up -H 'content-type: application/json' --data-binary @upload)" "its body cannot be read to the end, and a field _method"
holds "and a body without a type" "$(up -H 'content-type:' --data-binary @upload)" "its body cannot be read to the end, and a field _method"
holds "so may parts that cannot be told apart" "$(up -H 'content-type: multipart/form-data; boundary=b' --data-binary $'--b\nContent-Disposition: form-data; name="_method"\n\nDELETE\n--b--')" 403
holds "so may a name that some servers decode" "$(up -H 'content-type: multipart/form-data; boundary=b' --data-binary $'--b\r\nContent-Disposition: form-data; name="=?utf-8?q?=5Fmeth=6Fd?="\r\n\r\nDELETE\r\n--b--')" 403
holds "and parts of another kind" "$(up -H 'content-type: multipart/mixed; boundary=b' --data-binary $'--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--')" 403
holds "and a coding that is not known" "$(up -H 'content-encoding: compress' -d x=1)" 403
holds "parts that hide nothing pass" "$(up -H 'content-type: multipart/related; boundary=b' --data-binary $'--b\n\nx\n--b--')" 404
holds "and an old charset" "$(up -H 'content-type: application/x-www-form-urlencoded; charset=ISO-8859-1' -d x=1)" 404
holds "unless it is another method in it" "$(up -H 'content-type: application/x-www-form-urlencoded; charset=ISO-8859-1' -d _method=PUT)" 403
"$ostiary" allow readings "POST,PUT,PATCH,DELETE post.example.test/json $to" >/dev/null
holds "with that line the upload passes" "$(up -F file=@upload)" 404
holds "a large file that is no form passes" "$(up -H 'content-type: application/octet-stream' --data-binary @upload)" 404
out=$(in_box readings curl -s -m 60 -H 'X-Original-URL: /private/x' http://path.example.test/pub)
holds "a refusal says what the request was taken for" "$out" "make it GET path.example.test/private/x"
holds "and by which line" "$out" "rules:13"
out=$("$ostiary" why readings 'GET http://path.example.test/pub' --header 'X_Rewrite_Url: /private/x')
holds "why says the same" "$out" "make it GET path.example.test/private/x"
holds "why knows other spellings" "$("$ostiary" why readings 'GET http://a.example.test/PRIVATE/x')" \
	"which speaks of one way in which this request can be read"
exit $bad
