/* door_program.h - where the second program, ostiary-door, is: beside this one in a build tree, in
 * ../libexec/ostiary when installed. Never looked for in PATH. */
#ifndef SESSION_DOOR_PROGRAM_H
#define SESSION_DOOR_PROGRAM_H

#include <stddef.h>

struct err;

/* door_program_open(err): a descriptor to execute it by (close-on-exec), or -1 with a sentence that
 * says where it was looked for. */
int door_program_open(struct err *);

/* door_program_run(door_fd, argv, words, n, err): run it with ${argv} for an errand, with an
 * environment of nothing but a PATH and no descriptor but /dev/null and a pipe for complaints, of
 * which ${words} gets the first ${n} - 1 bytes. Returns its wait status, or -1. Roles are started
 * in sup_door_roles.c. */
int door_program_run(int door_fd, char *const argv[], char *words, size_t n, struct err *);

/* door_program_become(door_fd, argv, words_fd): the same in a child that exists already;
 * ${words_fd} becomes its standard error, -1 for none. */
_Noreturn void door_program_become(int door_fd, char *const argv[], int words_fd);

#endif
