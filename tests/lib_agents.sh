# lib_agents.sh - the agents from npm in the home of a suite. Sourced after lib.sh by tests/real_agents*.sh.
#
# tools/setup.sh puts the packages into out/test-agents once; a suite without them, or without tmux and node,
# is skipped as a whole. Leaves $there, the names of the agents that can be started.
# shellcheck shell=bash disable=SC2034,SC2154
cache=${SUITE_CACHE:-$top/out}/test-agents
if ! has tmux || ! has node; then
	skip 'agents' 'tmux or node is not installed'
	exit 0
fi
if ! [ -r "$cache/lib/node_modules" ]; then
	skip 'agents' 'npm could not install them, or this user cannot read them'
	exit 0
fi

prefix=$HOME/.npm-global
mkdir -p "$prefix/bin" "$prefix/lib/node_modules"
export PATH=$prefix/bin:$PATH TERM=xterm-256color
cd "$work/ws" && git init -q . 2>/dev/null

# installed NAME PACKAGE: the package into this home, as `npm install -g` leaves it: by hard links, which root
# may make. An ordinary user copies what is not too large, and has the rest as `npm link` would leave it.
installed() {
	local name=$1 from=$cache/lib/node_modules/$2 to=$prefix/lib/node_modules/$2
	if [ ! -e "$cache/bin/$name" ]; then
		skip "$name" "npm could not install $2"
		return 1
	fi
	mkdir -p "$(dirname "$to")"
	if ! cp -al "$from" "$to" 2>/dev/null; then
		rm -rf "$to"
		if [ "$(du -sm "$from" | cut -f 1)" -lt 120 ]; then cp -a "$from" "$to"; else ln -s "$from" "$to"; fi
	fi
	ln -s "$(readlink "$cache/bin/$name")" "$prefix/bin/$name"
}

# shellcheck source=tests/lib_tier.sh
. "$top/tests/lib_tier.sh"

there=''
while read -r name package tier; do
	[ "$tier" = test ] || is_soak || continue
	installed "$name" "$package" && there="$there $name"
done <<-'ROWS'
	claude   @anthropic-ai/claude-code     test
	codex    @openai/codex                 test
	gemini   @google/gemini-cli            test
	opencode opencode-ai                   soak
	pi       @mariozechner/pi-coding-agent test
	copilot  @github/copilot               soak
ROWS
