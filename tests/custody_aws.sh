#!/bin/bash
# suite: test=user soak=root,user timeout=600
# tier: signing is the same for both users; test forks one CLI for most commands, soak starts it anew for each
# custody_aws.sh - requests to AWS are signed in the box with a placeholder and arrive signed with the real key:
# Debian's AWS CLI and a client of ours against a server whose judge is botocore. What may not be signed is refused.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
door_needs custody_aws aws curl openssl python3
[ -d /usr/lib/python3/dist-packages/botocore ] || { skip "custody_aws" "python3-botocore is missing" && exit 0; }
export PYTHONDONTWRITEBYTECODE=1

# --- an AWS of our own ---------------------------------------------------------------------------

real_id=AKIAREALREALREALREAL real_key=real/secret+key/REALREALREALREALREALREAL1 real_token=
s3=s3.eu-west-1.amazonaws.com
hosts=("$s3" "tb.$s3" sts.eu-west-1.amazonaws.com dynamodb.eu-west-1.amazonaws.com)
door_ca
door_cert aws "DNS:$s3,DNS:*.$s3,DNS:sts.eu-west-1.amazonaws.com,DNS:dynamodb.eu-west-1.amazonaws.com,DNS:minio.example.test,DNS:hook.example.test"
printf '%s\n' "$real_id" "$real_key" "$real_token" >"$work/real"
: >"$work/log"
/usr/bin/python3 tests/custody/aws_server.py "$work/aws.pem" "$work/aws.key" "$work/real" "$work/log" >"$work/port" 2>"$work/server.err" &
door_pids+=($!)
within 60 test -s "$work/port"
check "the server is up" $? "$(cat "$work/server.err")"
port=$(cat "$work/port")

mkdir -p "$work/home/.aws"
printf '[dev]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$real_id" "$real_key" >"$work/home/.aws/credentials"
printf '[profile dev]\nregion = eu-west-1\n' >"$work/home/.aws/config"
{
	for h in "${hosts[@]}" minio.example.test; do echo "allow * $h to=127.0.0.1:$port ca=$work/ca.pem"; done
	echo "secret AWS from aws dev at $(IFS=,; echo "${hosts[*]}") as sigv4"
} >"$work/rules"
cp tests/custody/aws_stream.py tests/custody/aws_sign.py tests/custody/aws_fork.py "$work/ws/"
door_box a --policy "$work/rules" 2>"$work/start.err"
check "a box with keys of AWS starts" $? "$(cat "$work/start.err")"
printf '[default]\nregion = eu-west-1\ns3 =\n  signature_version = s3v4\n  addressing_style = virtual\n' >"$work/ws/config"
in_a() { in_box a "$@" 2>&1; }
settings=(AWS_CONFIG_FILE="$work/ws/config" AWS_MAX_ATTEMPTS=1 AWS_PAGER= AWS_EC2_METADATA_DISABLED=true)
fresh_aws() { in_a env "${settings[@]}" aws "$@"; }
# One CLI that is read in and forked for each command (tests/custody/aws_fork.py), or in soak the program itself.
if [ "$(by_tier forked fresh)" = forked ]; then
	in_box_time=600 in_box a /usr/bin/python3 aws_fork.py /tmp/aws.port >"$work/fork.err" 2>&1 &
	door_pids+=($!)
	fork_port=$(in_a sh -c 'n=0; until [ -e /tmp/aws.port ] || [ $n = 600 ]; do n=$((n + 1)); sleep 0.1; done; cat /tmp/aws.port')
	# shellcheck disable=SC2016
	forked_aws() { # how many variables, variables..., how many arguments, arguments...
		in_a bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0 && printf "%s\0" "$@" >&3 && cat <&3' "$fork_port" "$@"
	}
	aws_with() { # how many variables of our own, these, arguments of the CLI
		local n=$1
		shift
		forked_aws $((${#settings[@]} + n)) "${settings[@]}" "${@:1:n}" $(($# - n)) "${@:n+1}"
	}
else
	aws_with() {
		local n=$1
		shift
		in_a env "${settings[@]}" "${@:1:n}" aws "${@:n+1}"
	}
fi
aws() { aws_with 0 "$@"; }
# judged: the last line of the server's log.
judged() { tail -n 1 "$work/log" | cut -d' ' -f4-; }
good_all() { ! grep -vq ' good \[' "$work/log"; }
sign() { in_a /usr/bin/python3 aws_sign.py "$@"; }
id=$(in_a printenv AWS_ACCESS_KEY_ID) key=$(in_a printenv AWS_SECRET_ACCESS_KEY)
printf 'small words\n' >"$work/ws/small"
head -c 20000000 /dev/urandom >"$work/ws/large"
: >"$work/ws/empty"
# stored: for the parts that need something in the bucket, when the part that puts it there was not wanted.
is_stored=
stored() {
	[ -n "$is_stored" ] || { aws s3 cp --no-progress small s3://tb/small && aws s3api put-object --bucket tb --key 'with space' --body small; } >/dev/null
	is_stored=1
}

# --- what the box has ------------------------------------------------------------------------------

what_it_has() {
	[ "${#id}" = 20 ] && [ "${id#AKIA}" != "$id" ] && [ "$id" != "$real_id" ]
	check "the box has an access key that looks like one and is none" $? "$id"
	[ "${#key}" = "${#real_key}" ] && [ "$key" != "$real_key" ]
	check "and a secret key that is none" $? "$key"
	out=$(in_a sh -c 'env; cat ~/.aws/* 2>/dev/null')
	case $out in *"$real_id"* | *"$real_key"*) false ;; *) true ;; esac
	check "nothing real is in its environment or files" $? "$out"
}

# --- the AWS CLI -----------------------------------------------------------------------------------

cli() {
	holds "sts get-caller-identity" "$(fresh_aws sts get-caller-identity --output json)" 'arn:aws:iam::123456789012:user/tester'
	same "its body was hashed for the signature" "$(judged)" "good [hash]"
	out=$(aws sts get-caller-identity --output json)
	holds "the access key in the answer is the placeholder again" "$out" "\"UserId\": \"$id\""
	holds "dynamodb list-tables" "$(aws dynamodb list-tables --exclusive-start-table-name "t~able" --output json)" '"t~able"'
	holds "s3 ls" "$(aws s3 ls)" "tb"
	for file in small empty large; do
		out=$(in_box_time=300 aws s3 cp --no-progress "$file" "s3://tb/$file")
		holds "s3 cp $file up" "$out" "upload:"
		out=$(in_box_time=300 aws s3 cp --no-progress "s3://tb/$file" "back")
		cmp -s "$work/ws/$file" "$work/ws/back" || in_a cmp "$file" back >/dev/null
		check "s3 cp $file down" $? "$out"
	done
	for name in 'with space' 'a+b' 'a=b&c' '(brackets)*!' $'uml\xc3\xa4ut' 'percent%41' '~tilde' 'double//slash' 'semi;colon,comma' 'q?x#y'; do
		out=$(aws s3api put-object --bucket tb --key "$name" --body small)
		case $(judged) in "good ["*) true ;; *) false ;; esac
		check "put of key $name" $? "$(judged) $out"
		aws s3api get-object --bucket tb --key "$name" back >/dev/null
		in_a sh -c 'cmp small back && rm back' >/dev/null
		check "get of key $name" $? "$(judged) $out"
	done
	is_stored=1
	holds "s3 ls of a prefix" "$(aws s3 ls 's3://tb/with s')" "with space"
	good_all
	check "everything was signed by the real key" $? "$(grep -v ' good \[' "$work/log" | tail -n 3)"
}

# --- keys that AWS lends -----------------------------------------------------------------------------

lent() {
	stored
	role=$(aws sts assume-role --role-arn arn:aws:iam::123456789012:role/r --role-session-name session --output text --query 'Credentials.[AccessKeyId,SecretAccessKey,SessionToken]')
	read -r role_id role_key role_token <<<"$role"
	[ "${#role_id}" = 20 ] && [ -n "$role_token" ]
	check "sts assume-role answers" $? "$role"
	case $role in *ASIAROLE* | *REALREAL* | *ROLETOKEN*) false ;; *) true ;; esac
	check "with placeholders" $? "$role"
	role_aws() { aws_with 3 AWS_ACCESS_KEY_ID="$role_id" AWS_SECRET_ACCESS_KEY="$role_key" AWS_SESSION_TOKEN="$role_token" "$@"; }
	holds "which sign" "$(role_aws s3 ls s3://tb/small)" "small"
	same "as the role" "$(judged)" "good [hash role]"
	same "in a URL too" "$(in_a curl -sS "$(role_aws s3 presign s3://tb/small)")" "small words"
	same "as the role" "$(judged)" "good [presigned role]"
	lines=$(wc -l <"$work/log")
	holds "their token beside our access key is refused (S13)" "$(in_a /usr/bin/python3 aws_sign.py $s3 s3 eu-west-1 "$id" "$role_token")" " 403"
	holds "their access key without its token is completed" "$(in_a /usr/bin/python3 aws_sign.py $s3 s3 eu-west-1 "$role_id")" "small words"
	same "and nothing else was sent" "$(($(wc -l <"$work/log") - lines))" 1
}

# --- presigned ---------------------------------------------------------------------------------------

presigned() {
	stored
	: >"$work/log"
	url=$(aws s3 presign s3://tb/small --expires-in 600)
	holds "presigned: a URL made in the box names the placeholder" "$url" "X-Amz-Credential=$id"
	same "presigned: the URL works from the box" "$(in_a curl -sS "$url")" "small words"
	same "presigned: and was made anew" "$(judged)" "good [presigned]"
	url=$(aws s3 presign 's3://tb/with space' --expires-in 600)
	same "presigned: with a space in its key" "$(in_a curl -sS "$url")" "small words"
	url=$(aws s3 presign s3://tb/small --expires-in 1)
	sleep 1.1
	holds "presigned: an expired one is refused" "$(in_a curl -sS "$url")" "the presigned URL has expired"
	foreign=${url//$id/AKIAFOREIGNFOREIGN00}
	lines=$(wc -l <"$work/log")
	holds "presigned: one of somebody else is refused" "$(in_a curl -sS -w '%{http_code}' "$foreign")" "403"
	same "presigned: before it is sent" "$(wc -l <"$work/log")" "$lines"
}

# --- bodies in chunks -----------------------------------------------------------------------------------

chunks() {
	for form in signed signed-trailer unsigned-trailer unsigned; do
		for size in 0 1000 70000 3000000; do
			holds "$form, $size bytes" "$(in_a /usr/bin/python3 aws_stream.py $form tb.$s3 /stream $size)" "200"
			case $(judged) in "good ["*) true ;; *) false ;; esac
			check "  arrives well signed" $? "$(judged)"
		done
		holds "$form inside HTTP chunks" "$(in_a /usr/bin/python3 aws_stream.py $form tb.$s3 /stream 200000 http-chunked)" "200"
		case $(judged) in "good ["*) true ;; *) false ;; esac
		check "  arrives well signed" $? "$(judged)"
	done
	holds "20 MB in signed chunks to a server that reads slowly" "$(in_a /usr/bin/python3 aws_stream.py signed tb.$s3 /slow 20000000)" "200"
	same "  arrive well signed" "$(judged)" "good [STREAMING-AWS4-HMAC-SHA256-PAYLOAD]"
	for fault in bad-frame huge-chunk short; do
		out=$(in_a /usr/bin/python3 aws_stream.py signed tb.$s3 /$fault 3000000 $fault)
		case $out in 200*) false ;; *) true ;; esac
		check "chunks that are wrong ($fault) are stopped" $? "$out"
	done
	out=$(in_a /usr/bin/python3 aws_stream.py unsigned-trailer tb.$s3 /x 1000 short)
	holds "chunks without signatures that do not end are stopped too" "$out" "400"
	out=$(in_a /usr/bin/python3 aws_stream.py signed tb.$s3 /echo 1000)
	holds "a server that tells what it was shown" "$out" "200 AWS4-HMAC-SHA256 Credential=$id/"
	out=$(in_a sh -c "AWS_SECRET_ACCESS_KEY=wrong /usr/bin/python3 aws_stream.py signed tb.$s3 /stream 1000")
	holds "whatever key the box signs with, the keeper's counts" "$out" "200"
}

# --- refused ----------------------------------------------------------------------------------------------

refused() {
	stored
	holds "a request signed by botocore passes" "$(sign $s3 s3 eu-west-1 "$id")" "small words"
	lines=$(wc -l <"$work/log")
	holds "a signature for another service is refused" "$(sign $s3 iam eu-west-1 "$id")" 'signed for the service "iam", and only "s3" is granted'
	holds "one for another region too" "$(sign $s3 s3 us-east-1 "$id")" 'signed for the region "us-east-1", and only "eu-west-1" is granted'
	holds "one with somebody else's key too" "$(sign $s3 s3 eu-west-1 AKIAFOREIGNFOREIGN00)" " 403"
	holds "our access key beside somebody else's token too (S13)" "$(sign $s3 s3 eu-west-1 "$id" foreign-token-foreign)" " 403"
	holds "the placeholder toward a host that has no grant too" "$(sign minio.example.test s3 eu-west-1 "$id")" " 403"
	out=$(in_a curl -sS -w ' %{http_code}' -d "k=$key" "https://tb.$s3/x")
	holds "the placeholder of the secret key in a body too" "$out" " 403"
	holds "a request that nobody signed is not signed for it" "$(in_a curl -sS -w ' %{http_code}' https://$s3/tb/small)" " 403"
	same "none of these but the last was sent" "$(($(wc -l <"$work/log") - lines))" 1
	out=$(in_a curl -sS -w ' %{http_code}' --path-as-is "$(aws s3 presign s3://tb/small | sed 's,/small,/a/../small,')")
	holds "a key of S3 with .. in it is not taken for another" "$out" "an S3 key with . or .. "
}

# --- other keys behind the same placeholder -------------------------------------------------------

other_keys() {
	stored
	real_token=REALTOKENREALTOKENREALTOKENREALTOKENREALTOKEN0123456789
	printf '%s\n' "$real_id" "$real_key" "$real_token" >"$work/real"
	printf 'aws_session_token = %s\n' "$real_token" >>"$work/home/.aws/credentials"
	out=$("$ostiary" rotate a AWS 2>&1)
	check "the source has a session token now" $? "$out"
	holds "it is added" "$(aws s3 ls s3://tb/small)" "small"
	same "and signed" "$(judged)" "good [hash]"
	url=$(aws s3 presign s3://tb/small)
	same "also in a URL" "$(in_a curl -sS "$url")" "small words"
	"$ostiary" revoke a AWS >/dev/null 2>&1
	check "it is revoked" $?
	lines=$(wc -l <"$work/log")
	holds "then nothing is signed any more" "$(sign $s3 s3 eu-west-1 "$id")" "revoked"
	same "or sent" "$(wc -l <"$work/log")" "$lines"
}

# --- other lines ------------------------------------------------------------------------------------

other_lines() {
	stored
	rules=()
	for h in "${hosts[@]}" minio.example.test; do rules+=(--allow "* $h to=127.0.0.1:$port ca=$work/ca.pem"); done
	rules+=(--allow "* minio.example.test:9443 to=127.0.0.1:$port ca=$work/ca.pem" --allow "* hook.example.test to=127.0.0.1:$port ca=$work/ca.pem")
	export HOOK=$real_key
	door_box b "${rules[@]}" \
		--secret "AWS from aws dev at $s3,minio.example.test,minio.example.test:9443 as sigv4 service=s3 region=eu-west-1 inject" \
		--secret 'HOOK from env at hook.example.test as hmac X-Signature message="{time}.{method} {target}.{body}" prefix="v1=" time-header=x-time' \
		--secret 'DB from aws dev at dynamodb.eu-west-1.amazonaws.com as sigv4 inject' \
		--secret 'HOOK2 from env HOOK at hook.example.test/inject/** as hmac x-signature message="{time}.{method} {target}.{body}" prefix="v1=" time-header=x-time inject' 2>"$work/start.err"
	check "a box with inject starts" $? "$(cat "$work/start.err")"
	in_b() { in_box b "$@" 2>&1; }
	same "a request that nobody signed is signed" "$(in_b curl -sS https://$s3/tb/small)" "small words"
	same "for S3, with the token" "$(judged)" "good [UNSIGNED-PAYLOAD]"
	same "with a body" "$(in_b curl -sS -T small -o /dev/null -w '%{http_code}' https://$s3/tb/new)" 200
	same "also at a host that is not AWS's, because the line says what it is" "$(in_b curl -sS https://minio.example.test/tb/small)" "small words"
	same "and on a port that has to be signed too" "$(in_b curl -sS https://minio.example.test:9443/tb/small)" "small words"
	holds "keys that the agent made up are taken out" "$(in_b env AWS_ACCESS_KEY_ID=AKIAMADEUPMADEUP0000 AWS_SECRET_ACCESS_KEY=x AWS_SESSION_TOKEN= AWS_DEFAULT_REGION=eu-west-1 aws s3 ls s3://tb/small --endpoint-url https://$s3)" "small"
	same "and ours put in" "$(judged)" "good [hash]"

	out=$(in_b curl -sS -H 'content-type: application/x-amz-json-1.0' -H 'x-amz-target: DynamoDB_20120810.ListTables' -d '{"ExclusiveStartTableName": "by curl"}' https://dynamodb.eu-west-1.amazonaws.com/)
	holds "inject with a body whose hash is signed" "$out" "by curl"
	holds "a body that is too large for that is refused" "$(in_b curl -sS --data-binary @large https://dynamodb.eu-west-1.amazonaws.com/)" "too large to be signed"
	hook() { in_b curl -sS -m 60 -w ' %{http_code}' "$@"; }
	same "a signature by template, whatever stood there" "$(hook -H 'x-signature: v1=00' -H 'x-time: 1' -d 'a=1' 'https://hook.example.test/v1/x?b=2')" "hooked 200"
	same "of a body of 40 KB" "$(head -c 40000 /dev/zero | tr '\\0' x >"$work/ws/forty"; hook -H 'x-signature: ?' --data-binary @forty https://hook.example.test/v1/x)" "hooked 200"
	same "without a body" "$(hook -H 'x-signature: ?' https://hook.example.test/)" "hooked 200"
	holds "a body that does not fit is refused in words" "$(hook -H 'x-signature: ?' --data-binary @large https://hook.example.test/)" "too large to be signed"
	same "without the header, where the line says inject" "$(hook -d 'a=1' https://hook.example.test/inject/x)" "hooked 200"
	holds "without the header nothing is signed" "$(hook https://hook.example.test/)" " 403"
	# In the clock of the box it may be any day: the keeper has its own.
	holds "a stamp of another year is made anew" "$(in_b sh -c 'curl -sS -o /dev/null -w "%{http_code}" -H "x-amz-date: 20010101T000000Z" https://'$s3'/tb/small')" 200

	out=$(in_a sh -c 'env; cat ~/.aws/* back 2>/dev/null')
	out+=$(cat "$work"/home/.local/state/ostiary/boxes/*/log* 2>/dev/null)
	case $out in *"$real_key"* | *"${real_token:-$real_key}"*) false ;; *) true ;; esac
	check "no real key is in the box or in the log" $?
}

run_parts what_it_has cli lent presigned chunks refused other_keys other_lines
exit "$bad"
