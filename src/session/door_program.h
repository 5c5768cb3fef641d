/* door_program.h - where the second program, ostiary-door, is: beside this one in a build tree, in
 * ../libexec/ostiary when installed. Never looked for in PATH. */
#ifndef SESSION_DOOR_PROGRAM_H
#define SESSION_DOOR_PROGRAM_H

#include <sys/types.h>

struct err;

/* door_program_open(err): a descriptor to execute it by (close-on-exec), or -1 with a sentence that
 * says where it was looked for. */
int door_program_open(struct err *);

/* door_program_run(door_fd, argv, err): start it with ${argv} for an errand, with an environment of
 * nothing but a PATH, and /dev/null as its only descriptors. Returns its pid or -1. Roles are
 * started in sup_door_roles.c. */
pid_t door_program_run(int door_fd, char *const argv[], struct err *);

/* door_program_become(door_fd, argv): the same in a child that exists already. */
_Noreturn void door_program_become(int door_fd, char *const argv[]);

#endif
