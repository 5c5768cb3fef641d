/* upstream.c - see upstream.h. Each exchange that waits has a connection that is being made for it;
 * whichever comes free first, that one or another to the same place, takes it. An HTTP/2 origin is
 * remembered, so that the next exchanges wait for the one connection instead of making more. */
#include "egress/upstream_int.h"

#include "base/str.h"
#include "egress/conn.h"
#include "policy/policy_dial.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { IDLE_MAX = 128, IDLE_MS = 60000, HEIRS_MAX = 3 };

static bool text_equal(const char *a, const char *b)
{
        return a ? b && strcmp(a, b) == 0 : !b;
}

static bool place_equal(const struct upstream_key *a, const struct upstream_key *b)
{
        return a->port == b->port && a->is_tls == b->is_tls && a->is_h1_only == b->is_h1_only &&
               a->is_h2c == b->is_h2c && a->to_port == b->to_port &&
               host_name_equal(&a->host, &b->host) &&
               (a->to.len == 0 ? b->to.len == 0 : host_name_equal(&a->to, &b->to)) &&
               text_equal(a->ca, b->ca);
}

static bool key_equal(const struct upstream_key *a, const struct upstream_key *b)
{
        return place_equal(a, b) && text_equal(a->secrets, b->secrets);
}

static void key_free(struct upstream_key *k)
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

struct upstream *upstream_add(struct door *d, struct upstream_key *k)
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

static void end_in_vain(void *p)
{
        upstream_give_up(p, "the origin closes its connections before it can be asked");
}

static void end_as_h1(void *p)
{
        upstream_give_up(p, "the origin does not speak HTTP/2 without TLS, which gRPC needs here");
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
                                vain = upstream_add(u->door,
                                                    &(struct upstream_key){.host = u->key.host});
                                door_later(u->door, end_in_vain, vain);
                        }
                        w->up = vain;
                } else {
                        if (!heir || !heir->is_likely_h2)
                                heir = upstream_make_alike(u);
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

/* needs_h2(x): gRPC is nothing without trailers and streams. */
static bool needs_h2(const struct exchange *x)
{
        const struct head *h = exchange_request_head(x);
        const struct field *f = head_find(h, "content-type");
        return f && strncasecmp(head_str(h, f->value), "application/grpc", 16) == 0;
}

void upstream_is_h1(struct upstream *u)
{
        struct upstream *vain = NULL;
        for (struct upstream_wait *w = u->door->waits; w; w = w->next) {
                if (w->up != u)
                        continue;
                if (!needs_h2(w->x)) {
                        w->up = upstream_make_h1(u);
                        continue;
                }
                if (!vain) {
                        vain = upstream_add(u->door, &(struct upstream_key){.host = u->key.host});
                        door_later(u->door, end_as_h1, vain);
                }
                w->up = vain;
        }
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

/* is_clean(u): nobody waits for what may have come on it. */
static bool is_clean(const struct upstream *u)
{
        return !u->ops->is_clean || u->ops->is_clean(u->engine);
}

void upstream_free_room(struct upstream *u)
{
        struct exchange *x;
        if (u->key.is_h2c && u->ops->is_quiet(u->engine) && !u->is_idle)
                loop_timer_stop(&u->timer); /* it has greeted */
        while (!u->is_gone && u->ops->has_room(u->engine) && is_clean(u) &&
               (x = take_wait(u->door, u)))
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

static void put_rule(struct upstream_key *k, const struct rule *rule)
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
        struct upstream_key k = {.host = *host, .port = port, .is_tls = true};
        put_rule(&k, &p.line->rule);
        for (struct upstream *u = d->upstreams; u; u = u->next)
                if (place_equal(&u->key, &k) && (!u->ops || u->ops->has_room(u->engine))) {
                        key_free(&k);
                        return;
                }
        struct upstream *spare = upstream_make(d, &k);
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
        bool is_h2c = !is_tls && !is_ws && exchange_is_h2(x);
        struct upstream_key k = {.host = *host,
                                 .port = port,
                                 .is_tls = is_tls,
                                 .is_h1_only = is_ws || (!is_tls && !is_h2c),
                                 .is_h2c = is_h2c};
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
                bool has_room = u->ops && u->ops->has_room(u->engine);
                if (has_room && !is_clean(u)) {
                        upstream_gone(u);
                        continue;
                }
                if (has_room) {
                        key_free(&k);
                        give(u, x);
                        return;
                }
                is_h2 = is_h2 || u->ops == &h2_upstream || u->key.is_h2c;
                bool is_greeting = is_h2c && u->ops && !u->ops->is_quiet(u->engine);
                if ((!u->ops && (u->is_likely_h2 || u->is_spare)) || is_greeting)
                        making = u;
        }
        struct upstream_wait *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct upstream_wait){.x = x, .next = d->waits};
        d->waits = w;
        /* Where another connection to the place is HTTP/2, the next will be: share it. */
        w->up = making ? making : upstream_make(d, &k);
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
