/* upstream_int.h - connections to origins, for the two files that keep them: upstream.c (the pool:
 * who gets which) and upstream_make.c (dial, TLS, the engine). Nobody else looks in here. */
#ifndef EGRESS_UPSTREAM_INT_H
#define EGRESS_UPSTREAM_INT_H

#include "egress/door.h"
#include "egress/upstream.h"

/* What two requests must have in common to share a connection. */
struct upstream_key {
        struct host_name host, to;
        uint16_t port, to_port;
        bool is_tls, is_h1_only;
        bool is_h2c; /* HTTP/2 without TLS: whoever asks speaks it, and has no other way to know */
        char *ca;
        char *secrets; /* names of those that its requests show; NULL for none */
};

struct upstream {
        struct door *door;
        struct upstream *next, **prev;
        struct upstream_key key;
        struct dial_call *call;         /* while dial works on it */
        struct conn *conn;              /* while TLS is agreed on; afterwards the engine's */
        const struct upstream_ops *ops; /* once it is ready */
        void *engine;
        bool is_idle, is_gone, is_likely_h2;
        bool is_spare; /* made in advance; nobody waits for it yet */
        bool is_open;  /* nobody has used it: whoever comes first says which secrets it is for */
        struct loop_timer timer;
        char address[64];
};

struct upstream_wait {
        struct exchange *x;
        struct upstream *up; /* the one that is being made for it */
        unsigned heirs_n;    /* how often that one went away */
        struct upstream_wait *next;
};

/* upstream.c */
/* upstream_add(d, k): one that is not even dialled yet; ${k} is moved. */
struct upstream *upstream_add(struct door *, struct upstream_key *);

/* upstream_make.c */
/* upstream_make(d, k): one that is dialled; ${k} is moved. upstream_make_alike(u): another one to
 * the same place. */
struct upstream *upstream_make(struct door *, struct upstream_key *);
struct upstream *upstream_make_alike(const struct upstream *);
/* upstream_make_h1(u): the same for HTTP/1 alone. */
struct upstream *upstream_make_h1(const struct upstream *);
/* upstream_give_up(u, sentence): everybody who waits for this very connection hears of it. */
void upstream_give_up(struct upstream *, const char *sentence);

#endif
