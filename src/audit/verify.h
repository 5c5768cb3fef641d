/* verify.h - is a log what its writer wrote? Reads the log and its head; never writes. Used by
 * `ostiary audit verify`. What it cannot find is in docs/audit.md. */
#ifndef AUDIT_VERIFY_H
#define AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct audit_verdict {
        bool is_there;    /* the box has a log */
        bool is_whole;    /* nothing was found */
        uint64_t records; /* lines */
        uint64_t torn_n;  /* lines that were cut off when the writer was killed, and mended */
        uint64_t line;    /* where the first fault is; 0: not in a line */
        char hash[65];    /* of the last line */
        char fault[256];  /* a sentence, or "" */
};

/* audit_verify(dir_fd, is_living, v, err): ${is_living}: the box runs, so the log may grow while it
 * is read. 0 whatever it finds; -1 when the files cannot be read. */
int audit_verify(int dir_fd, bool is_living, struct audit_verdict *, struct err *);

#endif
