#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: package managers live in homes of users; the planner does not look at who it is
# real_python.sh - a Python program starts wherever it was installed: a virtual environment, pipx, pip --user, and the
# layout of a uv tool (made here as uv leaves it: uv is in no Debian). The index is tests/packages/registry.py on
# loopback. What lies beside the packages stays outside.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_tier.sh
system=/usr/local/bin:/usr/bin:/bin
PATH=$system
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	skip 'Python programs' 'python3-venv is not installed'
	exit 0
fi
wheel() { python3 "$top/tests/packages/wheel.py" "$work/wheels" "$@"; }
wheel helper 1.0 'x = "helper"'
wheel agent 1.0 'import os, subprocess, sys, helper
def main():
    if sys.argv[1] == "search":
        found = subprocess.run(["grep", "-rls", "".join(("MARK", "-OF")), os.environ["HOME"], "control"], capture_output=True, text=True)
        print(found.stdout.strip())
    else:
        print("agent", helper.x, *sys.argv[1:])
' helper
cp /usr/share/python-wheels/*.whl "$work/wheels/" 2>/dev/null
wheel wheel 1.0 'x = 1'

python3 tests/packages/registry.py 0 "$work/requests" "$work/wheels" >"$work/registry.out" 2>&1 &
registry=$!
end() {
	kill "$registry" 2>/dev/null
	lib_finish
}
trap end EXIT
within 60 grep -q '^ready' "$work/registry.out" || { check 'an index on loopback' 1 "$(cat "$work/registry.out")" && exit 1; }
mkdir -p "$HOME/.config/pip" "$HOME/.ssh"
printf '[global]\nindex-url = http://127.0.0.1:%s/simple/\n' "$(sed -n 's/^ready //p' "$work/registry.out")" >"$HOME/.config/pip/pip.conf"
for file in .ssh/id_ed25519 .local/share/other/data .local/lib/plans.txt project/plans.txt; do
	mkdir -p "$HOME/$(dirname "$file")"
	echo MARK-OF-A-SECRET >"$HOME/$file"
done
echo MARK-OF-A-SECRET >"$work/ws/control"

# starts NAME DIRECTORY: the agent in that directory works in a box of another project, which sees packages only.
starts() {
	cd "$work/ws" || exit 1
	if ! [ -e "$2/agent" ]; then
		check "$1: it was installed" 1 "no agent in $2: $(tail -n 5 "$work/said")"
		return
	fi
	same "$1: starts" "$(PATH=$2:$system box -- agent word 2>&1)" 'agent helper word'
	same "$1: brings nothing else along" "$(PATH=$2:$system box -- agent search 2>&1)" control
}

# The project around a virtual environment is not the package, whatever else it is.
cd "$HOME/project" && echo '{"name":"project"}' >package.json
python3 -m venv .venv && .venv/bin/pip install -q agent >"$work/said" 2>&1
starts 'a virtual environment in a project that has a package.json' "$HOME/project/.venv/bin"

if has pipx; then
	timeout 120 pipx install agent >"$work/said" 2>&1
	starts 'pipx' "$HOME/.local/bin"
	if is_soak; then
		PIPX_HOME=$HOME/pipx-home PIPX_BIN_DIR=$HOME/pipx-bin timeout 120 pipx install agent >"$work/said" 2>&1
		starts 'pipx, in a place of its own' "$HOME/pipx-bin"
	fi
	pipx uninstall agent >/dev/null 2>&1
else
	skip 'pipx' 'pipx is not installed'
fi

if has pip3; then
	pip3 install -q --user --break-system-packages agent >"$work/said" 2>&1
	starts 'pip --user' "$HOME/.local/bin"
	pip3 uninstall -q -y --break-system-packages agent helper >/dev/null 2>&1
else
	skip 'pip --user' 'python3-pip is not installed'
fi

# uv: the tool's environment leads to a Python of uv's own, by a name that is a link to the release.
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
pythons=$HOME/.local/share/uv/python
mkdir -p "$pythons/cpython-$version.99-linux-x86_64-gnu/bin" "$HOME/.local/bin"
cp "$(readlink -f /usr/bin/python3)" "$pythons/cpython-$version.99-linux-x86_64-gnu/bin/python$version"
ln -s "cpython-$version.99-linux-x86_64-gnu" "$pythons/cpython-$version-linux-x86_64-gnu"
tool=$HOME/.local/share/uv/tools/agent
mkdir -p "$tool/bin" "$tool/lib/python$version/site-packages"
ln -s "$pythons/cpython-$version-linux-x86_64-gnu/bin/python$version" "$tool/bin/python"
printf 'home = %s\nimplementation = CPython\nuv = 0.9.0\nversion_info = %s.99\ninclude-system-site-packages = false\n' \
	"$pythons/cpython-$version-linux-x86_64-gnu/bin" "$version" >"$tool/pyvenv.cfg"
"$HOME/project/.venv/bin/pip" install -q --target "$tool/lib/python$version/site-packages" agent >"$work/said" 2>&1
printf '#!%s/bin/python\nimport sys\nfrom agent import main\nsys.exit(main())\n' "$tool" >"$tool/bin/agent"
chmod +x "$tool/bin/agent"
rm -f "$HOME/.local/bin/agent"
ln -s "$tool/bin/agent" "$HOME/.local/bin/agent"
starts 'a tool of uv' "$HOME/.local/bin"
exit $bad
