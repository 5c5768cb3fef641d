#!/bin/bash
# suite: test=user soak=root,user timeout=600
# tier: the agent and the placeholders are the keeper's, which is the same for both users; soak has root's sshd too
# custody_git.sh - git push, three ways, against real servers on loopback, with keys that are never in the box: over
# HTTPS with a placeholder, over HTTPS with nothing at all (inject), over SSH by the agent socket, which signs for the
# granted server and for nobody else. npm and pip fetch from a private index with a token they do not have.
set -u
. tests/lib.sh
. tests/lib_door.sh
python=/usr/bin/python3
token=fake-token-of-git-0123456789
index_token=fake-token-of-the-index-9876543210

door_ca
has git || {
	skip 'git' 'git is not installed'
	exit 0
}
export GIT_CONFIG_NOSYSTEM=1
git config --global user.name test
git config --global user.email test@example.test
git config --global init.defaultBranch main
git config --global safe.directory '*'

# repo NAME: a bare one with a commit, below $work/git.
repo() {
	git init -q --bare "$work/git/$1.git"
	git -C "$work/git/$1.git" config http.receivepack true
	git -c init.defaultBranch=main init -q "$work/seed"
	(cd "$work/seed" && echo one >file && git add file && git commit -qm one && git push -q "$work/git/$1.git" main)
	rm -rf "$work/seed"
}
# work_on URL [GIT FLAGS]: clone, change, push; as one shell line for the box.
work_on() {
	local url=$1
	shift
	echo "rm -rf copy && git $* clone -q $url copy && cd copy && echo two >>file &&
		git -c user.name=b -c user.email=b@b commit -qam two && git $* push -q origin main && echo it was pushed"
}
# work_big URL [GIT FLAGS]: the same with more than git sends in one piece. Whoever has no ~/.gitconfig of the box has to say HTTP/1.1
# (docs/git.md).
work_big() {
	local url=$1
	shift
	echo "rm -rf copy && git $* clone -q $url copy && cd copy && head -c 6000000 /dev/urandom >big && git add big &&
		git -c user.name=b -c user.email=b@b commit -qm big && git $* push -q origin main && echo it was pushed"
}
last_of() { git -C "$work/git/$1.git" log -1 --format=%s main; }

# For pip, at the end: made while git is at work.
"$python" -m venv "$work/venv" >/dev/null 2>&1 &
building_venv=$!
door_pids+=("$building_venv")

# --- git http-backend under nginx -----------------------------------------------------------------------------
over_https() {
	backend=$(git --exec-path)/git-http-backend
	fcgi=$(command -v fcgiwrap || echo /usr/sbin/fcgiwrap)
	if [ -x "$fcgi" ] && [ -x "$backend" ] && [ -x /usr/sbin/nginx ]; then
		repo web
		printf 'me:{PLAIN}%s\n' "$token" >"$work/htpasswd"
		web=$(free_port)
		mkdir -p "$work/nginx"
		"$fcgi" -s "unix:$work/fcgi" </dev/null >/dev/null 2>"$work/fcgi.err" &
		door_pids+=($!)
		within 60 test -S "$work/fcgi"
		cat >"$work/nginx.conf" <<-CONF
			daemon off; master_process off; pid $work/nginx/pid; error_log $work/nginx/error.log;
			events { worker_connections 256; }
			http {
				log_format who '\$status \$request_method \$uri \$remote_user \$http_authorization';
				access_log $work/nginx/access.log who; default_type text/plain; client_max_body_size 0;
				client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx;
				uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
				server {
					listen 127.0.0.1:$web ssl http2;
					ssl_certificate $work/origin.pem; ssl_certificate_key $work/origin.key;
					location ~ ^/git(/.*)\$ {
						auth_basic "git"; auth_basic_user_file $work/htpasswd;
						fastcgi_pass unix:$work/fcgi; fastcgi_param SCRIPT_FILENAME $backend;
						fastcgi_param GIT_HTTP_EXPORT_ALL 1; fastcgi_param GIT_PROJECT_ROOT $work/git;
						fastcgi_param PATH_INFO \$1; fastcgi_param REMOTE_USER \$remote_user;
						fastcgi_param QUERY_STRING \$query_string; fastcgi_param REQUEST_METHOD \$request_method;
						fastcgi_param CONTENT_TYPE \$content_type; fastcgi_param CONTENT_LENGTH \$content_length;
						fastcgi_param HOME $work/home; fastcgi_param GIT_PROTOCOL \$http_git_protocol;
					}
				}
			}
		CONF
		/usr/sbin/nginx -c "$work/nginx.conf" -p "$work/nginx" 2>>"$work/nginx.err" &
		door_pids+=($!)
		listens "$web"
		check 'git http-backend runs under nginx' $? "$(cat "$work/nginx.err" "$work/fcgi.err")"

		url=https://git.example.test/git/web.git
		cat >"$work/rules" <<-RULES
			allow $(tls_rule GET,POST git.example.test "$web" '/**')
		RULES
		export GIT_TOKEN=$token
		code=$(curl -sk --resolve "git.example.test:$web:127.0.0.1" -o /dev/null -w '%{http_code}' \
			"https://git.example.test:$web/git/web.git/info/refs?service=git-upload-pack")
		same 'without the token the server says 401 (control)' "$code" 401

		# A placeholder: in the environment, in the URL, in the credential file.
		echo "secret GIT_TOKEN from env at git.example.test as basic user=me" >>"$work/rules"
		door_box web --policy "$work/rules" >/dev/null
		check 'a box with a placeholder starts' $?
		out=$(in_box web sh -c "echo \$GIT_TOKEN; cat ~/.git-credentials ~/.netrc 2>/dev/null" 2>&1)
		stand_in=$(head -n 1 <<<"$out")
		[ -n "$stand_in" ] && [ "$stand_in" != "$token" ] && ! grep -qF "$token" <<<"$out"
		check 'the box has a placeholder and not the token' $? "$out"
		holds 'also in the file that git reads' "$(tail -n +2 <<<"$out")" "$stand_in"
		out=$(in_box web sh -c "$(work_on "$url")" 2>&1)
		holds 'clone and push with the credential file' "$out" 'it was pushed'
		same 'the server has the commit' "$(last_of web)" two
		out=$(in_box web sh -c "$(work_big "$url")" 2>&1)
		holds 'a push of many pieces' "$out" 'it was pushed'
		same 'the server has it whole' "$(git -C "$work/git/web.git" cat-file -s main:big)" 6000000
		# shellcheck disable=SC2016
		out=$(in_box web sh -c "rm -f ~/.git-credentials ~/.netrc; $(work_on 'https://me:$GIT_TOKEN@git.example.test/git/web.git' -c credential.helper= -c http.version=HTTP/1.1)" 2>&1)
		holds 'clone and push with the placeholder in the URL' "$out" 'it was pushed'
		# shellcheck disable=SC2016
		out=$(in_box web sh -c 'git -c credential.helper= ls-remote https://me:wrong-password-entirely@git.example.test/git/web.git' 2>&1)
		! grep -q 'refs/heads/main' <<<"$out"
		check 'a password of its own is not let through' $? "$out"
		sent=$(awk '$4 == "me" && $1 == 200' "$work/nginx/access.log" | wc -l)
		[ "$sent" -ge 4 ]
		check 'the server saw the user it knows' $? "$(cat "$work/nginx/access.log")"
		coded=$(printf 'me:%s' "$stand_in" | base64 -w 0)
		! grep -qF -e "$stand_in" -e "$coded" "$work/nginx/access.log"
		check 'the server never saw the placeholder' $? "$(tail -n 3 "$work/nginx/access.log")"
		"$ostiary" rm -f web >/dev/null 2>&1

		# inject: the box shows no credential at all, and an ssh remote becomes https.
		sed -i 's/as basic user=me/as basic inject user=me/' "$work/rules"
		door_box inject --policy "$work/rules" >/dev/null
		check 'a box that has nothing to show starts' $?
		out=$(in_box inject sh -c "HOME=/tmp GIT_TERMINAL_PROMPT=0; export HOME GIT_TERMINAL_PROMPT; unset GIT_TOKEN; cd /tmp; $(work_on "$url" -c credential.helper= -c http.version=HTTP/1.1)" 2>&1)
		holds 'clone and push with no credential in the box' "$out" 'it was pushed'
		git -C "$work/git/web.git" update-ref refs/heads/main main~1
		out=$(in_box inject sh -c "HOME=/tmp GIT_TERMINAL_PROMPT=0; export HOME GIT_TERMINAL_PROMPT; unset GIT_TOKEN; cd /tmp; $(work_big "$url" -c credential.helper= -c http.version=HTTP/1.1)" 2>&1)
		holds 'also of many pieces' "$out" 'it was pushed'
		out=$(in_box inject sh -c "$(work_on git@git.example.test:git/web.git)" 2>&1)
		holds 'an ssh remote is rewritten to https' "$out" 'it was pushed'
		"$ostiary" rm -f inject >/dev/null 2>&1
	else
		skip 'git over HTTPS' 'nginx, fcgiwrap or git http-backend is not installed'
	fi
}

# --- ssh: the agent socket --------------------------------------------------------------------------------------
over_ssh() {
	me=$(id -un)
	shell=$(getent passwd "$me" | cut -d: -f7)
	made_dir=''
	case $shell in *nologin | */false) shell='' ;; esac
	if [ -x /usr/sbin/sshd ] && has ssh-keygen && [ -n "$shell" ]; then
		repo ssh
		ssh_port=$(free_port) else_port=$(free_port)
		mkdir -p "$work/ssh" "$HOME/.ssh"
		chmod 700 "$HOME/.ssh"
		for name in host else; do ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/$name"; done
		ssh-keygen -q -t ed25519 -N '' -C 'a test key' -f "$HOME/.ssh/id_ed25519"
		ssh-keygen -q -t ed25519 -N '' -C 'another key' -f "$HOME/.ssh/id_other"
		cat "$HOME"/.ssh/*.pub >"$work/ssh/authorized"
		# sshd as root insists on it.
		if [ "$(id -u)" = 0 ] && [ ! -d /run/sshd ]; then mkdir -m 755 /run/sshd && made_dir=1; fi
		# server NAME PORT: an sshd with the host key NAME.
		server() {
			cat >"$work/ssh/$1.conf" <<-CONF
				Port $2
				ListenAddress 127.0.0.1
				HostKey $work/ssh/$1
				PidFile none
				AuthorizedKeysFile $work/ssh/authorized
				StrictModes no
				UsePAM no
				PasswordAuthentication no
				KbdInteractiveAuthentication no
				PermitRootLogin prohibit-password
			CONF
			/usr/sbin/sshd -D -e -f "$work/ssh/$1.conf" </dev/null >"$work/ssh/$1.log" 2>&1 &
			door_pids+=($!)
			listens "$2"
		}
		server host "$ssh_port" && server else "$else_port"
		check 'two servers of ssh run' $? "$(cat "$work"/ssh/*.log)"
		# The first name hashed, as ssh writes it when it is told to.
		echo "git.example.test $(cut -d' ' -f1,2 "$work/ssh/host.pub")" >"$HOME/.ssh/known_hosts"
		ssh-keygen -q -H -f "$HOME/.ssh/known_hosts" 2>/dev/null >&2
		rm -f "$HOME/.ssh/known_hosts.old"
		echo "else.example.test $(cut -d' ' -f1,2 "$work/ssh/else.pub")" >>"$HOME/.ssh/known_hosts"
		out=$(ssh -F none -o BatchMode=yes -o UserKnownHostsFile="$HOME/.ssh/known_hosts" -o HostKeyAlias=git.example.test -i "$HOME/.ssh/id_ed25519" -p "$ssh_port" \
			"$me@127.0.0.1" echo hello 2>&1)
		if [ "$out" = hello ]; then
			check 'the server takes the key (control)' 0
			cat >"$work/rules" <<-RULES
				tcp git.example.test:22 to=127.0.0.1:$ssh_port
				tcp else.example.test:22 to=127.0.0.1:$else_port
				secret GIT_KEY from file ~/.ssh/id_ed25519 at git.example.test as ssh
			RULES
			door_box ssh --policy "$work/rules" >/dev/null
			check 'a box with a key of ssh starts' $?
			cp "$work/ssh/else.pub" "$work/ssh/host.pub" "$top/tests/custody/"agent_*.py "$work/ws/"
			out=$(in_box ssh ssh-add -L 2>&1)
			same 'ssh-add -L shows the granted key and no other' "$out" "$(cat "$HOME/.ssh/id_ed25519.pub")"
			out=$(in_box ssh sh -c 'ls -A ~/.ssh; cat ~/.ssh/*' 2>&1)
			! grep -q 'PRIVATE KEY' <<<"$out"
			check 'no private key is in the box' $? "$out"
			same 'only known_hosts is in its ~/.ssh' "$(in_box ssh ls -A "$HOME/.ssh")" known_hosts
			out=$(in_box ssh sh -c "$(work_on "$me@git.example.test:$work/git/ssh.git")" 2>&1)
			holds 'clone and push over ssh' "$out" 'it was pushed'
			same 'the server of ssh has the commit' "$(last_of ssh)" two
			to_else="ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null $me@else.example.test echo hello"
			out=$(in_box ssh sh -c "$to_else" 2>&1)
			! grep -qx hello <<<"$out" && grep -q 'Permission denied' <<<"$out"
			check 'another server gets no signature' $? "$out"
			out=$("$ostiary" log ssh --json 2>/dev/null || "$ostiary" log ssh 2>&1)
			holds 'the log says why' "$out" 'belongs to none of the key'
			holds 'and what was signed' "$out" "signed a login as $me"
			# The names are the door's: a box that takes the other server for the granted one shows its key.
			out=$(in_box ssh sh -c "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o HostKeyAlias=git.example.test -o UserKnownHostsFile=/dev/null $me@else.example.test echo hello" 2>&1)
			! grep -qx hello <<<"$out"
			check 'nor when the box takes it for the granted one' $? "$out"

			out=$(in_box ssh "$python" agent_client.py host.pub 2>&1)
			same 'raw messages: one key is listed' "$(grep '^list:' <<<"$out")" 'list: 12 1'
			same 'raw messages of every other kind fail' "$(grep -c '^kind [0-9]*: 5$' <<<"$out")" 12
			for what in 'sign without a server: 5' 'forged server: 28' 'sign after a forged server: 5' 'forwarded: 28' \
				'sign a document: 5' 'another extension: 28' 'too long: 0'; do
				grep -qx "$what" <<<"$out"
				check "raw messages: $what" $? "$out"
			done
			out=$(in_box ssh "$python" agent_storm.py 3 7 2>&1)
			holds 'unruly clients do not disturb it' "$out" 'listed 1 after'
			out=$(in_box ssh sh -c 'ssh-keygen -q -t ed25519 -N "" -f /tmp/own && ssh-add /tmp/own; ssh-add -D; ssh-add -L' 2>&1)
			same 'nothing can be added or removed' "$(tail -n 1 <<<"$out")" "$(cat "$HOME/.ssh/id_ed25519.pub")"
			holds 'and that is said' "$out" 'agent refused operation'

			# Rotated: the file has another key now, and the box sees that one.
			cp "$HOME/.ssh/id_ed25519" "$work/ssh/was"
			cp "$HOME/.ssh/id_other" "$HOME/.ssh/id_ed25519"
			"$ostiary" rotate ssh GIT_KEY >/dev/null 2>"$work/rotate.err"
			check 'the key is rotated' $? "$(cat "$work/rotate.err")"
			out=$(in_box ssh ssh-add -L 2>&1)
			same 'ssh-add -L shows the new one' "$out" "$(cat "$HOME/.ssh/id_other.pub")"
			out=$(in_box ssh ssh -o BatchMode=yes "$me@git.example.test" echo hello 2>&1)
			same 'which logs in' "$out" hello
			cp "$work/ssh/was" "$HOME/.ssh/id_ed25519"

			# Revoked: the agent is empty, and what was open is cut.
			# shellcheck disable=SC2016
			in_box ssh ssh -o BatchMode=yes "$me@git.example.test" 'echo started $$; exec sleep 140' \
				>"$work/open" 2>&1 &
			open=$!
			within 60 grep -q started "$work/open"
			check 'a session is open (control)' $? "$(cat "$work/open")"
			"$ostiary" revoke ssh GIT_KEY >/dev/null 2>"$work/revoke.err"
			check 'the key is revoked' $? "$(cat "$work/revoke.err")"
			! wait "$open"
			check 'which cuts what it had opened' $?
			# Nobody tells the server's side, which has no terminal.
			kill "$(sed -n 's/^started //p' "$work/open")" 2>/dev/null
			out=$(in_box ssh ssh-add -L 2>&1)
			holds 'ssh-add -L shows nothing any more' "$out" 'no identities'
			out=$(in_box ssh ssh -o BatchMode=yes "$me@git.example.test" echo hello 2>&1)
			holds 'and nobody is logged in' "$out" 'Permission denied'
			"$ostiary" rm -f ssh >/dev/null 2>&1

			# Two keys for two servers: each is signed with at its own.
			cat >"$work/rules" <<-RULES
				tcp git.example.test:22 to=127.0.0.1:$ssh_port
				tcp else.example.test:22 to=127.0.0.1:$else_port
				secret GIT_KEY from file ~/.ssh/id_ed25519 at git.example.test as ssh
				secret ELSE_KEY from file ~/.ssh/id_other at else.example.test as ssh
			RULES
			door_box two --policy "$work/rules" >/dev/null
			same 'ssh-add -L shows both' "$(in_box two ssh-add -L 2>&1 | sort)" \
				"$(cat "$HOME/.ssh/id_ed25519.pub" "$HOME/.ssh/id_other.pub" | sort)"
			for host in git else; do
				out=$(in_box two ssh -o BatchMode=yes "$me@$host.example.test" echo hello 2>/dev/null)
				same "the server $host lets it in" "$out" hello
			done
			out=$("$ostiary" log two --json 2>/dev/null)
			holds 'the first key was refused at the second server' "$out" 'belongs to none of the key'
			"$ostiary" stop two >/dev/null 2>&1
			out=$(in_box two ssh -o BatchMode=yes "$me@git.example.test" echo hello 2>&1)
			same 'a box that was stopped and woken has its agent again' "$out" hello
			"$ostiary" rm -f two >/dev/null 2>&1

			# Other kinds of keys, the host's too.
			for kind in 'rsa -b 3072' 'ecdsa -b 256' 'ecdsa -b 521' 'rsa -b 2048 -m PEM'; do
				rm -f "$HOME/.ssh/id_kind" "$HOME/.ssh/id_kind.pub"
				# shellcheck disable=SC2086
				ssh-keygen -q -t $kind -N '' -C kind -f "$HOME/.ssh/id_kind"
				cat "$HOME/.ssh/id_kind.pub" >>"$work/ssh/authorized"
				cat >"$work/rules" <<-RULES
					tcp git.example.test:22 to=127.0.0.1:$ssh_port
					secret GIT_KEY from file ~/.ssh/id_kind at git.example.test as ssh
				RULES
				out=$(cd "$work/ws" && box --level strict --policy "$work/rules" -- \
					ssh -o BatchMode=yes "$me@git.example.test" echo hello 2>&1)
				same "a key of kind $kind" "$out" hello
			done

			# A key that only the user's own agent can use: it signs, outside, what the keeper has judged.
			ssh-keygen -q -t ed25519 -N 'a passphrase' -C 'a locked key' -f "$HOME/.ssh/id_locked"
			cat "$HOME/.ssh/id_locked.pub" >>"$work/ssh/authorized"
			cp "$HOME/.ssh/id_locked" "$work/ssh/unlocked"
			ssh-keygen -q -p -P 'a passphrase' -N '' -f "$work/ssh/unlocked" >/dev/null
			ssh-agent -D -a "$work/agent" >/dev/null 2>&1 &
			door_pids+=($!)
			within 60 test -S "$work/agent"
			SSH_AUTH_SOCK=$work/agent ssh-add -q "$work/ssh/unlocked" 2>"$work/add.err"
			check 'the user has an agent with that key' $? "$(cat "$work/add.err")"
			for file in id_locked id_locked.pub; do
				cat >"$work/rules" <<-RULES
					tcp git.example.test:22 to=127.0.0.1:$ssh_port
					tcp else.example.test:22 to=127.0.0.1:$else_port
					secret GIT_KEY from file ~/.ssh/$file at git.example.test as ssh
				RULES
				out=$(cd "$work/ws" && SSH_AUTH_SOCK=$work/agent box --level strict --policy "$work/rules" -- \
					sh -c "ssh -o BatchMode=yes $me@git.example.test echo hello; $to_else; ssh-add -L | wc -l" 2>&1)
				same "the user's agent signs for $file" "$(head -n 1 <<<"$out")" hello
				holds 'and not for another server' "$out" 'Permission denied'
				same 'the box sees one key of it' "$(tail -n 1 <<<"$out")" 1
			done

			# What cannot be used is said before the box starts.
			refused() { # name, words, line
				! out=$(cd "$work/ws" && box --secret "${3#secret }" -- true 2>&1) && grep -q -- "$2" <<<"$out"
				check "$1" $? "$out"
			}
			refused 'a key with a passphrase' 'has a passphrase' 'secret K from file ~/.ssh/id_locked at git.example.test as ssh'
			refused 'a public key' 'is a public key' 'secret K from file ~/.ssh/id_ed25519.pub at git.example.test as ssh'
			refused 'a host that nobody knows' 'no host key of new.example.test is known' \
				'secret K from file ~/.ssh/id_ed25519 at new.example.test as ssh'
			refused 'a key that is not there' 'id_none' 'secret K from file ~/.ssh/id_none at git.example.test as ssh'
			refused 'a place with a path' 'and not to a path' 'secret K from file ~/.ssh/id_ed25519 at git.example.test/a as ssh'
			echo 'secret K from file ~/.ssh/id_ed25519 at git.example.test as ssh' >"$work/rules"
			out=$(cd "$work/ws" && timeout 150 "$ostiary" run --level strict --policy "$work/rules" -- \
				ssh -o BatchMode=yes "$me@git.example.test" echo hello 2>&1)
			holds 'whoever forgot the tcp rule is told of it' "$out" "tcp git.example.test:22"
			out=$(cd "$work/ws" && box -- sh -c "echo \"\${SSH_AUTH_SOCK:-none}\"; ls /run/ostiary/ssh-agent" 2>&1)
			holds 'a box without such a secret has no agent' "$out" none
		else
			skip 'git over ssh' "sshd does not let $me in here: $(one_line "$out $(tail -n 2 "$work/ssh/host.log")")"
		fi
		[ -z "$made_dir" ] || rmdir /run/sshd
	else
		skip 'git over ssh' "openssh-server is not installed, or $me has no shell"
	fi
}

# --- npm and pip: a private index with a token ------------------------------------------------------------------
private_index() {
	"$python" tests/custody/registry.py "$work/origin.pem" "$work/origin.key" "$work/index.log" "$index_token" \
		>"$work/index.port" 2>"$work/index.err" &
	door_pids+=($!)
	within 60 test -s "$work/index.port"
	check 'the private index runs' $? "$(cat "$work/index.err")"
	index=$(cat "$work/index.port")
	export NPM_TOKEN=$index_token PIP_TOKEN=$index_token
	cat >"$work/rules" <<-RULES
		allow $(tls_rule GET,HEAD npm.example.test "$index" '/**')
		allow $(tls_rule GET,HEAD pip.example.test "$index" '/**')
		secret NPM_TOKEN from env at npm.example.test as bearer
		secret PIP_TOKEN from env at pip.example.test as basic
	RULES
	wait "$building_venv" && mv "$work/venv" "$work/ws/venv"
	has_venv=$?
	door_box index --policy "$work/rules" >/dev/null
	check 'a box for the index starts' $?
	if has npm; then
		# shellcheck disable=SC2016
		out=$(in_box index sh -c 'mkdir -p app && cd app && echo "{}" >package.json &&
			printf "registry=https://npm.example.test/\n//npm.example.test/:_authToken=\${NPM_TOKEN}\n" >.npmrc &&
			npm install --no-audit --no-fund --loglevel=error thing && node -p "require(\"thing\")"' 2>&1)
		holds 'npm installs a private package' "$out" 'a private thing'
		out=$(in_box index sh -c 'mkdir -p app2 && cd app2 && echo "{}" >package.json &&
			npm install --registry=https://npm.example.test/ --no-audit --no-fund --loglevel=error thing && echo it did' 2>&1)
		holds 'also by the ~/.npmrc that is there already' "$out" 'it did'
	else
		skip 'npm installs a private package' 'npm is not installed'
	fi
	if [ "$has_venv" = 0 ]; then
		# shellcheck disable=SC2016
		out=$(in_box index sh -c 'venv/bin/python -m pip download -q --disable-pip-version-check --no-deps -d got \
			-i "https://__token__:$PIP_TOKEN@pip.example.test/simple" thing && ls got' 2>&1)
		holds 'pip downloads a private package' "$out" 'thing-1.0'
	else
		skip 'pip downloads a private package' 'python3-venv is not installed'
	fi
	out=$(in_box index curl -sS -o /dev/null -w '%{http_code}' https://npm.example.test/thing 2>&1)
	same 'without a credential the index says 401 (control)' "$out" 401
	[ "$(grep -c '^200 ' "$work/index.log")" -ge 4 ]
	check 'the index saw its token' $? "$(cat "$work/index.log")"
	# shellcheck disable=SC2016
	out=$(in_box index sh -c 'echo "$NPM_TOKEN $PIP_TOKEN"; env; cat ~/.npmrc ~/.netrc ~/.pypirc 2>/dev/null' 2>&1)
	! grep -qF "$index_token" <<<"$out"
	check 'the box never had it' $? "$out"
}

run_parts over_https over_ssh private_index
wait "$building_venv" # when the part that uses it was not wanted
exit "$bad"
