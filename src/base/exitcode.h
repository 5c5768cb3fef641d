/* exitcode.h - what our own exit statuses mean. A command's own status is passed on as it is, and
 * 128+n when signal n ended it; these are for everything else, and the man page lists them. */
#ifndef BASE_EXITCODE_H
#define BASE_EXITCODE_H

enum exitcode {
        EXIT_OK = 0,
        EXIT_NEGATIVE =
                1, /* a question was answered no: probe found an open wall, doctor a fault */
        EXIT_BAD_USAGE = 64, /* unknown flag or subcommand, missing argument */
        EXIT_BY_LIMIT = 120, /* the box was ended by its memory, disk or process limit */
        EXIT_BY_TIME = 124,  /* the box was ended by its time limit */
        EXIT_OURS = 125,     /* ostiary itself could not do it */
        EXIT_NOEXEC = 126,   /* the command was found and cannot be executed */
        EXIT_NOCMD = 127,    /* the command was not found */
};

#endif
