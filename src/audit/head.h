/* head.h - where a log ends, kept outside of it: number and hash of its last line, and its size.
 * Written by the log's writer after every write to the log, so that lines cut off its end are
 * missed (`ostiary audit verify`).
 *
 * The file is `audit.head` in the box's directory: one line of fixed length. */
#ifndef AUDIT_HEAD_H
#define AUDIT_HEAD_H

#include "audit/chain.h"

#include <stdbool.h>
#include <stdint.h>

#define AUDIT_HEAD "audit.head"

struct head {
        bool is_there; /* false: the file is absent or empty */
        uint64_t seq, size;
        char hash[SHA256_HEX_LEN + 1];
};

/* head_write(fd, c, size): in one write. 0 or -1 with errno. */
int head_write(int fd, const struct chain *, uint64_t size);

/* head_read(fd, h, err): 0, or -1 when what stands there is no head. */
int head_read(int fd, struct head *, struct err *);

/* head_compare(fd, c, size): does the log that ends so end where its head says? NULL, or a sentence
 * for the log. */
const char *head_compare(int fd, const struct chain *, uint64_t size);

#endif
