/* exitcode.h - what our own exit statuses mean. A command's own status is passed on as it is, and
 * 128+n when signal n ended it; these are for everything else. They lie beside 125 to 127, where
 * shells, env and container tools have theirs, because `run` and `exec` pass on what the command
 * says. cli/exitcodes.c has the words; `ostiary help exit-codes` prints them. */
#ifndef BASE_EXITCODE_H
#define BASE_EXITCODE_H

enum exitcode {
        EXIT_OK = 0,
        EXIT_NEGATIVE =
                1, /* a question was answered no: probe found an open wall, doctor a fault */
        EXIT_BAD_USAGE = 64, /* unknown flag or subcommand, missing argument */
        EXIT_INPUT = 119,    /* a file or value that was given cannot be used */
        EXIT_BY_LIMIT = 120, /* the box was ended by its memory, disk or process limit */
        EXIT_ABSENT = 121,   /* what was named is not there: box, snapshot, profile, secret */
        EXIT_REFUSED = 122,  /* a rule, or the state of the box, does not permit it */
        EXIT_MACHINE = 123,  /* this machine cannot build a box */
        EXIT_BY_TIME = 124,  /* the box was ended by its time limit */
        EXIT_OURS = 125,     /* ostiary itself could not do it */
        EXIT_NOEXEC = 126,   /* the command was found and cannot be executed */
        EXIT_NOCMD = 127,    /* the command was not found */
};

/* exitcode_of(err_code): the status that goes with an error (enum err_code). */
int exitcode_of(int err_code);

#endif
