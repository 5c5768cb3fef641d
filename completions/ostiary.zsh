#compdef ostiary
# zsh completion for ostiary(1)

_ostiary_boxes() {
	local -a boxes
	boxes=(${(f)"$(ostiary ps -a -q 2>/dev/null)"})
	_describe -t boxes 'box' boxes "$@"
}

_ostiary_snapshots() {
	local -a snapshots
	snapshots=(${(f)"$(ostiary snapshots -q 2>/dev/null)"})
	_describe -t snapshots 'snapshot' snapshots
}

_ostiary_profiles() {
	local -a profiles
	profiles=(${(f)"$(ostiary profile ls 2>/dev/null | awk 'NR > 1 || $1 != "PROFILE" {print $1}')"})
	_describe -t profiles 'agent' profiles
}

_ostiary_limits() {
	local -a keys
	keys=(memory cpu pids files disk time inotify door-memory)
	_describe -t limits 'limit' keys -S=
}

_ostiary() {
	local -a commands shape life screen story
	local context state line curcontext=$curcontext
	typeset -A opt_args
	commands=(
		'run:start an agent or a command in a box of its own'
		'shell:a shell in a box of its own'
		'create:make a box that waits for exec'
		'exec:run one more command in a box'
		'attach:come back to the command of a box'
		'cp:copy files out of a box, or into one'
		'diff:show what a box changed'
		'apply:bring changes of a box to the host'
		'undo:take back what apply or a live run did'
		'history:list what was applied and taken back'
		'ps:list boxes'
		'logs:what the command of a box wrote'
		'log:what a box asked of the network, ran, and was refused'
		'timeline:what a box ran, asked for and changed, in one order'
		'report:one page of HTML about a run'
		"audit:say whether a box's log was changed or cut"
		'forward:reach a server in a box from the host'
		'ports:ports that a box listens on'
		'stop:end boxes'
		'rm:delete boxes and what they hold'
		'resume:let a box that has ended or is paused go on'
		'fork:make more boxes that begin where this one is'
		'snapshot:keep what a box holds now, to start others from it'
		'snapshots:list and remove snapshots'
		'turns:list the turns of a box'
		'gc:remove what killed boxes left behind'
		'allow:let a box reach something, while it runs'
		'deny:refuse a box something, while it runs'
		'rules:the rules that are in force for a box'
		'approvals:requests that wait for your answer'
		'approve:let a waiting request pass'
		'refuse:refuse a waiting request'
		'why:which rule of a box decides about a request'
		'learn:the rules that a box was seen to need'
		"trust:let a project's own rules count"
		'secret:keys that boxes may use and never have'
		'secrets:the secrets that a box may use'
		'revoke:take a secret back from a running box'
		'rotate:give a running box a fresh value of a secret'
		'explain:print what a box would be'
		'doctor:say what this machine can enforce'
		'probe:attack the walls of a box from inside'
		'profile:list, show or begin profiles'
		'policy:say which rule would decide about a request'
		'import:settings of srt or nono, as rules'
		'version:print the version'
		'help:the overview, or the page of one command'
	)
	story=(
		'--since[from this time on]:time:'
		'--until[up to this time]:time:'
		'*'{-k,--kind}'[only these kinds]:kind:_values -s , kind exec exit kill http tcp splice dns tls ssh connect bind listen call open change secret alarm box door rule apply undo live process request socket file review denied approval'
		'--pid[only this process]:pid:'
		'--process[only programs of this name]:name:'
		'--host[only this host and those below it]:host:'
		'--path[only this path and those below it]:path:_files'
	)
	shape=(
		'(-w --workspace)'{-w,--workspace}'[the directory to work on]:directory:_files -/'
		'--live[write to the workspace itself]'
		'--no-mask[show secrets that lie in the workspace]'
		'--profile[what the agent needs]:profile:_ostiary_profiles'
		'*'{-e,--env}'[set or pass on a variable]:variable:_parameters -g "*export*"'
		'*--env-file[variables from a file]:file:_files'
		'*--bind[show a host path]:path:_files'
		'*--limit[a limit]:limit:_ostiary_limits'
		'*--allow[let it reach something]:rule:'
		'*--deny[refuse it something]:rule:'
		'*--policy[rules that go before your own]:file:_files'
		'*--secret[a key that it may use and never has]:name at host:'
		'--as[a named set of secrets]:identity:_files -W ~/.config/ostiary/identities'
		'--level[what becomes of what no rule speaks of]:level:(easy strict learn)'
		'--upstream-proxy[how this machine reaches the world]:url:'
		'--on-door-fault[when a process of the door dies]:what:(stop pause)'
		'--audit[which system calls are recorded]:level:(off default files all)'
		'--audit-full[when the log cannot be written]:what:(pause stop)'
		'(-C --cwd)'{-C,--cwd}'[where the command starts]:directory:_files -/'
		'--force[use a workspace that would be refused]:reason:'
	)
	life=(
		'(-n --name)'{-n,--name}'[name of the box]:name:'
		'*--publish[a port of the box on the host]:port:'
		'--from[begin with what a snapshot holds]:snapshot:_ostiary_snapshots'
		'--turns[keep what each command changes apart]'
		'--json[the box as JSON]'
		'(--rm)--keep[keep the box at its end]'
		'(--keep)--rm[discard the box at its end]'
		'(-q --quiet)'{-q,--quiet}'[no line about the box]'
	)
	screen=(
		'(-t --tty -T --no-tty)'{-t,--tty}'[give the command a terminal]'
		'(-t --tty -T --no-tty)'{-T,--no-tty}'[give it pipes]'
		'--terminal[what output may do to the terminal]:policy:(strict normal raw)'
		'--detach-key[the key before d that detaches]:key:'
	)

	_arguments -C '1:command:->command' '*::argument:->argument'
	case $state in
	command) _describe -t commands 'command' commands ;;
	argument)
		case $words[1] in
		run | shell) _arguments $shape $life $screen '(--new)--resume[go on in the box that holds unapplied changes]' \
			'(--resume)--new[start a new box without asking]' '(-d --detach)'{-d,--detach}'[do not attach]' \
			'1:agent or command:_ostiary_profiles' '*::command:_normal' ;;
		create) _arguments $shape $life '1:agent:_ostiary_profiles' ;;
		explain) _arguments $shape '--json[as JSON]' '--seccomp[print the table of system calls]' \
			'1:agent:_ostiary_profiles' '*::command:_normal' ;;
		exec) _arguments $screen '*'{-e,--env}'[set or pass on a variable]:variable:' \
			'(-C --cwd)'{-C,--cwd}'[where it starts]:directory:' \
			'(-q --quiet)'{-q,--quiet}'[no line when detaching]' '1:box:_ostiary_boxes' '*::command:_normal' ;;
		attach) _arguments '(-q --quiet)'{-q,--quiet}'[no line when leaving]' \
			'--terminal[what output may do to the terminal]:policy:(strict normal raw)' \
			'--detach-key[the key before d that detaches]:key:' '1:box:_ostiary_boxes' ;;
		cp) _arguments '(-L --follow)'{-L,--follow}'[copy what links point at]' \
			'(-y --yes)'{-y,--yes}'[also what somebody runs or obeys]' '--max[largest size]:size:' \
			'(-q --quiet)'{-q,--quiet}'[no progress]' '--json[how much was copied]' '*:file:_files' ;;
		diff) _arguments '(--name-only --json)--stat[one row per file]' '(--stat --json)--name-only[names alone]' \
			'(-z --null)'{-z,--null}'[each name ended by a NUL byte]' '(--stat --name-only)--json[as JSON]' \
			'--turn[only what a turn changed]:turn:' '(-U --unified)'{-U,--unified}'[lines around a change]:lines:' \
			'--binary[binary files as patches of git]' '--all[also what is ignored]' '--classes[print the tables of classes]' \
			'--exit-code[status 1 when there are changes]' '--no-pager[no pager]' '--color[colours]:when:(auto always never)' \
			'1:box:_ostiary_boxes' '*:path:_files' ;;
		apply) _arguments '--hunks[ask for each place that differs]' '(-y --yes)'{-y,--yes=}'[plain changes, and those of these classes]:classes:' \
			'--3way[merge text that both sides changed]' '--all[also what is ignored]' \
			'--files[files without the commits they are part of]' \
			'--dry-run[only tell]' '--json[as JSON]' '1:box:_ostiary_boxes' '*:path:_files' ;;
		history) _arguments '--json[as JSON]' '1:directory:_files -/' ;;
		undo) _arguments '--turn[take a turn out of a box]:turn:' '--dry-run[only tell]' \
			'(-y --yes)'{-y,--yes}'[also what changed since]' '--json[as JSON]' '*:path:_files' ;;
		ps) _arguments '*--filter[only boxes with this]:key=value:' '(-a --all)'{-a,--all}'[also boxes that have ended]' '(-q --quiet)'{-q,--quiet}'[names only]' \
			'--json[as JSON]' ;;
		logs) _arguments '(-f --follow)'{-f,--follow}'[go on until the box ends]' '--tail[only the last lines]:lines:' \
			'--raw[every byte as it was written]' '1:box:_ostiary_boxes' ;;
		log) _arguments '(-f --follow)'{-f,--follow}'[go on until the box ends]' '--denied[only what was refused]' \
			$story '--json[as JSON]' '--verify[was the log changed]' '1:box:_ostiary_boxes' ;;
		timeline) _arguments $story '(-f --follow)'{-f,--follow}'[go on until the box ends]' '--before[what led up to the change of a file]:path:_files' '--json[one object a line]' \
			'1:box:_ostiary_boxes' ;;
		audit) _arguments '1:what:(verify)' '2:box:_ostiary_boxes' '--json[as one JSON object]' ;;
		report) _arguments '--json[say as JSON where it is]' '(-o --output)'{-o,--output}'[where the page goes]:file:_files' '1:box:_ostiary_boxes' ;;
		forward) _arguments '--json[where, as JSON]' '(-d --detach)'{-d,--detach}'[return at once]' '1:box:_ostiary_boxes' '*:port:' ;;
		ports | rules | approvals | secrets) _arguments '--json[as JSON]' '1:box:_ostiary_boxes' ;;
		allow | deny) _arguments '--json[as JSON]' '--undo[take a rule back]' '1:box:_ostiary_boxes' '*:rule:' ;;
		approve) _arguments '--json[as JSON]' '--always[add the rule too]' '1:id:' ;;
		refuse) _arguments '--json[as JSON]' '1:id:' ;;
		why) _arguments '*--header[a header of the request]:header:' '--data[its body]:text:' '--json[as JSON]' \
			'1:box:_ostiary_boxes' '2:request:' ;;
		learn) _arguments '--json[as JSON]' '--refused[also what was refused]' '1:box:_ostiary_boxes' ;;
		trust) _arguments '--json[as JSON]' '--revoke[do not trust it any more]' '1:directory:_files -/' ;;
		secret) _arguments '--json[as JSON]' '--note[set\: a word to yourself]:text:' '--dry-run[import\: only list]' \
			'(-y --yes)'{-y,--yes}'[import\: do not ask]' '--none[passwd\: a key file]' \
			'--passphrase-fd[where the passphrase is read]:descriptor:' '1:action:(set ls rm rotate import passwd lock)' '2:name:' ;;
		revoke) _arguments '--json[as JSON]' '--all[every secret of the box]' '1:box:_ostiary_boxes' '*:name:' ;;
		rotate) _arguments '--json[as JSON]' '1:box:_ostiary_boxes' '2:name:' '3:value from standard input:(-)' ;;
		stop) _arguments '--time[kill after this time]:time:' '(-a --all)'{-a,--all}'[every box that runs]' '*--filter[only boxes with this]:key=value:' '--json[as JSON]' '*:box:_ostiary_boxes' ;;
		rm) _arguments '(-a --all)'{-a,--all}'[every box that has ended]' '*--filter[only boxes with this]:key=value:' '(-y --yes)'{-y,--yes}'[also work that was not applied]' '--json[as JSON]' '(-f --force)'{-f,--force}'[end the box first if it runs]' '--refs[also the refs/ostiary/BOX that apply made]' '*:box:_ostiary_boxes' ;;
		resume) _arguments $screen '--json[the box as JSON]' '(-d --detach)'{-d,--detach}'[do not attach]' \
			'(-q --quiet)'{-q,--quiet}'[no line about the box]' '1:box:_ostiary_boxes' '*::command:_normal' ;;
		fork) _arguments '--number[how many]:number:' '--name[their names]:prefix:' '--json[as JSON]' \
			'1:box:_ostiary_boxes' ;;
		snapshot) _arguments '--json[as JSON]' '1:box:_ostiary_boxes' '2:name:' ;;
		snapshots) _arguments '(-q --quiet)'{-q,--quiet}'[names only]' '--json[as JSON]' '1:action:(ls rm)' \
			'*:snapshot:_ostiary_snapshots' ;;
		turns) _arguments '--json[as JSON]' '1:box:_ostiary_boxes' ;;
		gc | doctor | probe | version) _arguments '--json[as JSON]' ;;
		profile) _arguments '--json[as JSON]' '--from[begin with this profile]:profile:_ostiary_profiles' '1:action:(ls show new)' '2:profile:_ostiary_profiles' ;;
		policy) _arguments '*--policy[rules that go before your own]:file:_files' '--profile[with its rules]:profile:_ostiary_profiles' \
			'--box[by the rules of this box]:box:_ostiary_boxes' \
			'*--header[a header of the request]:header:' '--data[its body]:text:' '--json[as JSON]' '1:action:(check reload)' '2:request or box:' ;;
		import) _arguments '(-o --output)'{-o,--output}'[write the lines here]:file:_files' '--profile[make a profile]:name:' \
			'--from[begin with this profile]:profile:_ostiary_profiles' '--json[as JSON]' '1:format:(srt nono)' '2:file:_files' ;;
		help) _arguments '(-a --all)'{-a,--all}'[every command]' '1:command:(exit-codes other-tools ${commands%%:*})' ;;
		esac
		;;
	esac
}

_ostiary "$@"
