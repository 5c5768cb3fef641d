#!/bin/bash
# suite: test=user soak=root,user timeout=600
# tier: compilers and package managers do not know who started their box
# real_tools.sh - what people build and run with, in a box: python and pip, node and npm, C, Rust, Java,
# debuggers, editors; each with its own usual layout, none told about the box.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_par.sh || exit 1
par_max=3
cd "$work/ws" || exit 1
missing() { # name, program: not there, so skip
	has "$2" && return 1
	skip "$1" "$2 is not installed"
}

# --- python: venv, pip install of a local package ---------------------------------------------------------
tools_python() {
	if ! missing 'python with a venv' python3; then
		mkdir -p pkg/greet && echo 'def hello(): return "hello from the package"' >pkg/greet/__init__.py
		cat >pkg/pyproject.toml <<-'TOML'
			[build-system]
			requires = ["setuptools"]
			build-backend = "setuptools.build_meta"
			[project]
			name = "greet"
			version = "1.0"
			[project.scripts]
			greet = "greet:main"
		TOML
		printf 'def main():\n    print(hello())\n' >>pkg/greet/__init__.py
		if python3 -c 'import ensurepip' 2>/dev/null; then
			out=$(box -n py --keep -- sh -c 'python3 -m venv --system-site-packages venv && venv/bin/python -m pip --version' 2>&1)
			holds 'python -m venv in a box' "$out" "$work/ws/venv"
			if python3 -c 'import setuptools, wheel' 2>/dev/null; then
				out=$("$ostiary" exec py -- sh -c 'venv/bin/pip install --no-index --no-build-isolation --disable-pip-version-check -q ./pkg && venv/bin/greet' 2>&1)
				same 'pip install of a local package' "$out" 'hello from the package'
			else
				out=$("$ostiary" exec py -- sh -c 'cp -r pkg/greet venv/lib/python3*/site-packages/ && venv/bin/python -c "import greet; greet.main()"' 2>&1)
				same 'a package in the venv' "$out" 'hello from the package'
				skip 'pip install of a local package' 'setuptools and wheel are not installed'
			fi
			"$ostiary" rm -f py >/dev/null 2>&1
			[ ! -e venv ]
			check 'the venv is not on the host' $? "$(ls)"
			# One that the host made, and that the caller has active.
			python3 -m venv "$work/active" && printf '#!%s/bin/python\nimport sys; print(sys.prefix)\n' "$work/active" >"$work/active/bin/tool"
			chmod +x "$work/active/bin/tool"
			same 'a venv of the host that is active' "$(PATH=$work/active/bin:$PATH VIRTUAL_ENV=$work/active box -- tool 2>&1)" "$work/active"
			mkdir -p "$HOME/.local/share/pipx/venvs" "$HOME/.local/bin"
			python3 -m venv --without-pip "$HOME/.local/share/pipx/venvs/tool"
			sed "1s,.*,#!$HOME/.local/share/pipx/venvs/tool/bin/python," "$work/active/bin/tool" >"$HOME/.local/share/pipx/venvs/tool/bin/ptool"
			chmod +x "$HOME/.local/share/pipx/venvs/tool/bin/ptool"
			ln -s "$HOME/.local/share/pipx/venvs/tool/bin/ptool" "$HOME/.local/bin/ptool"
			same "a tool under pipx's layout" "$(PATH=$HOME/.local/bin:$PATH box -- ptool 2>&1)" "$HOME/.local/share/pipx/venvs/tool"
		else
			skip 'python with a venv' 'python3-venv is not installed'
		fi
		same 'python: threads, processes, a pipe' "$(box -- python3 -c '
import multiprocessing, threading, subprocess
with multiprocessing.Pool(2) as pool: print(sum(pool.map(abs, range(-5, 5))), end=" ")
t = threading.Thread(target=lambda: print("thread", end=" ")); t.start(); t.join()
print(subprocess.check_output(["echo", "child"], text=True).strip())' 2>&1)" '25 thread child'
	fi
}

# --- node under nvm's layout, npm --------------------------------------------------------------------------
tools_node() {
	if ! missing 'node and npm' node && ! missing 'npm' npm; then
		version=$(node --version)
		nvm=$HOME/.nvm/versions/node/$version
		mkdir -p "$nvm/bin" "$nvm/lib/node_modules"
		cp "$(readlink -f "$(command -v node)")" "$nvm/bin/node"
		modules=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
		cp -a "$modules" "$nvm/lib/node_modules/npm"
		ln -s ../lib/node_modules/npm/bin/npm-cli.js "$nvm/bin/npm"
		ln -s ../lib/node_modules/npm/bin/npx-cli.js "$nvm/bin/npx"
		echo 'nvm() { echo sourced; }' >"$HOME/.nvm/nvm.sh"
		echo '//registry.example/:_authToken=secret-of-npm' >"$HOME/.npmrc"
		export PATH=$nvm/bin:$PATH
		same "node under nvm's layout" "$(box -- node -p 'process.execPath' 2>&1)" "$nvm/bin/node"
		mkdir -p mod app && echo 'exports.word = "from the tarball"' >mod/index.js
		echo '{"name":"mod","version":"1.0.0","bin":{"modtool":"cli.js"}}' >mod/package.json
		printf '#!/usr/bin/env node\nconsole.log(require("./index.js").word)\n' >mod/cli.js && chmod +x mod/cli.js
		echo '{"name":"app","version":"1.0.0","scripts":{"test":"modtool"}}' >app/package.json
		out=$(cd app && box -w "$work/ws" -C "$work/ws/app" -n npm --keep -- sh -c '(cd ../mod && npm pack --silent --pack-destination ..) && npm install --silent --offline --no-audit --no-fund ../mod-1.0.0.tgz && npm test --silent && npx --offline modtool' 2>&1)
		same 'npm pack, npm install of the tarball, npm test, npx' "$(tail -n 2 <<<"$out" | tr '\n' ' ')" 'from the tarball from the tarball '
		holds 'npm install -g into the home of the box' "$("$ostiary" exec npm -- sh -c 'npm install -g --silent --offline --no-audit --no-fund --prefix ~/.npm-global '"$work"'/ws/mod-1.0.0.tgz 2>&1; ~/.npm-global/bin/modtool' 2>&1)" 'from the tarball'
		out=$("$ostiary" exec npm -- sh -c 'cat ~/.npmrc; ls -A ~' 2>&1)
		! grep -q secret <<<"$out"
		check 'the token in .npmrc stays outside' $? "$out"
		"$ostiary" rm -f npm >/dev/null 2>&1
		[ ! -e app/node_modules ] && [ ! -e "$HOME/.npm-global" ]
		check 'nothing was installed on the host' $? "$(ls -A app "$HOME")"
		same 'node: workers, a server on loopback, a watcher' "$(box -- node -e '
const { Worker } = require("worker_threads"), http = require("http"), fs = require("fs");
const s = http.createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", () =>
  http.get({ port: s.address().port }, r => r.on("data", d => {
    const w = fs.watch(".", () => { w.close(); s.close();
      new Worker("require(\"worker_threads\").parentPort.postMessage(\"worker\")", { eval: true })
        .on("message", m => console.log(String(d), m)); });
    fs.writeFileSync("watched", "x"); })));' 2>&1)" 'served worker'
	fi
}

# --- compilers ----------------------------------------------------------------------------------------------
tools_compilers() {
	if ! missing 'a C build' gcc && ! missing 'a C build' make; then
		mkdir c && for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void) { return $i; }" >"c/f$i.c"; done
		{
			for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void);"; done
			echo '#include <stdio.h>'
			echo 'int main(void) { printf("%d\n", f1()+f2()+f3()+f4()+f5()+f6()+f7()+f8()); }'
		} >c/main.c
		printf 'sum: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\t$(CC) -o $@ $^\n%%.o: %%.c\n\t$(CC) -g -c -o $@ $<\n' >c/Makefile
		same 'make -j and the program it built' "$(box -C "$work/ws/c" -n cc --keep -- sh -c 'make -s -j4 && ./sum' 2>&1)" 36
		[ ! -e c/sum ]
		check 'the build is not on the host' $? "$(ls c)"
		if ! missing 'gdb' gdb; then
			out=$("$ostiary" exec -C "$work/ws/c" cc -- gdb -q -batch -ex 'set debuginfod enabled off' -ex 'break f3' -ex run -ex bt -ex 'print 40+2' ./sum 2>&1)
			holds 'gdb stops in a function' "$out" '#1  0x'
			holds 'and evaluates' "$out" '$1 = 42'
		fi
		if ! missing 'strace' strace; then
			holds 'strace' "$("$ostiary" exec -C "$work/ws/c" cc -- strace -f -e trace=execve ./sum 2>&1)" 'execve("./sum"'
		fi
		"$ostiary" rm -f cc >/dev/null 2>&1
	fi

	# The caller's own toolchain in the caller's own home, which is not this suite's scratch one.
	person=$(getent passwd "$(id -u)" | cut -d : -f 6)
	if [ -n "$person" ] && [ -x "$person/.cargo/bin/cargo" ]; then
		mkdir -p rust/src && echo 'fn main() { println!("from rust"); }' >rust/src/main.rs
		printf '[package]\nname = "hi"\nversion = "0.1.0"\nedition = "2021"\n' >rust/Cargo.toml
		out=$(cd rust && env HOME="$person" XDG_STATE_HOME="$HOME/.local/state" XDG_DATA_HOME="$HOME/.local/share" XDG_CONFIG_HOME="$HOME/.config" \
			PATH="$person/.cargo/bin:$PATH" timeout 300 "$ostiary" run -q --rm -- cargo run --offline -q 2>&1)
		same 'cargo build under rustup' "$(tail -n 1 <<<"$out")" 'from rust'
	else
		skip 'cargo build under rustup' 'this user has no cargo'
	fi
	if ! missing 'java' javac; then
		echo 'class Hi { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> System.out.println("from java")); t.start(); t.join(); } }' >Hi.java
		same 'javac and java' "$(box -- sh -c 'javac Hi.java && java Hi' 2>&1)" 'from java'
	elif has java; then
		holds 'java' "$(box -- java -version 2>&1)" version
	fi
}

# --- editors and others ----------------------------------------------------------------------------------------
tools_others() {
	echo one >text
	if ! missing 'vim -es' vim; then
		same 'vim -es' "$(box -- sh -c 'vim -u NONE -es -c "s/one/two/" -c wq text; cat text' 2>&1)" two
	fi
	if ! missing 'tmux in a box' tmux; then
		same 'tmux in a box' "$(box -- sh -c 'tmux -f /dev/null new-session -d -s in -x 80 -y 24 sh && tmux send-keys -t in "echo in\$((20+1))" Enter
		for i in $(seq 300); do sleep 0.2; tmux capture-pane -p -t in | grep -o in21 && break; done; tmux kill-server' 2>&1)" in21
	fi
	if ! missing 'sqlite' python3; then
		same 'sqlite with its locks and maps' "$(box -- python3 -c '
import sqlite3
d = sqlite3.connect("db"); d.execute("pragma journal_mode=wal"); d.execute("create table t(x)")
d.execute("insert into t values(7)"); d.commit(); print(sqlite3.connect("db").execute("select x from t").fetchone()[0])' 2>&1)" 7
	fi
	same 'tar, gzip, find, xargs' "$(box -- sh -c 'mkdir t && seq 100 | xargs -I{} touch t/{} && tar czf t.tgz t && rm -r t && tar xzf t.tgz && find t -type f | wc -l' 2>&1)" 100
	if ! missing 'ssh-keygen' ssh-keygen; then
		same 'ssh-keygen' "$(box -- sh -c 'ssh-keygen -q -t ed25519 -N "" -f k && wc -l <k.pub' 2>&1)" 1
	fi
	if ! missing 'perl' perl; then
		same 'perl' "$(box -- perl -e 'print join(",", map { $_ * 2 } 1..3)' 2>&1)" 2,4,6
	fi
	same 'a script by its #! line' "$(printf '#!/usr/bin/env bash\necho "script $0 $1"\n' >s && chmod +x s && box -- ./s arg 2>&1)" 'script ./s arg'
}

# Each has its own boxes and directories; what they wait for is mostly the processor, and sometimes not.
for part in tools_python tools_node tools_compilers tools_others; do par $part; done
par_wait
exit $bad
