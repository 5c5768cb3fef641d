#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: who owns the vault and who may look into its program differs between root and user, so test runs it as both
# custody_vault.sh - the vault as people use it: values go in through a prompt or a pipe and come out into a pipe
# alone; what is damaged, newer, locked or in use is said in one sentence and left as it is; nothing is lost.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cd "$work/ws" || exit 1

data=$HOME/.local/share/ostiary
door=$(dirname "$ostiary")/ostiary-door
[ -x "$door" ] || door=$(dirname "$ostiary")/../libexec/ostiary/ostiary-door
fake=ghp_fakeVAULTvalue0fakeVAULTvalue0fake00
other=sk-ant-api03-fakeVAULTotherfakeVAULTotherfakeVAULTother
secret() { timeout -k 2 150 "$ostiary" secret "$@"; }
vault() { timeout -k 2 150 "$door" vault --dir "$data" "$@"; }
alone() { setsid -w "$@" </dev/null; } # without a terminal to ask at

# --- a writer that never ends: 10 s of waiting, in a vault of its own, beside everything else ----------

mkdir "$work/held" "$work/held/home"
(
	export HOME=$work/held/home
	printf '%s' "$fake" | secret set FIRST 2>"$work/held/err"
	exec 8>"$HOME/.local/share/ostiary/vault.lock"
	flock 8
	secret ls 2>&1 8>&- | grep -c FIRST >"$work/held/read"
	printf '%s' "$fake" | secret set LATE 8>&- >"$work/held/out" 2>&1
	echo $? >"$work/held/code"
	secret ls 2>&1 8>&- | grep -c LATE >"$work/held/late"
) &
held=$!

# --- in and out -----------------------------------------------------------------------------------

out=$(printf '%s\n' "$fake" | secret set GITHUB_TOKEN --note 'from a test' 2>&1)
check 'a value comes through a pipe' $? "$out"
holds 'a new vault says where its key is' "$out" vault.key
same 'the value comes out into a pipe, without the newline' "$(vault get GITHUB_TOKEN | cat)" "$fake"
out=$(vault get GITHUB_TOKEN 2>&1 >"$work/value")
same 'and not into a file' "$?:$(cat "$work/value")" '64:'
holds 'which is said' "$out" 'only written into a pipe'
same 'only its owner can read the vault' "$(stat -c %a "$data/vault" "$data/vault.key" "$data" | tr '\n' ' ')" '600 600 700 '
grep -q "$fake" "$data/vault"
same 'the file does not show the value' $? 1
out=$(secret ls 2>&1)
holds 'ls shows the name' "$out" GITHUB_TOKEN
holds 'and whose key it is' "$out" github
holds 'and the note' "$out" 'from a test'
case $out$(secret ls --json) in *"$fake"* | *fakeVAULT*) false ;; *) true ;; esac
check 'ls never shows a value' $? "$out"
same 'ls --json is JSON' "$(secret ls --json | python3 -c 'import json, sys; l = json.load(sys.stdin)["data"]; print(l[0]["name"], l[0]["provider"], "value" in l[0])')" \
	'GITHUB_TOKEN github False'

out=$(secret set GITHUB_TOKEN "$fake" 2>&1 </dev/null)
same 'a value as an argument is refused' $? 64
case $out in *"$fake"*) false ;; *) true ;; esac
check 'and not repeated' $? "$out"
holds 'with the reason' "$out" 'never an argument'
out=$(printf '%s' "$fake" | secret set STRIPE_KEY 2>&1)
holds "another provider's key is warned of" "$out" 'looks like a key of github'
out=$(printf '' | secret set EMPTY 2>&1)
same 'an empty value is refused' $? 119
out=$(printf 'abc' | secret set SHORT 2>&1)
holds 'a short one too' "$out" 'fewer than 8'
out=$(printf 'abcd\0efghijk' | secret set NUL 2>&1)
holds 'and one with NUL' "$out" NUL
out=$(printf '%s' "$fake" | secret set 'no name' 2>&1)
same 'a bad name is wrong usage' $? 64
out=$(secret rm GITHUB_TOKE 2>&1)
same 'what is not there is exit code 121' $? 121
holds 'with a suggestion' "$out" 'did you mean GITHUB_TOKEN'
out=$(printf '%s' "$fake" | secret rotate NEVER_SET 2>&1)
same 'rotate wants a secret that is there' $? 121
out=$(printf '%s' "$other" | secret rotate GITHUB_TOKEN 2>&1)
holds 'and says how a running box gets the new value' "$out" 'ostiary rotate BOX GITHUB_TOKEN'
same 'the value is the new one' "$(vault get GITHUB_TOKEN | cat)" "$other"
secret rm STRIPE_KEY
same 'rm takes one away' "$(secret ls 2>/dev/null | grep -c STRIPE_KEY)" 0
multi=$(printf 'line one of a key\nline two of a key\n')
printf '%s\n' "$multi" | secret set PEM_KEY
same 'a value of several lines' "$(vault get PEM_KEY | cat)" "$multi"
secret rm PEM_KEY
out=$(secret st GITHUB_TOKEN 2>&1)
holds 'a mistyped verb gets a suggestion' "$out" 'ostiary secret set'
holds 'help has an example' "$(secret --help 2>&1)" 'gh auth token | ostiary secret set'

# --- what the outside sees -------------------------------------------------------------------------

if has strace && strace -f -qq -o "$work/trace" true 2>/dev/null; then
	printf '%s' "$fake" | timeout 60 strace -f -qq -s 4096 -e trace=write,pwrite64,writev,sendto,sendmsg,execve -o "$work/trace" "$ostiary" secret set TRACED 2>/dev/null
	grep -q execve "$work/trace"
	check 'the trace saw the programs start' $? "$(head -3 "$work/trace")"
	same 'the value is in no write, no message and no argument' "$(grep -c "$fake" "$work/trace")" 0
	# A tracer that root set up is the only one that may look into the program at all; the value can be seen there.
	secret rm TRACED
else
	skip 'the value is in no write' 'strace cannot trace here'
fi
(
	exec 7> >(secret set SLOW 2>/dev/null)
	within 60 pgrep -f "ostiary-door vault --dir $data set SLOW"
	pid=$(pgrep -n -f "ostiary-door vault --dir $data set SLOW")
	[ -n "$pid" ] || exit 3
	# It has its name before it has closed itself off.
	is_closed() { grep -q 'core file size  *0  *0' "/proc/$pid/limits" && { [ "$(id -u)" = 0 ] || ! cat "/proc/$pid/environ"; }; }
	within 60 is_closed
	tr '\0' '\n' <"/proc/$pid/cmdline" >"$work/cmdline"
	grep "core file" "/proc/$pid/limits" >"$work/limits"
	cat "/proc/$pid/environ" >/dev/null 2>"$work/environ"
	printf '%s' "$fake" >&7
)
check 'the program that holds the value can be looked at while it waits' $?
is_set() { secret ls | grep -q SLOW; }
within 60 is_set
same 'its arguments have the name and no value' "$(grep -c "SLOW" "$work/cmdline"):$(grep -c fake "$work/cmdline")" '1:0'
holds 'it leaves no core' "$(tr -s ' ' <"$work/limits")" 'core file size 0 0'
if [ "$(id -u)" != 0 ]; then
	holds 'and other processes of its user cannot look into it' "$(cat "$work/environ")" 'ermission denied'
fi
secret rm SLOW 2>/dev/null

# --- two writers at once ---------------------------------------------------------------------------

pids=''
for i in 1 2 3 4 5 6 7 8; do
	(printf 'fake-value-of-writer-%s' $i | secret set "WRITER_$i" 2>/dev/null) &
	pids="$pids $!"
done
for pid in $pids; do wait "$pid" || echo "a writer failed" >>"$work/writers"; done
same 'eight writers at once lose nothing' "$(secret ls | grep -c WRITER_):$(cat "$work/writers" 2>/dev/null)" '8:'
same 'and each value is its own' "$(vault get WRITER_5 | cat)" fake-value-of-writer-5
for i in 1 2 3 4 5 6 7 8; do secret rm "WRITER_$i"; done
same 'nothing is left beside the vault' "$(ls "$data" | tr '\n' ' ')" 'vault vault.key vault.lock '

# --- damaged, newer, foreign -----------------------------------------------------------------------

cp "$data/vault" "$work/good"
refused() { # name, words in the sentence
	local before after
	before=$(sha256sum <"$data/vault")
	out=$(printf '%s' "$fake" | secret set LOST 2>&1)
	local code=$?
	after=$(sha256sum <"$data/vault")
	[ "$code" = 119 ] || [ "$code" = 122 ] && [ "$before" = "$after" ]
	check "$1: not written over" $? "status $code"
	holds "$1: said" "$out" "$2"
	out=$(secret ls 2>&1)
	code=$?
	[ "$code" = 119 ] || [ "$code" = 122 ] && [ "$(wc -l <<<"$out")" = 1 ]
	check "$1: one sentence" $? "status $code: $out"
}
# Turned over, whatever it was: a fixed byte is there already once in 256 times.
python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(150); b = f.read(1)[0]; f.seek(150); f.write(bytes([b ^ 255]))' "$data/vault"
refused 'a changed vault' 'does not open this vault'
head -c 60 "$work/good" >"$data/vault"
refused 'a vault that was cut' damaged
: >"$data/vault"
refused 'an empty vault' damaged
cp "$work/good" "$data/vault"
printf '\000\000\000\011' | dd of="$data/vault" bs=1 seek=16 conv=notrunc 2>/dev/null
refused 'a newer vault' 'newer ostiary'
echo 'these are just some words that somebody wrote into this file here' >"$data/vault"
refused 'something else' 'not one'
cp "$work/good" "$data/vault"
chmod 644 "$data/vault"
refused 'a vault that others can read' 'chmod 600'
chmod 600 "$data/vault"
mv "$data/vault.key" "$work/key"
refused 'a vault without its key' 'key is gone'
mv "$work/key" "$data/vault.key"
same 'the good one opens again' "$(secret ls | grep -c GITHUB_TOKEN)" 1

# --- a passphrase ----------------------------------------------------------------------------------

echo 'fake passphrase one' >"$work/pass"
echo 'fake passphrase two' >"$work/wrong"
export OSTIARY_VAULT_TIMEOUT=0
out=$(OSTIARY_VAULT_NEW_PASSPHRASE_FILE=$work/pass secret passwd 2>&1)
check 'a passphrase is set' $? "$out"
[ ! -e "$data/vault.key" ]
check 'and the key file is gone' $?
out=$(alone "$ostiary" secret ls 2>&1)
same 'without it nothing opens' $? 122
holds 'and the way is told' "$out" OSTIARY_VAULT_PASSPHRASE_FILE
out=$(OSTIARY_VAULT_PASSPHRASE_FILE=$work/wrong alone "$ostiary" secret ls 2>&1)
same 'a wrong one is refused' $? 122
holds 'clearly' "$out" 'passphrase is wrong'
same 'from a file' "$(OSTIARY_VAULT_PASSPHRASE_FILE=$work/pass secret ls | grep -c GITHUB_TOKEN)" 1
same 'from a descriptor' "$(secret ls --passphrase-fd 5 5<"$work/pass" | grep -c GITHUB_TOKEN)" 1
mkdir "$work/creds"
cp "$work/pass" "$work/creds/ostiary.vault"
same 'from a systemd credential' "$(CREDENTIALS_DIRECTORY=$work/creds secret ls | grep -c GITHUB_TOKEN)" 1
# The keyring of the kernel, where there is one.
if OSTIARY_VAULT_TIMEOUT=60 OSTIARY_VAULT_PASSPHRASE_FILE=$work/pass secret ls >/dev/null 2>&1 &&
	alone "$ostiary" secret ls >"$work/cached" 2>/dev/null; then
	same 'the keyring remembers it' "$(grep -c GITHUB_TOKEN "$work/cached")" 1
	secret lock
	alone "$ostiary" secret ls >/dev/null 2>&1
	same 'until it is told to forget' $? 122
	OSTIARY_VAULT_TIMEOUT=1 OSTIARY_VAULT_PASSPHRASE_FILE=$work/pass secret ls >/dev/null 2>&1
	forgotten() { ! alone "$ostiary" secret ls >/dev/null 2>&1; }
	within 60 forgotten
	check 'or its time is over' $?
else
	skip 'the keyring remembers it' 'the kernel has no keyring for us'
fi
# What is typed as soon as the question is there is its answer, and is not shown: where settings of a terminal take a while too.
slowly=()
! has strace || ! strace -f -qq -o /dev/null -e trace=ioctl -e inject=ioctl:delay_enter=1 true 2>/dev/null ||
	slowly=(strace -f -qq -o /dev/null -e trace=ioctl -e inject=ioctl:delay_enter=300000)
out=$(python3 "$top/tests/custody/typed_at_once.py" 'Passphrase of the vault:' 'fake passphrase one' "${slowly[@]}" "$ostiary" secret ls 2>&1)
same 'an answer that comes at once is taken' "$?:$(grep -c GITHUB_TOKEN <<<"$out")" 0:1
same 'and not shown either' "$(grep -c 'fake passphrase' <<<"$out")" 0
if has tmux; then
	term_open
	term_type '"$OSTIARY" secret ls'
	shows 'it is asked at a terminal' 'Passphrase of the vault:'
	term_type 'fake passphrase two'
	shows 'a wrong one is asked again' 'That was not it'
	term_type 'fake passphrase one'
	shows 'the right one opens' GITHUB_TOKEN
	term_lacks 'fake passphrase'
	check 'and is not shown' $? "$(term_tail)"
	term_prompt
	term_clear
	term_type '"$OSTIARY" secret set TYPED --passphrase-fd 5 5<'"$work/pass"
	shows 'a value is asked for' 'Value of TYPED:'
	term_type fakeTypedValue1
	shows 'twice' 'Once more:'
	term_type fakeTypedValue2
	shows 'two that differ are not taken' 'not the same'
	term_prompt
	term_clear
	term_type '"$OSTIARY" secret set TYPED --passphrase-fd 5 5<'"$work/pass"
	shows 'asked again' 'Value of TYPED:'
	term_type fakeTypedValue1
	shows 'and once more' 'Once more:'
	term_type fakeTypedValue1
	term_prompt
	same 'a typed value is in the vault' "$(vault --passphrase-fd 5 get TYPED 5<"$work/pass" | cat)" fakeTypedValue1
	term_lacks fakeTypedValue
	check 'what was typed was never shown' $? "$(term_tail)"
	term_clear
	term_type '"$OSTIARY" secret set TYPED --passphrase-fd 5 5<'"$work/pass"
	shows 'a third time' 'Value of TYPED:'
	term_key C-c
	term_prompt
	holds 'a question that is broken off leaves the terminal as it was' "$(term_stty)" ' echo '
	same 'and the vault' "$(vault --passphrase-fd 5 get TYPED 5<"$work/pass" | cat)" fakeTypedValue1
else
	skip 'questions at a terminal' 'tmux is missing'
fi
out=$(OSTIARY_VAULT_PASSPHRASE_FILE=$work/pass secret passwd --none 2>&1)
check 'back to a key file' $? "$out"
same 'with nothing lost' "$(alone "$ostiary" secret ls | grep -c GITHUB_TOKEN)" 1
# A key that a systemd credential brings, instead of the file.
mv "$data/vault.key" "$work/creds/ostiary.vault"
same 'a key from a systemd credential' "$(CREDENTIALS_DIRECTORY=$work/creds secret ls | grep -c GITHUB_TOKEN)" 1
mv "$work/creds/ostiary.vault" "$data/vault.key"

# --- import ----------------------------------------------------------------------------------------

mkdir -p "$HOME/.aws" "$HOME/.config/gh" "$HOME/.docker"
printf '[default]\naws_access_key_id = AKIAFAKEFAKEFAKEFAKE\naws_secret_access_key = fakeawssecretfakeawssecretfakeawssecret0\n[temp]\naws_access_key_id = ASIAFAKEFAKEFAKEFAKE\naws_secret_access_key = fakeawssecretfakeawssecretfakeawssecret1\n' >"$HOME/.aws/credentials"
printf 'machine git.example.org\n  login me\n  password fakeNetrcPassword\n' >"$HOME/.netrc"
printf 'github.com:\n    user: me\n    oauth_token: gho_fakeGHtokenfakeGHtokenfakeGHtoken000\n' >"$HOME/.config/gh/hosts.yml"
printf '//npm.example.org/:_authToken=fakeNpmTokenfake\n//other.example.org/:_authToken=${FROM_ENV}\n' >"$HOME/.npmrc"
printf '{"auths": {"ghcr.io": {"auth": "%s"}}}' "$(printf 'me:fakeDockerPassword' | base64)" >"$HOME/.docker/config.json"
before=$(cat "$HOME/.aws/credentials" "$HOME/.netrc" "$HOME/.config/gh/hosts.yml" "$HOME/.npmrc" "$HOME/.docker/config.json" | sha256sum)
export ANTHROPIC_API_KEY=$other
out=$(secret import --dry-run 2>&1)
check 'import --dry-run' $? "$out"
for want in 'secret ANTHROPIC_API_KEY from vault at api.anthropic.com as header x-api-key' \
	'secret AWS_default from vault at \*.amazonaws.com as sigv4' 'secret NETRC_git_example_org from vault at git.example.org as basic user=me' \
	'secret GH_TOKEN from vault' 'secret NPM_npm_example_org from vault at npm.example.org as bearer' \
	'secret DOCKER_ghcr_io from vault at ghcr.io as basic user=me'; do
	grep -q "$want" <<<"$out"
	check "it lists: $want" $? "$out"
done
same 'nothing that is over or a reference' "$(grep -cE 'AWS_temp|other_example' <<<"$out")" 0
same 'no value' "$(grep -cE 'fake|FAKE' <<<"$out")" 0
same 'and took nothing in' "$(secret ls | grep -c AWS_default)" 0
out=$(alone "$ostiary" secret import 2>&1)
same 'without a terminal it wants --yes' $? 64
out=$(secret import --yes 2>&1)
holds 'import takes them in' "$out" '6 taken in'
out=$(secret import --yes 2>&1)
holds 'and not twice' "$out" '0 taken in, 6 were there already'
same 'AWS keys are what the keeper reads' "$(vault get AWS_default | tr '\n' ' ')" 'AKIAFAKEFAKEFAKEFAKE fakeawssecretfakeawssecretfakeawssecret0'
same 'a password of docker' "$(vault get DOCKER_ghcr_io | cat)" fakeDockerPassword
same 'the files are as they were' "$(cat "$HOME/.aws/credentials" "$HOME/.netrc" "$HOME/.config/gh/hosts.yml" "$HOME/.npmrc" "$HOME/.docker/config.json" | sha256sum)" "$before"
out=$(ANTHROPIC_API_KEY=${other}2 secret import --yes 2>&1)
holds 'another value of the same name is kept' "$out" 'which was kept'
every_line=$(secret import --dry-run 2>/dev/null | grep '^  secret ' | sed 's/^  //')
printf '%s\n' "$every_line" >"$work/lines"
out=$("$ostiary" policy check --policy "$work/lines" 'GET https://example.org/' 2>&1)
case $out in *"$work/lines"*) false ;; *'denied by default'*) true ;; *) false ;; esac
check 'every suggested line is one that a policy takes' $? "$out"

# --- a box -----------------------------------------------------------------------------------------

unset ANTHROPIC_API_KEY
echo 'secret GITHUB_TOKEN from vault at api.github.com as bearer' >"$work/policy"
out=$(box --policy "$work/policy" -- sh -c 'echo "$GITHUB_TOKEN"' 2>&1)
check 'a box starts with a secret from the vault' $? "$out"
case $out in *"$other"*) false ;; sk-ant-*) true ;; *) false ;; esac
check 'and has a placeholder of its shape' $? "$out"
out=$(box --secret 'NO_SUCH_ONE from vault at api.github.com as bearer' -- true 2>&1)
[ $? != 0 ]
check 'a box whose secret is not in the vault does not start' $? "$out"
holds 'and says so' "$out" NO_SUCH_ONE

# --- the writer that never ended -------------------------------------------------------------------

wait "$held"
same 'a writer that never ends is waited for and then named' "$(cat "$work/held/code")" 122
holds 'in a sentence' "$(cat "$work/held/out")" 'another ostiary is writing'
same 'reading goes on meanwhile' "$(cat "$work/held/read") $(cat "$work/held/late")" '1 0'
exit "$bad"
