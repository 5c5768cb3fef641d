#!/bin/bash
# suite: test=user soak=root,user timeout=900
# tier: clients and certificates are the same for both users; test takes the one whose mounts are the harder ones
# door_trust.sh - programs in a box trust what the door shows them, with no flag and no setting: every client
# that Debian or npm can install here, for real. And the door trusts an origin only with a good certificate:
# expired, wrong-name, self-signed, SHA-1 and short ones are a 502 that says why.
set -u
. tests/lib.sh
. tests/lib_door.sh
. tests/lib_tier.sh
python=/usr/bin/python3

door_ca
door_nginx || exit 1

# --- what the clients fetch -----------------------------------------------------------------------------------
cd "$work/ws" || exit 1
git init -q --bare "$work/www/repo.git"
git -C "$work/www/repo.git" update-server-info
mkdir -p "$work/www/simple/thing" "$work/www/npm"
"$python" - "$work/www/simple/thing" <<'PY'
import sys, zipfile
name = "thing-1.0-py3-none-any.whl"
with zipfile.ZipFile(f"{sys.argv[1]}/{name}", "w") as z:
    z.writestr("thing.py", "x = 1\n")
    z.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
    z.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("thing-1.0.dist-info/RECORD", "")
open(f"{sys.argv[1]}/index.html", "w").write(f'<a href="{name}">{name}</a>')
PY
cat >"$work/www/npm/thing" <<'JSON'
{"name": "thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "thing", "version": "1.0.0", "dist": {}}}}
JSON
printf '<html><body><p id="x">hello from nginx</p></body></html>' >"$work/www/page"

url=https://www.example.test
mkdir -p "$HOME/.cache/ms-playwright" # a sign of Playwright's browsers, so that the box gets their database
door_box trust --allow "$(tls_rule GET,HEAD,POST www.example.test "$nginx_tls")" >/dev/null || exit 1

# What has to be built first is built while other clients are tried; each is waited for where it is used.
if has go; then
	cat >"$work/get.go" <<-'GO'
		package main
		import ("fmt"; "io"; "net/http"; "os")
		func main() {
			r, err := http.Get(os.Args[1])
			if err != nil { fmt.Println(err); return }
			b, _ := io.ReadAll(r.Body)
			fmt.Println(string(b))
		}
	GO
	(cd "$work" && GO111MODULE=off CGO_ENABLED=0 GOCACHE=$work/gocache GOFLAGS='' timeout 900 go build -o "$work/ws/get" get.go) >/dev/null 2>&1 &
	building_go=$!
	door_pids+=("$building_go")
fi
"$python" -m venv "$work/ws/venv" >/dev/null 2>&1 &
building_venv=$!
door_pids+=("$building_venv")

# works NAME PROGRAM COMMAND...: it runs in the box and prints what nginx says.
works() {
	local name=$1 program=$2 out
	shift 2
	if ! has "$program"; then
		skip "$name" "$program is not installed"
		return
	fi
	out=$(in_box trust "$@" 2>&1)
	holds "$name" "$out" "${want:-hello from nginx}"
}

# --- system programs ------------------------------------------------------------------------------------------
works curl curl curl -sS $url/hello
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -days 30 -subj /CN=else \
	-out "$work/ws/other.pem" 2>/dev/null
out=$(in_box trust sh -c "curl -sS --cacert other.pem --capath /nonexistent $url/hello; echo \$?" 2>&1)
holds 'curl that trusts somebody else refuses (control)' "$out" '60'
works 'wget' wget wget -qO- $url/hello
want='Verify return code: 0 (ok)' works 'openssl, by its directory alone' openssl \
	sh -c "unset SSL_CERT_FILE; echo | openssl s_client -connect www.example.test:443 -servername www.example.test -verify_return_error"
works 'GnuTLS' gnutls-cli sh -c "printf 'GET /hello HTTP/1.1\r\nHost: www.example.test\r\nConnection: close\r\n\r\n' | gnutls-cli www.example.test"
want='it did' works git git sh -c "git ls-remote $url/repo.git && echo it did"
want='it did' works 'git with roots of its own' git \
	sh -c "git -c http.sslCAInfo=/nonexistent ls-remote $url/repo.git && echo it did"
works 'apt' /usr/lib/apt/apt-helper sh -c "/usr/lib/apt/apt-helper download-file $url/hello \$HOME/h >/dev/null && cat \$HOME/h"

# --- Python -----------------------------------------------------------------------------------------------------
works 'Python, urllib' "$python" "$python" -c "import urllib.request as u; print(u.urlopen('$url/hello').read())"
for module in requests httpx; do
	if "$python" -c "import $module" 2>/dev/null; then
		works "Python, $module" "$python" "$python" -c "import $module; print($module.get('$url/hello').text)"
	else
		skip "Python, $module" "python3-$module is not installed"
	fi
done

# --- JavaScript -------------------------------------------------------------------------------------------------
works 'Node, fetch' node node -e "fetch('$url/hello').then(r => r.text()).then(console.log, console.log)"
works 'Node, https' node node -e "require('https').get('$url/hello', r => r.on('data', d => console.log(String(d))))"
want=1.0.0 works npm npm npm view thing version --registry $url/npm/

# --- Python in a virtual environment ----------------------------------------------------------------------------
if wait "$building_venv"; then
	want='Saved ./thing-1.0' works 'pip, in a virtual environment' "$python" \
		venv/bin/pip download -q -v --disable-pip-version-check --no-deps -i $url/simple thing
	works 'its vendored roots are replaced too' "$python" venv/bin/python -c \
		"from pip._vendor import requests; print(requests.get('$url/hello').text)"
else
	skip 'pip, in a virtual environment' 'python3-venv is not installed'
fi

# --- Deno -------------------------------------------------------------------------------------------------------
if is_soak; then
	deno=$(find "${SUITE_CACHE:-$top/out}/test-agents/lib/node_modules/deno" -name deno -type f -size +1M 2>/dev/null | head -1)
	if [ -n "$deno" ] && cp "$deno" "$work/ws/deno"; then
		echo "fetch('$url/hello').then(r => r.text()).then(console.log, console.log)" >"$work/ws/fetch.js"
		works Deno sh ./deno run -A fetch.js
		works 'Rust with native roots (rustls, in Deno)' sh env -u DENO_CERT DENO_TLS_CA_STORE=system ./deno run -A fetch.js
	else
		skip Deno 'it could not be installed from npm'
		skip 'Rust with native roots (rustls, in Deno)' 'it could not be installed from npm'
	fi
fi

# --- compiled and other languages -------------------------------------------------------------------------------
[ -z "${building_go:-}" ] || wait "$building_go"
works 'Go, static' go ./get $url/hello
works 'Go without any variable' go env -i ./get $url/hello
if has javac; then
	cat >"$work/ws/Get.java" <<-'JAVA'
		public class Get {
			public static void main(String[] a) throws Exception {
				System.out.println(new String(new java.net.URL(a[0]).openStream().readAllBytes()));
			}
		}
	JAVA
	(cd "$work/ws" && javac Get.java) >/dev/null 2>&1
fi
works Java javac java Get $url/hello
if [ -e "$work/ws/Get.class" ]; then
	# A Java that brings its own roots, as SDKMAN's do.
	java_home=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
	own=$HOME/.sdkman/candidates/java/own
	mkdir -p "$own/lib"
	cp -rL "$java_home/bin" "$java_home/conf" "$own/" 2>/dev/null
	for part in "$java_home"/lib/*; do
		case ${part##*/} in
		modules | src.zip | ct.sym) ln -s "$part" "$own/lib/" ;; # large
		*) cp -rL "$part" "$own/lib/" 2>/dev/null ;;
		esac
	done
	if [ -f "$own/lib/security/cacerts" ]; then
		out=$(cd "$work/ws" && JAVA_HOME=$own PATH=$own/bin:$PATH \
			timeout -k 2 150 "$ostiary" run -q --rm --level strict --allow "$(tls_rule GET www.example.test "$nginx_tls")" -- \
			java Get $url/hello 2>&1)
		holds 'Java with roots of its own' "$out" 'hello from nginx'
		out=$(cd "$work/ws" && JAVA_HOME=$own PATH=$own/bin:$PATH timeout -k 2 150 "$ostiary" run -q --rm --level strict \
			--env JAVA_TOOL_OPTIONS= --allow "$(tls_rule GET www.example.test "$nginx_tls")" -- java Get $url/hello 2>&1)
		holds 'which would refuse otherwise (control)' "$out" 'PKIX path building failed'
	fi
	rm -rf "$HOME/.sdkman"
fi
works Ruby ruby ruby -rnet/http -e "puts Net::HTTP.get(URI('$url/hello'))"
works 'PHP, streams' php php -r "echo file_get_contents('$url/hello');"
php -m 2>/dev/null | grep -q '^curl$' && works 'PHP, curl' php php -r "\$c = curl_init('$url/hello'); curl_exec(\$c);"
# shellcheck disable=SC2016
works Perl perl perl -MIO::Socket::SSL -e 'my $s = IO::Socket::SSL->new(PeerHost => "www.example.test", PeerPort => 443, SSL_hostname => "www.example.test") or die $SSL_ERROR;
	print $s "GET /hello HTTP/1.0\r\nHost: www.example.test\r\n\r\n"; print <$s>;'

# --- browsers ---------------------------------------------------------------------------------------------------
if has certutil; then
	out=$(in_box trust certutil -V -n 'Ostiary box CA' -u L -d "sql:$HOME/.pki/nssdb" 2>&1)
	holds "the browsers' database trusts it" "$out" 'certificate is valid'
fi
is_soak && works 'Chromium, by its policy' chromium sh -c "rm -rf ~/.pki
	chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom $url/page"

# --- whose authority --------------------------------------------------------------------------------------------
mine=$(in_box trust cat /etc/ssl/certs/ostiary-box-ca.pem)
other=$(cd "$work/ws" && box --rm -- cat /etc/ssl/certs/ostiary-box-ca.pem)
[ -n "$mine" ] && [ -n "$other" ] && [ "$mine" != "$other" ]
check 'two boxes have two authorities' $? 'they are the same'
out=$(in_box trust sh -c "grep -c BEGIN /etc/ssl/certs/ca-certificates.crt")
have=$(grep -sc BEGIN /etc/ssl/certs/ca-certificates.crt)
same 'the bundle holds the roots of the host and one more' "$out" "$((have + 1))"
out=$(in_box trust sh -c 'echo x >>/etc/ssl/certs/ca-certificates.crt' 2>&1)
holds 'which the box cannot change' "$out" 'Read-only file system'
out=$(find "$HOME/.local/state/ostiary/ca" -path '*/used.*/key')
same 'the key of a living box is in no file' "$out" ''
holds 'explain names the variables' "$(cd "$work/ws" && "$ostiary" explain -- true 2>&1)" 'NODE_EXTRA_CA_CERTS'
"$ostiary" rm -f trust >/dev/null 2>&1

# --- origins with bad certificates ------------------------------------------------------------------------------
bad_origin() { # NAME, extra flags of s_server: serves $work/NAME.pem; sets $bad_port
	bad_port=$(free_port)
	local name=$1
	shift
	openssl s_server -accept "127.0.0.1:$bad_port" -cert "$work/$name.pem" -key "$work/$name.key" -www -quiet "$@" \
		>/dev/null 2>&1 &
	door_pids+=($!)
	within 60 bash -c "exec 3<>/dev/tcp/127.0.0.1/$bad_port"
}
rules=()
add_origin() { # NAME of the origin and its certificate
	bad_origin "$@"
	rules+=(--allow "$(tls_rule GET "$1.example.test" "$bad_port")")
}
door_cert good 'DNS:good.example.test'
door_cert expired 'DNS:expired.example.test' -days 0
door_cert wrong 'DNS:elsewhere.example.test'
door_cert sha1 'DNS:sha1.example.test' -sha1
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/self.key" -days 30 \
	-subj /CN=self -addext 'subjectAltName=DNS:self.example.test' -out "$work/self.pem" 2>/dev/null
openssl req -new -newkey rsa:1024 -nodes -keyout "$work/short.key" -subj /CN=short -out "$work/short.csr" 2>/dev/null
openssl x509 -req -in "$work/short.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 30 \
	-extfile <(echo 'subjectAltName=DNS:short.example.test') -out "$work/short.pem" 2>/dev/null
for name in good expired wrong self; do add_origin "$name"; done
for name in sha1 short; do add_origin "$name" -cipher 'DEFAULT@SECLEVEL=0'; done
# The same origin as good, but nobody says ca=: the host does not know its authority.
rules+=(--allow "GET stranger.example.test:443 to=127.0.0.1:$nginx_tls")
door_box origins "${rules[@]}" >/dev/null || exit 1

fetch() { in_box origins curl -sS -m 60 -w ' status %{http_code}' "https://$1.example.test/hello" 2>&1; }
holds 'a good origin (control)' "$(fetch good)" 'status 200'
refused() { # name of the origin, words
	local out
	out=$(fetch "$1")
	holds "an origin that is $1: 502" "$out" 'status 502'
	holds "an origin that is $1: why" "$out" "$2"
}
refused expired 'has expired on'
refused wrong 'is for another name: elsewhere.example.test'
refused self 'is self-signed'
refused sha1 'SHA-1'
refused short 'shorter than RSA 2048'
refused stranger 'not trusted here'

# --- what may go wrong at the start -----------------------------------------------------------------------------
out=$(cd "$work/ws" && box --rm --level strict --allow "GET x.example.test ca=$work/missing.pem" -- true 2>&1)
holds 'a ca= file that is missing' "$out" "ca=$work/missing.pem"
echo 'no certificate' >"$work/words.pem"
out=$(cd "$work/ws" && box --rm --level strict --allow "GET x.example.test to=127.0.0.1:$nginx_tls ca=$work/words.pem" -- \
	curl -sS -m 60 https://x.example.test/hello 2>&1)
holds 'a ca= file without a certificate' "$out" 'holds no certificate'

# --- hosts that keep their roots elsewhere ----------------------------------------------------------------------
# Each in a mount namespace of its own, with an /etc of its own that has two roots in that place.
cat "$work/ca.pem" "$work/self.pem" >"$work/roots.pem"
elsewhere() { # name, script that fills etc/, paths that must be bundles in the box...
	local name=$1 fill=$2 out path
	shift 2
	mkdir -p "$work/etc"
	cp -a /etc/passwd /etc/group /etc/ld.so.* /etc/alternatives "$work/etc/" 2>/dev/null
	(cd "$work" && eval "$fill")
	# shellcheck disable=SC2016
	out=$(cd "$work/ws" && unshare $([ "$(id -u)" = 0 ] || echo -Ur) -m sh -c '
		mount --make-rprivate / 2>/dev/null; mount --bind "$1" /etc && shift && exec "$@"' sh "$work/etc" \
		timeout -k 2 150 "$ostiary" run -q --rm -- grep -c BEGIN "$@" 2>&1)
	for path in "$@"; do holds "$name: $path" "$out
" "$path:${want:-3}
"; done
	chmod -R u+w "${work:?}/etc"
	rm -rf "${work:?}/etc"
}
if unshare $([ "$(id -u)" = 0 ] || echo -Ur) -m true 2>/dev/null; then
	elsewhere 'as on Fedora' '
		mkdir -p etc/pki/ca-trust/extracted/pem etc/pki/tls/certs etc/ssl
		cp roots.pem etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
		ln -s /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem etc/pki/tls/certs/ca-bundle.crt
		ln -s /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem etc/pki/tls/cert.pem
		ln -s ../pki/tls/certs etc/ssl/certs' /etc/pki/tls/certs/ca-bundle.crt /etc/pki/tls/cert.pem \
		/etc/ssl/certs/ca-certificates.crt
	elsewhere 'as on openSUSE' '
		mkdir -p etc/ssl other/pem; cp roots.pem other/ca-bundle.pem
		ln -s "$work/other/ca-bundle.pem" etc/ssl/ca-bundle.pem
		ln -s "$work/other/pem" etc/ssl/certs' /etc/ssl/ca-bundle.pem /etc/ssl/certs/ca-certificates.crt
	elsewhere 'as on Alpine' '
		mkdir -p etc/ssl/certs; cp roots.pem etc/ssl/certs/ca-certificates.crt
		ln -s certs/ca-certificates.crt etc/ssl/cert.pem' /etc/ssl/cert.pem /etc/ssl/certs/ca-certificates.crt
	want=1 elsewhere 'without any roots' 'true' /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ostiary-box-ca.pem
	mkdir -p "$work/etc"
	cp -a /etc/passwd /etc/group /etc/ld.so.* /etc/alternatives "$work/etc/" 2>/dev/null
	# shellcheck disable=SC2016
	out=$(cd "$work/ws" && unshare $([ "$(id -u)" = 0 ] || echo -Ur) -m sh -c '
		mount --make-rprivate / 2>/dev/null; mount --bind "$1" /etc && shift && exec "$@"' sh "$work/etc" \
		timeout -k 2 150 "$ostiary" run -q --rm --level strict --allow "$(tls_rule GET www.example.test "$nginx_tls")" \
		--allow "GET b.example.test to=127.0.0.1:$nginx_tls" -- sh -c "curl -sS -m 60 $url/hello; curl -sS -m 60 https://b.example.test/hello" 2>&1)
	holds 'without any roots: ca= works' "$out" 'hello from nginx'
	holds 'without any roots: nothing else does' "$out" 'no list of trusted authorities'
	rm -rf "${work:?}/etc"
	# A container: files of /etc are mounts of their own, so it cannot be a layer.
	# shellcheck disable=SC2016
	out=$(cd "$work/ws" && unshare $([ "$(id -u)" = 0 ] || echo -Ur) -m sh -c '
		mount --make-rprivate / 2>/dev/null; mount --bind /etc/hostname /etc/resolv.conf && exec "$@"' sh \
		timeout -k 2 150 "$ostiary" run -q --rm -- sh -c 'grep -c BEGIN /etc/ssl/certs/ca-certificates.crt; ls /etc/ssl/certs' 2>&1)
	holds 'in a container: the bundle' "$out" "$((have + 1))
"
	holds 'in a container: the host'"'"'s own beside ours' "$out" "$(find /etc/ssl/certs -name '*.pem' -printf '%f\n' | head -1)"
fi

# Twelve boxes at once empty the pool; each still gets an authority of its own.
for i in $(seq 12); do
	(cd "$work/ws" && box --rm -- cat /etc/ssl/certs/ostiary-box-ca.pem >"$work/pem.$i" 2>/dev/null) &
	boxes[i]=$!
done
for i in $(seq 12); do wait "${boxes[i]}"; done
same 'twelve boxes at once have twelve authorities' "$(grep -h . "$work"/pem.* | md5sum | wc -l) $(md5sum "$work"/pem.* | cut -d' ' -f1 | sort -u | wc -l)" '1 12'
within 60 sh -c "[ \$(ls '$HOME/.local/state/ostiary/ca' | grep -c '^[0-9a-f]*\.[0-9a-f]*\.') -ge 4 ]"
check 'and the pool is filled again' $? "$(ls "$HOME/.local/state/ostiary/ca")"
exit "$bad"
