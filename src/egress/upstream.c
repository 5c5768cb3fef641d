/* upstream.c - see upstream.h. Each exchange that waits has a connection that is being made for it;
 * whichever comes free first, that one or another to the same place, takes it. An HTTP/2 origin is
 * remembered, so that the next exchanges wait for the one connection instead of making more. */
#include "egress/upstream.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/conn.h"
#include "egress/door.h"
#include "egress/trust.h"
#include "policy/policy_dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDLE_MAX = 128, IDLE_MS = 60000, HEIRS_MAX = 3 };

struct key {
        struct host_name host, to;
        uint16_t port, to_port;
        bool is_tls, is_h1_only;
        char *ca;
        char *secrets; /* names of those that its requests show; NULL for none */
};

struct upstream {
        struct door *door;
        struct upstream *next, **prev;
        struct key key;
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

static bool text_equal(const char *a, const char *b)
{
        return a ? b && strcmp(a, b) == 0 : !b;
}

static bool place_equal(const struct key *a, const struct key *b)
{
        return a->port == b->port && a->is_tls == b->is_tls && a->is_h1_only == b->is_h1_only &&
               a->to_port == b->to_port && host_name_equal(&a->host, &b->host) &&
               (a->to.len == 0 ? b->to.len == 0 : host_name_equal(&a->to, &b->to)) &&
               text_equal(a->ca, b->ca);
}

static bool key_equal(const struct key *a, const struct key *b)
{
        return place_equal(a, b) && text_equal(a->secrets, b->secrets);
}

static void key_free(struct key *k)
{
        free(k->ca);
        free(k->secrets);
}

struct door *upstream_door(const struct upstream *u)
{
        return u->door;
}

bool upstream_is_tls(const struct upstream *u)
{
        return u->key.is_tls;
}

static void set_idle(struct upstream *u, bool yes)
{
        if (u->is_idle == yes)
                return;
        u->is_idle = yes;
        u->door->idle_n += yes ? 1 : (size_t)-1;
        if (!yes)
                loop_timer_stop(&u->timer);
}

static void free_later(void *p)
{
        struct upstream *u = p;
        if (u->call)
                link_dial_cancel(u->door, u->call);
        if (u->engine)
                u->ops->free(u->engine);
        else
                conn_free(u->conn);
        key_free(&u->key);
        free(u);
}

/* add(d, k): one that is not even dialled yet; ${k} is moved. */
static struct upstream *add(struct door *d, struct key *k)
{
        struct upstream *u = calloc(1, sizeof *u);
        if (!u)
                str_no_memory();
        *u = (struct upstream){.door = d, .key = *k, .next = d->upstreams, .prev = &d->upstreams};
        k->ca = k->secrets = NULL;
        if (u->next)
                u->next->prev = &u->next;
        d->upstreams = u;
        return u;
}

static struct upstream *make(struct door *, struct key *);

/* make_alike(u): another one to the same place. */
static struct upstream *make_alike(const struct upstream *u)
{
        struct key k = u->key;
        k.ca = u->key.ca ? str_dup(u->key.ca) : NULL;
        k.secrets = u->key.secrets ? str_dup(u->key.secrets) : NULL;
        struct upstream *twin = make(u->door, &k);
        twin->is_likely_h2 = u->ops == &h2_upstream;
        return twin;
}

static void give_up(struct upstream *, const char *);

static void end_in_vain(void *p)
{
        give_up(p, "the origin closes its connections before it can be asked");
}

/* leave_heir(u): whoever still waits for room on it waits for another one now, though not for ever.
 */
static void leave_heir(struct upstream *u)
{
        struct upstream *heir = NULL, *vain = NULL;
        for (struct upstream_wait *w = u->door->waits; w; w = w->next) {
                if (w->up != u)
                        continue;
                if (++w->heirs_n > HEIRS_MAX) {
                        if (!vain) {
                                vain = add(u->door, &(struct key){.host = u->key.host});
                                door_later(u->door, end_in_vain, vain);
                        }
                        w->up = vain;
                } else {
                        if (!heir || !heir->is_likely_h2)
                                heir = make_alike(u);
                        w->up = heir;
                }
        }
}

void upstream_gone(struct upstream *u)
{
        if (u->is_gone)
                return;
        leave_heir(u);
        u->is_gone = true;
        set_idle(u, false);
        loop_timer_stop(&u->timer);
        *u->prev = u->next;
        if (u->next)
                u->next->prev = u->prev;
        door_later(u->door, free_later, u);
}

/* take_wait(d, u): the next exchange that could use ${u}; its place in the list is gone then. */
static struct exchange *take_wait(struct door *d, const struct upstream *u)
{
        struct upstream_wait **found = NULL;
        for (struct upstream_wait **p = &d->waits; *p; p = &(*p)->next)
                if ((*p)->up == u || key_equal(&(*p)->up->key, &u->key))
                        found = p; /* the oldest is the last */
        if (!found)
                return NULL;
        struct upstream_wait *w = *found;
        struct exchange *x = w->x;
        struct upstream *its = w->up;
        *found = w->next;
        free(w);
        /* Whoever waited for ${u} itself gets what was being made for ${x}. */
        for (w = d->waits; w && its != u; w = w->next)
                if (w->up == u) {
                        w->up = its;
                        break;
                }
        return x;
}

static void on_idle_over(void *ctx)
{
        upstream_gone(ctx);
}

/* evict(d): the pool is full; the one that has been idle for longest goes. */
static void evict(struct door *d)
{
        struct upstream *oldest = NULL;
        for (struct upstream *u = d->upstreams; u; u = u->next)
                if (u->is_idle && (!oldest || u->timer.at < oldest->timer.at))
                        oldest = u;
        if (oldest)
                upstream_gone(oldest);
}

static void give(struct upstream *u, struct exchange *x)
{
        set_idle(u, false);
        exchange_address(x, u->address);
        u->ops->take(u->engine, x);
}

void upstream_free_room(struct upstream *u)
{
        struct exchange *x;
        while (!u->is_gone && u->ops->has_room(u->engine) && (x = take_wait(u->door, u)))
                give(u, x);
        if (u->is_gone || u->is_idle || !u->ops->is_quiet(u->engine))
                return;
        if (u->door->idle_n >= IDLE_MAX)
                evict(u->door);
        set_idle(u, true);
        u->timer.fn = on_idle_over;
        u->timer.ctx = u;
        loop_timer_set(u->door->loop, &u->timer, IDLE_MS);
}

/* --- making one --------------------------------------------------------------------------------
 */

/* give_up(u, sentence): everybody who waits for this very connection hears of it. */
static void give_up(struct upstream *u, const char *sentence)
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
                        w->up = make_alike(u);
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
        give_up(u, words);
        free(words);
}

static void on_nothing(void *ctx)
{
        (void)ctx;
}

static const struct conn_ops handshake_ops = {
        .ready = on_ready, .readable = on_nothing, .drained = on_nothing, .closed = on_closed};

static void on_dialled(void *ctx, int fd, const char *address, enum door_dial_fault fault,
                       const char *why)
{
        struct upstream *u = ctx;
        struct err err = {0};
        (void)fault;
        u->call = NULL;
        if (fd < 0) {
                give_up(u, why);
                return;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        strncpy(u->address, address, sizeof u->address - 1);
        if (!u->key.is_tls) {
                start(u, &h1_upstream, conn_plain(u->door, fd, &handshake_ops, u));
                return;
        }
        SSL *ssl = tls_client(u->door, &u->key.host, u->key.ca, u->key.is_h1_only, &err);
        if (!ssl) {
                close(fd);
                give_up(u, err.text);
                return;
        }
        u->conn = conn_tls(u->door, fd, ssl, &handshake_ops, u);
}

static struct upstream *make(struct door *d, struct key *k)
{
        struct upstream *u = add(d, k);
        u->call = link_dial(d, REQUEST_HTTP, &u->key.host, u->key.port, on_dialled, u);
        return u;
}

static void put_rule(struct key *k, const struct rule *rule)
{
        if (rule) {
                k->to = rule->to;
                k->to_port = rule->to_port;
                k->ca = rule->ca ? str_dup(rule->ca) : NULL;
        }
}

void upstream_prepare(struct door *d, const struct host_name *host, uint16_t port)
{
        struct policy_decision p;
        policy_may_dial(d->policy, REQUEST_HTTP, host, port, &p);
        if (p.verdict != POLICY_ALLOW) /* where somebody is asked, nothing is begun before */
                return;
        /* Nor where it is counted: looking a name up says it to others, and is not counted here. */
        if (p.line->rule.hosts || p.line->rule.rate_n || p.line->rule.bytes)
                return;
        struct key k = {.host = *host, .port = port, .is_tls = true};
        put_rule(&k, &p.line->rule);
        for (struct upstream *u = d->upstreams; u; u = u->next)
                if (place_equal(&u->key, &k) && (!u->ops || u->ops->has_room(u->engine))) {
                        key_free(&k);
                        return;
                }
        struct upstream *spare = make(d, &k);
        spare->is_spare = spare->is_open = true;
}

/* claim(u, secrets): the first request on a connection that was made in advance. */
static void claim(struct upstream *u, const char *secrets)
{
        u->is_open = false;
        free(u->key.secrets);
        u->key.secrets = secrets ? str_dup(secrets) : NULL;
}

void upstream_get(struct door *d, struct exchange *x, const struct host_name *host, uint16_t port,
                  bool is_tls, const struct rule *rule)
{
        bool is_ws = exchange_request_head(x)->is_websocket;
        struct key k = {
                .host = *host, .port = port, .is_tls = is_tls, .is_h1_only = is_ws || !is_tls};
        put_rule(&k, rule);
        /* Requests with different credentials never share a connection: what an origin remembers of
         * one must not count for the other. */
        const char *secrets = exchange_secrets(x);
        k.secrets = secrets[0] ? str_dup(secrets) : NULL;
        struct upstream *making = NULL;
        bool is_h2 = false;
        for (struct upstream *u = d->upstreams; u; u = u->next) {
                if (u->is_open && place_equal(&u->key, &k))
                        claim(u, k.secrets);
                if (!key_equal(&u->key, &k))
                        continue;
                if (u->ops && u->ops->has_room(u->engine)) {
                        key_free(&k);
                        give(u, x);
                        return;
                }
                is_h2 = is_h2 || u->ops == &h2_upstream;
                if (!u->ops && (u->is_likely_h2 || u->is_spare))
                        making = u;
        }
        struct upstream_wait *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct upstream_wait){.x = x, .next = d->waits};
        d->waits = w;
        /* Where another connection to the place is HTTP/2, the next will be: share it. */
        w->up = making ? making : make(d, &k);
        w->up->is_likely_h2 = w->up->is_likely_h2 || is_h2;
        w->up->is_spare = false;
        key_free(&k);
}

void upstream_forget(struct door *d, struct exchange *x)
{
        struct upstream *its = NULL;
        for (struct upstream_wait **p = &d->waits; *p; p = &(*p)->next)
                if ((*p)->x == x) {
                        struct upstream_wait *w = *p;
                        its = w->up;
                        *p = w->next;
                        free(w);
                        break;
                }
        /* What nobody waits for any more is for the next one: a program that asks and hangs up in
         * turns must not have one made each time. */
        for (struct upstream_wait *w = d->waits; w && its; w = w->next)
                if (w->up == its)
                        its = NULL;
        if (its && !its->ops)
                its->is_spare = its->is_open = true;
}
