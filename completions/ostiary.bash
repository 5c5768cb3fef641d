# bash completion for ostiary(1)

_ostiary_boxes() { ostiary ps -a -q 2>/dev/null; }
_ostiary_snapshots() { ostiary snapshots -q 2>/dev/null; }
_ostiary_profiles() { ostiary profile ls 2>/dev/null | awk 'NR > 1 || $1 != "PROFILE" {print $1}'; }

_ostiary() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev='' command=${COMP_WORDS[1]:-} words='' i
	COMPREPLY=()
	[ "$COMP_CWORD" -gt 0 ] && prev=${COMP_WORDS[COMP_CWORD - 1]}
	local shape='--workspace --live --no-mask --profile --env --env-file --bind --limit --allow --deny --policy --secret --as --level --upstream-proxy --on-door-fault --audit --audit-full
		--cwd --force'
	local life='--name --publish --from --turns --json --keep --rm --quiet'
	local story='--since --until --kind --pid --process --host --path'
	local screen='--tty --no-tty --terminal --detach-key'

	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'run shell create exec attach cp diff apply undo history ps logs log timeline report audit forward ports stop rm resume fork snapshot snapshots turns gc
			allow deny rules approvals approve refuse why learn trust secret secrets revoke rotate
			explain doctor probe profile policy import version help' -- "$cur")
		return
	fi
	# After "--" the words belong to the command in the box.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return
		fi
	done

	case $prev in
	--workspace | -w | --bind | --cwd | -C)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	--policy | --env-file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--from)
		[ "$command" = profile ] || [ "$command" = import ] && words=$(_ostiary_profiles) || words=$(_ostiary_snapshots)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
		;;
	--profile)
		mapfile -t COMPREPLY < <(compgen -W "$(_ostiary_profiles)" -- "$cur")
		return
		;;
	--limit)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W 'memory= cpu= pids= files= disk= time= inotify= door-memory=' -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
		return
		;;
	--level)
		mapfile -t COMPREPLY < <(compgen -W 'easy strict learn' -- "$cur")
		return
		;;
	--audit)
		mapfile -t COMPREPLY < <(compgen -W 'off default files all' -- "$cur")
		return
		;;
	--audit-full)
		mapfile -t COMPREPLY < <(compgen -W 'pause stop' -- "$cur")
		return
		;;
	--on-door-fault)
		mapfile -t COMPREPLY < <(compgen -W 'stop pause' -- "$cur")
		return
		;;
	--box)
		mapfile -t COMPREPLY < <(compgen -W "$(_ostiary_boxes)" -- "$cur")
		return
		;;
	--kind | -k)
		mapfile -t COMPREPLY < <(compgen -W 'exec exit kill http tcp splice dns tls ssh connect bind listen call open change secret alarm box door rule apply undo live process request socket file review denied approval' -- "$cur")
		return
		;;
	--output | -o | --before)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--terminal)
		mapfile -t COMPREPLY < <(compgen -W 'strict normal raw' -- "$cur")
		return
		;;
	--as)
		mapfile -t COMPREPLY < <(compgen -W "$(ls "${XDG_CONFIG_HOME:-$HOME/.config}/ostiary/identities" 2>/dev/null)" -- "$cur")
		return
		;;
	--secret)
		mapfile -t COMPREPLY < <(compgen -e -- "$cur")
		return
		;;
	--env | -e)
		mapfile -t COMPREPLY < <(compgen -e -- "$cur")
		return
		;;
	--since | --until | --pid | --process | --host | --path) return ;;
	--filter)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W 'state= agent= workspace= older= younger= changes=' -- "$cur")
		return
		;;
	--force | --name | -n | --detach-key | --max | --tail | --time | --header | --data | --allow | --deny | --publish) [ "$command" = rm ] || return ;;
	esac

	case $command in
	run) words="$shape $life --resume --new --detach $screen $(_ostiary_profiles)" ;;
	shell) words="$shape $life --resume --new --detach $screen" ;;
	create) words="$shape $life $(_ostiary_profiles)" ;;
	explain) words="$shape --json --seccomp $(_ostiary_profiles)" ;;
	exec) words="--env --cwd --quiet $screen $(_ostiary_boxes)" ;;
	attach) words="--quiet --terminal --detach-key $(_ostiary_boxes)" ;;
	cp)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "--follow --yes --max --quiet --json $(_ostiary_boxes | sed 's/$/:/')" -- "$cur"
			compgen -f -- "$cur")
		return
		;;
	diff)
		mapfile -t COMPREPLY < <(compgen -W "--stat --name-only --null --json --turn --unified --binary --all --classes --exit-code --no-pager --color $(_ostiary_boxes)" -- "$cur"
			compgen -f -- "$cur")
		return
		;;
	apply)
		mapfile -t COMPREPLY < <(compgen -W "--hunks --yes --3way --all --files --dry-run --json $(_ostiary_boxes)" -- "$cur"
			compgen -f -- "$cur")
		return
		;;
	history)
		mapfile -t COMPREPLY < <(compgen -W '--json' -- "$cur"
			compgen -d -- "$cur")
		return
		;;
	undo)
		mapfile -t COMPREPLY < <(compgen -W "--turn --dry-run --yes --json" -- "$cur"
			compgen -f -- "$cur")
		return
		;;
	ps) words='--all --filter --quiet --json' ;;
	logs) words="--follow --tail --raw $(_ostiary_boxes)" ;;
	log) words="--follow --denied $story --json --verify $(_ostiary_boxes)" ;;
	timeline) words="--follow $story --before --json $(_ostiary_boxes)" ;;
	audit) words="verify --json $(_ostiary_boxes)" ;;
	report) words="--output --json $(_ostiary_boxes)" ;;
	forward) words="--detach --json $(_ostiary_boxes)" ;;
	ports | rules | approvals | secrets) words="--json $(_ostiary_boxes)" ;;
	allow | deny) words="--undo --json $(_ostiary_boxes)" ;;
	approve | refuse)
		words=$(ostiary approvals 2>/dev/null | awk 'NR > 1 {print $1}')
		words="--json $words"
		[ "$command" = refuse ] || words="--always $words"
		;;
	why) words="--header --data --json $(_ostiary_boxes)" ;;
	learn) words="--refused --json $(_ostiary_boxes)" ;;
	trust)
		mapfile -t COMPREPLY < <(compgen -W '--revoke --json' -- "$cur"
			compgen -d -- "$cur")
		return
		;;
	secret)
		case $COMP_CWORD:${COMP_WORDS[2]:-} in
		2:*) words='set ls rm rotate import passwd lock' ;;
		*:set) words='--note --json --passphrase-fd' ;;
		*:ls) words='--json --passphrase-fd' ;;
		*:import) words='--dry-run --yes --json --passphrase-fd' ;;
		*:passwd) words='--none --json --passphrase-fd' ;;
		*) words='--note --json --passphrase-fd' ;;
		esac
		;;
	revoke | rotate)
		if [ "$COMP_CWORD" = 2 ]; then
			words="--json $(_ostiary_boxes)"
		else
			words=$(ostiary secrets "${COMP_WORDS[2]}" 2>/dev/null | awk 'NR > 1 {print $1}')
			[ "$command" = rotate ] || words="--all $words"
		fi
		;;
	stop) words="--time --all --filter --json $(_ostiary_boxes)" ;;
	rm) words="--force --refs --all --filter --yes --json $(_ostiary_boxes)" ;;
	resume) words="--detach --json --quiet $screen $(_ostiary_boxes)" ;;
	fork) words="--number --name --json $(_ostiary_boxes)" ;;
	snapshot | turns) words="--json $(_ostiary_boxes)" ;;
	snapshots)
		if [ "$COMP_CWORD" = 2 ]; then words='ls rm --quiet --json'; else words=$(_ostiary_snapshots); fi
		;;
	gc | doctor | probe | version) words='--json' ;;
	profile)
		if [ "$COMP_CWORD" = 2 ]; then words='ls show new'; else words="--json --from $(_ostiary_profiles)"; fi
		;;
	policy)
		if [ "$COMP_CWORD" = 2 ]; then words='check reload'; else words="--policy --profile --box --header --data --json $(_ostiary_boxes)"; fi
		;;
	import)
		[ "$COMP_CWORD" != 2 ] || words='srt nono'
		mapfile -t COMPREPLY < <(compgen -W "$words --output --profile --from --json" -- "$cur"
			compgen -f -- "$cur")
		return
		;;
	help) words='--all exit-codes other-tools run shell create exec attach cp diff apply undo history ps logs log timeline report audit forward ports stop rm resume fork snapshot snapshots turns gc allow deny rules approvals approve refuse why
		learn trust secret secrets revoke rotate explain doctor probe profile policy import version help' ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _ostiary ostiary
