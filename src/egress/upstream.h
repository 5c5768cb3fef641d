/* upstream.h - connections to origins: found in the pool or dialled, TLS verified, spoken to in the
 * protocol that ALPN gave. Keyed by host, port, TLS, the rule's to= and ca=, and the secrets that
 * are shown, so that nothing is shared that policy or custody tells apart. */
#ifndef EGRESS_UPSTREAM_H
#define EGRESS_UPSTREAM_H

#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct door;
struct exchange;
struct rule;
struct upstream;

/* A protocol on an open connection to an origin (h1_client.c, h2_client.c). */
struct upstream_ops {
        const char *protocol; /* "http/1.1", "h2" */
        /* The connection is ready; make the engine and take over its callbacks. */
        void *(*begin)(struct upstream *, struct conn *);
        /* Can it take one more exchange now? */
        bool (*has_room)(void *engine);
        /* Is nobody using it, so that it may wait in the pool or be closed? */
        bool (*is_quiet)(void *engine);
        /* Has nothing come on it that nobody asked for? NULL: the protocol tells answers apart. */
        bool (*is_clean)(void *engine);
        /* Take it: calls exchange_attach. */
        void (*take)(void *engine, struct exchange *);
        void (*free)(void *engine); /* and its connection */
};
extern const struct upstream_ops h1_upstream, h2_upstream;

/* upstream_get(door, x, host, port, is_tls, rule): lead to exchange_attach or exchange_fail, now or
 * later. ${rule} is the one that allowed it. */
void upstream_get(struct door *, struct exchange *, const struct host_name *, uint16_t port,
                  bool is_tls, const struct rule *);
/* upstream_prepare(door, host, port): a client begins TLS with this name; begin the same with the
 * origin at once if rules may allow anything there, so that both handshakes run side by side. */
void upstream_prepare(struct door *, const struct host_name *, uint16_t port);
/* upstream_forget(door, x): it does not wait any more. */
void upstream_forget(struct door *, struct exchange *);

/* --- for engines --- */
/* upstream_free_room(u): the engine has room (again); it may be given a waiting exchange or pooled.
 */
void upstream_free_room(struct upstream *);
/* upstream_gone(u): the connection is over; the engine's free is called, later. */
void upstream_gone(struct upstream *);
/* upstream_is_h1(u): it was taken for HTTP/2 without TLS and is not: whoever waits for it gets
 * HTTP/1, or hears of it where only HTTP/2 will do (gRPC). Before upstream_gone. */
void upstream_is_h1(struct upstream *);
struct door *upstream_door(const struct upstream *);
bool upstream_is_tls(const struct upstream *);

#endif
