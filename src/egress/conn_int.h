/* conn_int.h - the insides of a connection, shared by conn.c (its life and what arrives) and
 * conn_out.c (what leaves). */
#ifndef EGRESS_CONN_INT_H
#define EGRESS_CONN_INT_H

#include "base/buf.h"
#include "base/loop.h"
#include "egress/conn.h"

#include <stdbool.h>

/* What is left for a slow reader is sent as long as it takes some of it now and then. */
enum { CONN_GOODBYE_MS = 2000, CONN_SLOW_MS = 10000 };

struct conn {
        struct door *door;
        int fd;
        SSL *ssl;
        struct loop_src *src;
        const struct conn_ops *ops;
        void *ctx;
        struct buf out;
        size_t out_at;  /* what of it is sent */
        size_t charged; /* for it, and for itself */
        size_t own;     /* of that: for itself */
        unsigned reads;
        bool is_shaking, wants_read, was_full, is_cut, is_ended;
        bool is_dry; /* the last read of this round took all there was */
        bool is_finishing, is_goodbye_sent, is_orphan, is_failed, is_dead, is_kicked;
        bool is_stirred, wants_later; /* why it was kicked */
        bool is_gathering;            /* what is queued waits for more of it, not for the kernel */
        bool is_wiped;                /* what was queued is, once it is sent */
        const char *why;
        struct loop_timer timer;
        size_t left; /* of an orphan: what was queued when its timer was set */
        struct conn *next_dead, *next_kicked;
};

/* conn.c */
/* conn_put_on_list(c): have it looked at between two rounds; conn_fail: the same, and it is over.
 */
void conn_put_on_list(struct conn *);
void conn_fail(struct conn *, const char *why);
/* conn_update(c): tell the loop what it waits for now. */
void conn_update(struct conn *);
/* conn_tls_trouble(c, r): what an SSL_* call that did not succeed means: 0 to wait, -1 for the end
 * or an error that was noted. */
int conn_tls_trouble(struct conn *, int r);

/* conn_out.c */
/* conn_flush(c): pass on what is queued, as far as the kernel takes it. */
void conn_flush(struct conn *);
/* conn_send_gathered(c): it waited long enough. */
void conn_send_gathered(struct conn *);
/* conn_say_goodbye(c): once nothing is queued any more. */
void conn_say_goodbye(struct conn *);
/* conn_charge(c): what it holds, for the account. */
void conn_charge(struct conn *);
/* conn_clear(c): wipe what has to be wiped, and let go. */
void conn_clear(struct conn *);

#endif
