extends default
about   A shell to look around in
command bash

# Your own .bashrc is not copied: many hold keys.
seed    write ~/.bashrc "PS1='[box] \\w \\$ '\nalias ls='ls --color=auto'\nalias ll='ls -l'\nHISTCONTROL=ignoreboth\n"
seed    copy ~/.inputrc
seed    copy ~/.vimrc
seed    copy ~/.tmux.conf
