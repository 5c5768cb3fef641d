# fish completion for ostiary(1)

function __ostiary_boxes
    ostiary ps -a -q 2>/dev/null
end

function __ostiary_profiles
    ostiary profile ls 2>/dev/null | awk 'NR > 1 || $1 != "PROFILE" {print $1}'
end

complete -c ostiary -f
complete -c ostiary -n __fish_use_subcommand -a run -d 'start an agent or a command in a box of its own'
complete -c ostiary -n __fish_use_subcommand -a shell -d 'a shell in a box of its own'
complete -c ostiary -n __fish_use_subcommand -a create -d 'make a box that waits for exec'
complete -c ostiary -n __fish_use_subcommand -a exec -d 'run one more command in a box'
complete -c ostiary -n __fish_use_subcommand -a attach -d 'come back to the command of a box'
complete -c ostiary -n __fish_use_subcommand -a cp -d 'copy files out of a box, or into one'
complete -c ostiary -n __fish_use_subcommand -a ps -d 'list boxes'
complete -c ostiary -n __fish_use_subcommand -a logs -d 'what the command of a box wrote'
complete -c ostiary -n __fish_use_subcommand -a stop -d 'end boxes'
complete -c ostiary -n __fish_use_subcommand -a rm -d 'delete boxes and what they hold'
complete -c ostiary -n __fish_use_subcommand -a gc -d 'remove what killed boxes left behind'
complete -c ostiary -n __fish_use_subcommand -a explain -d 'print what a box would be'
complete -c ostiary -n __fish_use_subcommand -a doctor -d 'say what this machine can enforce'
complete -c ostiary -n __fish_use_subcommand -a probe -d 'attack the walls of a box from inside'
complete -c ostiary -n __fish_use_subcommand -a profile -d 'list, show or begin profiles'
complete -c ostiary -n __fish_use_subcommand -a policy -d 'say which rule would decide about a request'
complete -c ostiary -n __fish_use_subcommand -a version -d 'print the version'
complete -c ostiary -n __fish_use_subcommand -a help -d 'the overview, or the page of one command'

complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -s w -l workspace -x -a '(__fish_complete_directories)' -d 'the directory to work on'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -l live -d 'write to the workspace itself'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -s p -l profile -x -a '(__ostiary_profiles)' -d 'what the agent needs'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain exec' -s e -l env -x -d 'set or pass on a variable'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -l bind -r -F -d 'show a host path'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -l limit -x -a 'memory= cpu= pids= files= disk= time= inotify=' -d 'a limit'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -s C -l cwd -x -a '(__fish_complete_directories)' -d 'where the command starts'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create explain' -l force -x -d 'use a workspace that would be refused'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create' -s n -l name -x -d 'name of the box'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create' -l keep -d 'keep the box at its end'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create' -l rm -d 'discard the box at its end'
complete -c ostiary -n '__fish_seen_subcommand_from run shell create exec attach cp ps' -s q -l quiet -d 'say less'
complete -c ostiary -n '__fish_seen_subcommand_from run shell' -s d -l detach -d 'do not attach'
complete -c ostiary -n '__fish_seen_subcommand_from run shell exec' -s t -l tty -d 'give the command a terminal'
complete -c ostiary -n '__fish_seen_subcommand_from run shell exec' -s T -l no-tty -d 'give it pipes'
complete -c ostiary -n '__fish_seen_subcommand_from run shell exec attach' -l terminal -x -a 'strict normal raw' -d 'what output may do to the terminal'
complete -c ostiary -n '__fish_seen_subcommand_from run shell exec attach' -l detach-key -x -d 'the key before d that detaches'
complete -c ostiary -n '__fish_seen_subcommand_from exec' -s w -l workdir -x -d 'where it starts'
complete -c ostiary -n '__fish_seen_subcommand_from cp' -s L -l follow -d 'copy what links point at'
complete -c ostiary -n '__fish_seen_subcommand_from cp' -l max -x -d 'largest size'
complete -c ostiary -n '__fish_seen_subcommand_from ps' -s a -l all -d 'also boxes that have ended'
complete -c ostiary -n '__fish_seen_subcommand_from ps gc explain doctor probe profile policy version' -l json -d 'as JSON'
complete -c ostiary -n '__fish_seen_subcommand_from explain' -l seccomp -d 'print the table of system calls'
complete -c ostiary -n '__fish_seen_subcommand_from logs' -s f -l follow -d 'go on until the box ends'
complete -c ostiary -n '__fish_seen_subcommand_from logs' -l tail -x -d 'only the last lines'
complete -c ostiary -n '__fish_seen_subcommand_from logs' -l raw -d 'every byte as it was written'
complete -c ostiary -n '__fish_seen_subcommand_from stop' -s t -l time -x -d 'kill after this time'
complete -c ostiary -n '__fish_seen_subcommand_from rm' -s f -l force -d 'end the box first if it runs'
complete -c ostiary -n '__fish_seen_subcommand_from profile' -l from -x -a '(__ostiary_profiles)' -d 'begin with this profile'
complete -c ostiary -n '__fish_seen_subcommand_from policy' -l policy -r -F -d 'rules that go before your own'
complete -c ostiary -n '__fish_seen_subcommand_from policy' -l profile -x -a '(__ostiary_profiles)' -d 'with its rules'
complete -c ostiary -n '__fish_seen_subcommand_from policy' -l header -x -d 'a header of the request'
complete -c ostiary -n '__fish_seen_subcommand_from policy' -l data -x -d 'its body'

complete -c ostiary -n '__fish_seen_subcommand_from run create explain' -a '(__ostiary_profiles)' -d agent
complete -c ostiary -n '__fish_seen_subcommand_from exec attach logs stop rm' -a '(__ostiary_boxes)' -d box
complete -c ostiary -n '__fish_seen_subcommand_from cp' -F -a '(__ostiary_boxes | string replace -r "$" :)'
complete -c ostiary -n '__fish_seen_subcommand_from profile' -a 'ls show new (__ostiary_profiles)'
complete -c ostiary -n '__fish_seen_subcommand_from help' -a 'run shell create exec attach cp ps logs stop rm gc explain doctor probe profile policy version help'
complete -c ostiary -n '__fish_seen_subcommand_from policy' -a check
