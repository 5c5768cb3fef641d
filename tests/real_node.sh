#!/bin/bash
# suite: test=user soak=root,user timeout=200
# tier: package managers live in homes of users; the planner does not look at who it is
# real_node.sh - a program from a registry starts wherever the package manager put it: npm (a project, npx, a global
# prefix, linked), pnpm (a project, one store for all projects, global), yarn (classic and berry), bun (both its
# layouts and global). The managers are the real ones; the registry is tests/packages/registry.py on loopback. What
# lies beside the packages stays outside.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
system=$PATH
managers=${SUITE_CACHE:-$top/out}/test-agents/managers/node_modules
for tool in npm node python3; do
	has $tool || { skip 'programs of package managers' "$tool is not installed" && exit 0; }
done

# --- a registry with an agent whose packages lie as deep as they can ----------------------------------------------
# agent needs shared 2 and near 1; near needs shared 1 and deep; deep and far need nothing. A project that has shared 1
# already gets shared 2 below the agent, and what that needs (far) beside it.
publish() { # name version dependencies
	mkdir -p "$work/published/$1-$2"
	printf '{"name":"%s","version":"%s","main":"main.js","dependencies":{%s}}' "$1" "$2" "$3" >"$work/published/$1-$2/package.json"
	{
		echo 'let out = "'"$1$2"'";'
		for need in $(grep -o '"[a-z@/]*":' <<<"$3" | tr -d '":'); do echo "out += '(' + require('$need') + ')';"; done
		echo 'module.exports = out;'
	} >"$work/published/$1-$2/main.js"
}
publish far 1.0.0 ''
publish deep 1.0.0 ''
publish @scope/wide 1.0.0 '"far":"1"'
publish shared 1.0.0 ''
publish shared 2.0.0 '"@scope/wide":"1"'
publish near 1.0.0 '"shared":"1","deep":"1"'
publish agent 1.0.0 '"shared":"2","near":"1"'
cd "$work/published/agent-1.0.0" && mkdir -p dist/cli && echo '{"type":"commonjs"}' >dist/cli/package.json
cat >dist/cli/run.js <<'JS'
#!/usr/bin/env node
// Says which packages it has, or looks for what it should not see.
if (process.argv[2] !== 'search') console.log(require('../../main.js'), process.argv[2]);
else console.log(require('child_process').spawnSync('grep', ['-rls', 'MARK' + '-OF', process.env.HOME, process.cwd() + '/control']).stdout.toString().trim());
JS
chmod +x dist/cli/run.js
sed -i 's|"main"|"bin":{"agent":"dist/cli/run.js"},"main"|' package.json
want='agent1.0.0(shared2.0.0(@scope/wide1.0.0(far1.0.0)))(near1.0.0(shared1.0.0)(deep1.0.0)) word'

python3 "$top/tests/packages/registry.py" 0 "$work/requests" "$work/published" >"$work/registry.out" 2>&1 &
registry=$!
end() {
	kill "$registry" 2>/dev/null
	lib_finish
}
trap end EXIT
within 60 grep -q '^ready' "$work/registry.out" || { check 'a registry on loopback' 1 "$(cat "$work/registry.out")" && exit 1; }
at=http://127.0.0.1:$(sed -n 's/^ready //p' "$work/registry.out")
echo "registry=$at/" >"$HOME/.npmrc"
export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false npm_config_cache="$HOME/.npm"
mkdir -p "$HOME/.ssh" "$HOME/.config"
echo MARK-OF-A-SECRET >"$work/ws/control"
echo MARK-OF-A-SECRET >"$HOME/.ssh/id_ed25519"

project() { # name: an empty project in the home, with a file that is nobody's business
	mkdir -p "$HOME/$1" && cd "$HOME/$1" || exit 1
	echo '{"name":"project","version":"1.0.0","private":true}' >package.json
	echo MARK-OF-A-SECRET >plans.txt
}
# starts NAME DIRECTORY [COMMAND]: the agent in that directory works in a box of another project, which sees packages only.
starts() {
	cd "$work/ws" || exit 1
	if ! [ -e "$2/${3:-agent}" ]; then
		check "$1: the manager installed it" 1 "no agent in $2: $(ls -A "$2" 2>&1); $(tail -n 4 "$work/said" 2>/dev/null)"
		return
	fi
	same "$1: starts" "$(PATH=$2:$system box -- "${3:-agent}" word 2>&1)" "$want"
	same "$1: brings nothing else along" "$(PATH=$2:$system box -- "${3:-agent}" search 2>&1)" "$work/ws/control"
}
said() { timeout 120 "$@" >"$work/said" 2>&1; }

# --- npm ------------------------------------------------------------------------------------------------------------
project npm-plain
said npm install agent
starts 'npm i' "$HOME/npm-plain/node_modules/.bin"
project npm-nested
said npm install shared@1 && said npm install agent
[ -e node_modules/agent/node_modules/shared ] && [ -e node_modules/far ]
check 'npm nests one package and hoists what that needs' $? "$(find . -name package.json)"
starts 'npm i beside another version' "$HOME/npm-nested/node_modules/.bin"
project npm-linked
said npm install --install-strategy=linked agent
starts 'npm i, linked' "$HOME/npm-linked/node_modules/.bin"
cd "$HOME" && said npx --yes --package=agent -- agent word
same 'npx runs it on the host' "$(tail -n 1 "$work/said")" "$want"
starts 'npx' "$(dirname "$(find "$HOME/.npm/_npx" -path '*/.bin/agent' | head -n 1)")"
mkdir -p "$HOME/prefix" && said npm install -g --prefix "$HOME/prefix" agent
starts 'npm i -g, a prefix of any name' "$HOME/prefix/bin"
said npm install -g --prefix "$HOME/.local" agent
starts 'npm i -g, ~/.local' "$HOME/.local/bin"
# A repository of several packages: the agent is one of them, found through a link, its packages hoisted to the top.
project npm-workspaces
mkdir -p packages && cp -r "$work/published/agent-1.0.0" packages/agent && echo MARK-OF-A-SECRET >packages/plans.txt
echo '{"name":"top","private":true,"workspaces":["packages/*"]}' >package.json
said npm install
starts 'npm workspaces' "$HOME/npm-workspaces/node_modules/.bin"
project npm-home-like
said npm install --prefix "$HOME/npm-home-like" agent
cd "$HOME/npm-home-like" && mkdir sub && cd sub || exit 1
same 'by a path from below' "$(box -- ../node_modules/.bin/agent word 2>&1)" "$want"

# --- pnpm -----------------------------------------------------------------------------------------------------------
if [ -e "$managers/pnpm/package.json" ]; then
	pnpm() { PATH=$managers/.bin:$PATH timeout 120 "$managers/.bin/pnpm" "$@" >"$work/said" 2>&1; }
	project pnpm-plain
	pnpm add agent
	starts 'pnpm add' "$HOME/pnpm-plain/node_modules/.bin"
	project pnpm-store
	printf 'enableGlobalVirtualStore: true\nstoreDir: %s/pnpm-cache\n' "$HOME" >pnpm-workspace.yaml
	pnpm add agent
	readlink -f node_modules/agent | grep -q "$HOME/pnpm-cache/.*/links/"
	check 'pnpm keeps one store for all projects' $? "$(readlink -f node_modules/agent): $(cat "$work/said")"
	starts 'pnpm add, one store for all projects' "$HOME/pnpm-store/node_modules/.bin"
	for home in .local/share/pnpm pnpm-home; do
		export PNPM_HOME=$HOME/$home
		mkdir -p "$PNPM_HOME/bin"
		PATH=$PNPM_HOME:$PNPM_HOME/bin:$PATH pnpm add -g agent
		bin=$PNPM_HOME
		[ -e "$bin/agent" ] || bin=$PNPM_HOME/bin
		starts "pnpm add -g, in ~/$home" "$bin"
		unset PNPM_HOME
		starts "pnpm add -g, in ~/$home, which no variable names" "$bin"
	done
else
	skip 'pnpm' 'npm could not install pnpm'
fi

# --- yarn -----------------------------------------------------------------------------------------------------------
if [ -e "$managers/yarn/package.json" ]; then
	classic() { timeout 120 node "$managers/yarn/bin/yarn.js" --registry "$at/" "$@" >"$work/said" 2>&1; }
	project yarn-classic
	classic add agent
	starts 'yarn classic add' "$HOME/yarn-classic/node_modules/.bin"
	classic global add agent --prefix "$HOME/.yarn" --global-folder "$HOME/.config/yarn/global"
	starts 'yarn classic global add' "$HOME/.yarn/bin"
else
	skip 'yarn classic' 'npm could not install yarn'
fi
if [ -e "$managers/@yarnpkg/cli-dist/package.json" ]; then
	for linker in node-modules pnpm; do
		project "yarn-berry-$linker"
		printf 'nodeLinker: %s\nnpmRegistryServer: "%s"\nunsafeHttpWhitelist: ["127.0.0.1"]\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n' "$linker" "$at" >.yarnrc.yml
		: >yarn.lock
		said node "$managers/@yarnpkg/cli-dist/bin/yarn.js" add agent
		if [ $linker = pnpm ]; then # which makes no .bin
			starts "yarn berry, $linker" "$HOME/yarn-berry-$linker/node_modules/agent/dist/cli" run.js
		else
			starts "yarn berry, $linker" "$HOME/yarn-berry-$linker/node_modules/.bin"
		fi
	done
else
	skip 'yarn berry' 'npm could not install @yarnpkg/cli-dist'
fi

# --- bun ------------------------------------------------------------------------------------------------------------
if [ -e "$managers/bun/package.json" ]; then
	bun() { BUN_CONFIG_REGISTRY=$at timeout 120 "$managers/.bin/bun" "$@" >"$work/said" 2>&1; }
	for linker in hoisted isolated; do
		project "bun-$linker"
		bun add --linker $linker agent
		starts "bun add, $linker" "$HOME/bun-$linker/node_modules/.bin"
	done
	cd "$HOME" && bun add -g agent
	starts 'bun add -g' "$HOME/.bun/bin"
else
	skip 'bun' 'npm could not install bun'
fi
exit $bad
