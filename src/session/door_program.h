/* door_program.h - where the second program, ostiary-door, is: beside this one in a build tree, in
 * ../libexec/ostiary when installed. Never looked for in PATH. */
#ifndef SESSION_DOOR_PROGRAM_H
#define SESSION_DOOR_PROGRAM_H

#include <sys/types.h>

struct err;

/* door_program_open(err): a descriptor to execute it by (close-on-exec), or -1 with a sentence that
 * says where it was looked for. */
int door_program_open(struct err *);

/* door_program_run(door_fd, argv, err): start it with ${argv} (argv[0] is free to choose), an
 * environment of nothing but a PATH, /dev/null as its three first descriptors and no other. For
 * errands; roles are started by sup_door. Returns its pid or -1. */
pid_t door_program_run(int door_fd, char *const argv[], struct err *);

#endif
