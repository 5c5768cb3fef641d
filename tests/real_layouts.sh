#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: version managers live in homes of users
# real_layouts.sh - programs installed anywhere just work: one per version manager's layout, each found by the
# name on PATH as its user would type it, while the keys that lie beside them in the home stay outside.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cd "$work/ws" || exit 1
system=$PATH

# Keys and logins all over the home; none may be seen whatever is shown beside them.
for file in .ssh/id_ed25519 .aws/credentials .gnupg/private .config/gh/hosts.yml .local/share/keyrings/login.keyring .cargo/credentials.toml \
	.npmrc .netrc .git-credentials .docker/config.json .kube/config .config/gcloud/token .claude/.credentials.json .codex/auth.json \
	.gemini/oauth_creds.json .local/state/ostiary-like/x .m2/settings.xml .pypirc .bash_history .nvm/.secret .local/share/other/data .local/other-secret; do
	mkdir -p "$HOME/$(dirname "$file")"
	echo "MARK-OF-A-SECRET" >"$HOME/$file"
done

echo MARK-OF-A-SECRET >control
same 'the search for keys finds what it is shown' "$(box -- grep -rls MARK-OF "$work/ws" 2>&1)" "$work/ws/control"

script() { # path below the home, interpreter line: a program that says who it is
	mkdir -p "$(dirname "$HOME/$1")"
	printf '%s\necho "ran %s $1"\n' "${2:-#!/bin/sh}" "$(basename "$1")" >"$HOME/$1"
	chmod +x "$HOME/$1"
}
native() { # path below the home: a program that is not a script
	mkdir -p "$(dirname "$HOME/$1")"
	cp /bin/echo "$HOME/$1"
}
link() { # name below the home, what it points at
	mkdir -p "$(dirname "$HOME/$1")"
	ln -s "$2" "$HOME/$1"
}
# works NAME DIRECTORIES COMMAND WORDS...: in a box, with these before the system's PATH, and shows no secret.
works() {
	local name=$1 dirs=$2 got leak
	shift 2
	got=$(PATH=$dirs:$system box -- "$@" word 2>&1)
	same "$name runs" "$got" "${want:-ran $1 word}"
	leak=$(PATH=$dirs:$system box -- grep -rls MARK-OF "$HOME" 2>/dev/null)
	same "$name brings no key along" "$leak" ''
}

native .local/share/claude/versions/2.0.1
link .local/bin/native-claude "$HOME/.local/share/claude/versions/2.0.1"
want='word' works 'a native program behind a link in ~/.local/bin' "$HOME/.local/bin" native-claude
want=
native .local/bin/alone
want=word works 'a native program in ~/.local/bin itself' "$HOME/.local/bin" alone
native bin/mine
want=word works 'a native program in ~/bin' "$HOME/bin" mine
want=
script .opencode/bin/opencode
works 'an agent in a directory of its own' "$HOME/.opencode/bin" opencode
script .npm-global/lib/node_modules/@scope/tool/cli.sh
link .npm-global/bin/tool ../lib/node_modules/@scope/tool/cli.sh
want='ran cli.sh word' works 'an npm prefix' "$HOME/.npm-global/bin" tool
script .local/lib/node_modules/second/cli2.sh
link .local/bin/second ../lib/node_modules/second/cli2.sh
want='ran cli2.sh word' works 'an npm prefix of ~/.local' "$HOME/.local/bin" second
want=
script .nvm/versions/node/v20.0.0/bin/node20
works nvm "$HOME/.nvm/versions/node/v20.0.0/bin" node20
script .local/share/fnm/node-versions/v20/installation/bin/fnode
link .local/state/fnm_multishells/1_2 "$HOME/.local/share/fnm/node-versions/v20/installation"
works 'fnm, through the link of a shell' "$HOME/.local/state/fnm_multishells/1_2/bin" fnode
script .volta/tools/image/node/20/bin/vnode
printf '#!/bin/sh\nexec "%s/.volta/tools/image/node/20/bin/$(basename "$0")" "$@"\n' "$HOME" >"$HOME/.volta/shim" && chmod +x "$HOME/.volta/shim"
link .volta/bin/vnode ../shim
works 'volta, through its shim' "$HOME/.volta/bin" vnode
script .bun/install/global/node_modules/btool/btool
link .bun/bin/btool ../install/global/node_modules/btool/btool
works bun "$HOME/.bun/bin" btool
script .deno/bin/dtool
works deno "$HOME/.deno/bin" dtool
script .local/share/pnpm/global/5/node_modules/ptool/ptool
script .local/share/pnpm/ptool
works pnpm "$HOME/.local/share/pnpm" ptool
script .pyenv/versions/3.12/bin/pyprog
printf '#!/bin/sh\nexec "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.12/bin/$(basename "$0")" "$@"\n' >"$HOME/.pyenv/shim" && chmod +x "$HOME/.pyenv/shim"
mkdir -p "$HOME/.pyenv/shims" && cp "$HOME/.pyenv/shim" "$HOME/.pyenv/shims/pyprog"
works 'pyenv, through its shim' "$HOME/.pyenv/shims" pyprog
link .local/share/uv/tools/utool/bin/python /usr/bin/python3
mkdir -p "$HOME/.local/share/uv/tools/utool/bin"
printf '#!%s/.local/share/uv/tools/utool/bin/python\nimport sys; print("ran utool", sys.argv[1])\n' "$HOME" >"$HOME/.local/share/uv/tools/utool/bin/utool"
chmod +x "$HOME/.local/share/uv/tools/utool/bin/utool"
link .local/bin/utool "$HOME/.local/share/uv/tools/utool/bin/utool"
works 'a tool of uv, through the interpreter in its #! line' "$HOME/.local/bin" utool
script .cargo/bin/crate
works 'cargo install' "$HOME/.cargo/bin" crate
script go/bin/goprog
works 'go install' "$HOME/go/bin" goprog
script .sdkman/candidates/java/21/bin/jtool
link .sdkman/candidates/java/current 21
works SDKMAN "$HOME/.sdkman/candidates/java/current/bin" jtool
script .rbenv/shims/rprog
works rbenv "$HOME/.rbenv/shims" rprog
script .asdf/shims/aprog
works asdf "$HOME/.asdf/shims" aprog
script .local/share/mise/installs/node/20/bin/mnode
works mise "$HOME/.local/share/mise/installs/node/20/bin" mnode
script .fly/bin/flyctl
works 'a program in a dotted directory' "$HOME/.fly/bin" flyctl
mkdir -p "$HOME/.config/tool" && ln -sf "$HOME/.ssh/id_ed25519" "$HOME/.fly/bin/evil"
leak=$(PATH=$HOME/.fly/bin:$system box -- sh -c "cat '$HOME/.fly/bin/evil' || true" 2>/dev/null)
same 'a link to a key among the programs leads nowhere' "$leak" ''

# An agent that something else starts: a script now, exec later.
link .local/bin/claude "$HOME/.local/share/claude/versions/2.0.1"
same 'an agent named by --profile, started by a script' "$(PATH=$HOME/.local/bin:$system box --profile claude -- sh -c 'claude word' 2>&1)" word
PATH=$HOME/.local/bin:$system "$ostiary" create -q -n waits claude >/dev/null 2>&1
same 'an agent in a box that waits' "$("$ostiary" exec waits -- claude word 2>&1)" word

# By path, outside the home and outside the workspace.
mkdir -p "$work/tools/thing/bin" && printf '#!/bin/sh\necho "ran thing $1"\n' >"$work/tools/thing/bin/thing" && chmod +x "$work/tools/thing/bin/thing"
same 'a program named by its path' "$(box -- "$work/tools/thing/bin/thing" word 2>&1)" 'ran thing word'
exit $bad
