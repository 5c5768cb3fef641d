#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: a session bus and its keyring belong to one user; both users have the same
# custody_keyring.sh - where a secret is looked for. NAME@HOST: the variable, then the vault, and which one it was is said.
# The desktop's keyring: a real Secret Service (gnome-keyring) on a session bus of this suite; absent, locked, without the
# item and with two of them it is a sentence and no box. A line that every box has is left out with a sentence when it
# cannot be had; a secret that was asked for by name ends the start.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
lacks() { # name, text, no part of it
	case $2 in *"$3"*) false ;; *) true ;; esac
	check "$1" $? "\"$3\" is in: $2"
}
run() { (cd "$work/ws" && timeout -k 2 100 "$ostiary" run "$@" </dev/null 2>&1); }
value=fake-Keyring-Value-Of-40-Characters-00001
other=fake-Another-Value-Of-40-Characters-00002
# shellcheck disable=SC2016
show='printf "%s/%s\n" "${#KEY}" "$KEY"'

# --- the variable, then the vault -------------------------------------------------------------------

got=$(run --secret KEY@api.home.test -- true)
[ $? != 0 ]
check "neither in the environment nor in the vault: no box" $? "$got"
holds "says that the variable is not set" "$got" "KEY is not set here"
holds "and that the vault has none" "$got" "vault"
printf '%s' "$value" | "$ostiary" secret set KEY >"$work/set" 2>&1
check "a value in the vault" $? "$(cat "$work/set")"
got=$(run --secret KEY@api.home.test -- sh -c "$show")
holds "is found without being named" "$got" "${#value}/"
lacks "as a placeholder" "$got" "$value"
holds "and it is said where" "$got" "secret KEY is taken from the vault"
got=$(KEY=$other-and-longer run --secret KEY@api.home.test -- sh -c "$show")
holds "a variable comes first" "$got" "$((${#other} + 11))/"
holds "and it is said" "$got" "secret KEY is taken from the environment"
got=$(KEY='' run --secret KEY@api.home.test -- sh -c "$show")
holds "one that is empty does not" "$got" "secret KEY is taken from the vault"
got=$(KEY=$other run --secret KEY=vault@api.home.test -- sh -c "$show")
lacks "a source that is named is the only one" "$got" "is taken from"

# --- lines for every box ----------------------------------------------------------------------------

mkdir -p "$HOME/.config/ostiary"
cat >"$HOME/.config/ostiary/policy" <<-'END'
	secret GONE from vault at api.home.test as bearer
	secret UNSET from env at api.home.test as bearer
	secret NOFILE from file ~/no/such/file at api.home.test as bearer
	secret FAILS from cmd 'echo no >&2; exit 3' at api.home.test as bearer
	secret ABSENT from keyring at api.home.test as bearer
	secret KEY from vault at api.home.test as bearer
END
got=$(DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus run -- sh -c "$show; echo went on")
holds "a box starts without those that cannot be had" "$got" "went on"
holds "and has the one that can" "$got" "${#value}/"
for name in GONE UNSET NOFILE FAILS ABSENT; do
	holds "$name: it is said that it is left out" "$(grep "$name" <<<"$got")" "left out"
done
got=$(run --secret 'GONE from vault at api.home.test as bearer' -- true)
[ $? != 0 ]
check "one that was asked for by name ends the start" $? "$got"
holds "with its name" "$got" "GONE"
rm -f "$HOME/.config/ostiary/policy"

# --- the keyring ------------------------------------------------------------------------------------

for tool in dbus-daemon gnome-keyring-daemon secret-tool; do
	has $tool || { skip "the keyring" "$tool is missing" && exit $bad; }
done
ring="KEY from keyring at api.home.test as bearer"
unset DBUS_SESSION_BUS_ADDRESS
got=$(XDG_RUNTIME_DIR=$work/none run --secret "$ring" -- true)
[ $? != 0 ]
check "no session bus: no box" $? "$got"
holds "and a sentence" "$got" "there is no session bus here"
mkdir -m 700 "$work/rt"
export XDG_RUNTIME_DIR=$work/rt
cat >"$work/bus.conf" <<-END
	<busconfig><type>session</type><listen>unix:path=$work/rt/bus</listen>
	<policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
END
dbus-daemon --config-file="$work/bus.conf" --nofork >/dev/null 2>"$work/bus.err" &
bus=$!
trap 'kill $ringd $bus 2>/dev/null; lib_finish' EXIT
ringd=
within 60 test -S "$work/rt/bus"
check "a session bus" $? "$(cat "$work/bus.err")"
got=$(run --secret "$ring" -- true)
[ $? != 0 ]
check "no keyring: no box" $? "$got"
holds "and a sentence" "$got" "no keyring runs in this session"
export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/rt/bus
printf 'a password' | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>"$work/ring.err" &
ringd=$!
stored() { printf '%s' "$value" | timeout 10 secret-tool store --label=KEY application ostiary name KEY; }
within 60 stored
check "an item in the keyring" $? "$(cat "$work/ring.err")"
got=$(run --secret "$ring" -- sh -c "$show")
holds "a value of the keyring" "$got" "${#value}/"
lacks "as a placeholder" "$got" "$value"
got=$(run --secret "KEY=keyring@api.home.test" -- sh -c "$show")
holds "in short" "$got" "${#value}/"
printf '%s' "$other" | secret-tool store --label=other service forge user me
got=$(run --secret "KEY from keyring 'service=forge user=me' at api.home.test as bearer" -- sh -c "$show")
holds "by attributes" "$got" "${#other}/"
got=$(cd "$work/ws" && env -u DBUS_SESSION_BUS_ADDRESS "$ostiary" run --secret "$ring" -- sh -c "$show" 2>&1 </dev/null)
holds "the bus is found without its variable" "$got" "${#value}/"
got=$(run --secret "KEY from keyring NONE at api.home.test as bearer" -- true)
[ $? != 0 ]
check "no such item: no box" $? "$got"
holds "and how to make it" "$got" "secret-tool store --label=NONE application ostiary name NONE"
printf '%s' "$value" | secret-tool store --label=two service forge user other
got=$(run --secret "KEY from keyring service=forge at api.home.test as bearer" -- true)
[ $? != 0 ]
check "two items: no box" $? "$got"
holds "and a sentence" "$got" "2 items"
dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.Lock \
	array:objpath:/org/freedesktop/secrets/collection/login >/dev/null
got=$(run --secret "$ring" -- true)
[ $? != 0 ]
check "a locked keyring: no box" $? "$got"
holds "and a sentence" "$got" "the keyring is locked"
[ -z "$("$ostiary" ps -q)" ]
check "no box stays" $?
! grep -rqF "$value" "$HOME/.local/state/ostiary" 2>/dev/null
check "and the value is in no file" $?
exit $bad
