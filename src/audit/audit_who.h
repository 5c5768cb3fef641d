/* audit_who.h - what the log's writer hears of the witness: records of calls, and which process
 * began a connection. Called by audit_role.c alone, whose state it shares. */
#ifndef AUDIT_AUDIT_WHO_H
#define AUDIT_AUDIT_WHO_H

#include "audit/chain.h"
#include "audit/refused.h"
#include "audit/seen.h"
#include "base/buf.h"
#include "base/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITERS_MAX = 64 };

struct writer {
        int fd;
        struct loop_src *src;
        bool is_witness;
        int kick_fd; /* of a witness: its pipe is full; else -1 */
        struct loop_src *kick_src;
        struct buf in; /* of a witness: what was read, from ${in_at} on not heard yet */
        size_t in_at;
};

struct role {
        const char *box;
        struct loop *loop;
        int control_fd, log_fd, head_fd;
        struct loop_src *control_src;
        struct writer *writers[WRITERS_MAX];
        size_t writers_n;
        struct chain chain;
        uint64_t log_len;
        struct buf out;     /* lines that are not written yet */
        struct buf strings; /* of the record in hand */
        struct buf told;    /* of what the witness tells meanwhile */
        size_t heard_n;     /* of the witness, in this round */
        int rest_fd;        /* when it is listened to again */
        bool is_paced, is_in_debt;
        int64_t credit;     /* bytes that may be written before the witness has to wait */
        uint64_t credit_ms; /* when that was reckoned */
        struct refused refused;
        struct seen seen;
        size_t vain_n; /* connections in a row that nobody was seen to begin */
        struct loop_timer retry;
        bool is_stuck, is_behind; /* the log, and its head, take no more */
};

/* audit_who_hear(r, w): one thing that this witness tells. false when there is none now; errno is 0
 * then when it is gone. */
bool audit_who_hear(struct role *, struct writer *);
/* audit_who_has(w): something was read and not heard: who stops now is not woken for it. */
bool audit_who_has(const struct writer *);

/* audit_who_drain(r): what the witnesses told so far. To be called before a record of anybody else
 * is taken: it happened before. */
void audit_who_drain(struct role *);

/* audit_who_find(r, port, who): which process began the connection from this port? Waits for the
 * witness a little. */
bool audit_who_find(struct role *, uint32_t port, struct chain_process *who);

#endif
