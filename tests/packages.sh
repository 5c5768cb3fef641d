#!/bin/bash
# suite: test=user soak=root,user timeout=200
# tier: who starts the box is not asked by a package manager
# packages.sh - package managers work in a fresh box as they are configured on the host: the preset `packages` asks the
# installed tools themselves, in a box without network, workspace and keys. npm and pip are the real ones, their registry
# is tests/packages/registry.py on loopback, which is also the proxy by which the door reaches it. Reading passes,
# writing does not; no file of a project says what runs or which host is allowed.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
system=/usr/local/bin:/usr/bin:/bin
PATH=$system
unset OSTIARY_PACKAGES
for tool in npm curl; do
	has $tool || { skip 'packages' "$tool is not installed" && exit 0; }
done
if ! python3 -c 'import pip' 2>/dev/null; then
	skip 'packages' 'python3-pip is not installed'
	exit 0
fi

mkdir -p "$work/published/thing" "$HOME/.config/pip" "$HOME/.ssh"
echo '{"name":"thing","version":"1.2.3","main":"main.js"}' >"$work/published/thing/package.json"
echo 'module.exports = "a thing";' >"$work/published/thing/main.js"
python3 tests/packages/wheel.py "$work/published" pything 1.0 'x = "a pything"'
python3 tests/packages/registry.py 0 "$work/requests" "$work/published" >"$work/registry.out" 2>&1 &
registry=$!
trap 'kill $registry 2>/dev/null; lib_finish' EXIT
within 60 grep -q '^ready' "$work/registry.out" || { check 'a registry on loopback' 1 "$(cat "$work/registry.out")" && exit 1; }
proxy=http://127.0.0.1:$(sed -n 's/^ready //p' "$work/registry.out")
printf 'registry=http://someone:SECRETMARK@packages.example.test/\n//packages.example.test/:_authToken=SECRETMARK\n' >"$HOME/.npmrc"
printf '[global]\nindex-url = http://someone:SECRETMARK@index.example.test/simple/\ntrusted-host = index.example.test\n' >"$HOME/.config/pip/pip.conf"
echo SECRETMARK >"$HOME/.ssh/id_ed25519"
cd "$work/ws" || exit 1
echo '{"name":"project","private":true}' >package.json
run() { timeout -k 2 150 "$ostiary" run -q --upstream-proxy "$proxy" "$@" </dev/null 2>&1; }
rules() { "$ostiary" explain -- true 2>&1; }
asked() { stat -c %Y.%y "$HOME/.local/state/ostiary/packages/npm" 2>/dev/null; }

# --- out of the box -----------------------------------------------------------------------------------------------------
said=$(run -- sh -c 'npm install --no-audit --no-fund thing && node -e "console.log(require(\"thing\"))"')
holds 'npm install works in a fresh box' "$said" 'a thing'
said=$(run -- sh -c 'python3 -m pip install -q --disable-pip-version-check --target lib pything && PYTHONPATH=lib python3 -c "import pything; print(pything.x)"')
holds 'pip install works in a fresh box' "$said" 'a pything'
holds 'explain shows the host of npm' "$(rules)" 'allow GET,HEAD packages.example.test'
holds 'and that of pip' "$(rules)" 'allow GET,HEAD index.example.test'
said=$(run -- sh -c 'grep -rs SECRETMARK ~ /tmp; cat ~/.npmrc ~/.config/pip/pip.conf')
same 'the settings are there without what they hold of keys' "$(tr '\n' '|' <<<"$said")" \
	'registry=http://packages.example.test/|[global]|index-url = http://index.example.test/simple/|trusted-host = index.example.test|'

# --- reading only -------------------------------------------------------------------------------------------------------
: >"$work/requests"
for method in PUT POST DELETE PATCH; do
	same "$method to the same host is refused" \
		"$(run -- curl -s -o /dev/null -w '%{http_code}' -m 100 -X $method -d x http://packages.example.test/thing)" 403
done
same 'and none of it left the machine' "$(cat "$work/requests")" ''
same 'GET passes' "$(run -- curl -s -o /dev/null -w '%{http_code}' -m 100 http://packages.example.test/thing)" 200
said=$(run --level strict -- curl -s -o /dev/null -w '%{http_code}' -m 100 http://packages.example.test/thing)
same 'at the level strict nothing of it is allowed' "${said: -3}" 403

# --- a project chooses nothing --------------------------------------------------------------------------------------------
echo 'registry=http://evil.example.test/' >.npmrc
printf '[global]\nindex-url = http://evil.example.test/simple/\n' >pip.conf
mkdir -p node_modules/.bin bin
printf '#!/bin/sh\ntouch "%s/ran-on-the-host"\necho "\\"registry\\": \\"http://evil.example.test/\\""\n' "$work" >bin/npm
cp bin/npm bin/python3
cp bin/npm node_modules/.bin/npm
chmod +x bin/* node_modules/.bin/npm
touch "$HOME/.npmrc" # so that npm is asked anew
said=$(PATH=$work/ws/bin:node_modules/.bin:$PATH run -- true)
said=$(PATH=$work/ws/bin:node_modules/.bin:$PATH rules)
holds 'the machine'"'"'s own npm is asked all the same' "$said" packages.example.test
[[ $said != *evil.example* ]]
check 'a project adds no host' $? "$said"
[ ! -e "$work/ran-on-the-host" ]
check 'and no program of a project is run' $?
: >"$work/requests"
said=$(run -- sh -c 'npm install --no-audit --no-fund --fetch-retries=0 thing')
same 'with the .npmrc of the project npm reaches nothing new' "$(grep -c evil "$work/requests")" 0
rm -rf .npmrc pip.conf bin node_modules

# --- how it is asked ------------------------------------------------------------------------------------------------------
mkdir -p "$work/tools"
cat >"$work/tools/npm" <<'NPM'
#!/bin/sh
# A tool that looks around: what it found is the name that it gives.
found=$(pwd | tr / -)
cat ~/.ssh/id_ed25519 >/dev/null 2>&1 && found=$found-key
ls "$OLDPWD" 2>/dev/null | grep -q package.json && found=$found-project
grep -q SECRETMARK ~/.npmrc 2>/dev/null && found=$found-settings
( : >>~/.npmrc ) 2>/dev/null && found=$found-written
grep -q ' 00000000 ' /proc/net/route 2>/dev/null && found=$found-network
[ "$(ls /sys/class/net 2>/dev/null | grep -vcx lo)" -gt 0 ] && found=$found-network
echo "\"registry\": \"http://x$found.example.test/\""
NPM
chmod +x "$work/tools/npm"
PATH=$work/tools:$PATH run -- true >/dev/null
said=$(PATH=$work/tools:$PATH rules)
holds 'a tool sees its settings, and neither keys nor project nor network; its directory is /' "$said" 'allow GET,HEAD x--settings.example.test'

# --- kept -----------------------------------------------------------------------------------------------------------------
run -- true >/dev/null
was=$(asked)
run -- true >/dev/null
same 'what it said is kept' "$(asked)" "$was"
sed -i s/packages.example.test/other.example.test/ "$HOME/.npmrc"
run -- true >/dev/null
holds 'until its settings change' "$(rules)" 'allow GET,HEAD other.example.test'
printf '#!/bin/sh\nexit 3\n' >"$work/tools/npm"
PATH=$work/tools:$PATH run -- true >/dev/null
holds 'one that does not tell is named, with what becomes of it' "$(PATH=$work/tools:$PATH rules | tr -s ' \n' ' ')" \
	'packages: npm it could not be asked where it reads from'

# --- bun and uv -----------------------------------------------------------------------------------------------------------
managers=${SUITE_CACHE:-$top/out}/test-agents/managers/node_modules
bun=$HOME/.bun/bin
mkdir -p "$bun" "$work/uv"
mv "$HOME/.npmrc" "$work/npmrc"
if [ -x "$managers/bun/bin/bun.exe" ]; then
	# Where its installer puts it.
	ln "$managers/bun/bin/bun.exe" "$bun/bun" 2>/dev/null || cp "$managers/bun/bin/bun.exe" "$bun/bun"
	printf '[install]\nregistry = "http://someone:SECRETMARK@bun.example.test/"\n' >"$HOME/.bunfig.toml"
	said=$(PATH=$bun:$PATH run -- sh -c 'bun add thing 2>&1 && node -e "console.log(require(\"thing\"))"; cat ~/.bunfig.toml')
	holds 'bun add works in a fresh box' "$said" 'a thing'
	[[ $said == *bun.example.test* && $said != *SECRETMARK* ]]
	check 'its settings are there without what they hold of keys' $? "$said"
	printf '[install]\nregistry = { url = "http://table.example.test/", token = "SECRETMARK" }\n' >"$HOME/.bunfig.toml"
	said=$(PATH=$bun:$PATH run -- cat .bunfig.toml "$HOME/.bunfig.toml")
	[[ $said != *SECRETMARK* ]]
	check 'also when key and address are on one line' $? "$said"
	rm -f "$HOME/.bunfig.toml"
	PATH=$bun:$PATH run -- true >/dev/null
	[ -s "$HOME/.local/state/ostiary/packages/bun" ] && [ "$(wc -l <"$HOME/.local/state/ostiary/packages/bun")" = 2 ]
	check 'and bun itself says where it reads from when nothing is configured' $? "$(cat "$HOME/.local/state/ostiary/packages/bun" 2>&1 | wc -l) lines"
else
	skip 'bun' 'npm could not install bun'
fi
# uv is in no Debian: a stand-in that speaks its words for "which index?".
cat >"$work/uv/uv" <<'UV'
#!/bin/sh
[ "$1 $2" = 'pip compile' ] || exit 2
case " $* " in *' --emit-index-url '*' - '*) ;; *) exit 2 ;; esac
[ -z "$(cat)" ] || exit 2
url=$(sed -n 's/^index-url = "\(.*\)"/\1/p' ~/.config/uv/uv.toml 2>/dev/null)
echo "--index-url ${url:-http://uv-default.example.test/simple}"
UV
chmod +x "$work/uv/uv"
PATH=$work/uv:$PATH run -- true >/dev/null
holds 'uv is asked for its index' "$(PATH=$work/uv:$PATH rules)" 'allow GET,HEAD uv-default.example.test'
mkdir -p "$HOME/.config/uv"
printf 'index-url = "http://someone:SECRETMARK@uv.example.test/simple"\n[[index]]\nname = "more"\nurl = "http://uv-more.example.test/simple"\n' >"$HOME/.config/uv/uv.toml"
said=$(PATH=$work/uv:$PATH run -- cat "$HOME/.config/uv/uv.toml")
same 'the settings of uv are in the box, without keys' "$(tr '\n' '|' <<<"$said")" \
	'index-url = "http://uv.example.test/simple"|[[index]]|name = "more"|url = "http://uv-more.example.test/simple"|'
said=$(PATH=$work/uv:$PATH rules)
[[ $said == *'allow GET,HEAD uv.example.test'* && $said == *'allow GET,HEAD uv-more.example.test'* ]]
check 'and its hosts are read from' $? "$said"
mv "$work/npmrc" "$HOME/.npmrc"

# --- what no tool can tell is asked once, and kept ----------------------------------------------------------------------------
if has tmux; then
	last_row() { tm capture-pane -p -t "$term" | sed 's/ *$//' | sed -n "$(tm display-message -p -t "$term" '#{pane_height}')p"; }
	is_last() { [[ $(last_row) == *"$1"* ]]; }
	get() { # agent, address: typed in the box; its status and a dot are a line
		term_type "curl -s -A '$1' -o /dev/null -w '%{http_code}.\\n' -m 100 $2"
	}
	term_open 100 24
	term_type "\"\$OSTIARY\" run --new -n first --upstream-proxy $proxy -e PS1='bo''x> ' -- bash --norc --noprofile"
	term_prompt 'box>'
	get 'uv/0.9.1 {"installer":{"name":"uv"}}' http://files.example.test/thing
	within 60 is_last 'y n a=all boxes ?'
	check 'a manager that reads where nobody knew is asked about, for every box' $? "$(last_row)"
	holds 'the list of questions says so too' "$("$ostiary" approvals first)" 'files.example.test/thing (--always: in every box)'
	term_key C-] '?'
	shows 'all of it says what would be kept' 'a adds the rule: allow GET,HEAD files.example.test, in every box: it says it is uv'
	term_key C-] a
	shows 'it goes on' '^200\.'
	within 60 is_last 'kept for every box: allow GET,HEAD files.example.test'
	check 'and it is said that this is kept' $? "$(last_row)"
	term_clear
	get 'Mozilla/5.0' http://pages.example.test/thing
	within 60 is_last 'y n a ?'
	check 'any other program is asked about for this box' $? "$(last_row)"
	term_key C-] a
	shows 'and goes on there' '^200\.'
	term_clear
	get 'uv/0.9.1' http://192.0.2.7/thing
	within 60 is_last '192.0.2.7'
	is_last 'all boxes'
	check 'an address is kept for no other box' $((1 - $?)) "$(last_row)"
	term_key C-] n
	shows 'it is refused' '^403\.'
	term_type 'exit'
	term_prompt
	holds 'explain shows what is kept' "$(rules)" 'allow GET,HEAD files.example.test'
	[[ $(rules) != *pages.example.test* ]]
	check 'and nothing else' $? "$(rules)"
	said=$(run -- curl -s -o /dev/null -w '%{http_code}' -m 100 http://files.example.test/thing)
	same 'the next box is not asked' "${said: -3}" 200
	said=$(run -- curl -s -o /dev/null -w '%{http_code}' -m 100 http://pages.example.test/thing)
	same 'nor let elsewhere' "${said: -3}" 403
	printf 'x\tallow GET,HEAD **bad**\nno line\nuv\tallow GET,HEAD more.example.test\n' >>"$HOME/.local/state/ostiary/packages/answers"
	said=$(rules)
	[[ $said == *'GET,HEAD files.example.test'* && $said == *'GET,HEAD more.example.test'* && $said != *bad* ]]
	check 'a line of that file which is none costs no other' $? "$said"
else
	skip 'an answer that is kept' 'tmux is not installed'
fi

# --- off ------------------------------------------------------------------------------------------------------------------
export OSTIARY_PACKAGES=off
holds 'one variable turns it off' "$(rules | tr -s ' \n' ' ')" 'OSTIARY_PACKAGES turns them off'
said=$(run -- curl -s -o /dev/null -w '%{http_code}' -m 100 http://other.example.test/thing)
same 'and nothing of it is allowed' "${said: -3}" 403
exit $bad
