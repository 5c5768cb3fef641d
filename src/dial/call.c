/* call.c - one call of egress: may it be (policy), where is it (to=, literal, proxy, name), may it
 * be there (addresses), and then the connection.
 *
 * Order matters: the policy is asked before a name is (E8), every address is checked before one is
 * dialled, and what is dialled is what was checked (E10). */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "dial/dial_int.h"
#include "policy/policy_dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What the policy says of a call: as much as must stay the same while it is under way. */
struct call_plan {
        bool is_granted;
        bool is_named;       /* a line speaks of it: an address may then be written there */
        struct host_name to; /* len 0: wherever the name leads */
        uint16_t to_port;
};

struct call {
        struct dial *dial;
        uint32_t id;
        enum request_kind kind;
        struct host_name host;
        uint16_t port;
        struct call_plan plan;
        bool is_proxied; /* the race leads to the proxy */
        uint16_t dial_port;
        char addr[ADDR_TEXT_MAX];
        struct resolve_wait *wait;
        struct race race;
        struct tunnel tunnel;
        struct loop_timer limit;
        struct call *next;
};

/* stop(c): whatever is under way for it. */
static void stop(struct call *c)
{
        resolve_cancel(&c->wait);
        race_stop(&c->race);
        tunnel_stop(&c->tunnel);
}

static void call_free(struct call *c)
{
        stop(c);
        loop_timer_stop(&c->limit);
        for (struct call **p = &c->dial->calls; *p; p = &(*p)->next)
                if (*p == c) {
                        *p = c->next;
                        c->dial->calls_n--;
                        break;
                }
        free(c);
}

static void fail(struct call *c, enum door_dial_fault fault, const char *words)
{
        reply_failed(c->dial, c->id, fault, "%s", words);
        call_free(c);
}

static void on_limit(void *ctx)
{
        struct call *c = ctx;
        _cleanup_free_ char *words = str_fmt("%s:%u did not answer within %d seconds", c->host.text,
                                             c->port, CALL_LIMIT_MS / 1000);
        fail(c, DOOR_DIAL_NO_ROUTE, words);
}

/* A connection that nobody answers any more is noticed within two minutes. */
static void set_options(int fd)
{
        int on = 1, idle = 60, every = 15, times = 4;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

static void done(struct call *c, int fd)
{
        set_options(fd);
        reply_dialled(c->dial, c->id, c->addr, fd);
        call_free(c);
}

static void on_tunnel(void *ctx, int fd, const char *words)
{
        struct call *c = ctx;
        if (fd < 0)
                fail(c, DOOR_DIAL_NO_ROUTE, words);
        else
                done(c, fd);
}

static void on_connected(void *ctx, int fd, const struct addr *addr, int why)
{
        struct call *c = ctx;
        if (fd < 0) {
                const char *place = c->is_proxied ? "the upstream proxy " : "";
                const struct host_name *h = c->is_proxied ? &c->dial->proxy.host : &c->host;
                _cleanup_free_ char *words =
                        str_fmt("%s%s:%u cannot be reached: %s", place, h->text,
                                c->is_proxied ? c->dial_port : c->port, strerror(why));
                fail(c, DOOR_DIAL_NO_ROUTE, words);
                return;
        }
        addr_words(addr, c->dial_port, c->addr);
        if (!c->is_proxied) {
                done(c, fd);
                return;
        }
        set_options(fd);
        tunnel_start(&c->tunnel, c->dial->loop, fd, &c->dial->proxy, &c->host, c->port, on_tunnel,
                     c);
}

static void connect_to(struct call *c, const struct addr_list *l, uint16_t port)
{
        c->dial_port = port;
        race_start(&c->race, c->dial->loop, l, port, on_connected, c);
}

/* The proxy is the user's choice, so its address is not judged. */
static void on_resolved(void *ctx, const struct answer *a)
{
        struct call *c = ctx;
        struct err err = {0};
        c->wait = NULL;
        if (a->words) {
                fail(c, DOOR_DIAL_NO_NAME, a->words);
        } else if (c->is_proxied) {
                connect_to(c, &a->addrs, c->dial->proxy.port);
        } else if (addr_check(c->host.text, &a->addrs, &err) < 0) {
                fail(c, DOOR_DIAL_DENIED, err.text);
        } else {
                connect_to(c, &a->addrs, c->port);
        }
}

static void connect_literal(struct call *c, const struct host_name *h, uint16_t port)
{
        struct addr_list l = {0};
        addr_list_add(&l, h->addr, host_name_addr_len(h));
        connect_to(c, &l, port);
}

static void connect_name(struct call *c, const struct host_name *name)
{
        struct answer a;
        if (name->kind != HOST_NAME) { /* a proxy by its address */
                connect_literal(c, name, c->dial->proxy.port);
        } else if (resolve_known(c->dial->resolver, name, &a)) {
                on_resolved(c, &a);
        } else {
                c->wait = resolve_start(c->dial->resolver, name, on_resolved, c);
        }
}

/* go(c): the policy lets it through. What a rule names by address is dialled directly: it is near,
 * and a proxy would not know it. */
static void go(struct call *c)
{
        struct err err = {0};
        struct addr_list literal = {0};
        c->is_proxied = false;
        if (c->plan.to.len) {
                connect_literal(c, &c->plan.to, c->plan.to_port ? c->plan.to_port : c->port);
                return;
        }
        if (c->host.kind != HOST_NAME)
                addr_list_add(&literal, c->host.addr, host_name_addr_len(&c->host));
        bool is_public = addr_check(NULL, &literal, &err) == 0;
        if (literal.n && !is_public && !c->plan.is_named) {
                fail(c, DOOR_DIAL_DENIED, err.text);
                return;
        }
        c->is_proxied = c->dial->proxy.host.len && is_public;
        if (c->is_proxied)
                connect_name(c, &c->dial->proxy.host);
        else if (literal.n)
                connect_to(c, &literal, c->port);
        else
                connect_name(c, &c->host);
}

/* plan_of(d, ...): ${words} is set, and the caller's, when it is refused. */
static struct call_plan plan_of(const struct dial *d, enum request_kind kind,
                                const struct host_name *host, uint16_t port, char **words)
{
        struct policy_decision got;
        struct call_plan plan = {0};
        policy_may_dial(&d->policy, kind, host, port, &got);
        if (got.verdict != POLICY_DENY) {
                plan.is_granted = plan.is_named = true;
                plan.to = got.line->rule.to;
                plan.to_port = got.line->rule.to_port;
        } else if (got.why == POLICY_BY_DEFAULT && d->level != DOOR_STRICT) {
                plan.is_granted = true; /* egress has asked, or is learning */
        } else {
                _cleanup_free_ char *why = policy_words(&got);
                *words = str_fmt("connecting to %s:%u is %s", host->text, port, why);
        }
        return plan;
}

static bool same_plan(const struct call_plan *a, const struct call_plan *b)
{
        bool is_same_to = a->to.len == b->to.len && memcmp(a->to.text, b->to.text, a->to.len) == 0;
        return a->is_granted == b->is_granted && a->is_named == b->is_named && is_same_to &&
               a->to_port == b->to_port;
}

static struct call *call_new(struct dial *d, const struct call *from)
{
        struct call *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        *c = *from;
        c->dial = d;
        c->limit = (struct loop_timer){.fn = on_limit, .ctx = c};
        loop_timer_set(d->loop, &c->limit, CALL_LIMIT_MS);
        c->next = d->calls;
        d->calls = c;
        d->calls_n++;
        return c;
}

void call_begin(struct dial *d, uint32_t id, enum request_kind kind, const struct host_name *host,
                uint16_t port)
{
        if (d->calls_n >= CALLS_MAX) {
                reply_failed(d, id, DOOR_DIAL_BUSY,
                             "too many connections are being opened at once; try again");
                return;
        }
        _cleanup_free_ char *words = NULL;
        struct call_plan plan = plan_of(d, kind, host, port, &words);
        if (!plan.is_granted) {
                reply_failed(d, id, DOOR_DIAL_DENIED, "%s", words);
                return;
        }
        struct call c = {.id = id, .kind = kind, .host = *host, .port = port, .plan = plan};
        go(call_new(d, &c));
}

static struct call *find(const struct dial *d, uint32_t id)
{
        struct call *c = d->calls;
        while (c && c->id != id)
                c = c->next;
        return c;
}

bool call_exists(const struct dial *d, uint32_t id)
{
        return find(d, id) != NULL;
}

void call_cancel(struct dial *d, uint32_t id)
{
        struct call *c = find(d, id);
        if (c)
                call_free(c);
}

void call_recheck(struct dial *d)
{
        for (struct call *c = d->calls, *next; c; c = next) {
                _cleanup_free_ char *words = NULL;
                next = c->next;
                struct call_plan plan = plan_of(d, c->kind, &c->host, c->port, &words);
                if (!plan.is_granted) {
                        fail(c, DOOR_DIAL_DENIED, words);
                } else if (!same_plan(&plan, &c->plan)) {
                        stop(c);
                        c->plan = plan;
                        go(c);
                }
        }
}
