#!/bin/sh
# setup.sh - install what a make target needs and this machine lacks.
#
# Called by the Makefile as `sh tools/setup.sh WHAT...` with build, demo, check, test, soak, bench, lint or fuzz. Says
# what is missing and what each thing is for, then installs it with apt; sudo is used only when something is missing and
# we are not root. When nothing is missing it only looks at files and ends at once. It must never install anything it
# has not named first. What could not be had is listed in out/.unavailable: only for these may a test say `skip`.
set -u

# package | how to see that it is there | what it is for
# A path (a glob is fine) or a command name. "need" rows stop us when they cannot be had; for "want"
# rows the tests that use them say `skip` with their reason.
table() {
	case $1 in
	build) cat <<-'ROWS' ;;
		need gcc              gcc                      the C compiler
		need make             make                     the build itself
		need pkg-config       pkg-config               finding libraries
		need libc6-dev        /usr/lib/*/libc.a        the C library, also as a static one
		need libseccomp-dev   /usr/include/seccomp.h   compiling the system-call filter while building
		need libjansson-dev   /usr/include/jansson.h   reading and writing JSON
		need libssl-dev       /usr/include/openssl/ssl.h   TLS on both sides of the door
		need libnghttp2-dev   /usr/include/nghttp2/nghttp2.h   HTTP/2
		need libc-ares-dev    /usr/include/ares.h      resolving names without blocking
		need zlib1g-dev       /usr/include/zlib.h      reading gzip bodies
		need libbrotli-dev    /usr/include/brotli/decode.h   reading brotli bodies
		need libzstd-dev      /usr/include/zstd.h      reading zstd bodies
		need libsodium-dev   /usr/include/sodium.h    sealing the vault
		need publicsuffix     /usr/share/publicsuffix/public_suffix_list.dafsa   the list that guards wildcards in rules
	ROWS
	demo) cat <<-'ROWS' ;;
		need curl             curl                     a program in the box that uses a key
	ROWS
	test) cat <<-'ROWS' ;;
		need util-linux       setpriv                  running a suite as an ordinary user
		need procps           ps                       looking at processes from the host
		need python3          python3                  listeners and fixtures in tests
		want tmux             tmux                     terminals that a test can drive
		want screen           screen                   another terminal to be in
		want patch            patch                    takes our diffs
		want less             less                     the pager of a diff
		want vim              vim.basic                a full-screen program in the box
		want git              git                      worktrees and submodules in the box
		want python3-venv     /usr/share/doc/python3-venv   virtual environments in the box
		want nodejs           node                     node under nvm's layout
		want npm              npm                      local npm installs in the box
		want pipx             pipx                     programs of Python in a home
		want python3-pip      pip3                     an index behind the door
		want bubblewrap       bwrap                    starting a box inside another container
		want strace           strace                   looking at the order of system calls
		want gdb              gdb                      attacks that attach a debugger
		want qemu-system-x86  qemu-system-x86_64       a fresh machine with cgroup v2
		want busybox-static   busybox                  the user land of that machine
		want cpio             cpio                     packing its first file system
		want mmdebstrap       mmdebstrap               the Debian on its disk
		want e2fsprogs        mke2fs                   making that disk
		want nginx-light      /usr/sbin/nginx          an origin behind the door
		want fcgiwrap         /usr/sbin/fcgiwrap       git http-backend behind that origin
		want openssh-server   /usr/sbin/sshd           a server for git over ssh
		want openssh-client   ssh-keygen               keys, and the client of that
		want nghttp2-server   nghttpd                  an origin that speaks HTTP/2
		want nghttp2-client   nghttp                   a client that speaks HTTP/2
		want curl             curl                     a client
		want wget             wget                     a client
		want openssl          openssl                  certificates and a raw client
		want dnsmasq-base     dnsmasq                  a name server for dial
		want python3-websockets /usr/lib/python3/dist-packages/websockets   WebSocket both ways
		want python3-h2       /usr/lib/python3/dist-packages/h2   odd HTTP/2 frames
		want python3-requests /usr/lib/python3/dist-packages/requests   a client
		want python3-grpcio   /usr/lib/python3/dist-packages/grpc   gRPC both ways
		want python3-httpx    /usr/lib/python3/dist-packages/httpx   a client
		want gnutls-bin       gnutls-cli               a client
		want golang-go        go                       a client
		want default-jdk-headless javac                a client
		want ruby             ruby                     a client
		want php-cli          php                      a client
		want php-curl         /usr/lib/php/*/curl.so   a client
		want libio-socket-ssl-perl /usr/share/perl5/IO/Socket/SSL.pm   a client
		want libnss3-tools    certutil                 the trust of browsers
		want gnome-keyring    gnome-keyring-daemon     a keyring of the desktop
		want libsecret-tools  secret-tool              writing into it
		want dbus-daemon      dbus-daemon              the bus on which it is asked
		want dbus-bin         dbus-send                locking it
		want awscli           aws                      requests that are signed for AWS
		want python3-jsonschema /usr/lib/python3/dist-packages/jsonschema   judging JSON
		want python3-botocore /usr/lib/python3/dist-packages/botocore   judging them
		want python3-brotli   /usr/lib/python3/dist-packages/brotli.py   bodies in br
		want python3-zstandard /usr/lib/python3/dist-packages/zstandard   bodies in zstd
		need shellcheck       shellcheck               reading the shell scripts
		need pyflakes3        pyflakes3                reading the Python scripts
		want man-db           man                      checking the manual page
		want zsh              zsh                      checking the completion for zsh
		want fish             fish                     checking the completion for fish
	ROWS
	check) cat <<-'ROWS' ;;
		need python3          python3                  the test runner
		want git              git                      judging our reading of its files
		want openssh-client   ssh-keygen               judging our signatures
	ROWS
	soak) cat <<-'ROWS' ;;
		want clang            clang                    the fuzzers, for a few seconds each
		want chromium         chromium                 a browser in the box
	ROWS
	lint) cat <<-'ROWS' ;;
		need clang            clang                    the second compiler
		need clang-format     clang-format             layout
		need clang-tidy       clang-tidy               static analysis
		need cppcheck         cppcheck                 static analysis
		need shellcheck       shellcheck               the same for shell scripts
		need python3          python3                  running all of them, and only over what changed
		need pyflakes3        pyflakes3                the same for Python
	ROWS
	fuzz) cat <<-'ROWS' ;;
		need clang            clang                    the compiler that carries libFuzzer
	ROWS
	bench) cat <<-'ROWS' ;;
		need hyperfine        hyperfine                measuring
		want bubblewrap       bwrap                    comparison
		want crun             crun                     comparison
		want runc             runc                     comparison
		want podman           podman                   comparison
		want npm              npm                      installing codex and srt for comparison
		want openssl          openssl                  certificates for the part about the door
		want nginx-light      /usr/sbin/nginx          the origin behind the door
		want haproxy          /usr/sbin/haproxy        comparison: a ceiling for proxies
		want squid-openssl    /usr/sbin/squid          comparison
		want mitmproxy        mitmdump                 comparison
	ROWS
	esac
}

# is_there WHAT SIGN: is the thing there? The glob is meant to expand. What suites use must be where they look for it:
# they run with the system's own path, whatever the caller has in front of it.
is_there() {
	case $1 in
	check | test | soak)
		shift
		case $1 in
		/*) ;;
		*)
			(PATH=$system_path && command -v "$1" >/dev/null)
			return
			;;
		esac
		;;
	*) shift ;;
	esac
	case $1 in
	/*)
		# shellcheck disable=SC2086
		set -- $1
		[ -e "$1" ]
		;;
	*) command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ] ;;
	esac
}

system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
need='' want='' told='' peers='' agents='' managers=''
for what in "$@"; do
	case $what in
	build | demo | check | lint | fuzz) ;;
	test)
		agents="$agents @anthropic-ai/claude-code @openai/codex @google/gemini-cli @mariozechner/pi-coding-agent"
		managers='pnpm yarn@1 @yarnpkg/cli-dist bun'
		managers="$managers @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-grpc"
		;;
	soak) agents="$agents opencode-ai @github/copilot deno" ;; # 0.6 GB more, for the long run
	bench) peers='@openai/codex @anthropic-ai/sandbox-runtime' ;;
	*)
		echo "setup: '$what' is not one of build, demo, check, test, soak, lint, fuzz, bench." >&2
		exit 64
		;;
	esac
	while read -r must package sign why; do
		[ -n "$must" ] || continue
		is_there "$what" "$sign" && continue
		case " $need $want " in *" $package "*) continue ;; esac
		[ "$must" = need ] && need="$need $package" || want="$want $package"
		told="$told
  $(printf '%-18s %s' "$package" "$why")"
	done <<-ROWS
		$(table "$what")
	ROWS
done

missing="$need$want"

apt_install() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
		-qq -y install --no-install-recommends "$@" >/dev/null
}

# Everything at once; if that fails, with fresh lists, and the wanted ones one by one: a package that
# this release does not have must not keep the others out.
# shellcheck disable=SC2086
install_missing() {
	echo "Installing them with apt-get${as_root:+ (through sudo)}."
	apt_install $missing 2>/dev/null && return 0
	echo "Asking apt for fresh package lists."
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq update
	if [ -n "$need" ] && ! apt_install $need; then
		echo "setup: apt-get could not install:$need. Run 'apt-get install$need' to see why." >&2
		return 1
	fi
	for package in $want; do
		apt_install "$package" 2>/dev/null ||
			echo "setup: $package is not to be had here; what uses it will be skipped." >&2
	done
}

as_root=''
[ "$(id -u)" = 0 ] || as_root='sudo'
if [ -n "$missing" ]; then
	echo "These packages are missing:$told"
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "This is not a Debian or Ubuntu machine, so nothing was installed. Please install with your" >&2
		echo "system's package manager what provides:$missing (Debian's names; static C and jansson" >&2
		echo "libraries are packages of their own on some systems: glibc-static, jansson-static)." >&2
		[ -z "$need" ] || exit 1
	elif [ -n "$as_root" ] && ! command -v sudo >/dev/null 2>&1; then
		echo "You are not root and there is no sudo. As root, run:" >&2
		echo "  apt-get install --no-install-recommends$missing" >&2
		[ -z "$need" ] || exit 1
	else
		install_missing || exit 1
	fi
fi

# The two peers that come from npm live in out/, nowhere else on the machine.
if [ -n "$peers" ] && command -v npm >/dev/null 2>&1; then
	for peer in $peers; do
		[ -e "out/bench/node_modules/$peer/package.json" ] && continue
		echo "Installing $peer into out/bench (comparison)."
		mkdir -p out/bench
		npm install --silent --no-fund --no-audit --prefix out/bench "$peer" >/dev/null 2>&1 ||
			echo "setup: $peer could not be installed; the bench leaves it out." >&2
	done
fi

# The agents that suites start live in out/test-agents, under one prefix, each with what its package runs when it is
# installed (that fetches the program itself). All that are missing at once, which takes half the time; if that fails,
# one by one, so that one that cannot be had does not keep the others out. One that is there is not looked at again.
prefix=$PWD/out/test-agents
npm_install() {
	timeout 600 npm install -g --prefix "$prefix" --silent --no-fund --no-audit --fetch-retries=1 \
		--allow-scripts="$(echo "$*" | tr ' ' ,)" "$@" >/dev/null 2>&1
}
lacking=''
for agent in $agents; do
	[ -e "$prefix/lib/node_modules/$agent/package.json" ] || lacking="$lacking $agent"
done
if [ -n "$lacking" ] && command -v npm >/dev/null 2>&1 &&
	! { [ -e "$prefix/.tried" ] && [ -z "$(find "$prefix/.tried" -mmin +60)" ]; }; then
	echo "Installing from npm into out/test-agents (suites start them in a box):$lacking"
	mkdir -p "$prefix"
	# shellcheck disable=SC2086
	npm_install $lacking || for agent in $lacking; do
		npm_install "$agent" || {
			echo "setup: $agent could not be installed from npm; its test is skipped for an hour." >&2
			touch "$prefix/.tried"
		}
	done
fi

# Package managers that suites install programs with, and libraries that they speak with, each a package of one project,
# because two of them have one name.
lacking=''
for manager in $managers; do
	[ -e "$prefix/managers/node_modules/${manager%@1}/package.json" ] || lacking="$lacking $manager"
done
if [ -n "$lacking" ] && command -v npm >/dev/null 2>&1 &&
	! { [ -e "$prefix/.tried" ] && [ -z "$(find "$prefix/.tried" -mmin +60)" ]; }; then
	echo "Installing from npm into out/test-agents/managers (suites install programs with them):$lacking"
	mkdir -p "$prefix/managers"
	for manager in $lacking; do
		timeout 300 npm install --prefix "$prefix/managers" --silent --no-fund --no-audit --fetch-retries=1 \
			"$manager" >/dev/null 2>&1 || {
			echo "setup: $manager could not be installed from npm; what uses it is skipped for an hour." >&2
			touch "$prefix/.tried"
		}
	done
fi

# The disk of the virtual machine of tests/vm is made of packages too. 2: it cannot be had here, and its suites say so.
case " $* " in
*' test '*)
	if [ "$(id -u)" = 0 ]; then
		bash tests/vm/lib-image.sh out/vm
		[ $? != 1 ] || exit 1
	fi
	;;
esac

# What is still missing could not be had.
case " $* " in *' check '* | *' test '* | *' soak '*) ;; *) exit 0 ;; esac
mkdir -p out
{
	for what in "$@"; do
		table "$what" | while read -r must package sign why; do
			[ -z "$must" ] || is_there "$what" "$sign" || echo "$package $sign"
		done
	done
	for agent in $agents; do
		[ -e "$prefix/lib/node_modules/$agent/package.json" ] || echo "$agent agents"
	done
	for manager in $managers; do
		[ -e "$prefix/managers/node_modules/${manager%@1}/package.json" ] || echo "${manager%@1} managers"
	done
} >out/.unavailable
exit 0
