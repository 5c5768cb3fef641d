/* chain.h - the lines of a log and how each holds the one before: composing them, and finding out
 * where a log that exists already ended. Used by the role that writes and by whoever verifies. */
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct door_record;
struct err;

/* The process that asked, as the witness saw it. */
struct chain_process {
        uint32_t pid;
        const char *exe;
};

struct chain {
        uint64_t seq;                  /* of the last line; 0 before the first */
        char prev[SHA256_HEX_LEN + 1]; /* of the last line; zeros before the first */
        bool is_torn;                  /* the log ends in the middle of a line */
};

/* chain_begin(c): of a log that has no line. */
void chain_begin(struct chain *);

/* chain_resume(c, fd, err): go on where the log in ${fd} ends. A line that was cut off counts as a
 * line; whoever writes on must end it first (chain_mend). */
int chain_resume(struct chain *, int fd, struct err *);

/* chain_mend(c, box, now_us, out): after a torn end: the missing newline and a line that says so.
 */
void chain_mend(struct chain *, const char *box, uint64_t now_us, struct buf *out);

/* chain_put(c, box, r, who, out): append the line of ${r} and move the chain on. ${who} may be
 * NULL.
 */
void chain_put(struct chain *, const char *box, const struct door_record *,
               const struct chain_process *who, struct buf *out);

/* chain_seq(line, n, &seq): the number of a line of ours, by its first field. 0 or -1. */
int chain_seq(const char *line, size_t n, uint64_t *);

#endif
