/* upstream_make.c - see upstream.h: how a connection to an origin comes to be: dial connects, TLS
 * is agreed on, the engine of its protocol takes it; or everybody who waits for it hears why not.
 * What the certificate has to show is decided in trust.c. */
#include "egress/upstream_int.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/conn.h"
#include "egress/trust.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void upstream_give_up(struct upstream *u, const char *sentence)
{
        struct door *d = u->door;
        for (;;) {
                struct upstream_wait **p = &d->waits;
                while (*p && (*p)->up != u)
                        p = &(*p)->next;
                if (!*p)
                        break;
                struct upstream_wait *w = *p;
                struct exchange *x = w->x;
                *p = w->next;
                free(w);
                exchange_fail(x, false, sentence);
        }
        upstream_gone(u);
}

/* spread(u): it was to be shared and cannot be; all but one of those who wait get their own. */
static void spread(struct upstream *u)
{
        bool is_first = true;
        for (struct upstream_wait *w = u->door->waits; w; w = w->next) {
                if (w->up != u)
                        continue;
                if (!is_first)
                        w->up = upstream_make_alike(u);
                is_first = false;
        }
}

static void start(struct upstream *u, const struct upstream_ops *ops, struct conn *c)
{
        u->conn = NULL;
        u->ops = ops;
        u->engine = ops->begin(u, c);
        if (u->is_likely_h2 && ops != &h2_upstream)
                spread(u);
        upstream_free_room(u);
}

static void on_ready(void *ctx)
{
        struct upstream *u = ctx;
        const char *alpn = tls_alpn(conn_ssl(u->conn));
        start(u, strcmp(alpn, "h2") == 0 ? &h2_upstream : &h1_upstream, u->conn);
}

static void on_closed(void *ctx, const char *why)
{
        struct upstream *u = ctx;
        const char *cert = u->conn && conn_ssl(u->conn) ? trust_words(conn_ssl(u->conn)) : NULL;
        char *words = str_fmt("TLS with %s (%s) failed: %s", u->key.host.text, u->address,
                              cert ? cert : why);
        upstream_give_up(u, words);
        free(words);
}

static void on_nothing(void *ctx)
{
        (void)ctx;
}

static const struct conn_ops handshake_ops = {
        .ready = on_ready, .readable = on_nothing, .drained = on_nothing, .closed = on_closed};

/* An origin that does not answer our first frame with its own waits for something else. */
static void on_no_greeting(void *ctx)
{
        upstream_is_h1(ctx);
        upstream_gone(ctx);
}

static void on_dialled(void *ctx, int fd, const char *address, enum door_dial_fault fault,
                       const char *why)
{
        struct upstream *u = ctx;
        struct err err = {0};
        (void)fault;
        u->call = NULL;
        if (fd < 0) {
                upstream_give_up(u, why);
                return;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        strncpy(u->address, address, sizeof u->address - 1);
        if (!u->key.is_tls) {
                if (u->key.is_h2c) {
                        u->timer.fn = on_no_greeting;
                        u->timer.ctx = u;
                        loop_timer_set(u->door->loop, &u->timer, DOOR_HEAD_MS);
                }
                start(u, u->key.is_h2c ? &h2_upstream : &h1_upstream,
                      conn_plain(u->door, fd, &handshake_ops, u));
                return;
        }
        SSL *ssl = tls_client(u->door, &u->key.host, u->key.ca, u->key.is_h1_only, &err);
        if (!ssl) {
                close(fd);
                upstream_give_up(u, err.text);
                return;
        }
        u->conn = conn_tls(u->door, fd, ssl, &handshake_ops, u);
}

struct upstream *upstream_make(struct door *d, struct upstream_key *k)
{
        struct upstream *u = upstream_add(d, k);
        u->call = link_dial(d, REQUEST_HTTP, &u->key.host, u->key.port, on_dialled, u);
        return u;
}

struct upstream *upstream_make_alike(const struct upstream *u)
{
        struct upstream_key k = u->key;
        k.ca = u->key.ca ? str_dup(u->key.ca) : NULL;
        k.secrets = u->key.secrets ? str_dup(u->key.secrets) : NULL;
        struct upstream *twin = upstream_make(u->door, &k);
        twin->is_likely_h2 = u->ops == &h2_upstream;
        return twin;
}

struct upstream *upstream_make_h1(const struct upstream *u)
{
        struct upstream_key k = u->key;
        k.ca = u->key.ca ? str_dup(u->key.ca) : NULL;
        k.secrets = u->key.secrets ? str_dup(u->key.secrets) : NULL;
        k.is_h2c = false;
        k.is_h1_only = true;
        return upstream_make(u->door, &k);
}
