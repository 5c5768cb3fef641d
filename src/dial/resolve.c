/* resolve.c - see resolve.h. Joins c-ares to our loop: one channel per look-up, made for it and
 * destroyed with it. It must never ask for a name on its own account. */
#include "dial/resolve.h"

#include "base/loop.h"
#include "base/str.h"
#include "dial/conf.h"
#include "dial/memory.h"
#include "policy/host_name.h"

#include <ares.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { LOOKUP_FDS_MAX = 2 * CONF_SERVERS_MAX + 4, SETTLE_MS = 200 };

struct resolve_wait {
        struct lookup *lookup;
        resolve_fn *fn;
        void *ctx;
        struct resolve_wait *next;
};

struct lookup_fd {
        struct lookup *lookup;
        int fd;
        struct loop_src *src;
};

struct lookup {
        struct resolver *resolver;
        struct host_name name;
        ares_channel channel;
        struct lookup_fd fds[LOOKUP_FDS_MAX];
        struct loop_timer timer, settle;
        int pending; /* families that have not answered */
        int status;  /* why there is nothing, if there is nothing */
        uint32_t ttl;
        bool is_settling;
        struct resolve_wait *waits;
        bool is_closing; /* the channel is being destroyed: its last words mean nothing */
        bool is_done;
        struct answer answer;
        char words[512];
        struct lookup *next;
};

struct resolver {
        struct loop *loop;
        struct conf conf;
        char *hosts;
        struct memory memory;
        struct lookup *lookups;
        char words[512];
};

struct resolver *resolver_new(struct loop *loop)
{
        struct resolver *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        r->loop = loop;
        r->hosts = str_dup("");
        conf_resolv("", &r->conf);
        return r;
}

static void channel_end(struct lookup *k)
{
        k->is_closing = true;
        if (k->channel)
                ares_destroy(k->channel);
        k->channel = NULL;
        k->is_closing = false;
        for (size_t i = 0; i < LOOKUP_FDS_MAX; i++)
                loop_del(&k->fds[i].src);
        loop_timer_stop(&k->timer);
        loop_timer_stop(&k->settle);
}

static void lookup_free(struct lookup *k)
{
        channel_end(k);
        for (struct lookup **p = &k->resolver->lookups; *p; p = &(*p)->next)
                if (*p == k) {
                        *p = k->next;
                        break;
                }
        free(k);
}

/* Everybody who waited hears it; a listener may start or cancel other look-ups. */
static void lookup_tell(struct lookup *k)
{
        channel_end(k);
        struct resolver *r = k->resolver;
        for (struct lookup **p = &r->lookups; *p; p = &(*p)->next)
                if (*p == k) {
                        *p = k->next;
                        break;
                }
        while (k->waits) {
                struct resolve_wait *w = k->waits;
                resolve_fn *fn = w->fn;
                void *ctx = w->ctx;
                k->waits = w->next;
                free(w);
                fn(ctx, &k->answer);
        }
        free(k);
}

static const char *why(int status)
{
        switch (status) {
        case ARES_ENOTFOUND:
                return "there is no such name";
        case ARES_ENODATA:
                return "it has no address";
        case ARES_ESERVFAIL:
                return "the name server failed";
        case ARES_EREFUSED:
                return "the name server refused to answer";
        case ARES_ETIMEOUT:
                return "the name server did not answer in time";
        case ARES_ECONNREFUSED:
                return "no name server could be reached";
        default:
                return ares_strerror(status);
        }
}

/* take(k, info): the addresses of one answer, and for how long it holds. */
static void take(struct lookup *k, const struct ares_addrinfo *info)
{
        for (const struct ares_addrinfo_node *n = info->nodes; n; n = n->ai_next) {
                struct sockaddr_in in;
                struct sockaddr_in6 in6;
                if (n->ai_family == AF_INET && n->ai_addrlen >= sizeof in) {
                        memcpy(&in, n->ai_addr, sizeof in);
                        addr_list_add(&k->answer.addrs, (const uint8_t *)&in.sin_addr, 4);
                } else if (n->ai_family == AF_INET6 && n->ai_addrlen >= sizeof in6) {
                        memcpy(&in6, n->ai_addr, sizeof in6);
                        addr_list_add(&k->answer.addrs, (const uint8_t *)&in6.sin6_addr, 16);
                }
                if (n->ai_ttl >= 0 && (uint32_t)n->ai_ttl < k->ttl)
                        k->ttl = (uint32_t)n->ai_ttl;
        }
        for (const struct ares_addrinfo_cname *c = info->cnames; c; c = c->next)
                if (c->ttl >= 0 && (uint32_t)c->ttl < k->ttl)
                        k->ttl = (uint32_t)c->ttl;
}

/* conclude(k): what has come is the answer. */
static void conclude(struct lookup *k)
{
        k->is_done = true;
        if (k->answer.addrs.n == 0) {
                snprintf(k->words, sizeof k->words, "%s does not resolve: %s", k->name.text,
                         why(k->status));
                k->answer.words = k->words;
        }
        bool is_absent = k->status == ARES_ENOTFOUND || k->status == ARES_ENODATA;
        if (k->answer.addrs.n || is_absent)
                memory_put(&k->resolver->memory, &k->name, &k->answer.addrs,
                           k->pending ? 0 : k->ttl, loop_now(k->resolver->loop));
}

/* Called once for each family. */
static void on_answer(void *ctx, int status, int timeouts, struct ares_addrinfo *info)
{
        struct lookup *k = ctx;
        (void)timeouts;
        if (!k->is_closing) {
                if (info)
                        take(k, info);
                /* "There is none" is the weaker word: the other family may have failed. */
                bool is_weak = status == ARES_SUCCESS || status == ARES_ENODATA;
                if (!is_weak || k->status == ARES_SUCCESS)
                        k->status = status == ARES_SUCCESS ? ARES_ENODATA : status;
                if (--k->pending == 0)
                        conclude(k);
        }
        if (info)
                ares_freeaddrinfo(info);
}

/* after(k): c-ares has had its turn; is it done, or when does it want the next one? */
static void after(struct lookup *k)
{
        struct timeval tv;
        if (k->is_done) {
                lookup_tell(k);
                return;
        }
        /* One family has answered: the other gets a moment, and is not waited for beyond it. */
        if (k->answer.addrs.n && !k->is_settling) {
                k->is_settling = true;
                loop_timer_set(k->resolver->loop, &k->settle, SETTLE_MS);
        }
        if (ares_timeout(k->channel, NULL, &tv))
                loop_timer_set(k->resolver->loop, &k->timer,
                               (uint64_t)tv.tv_sec * 1000 + (uint64_t)tv.tv_usec / 1000 + 1);
}

static void on_time(void *ctx)
{
        struct lookup *k = ctx;
        if (!k->is_done)
                ares_process_fd(k->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        after(k);
}

static void on_settle(void *ctx)
{
        struct lookup *k = ctx;
        if (!k->is_done)
                conclude(k);
        lookup_tell(k);
}

static void on_event(void *ctx, uint32_t events)
{
        struct lookup_fd *f = ctx;
        struct lookup *k = f->lookup;
        int fd = f->fd;
        bool is_odd = events & (EPOLLERR | EPOLLHUP);
        ares_process_fd(k->channel, (events & EPOLLIN) || is_odd ? fd : ARES_SOCKET_BAD,
                        (events & EPOLLOUT) ? fd : ARES_SOCKET_BAD);
        after(k);
}

/* c-ares tells which of its sockets it wants to hear of; neither way means that it closes it. */
static void on_socket(void *ctx, ares_socket_t fd, int is_read, int is_write)
{
        struct lookup *k = ctx;
        struct lookup_fd *f = NULL;
        uint32_t want = (is_read ? (uint32_t)EPOLLIN : 0) | (is_write ? (uint32_t)EPOLLOUT : 0);
        for (size_t i = 0; i < LOOKUP_FDS_MAX; i++) {
                if (k->fds[i].src && k->fds[i].fd == fd) {
                        f = &k->fds[i];
                        break;
                }
                if (!k->fds[i].src && !f)
                        f = &k->fds[i];
        }
        if (!f)
                return; /* its time limit will end it */
        if (!want) {
                loop_del(&f->src);
        } else if (f->src) {
                loop_want(f->src, want);
        } else {
                *f = (struct lookup_fd){.lookup = k, .fd = fd};
                f->src = loop_add(k->resolver->loop, fd, want, on_event, f);
        }
}

static int channel_begin(struct lookup *k)
{
        const struct conf *c = &k->resolver->conf;
        char lookups[] = "b";
        /* Everything is given, so that c-ares reads no file of its own but for random numbers. */
        struct ares_options o = {
                .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES |
                         (c->is_tcp ? ARES_FLAG_USEVC : 0),
                .timeout = c->timeout_ms,
                .tries = c->tries,
                .ndots = 0,
                .lookups = lookups,
                .sock_state_cb = on_socket,
                .sock_state_cb_data = k,
        };
        int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                   ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SERVERS | ARES_OPT_DOMAINS |
                   ARES_OPT_SORTLIST | (c->is_rotated ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
        int status = ares_init_options(&k->channel, &o, mask);
        if (status != ARES_SUCCESS) {
                k->channel = NULL;
                return status;
        }
        return ares_set_servers_ports_csv(k->channel, c->servers);
}

/* Both families by questions of their own: a server that never answers one of them is common. */
static void lookup_ask(struct lookup *k)
{
        int status = channel_begin(k);
        k->pending = 2;
        k->status = ARES_SUCCESS;
        k->ttl = MEMORY_MOST_S;
        k->is_settling = false;
        k->answer = (struct answer){0};
        for (int i = 0; i < 2; i++) {
                struct ares_addrinfo_hints hints = {.ai_family = i ? AF_INET : AF_INET6,
                                                    .ai_flags = ARES_AI_NOSORT};
                if (status != ARES_SUCCESS)
                        on_answer(k, status, 0, NULL);
                else
                        ares_getaddrinfo(k->channel, k->name.text, NULL, &hints, on_answer, k);
        }
        if (!k->is_done)
                after(k);
        else
                /* Not from here: whoever asks does not expect the answer before we return. */
                loop_timer_set(k->resolver->loop, &k->timer, 0);
}

/* Names are compared in small letters. */
static void take_hosts(struct resolver *r, const char *text)
{
        char *fresh = str_dup(text);
        for (char *c = fresh; *c; c++)
                if (*c >= 'A' && *c <= 'Z')
                        *c = (char)(*c - 'A' + 'a');
        if (strcmp(fresh, r->hosts) != 0)
                memory_clear(&r->memory);
        free(r->hosts);
        r->hosts = fresh;
}

void resolver_conf(struct resolver *r, const char *resolv, const char *hosts)
{
        if (hosts)
                take_hosts(r, hosts);
        if (!resolv)
                return;
        struct conf fresh;
        conf_resolv(resolv, &fresh);
        if (conf_equal(&fresh, &r->conf))
                return;
        r->conf = fresh;
        memory_clear(&r->memory);
        for (struct lookup *k = r->lookups; k; k = k->next)
                if (!k->is_done) {
                        channel_end(k);
                        lookup_ask(k);
                }
}

bool resolve_known(struct resolver *r, const struct host_name *name, struct answer *a)
{
        *a = (struct answer){0};
        const struct memory_entry *e = memory_find(&r->memory, name, loop_now(r->loop));
        if (e) {
                a->addrs = e->addrs;
        } else {
                conf_hosts(r->hosts, name->text, &a->addrs);
                if (a->addrs.n == 0)
                        return false;
                /* Such a file may be long; a change of it makes us forget. */
                memory_put(&r->memory, name, &a->addrs, MEMORY_MOST_S, loop_now(r->loop));
        }
        if (a->addrs.n == 0) {
                snprintf(r->words, sizeof r->words, "%s does not resolve: it has no address",
                         name->text);
                a->words = r->words;
        }
        return true;
}

struct resolve_wait *resolve_start(struct resolver *r, const struct host_name *name, resolve_fn *fn,
                                   void *ctx)
{
        struct lookup *k = r->lookups;
        while (k && (k->is_done || !host_name_equal(&k->name, name)))
                k = k->next;
        bool is_new = !k;
        if (is_new) {
                k = calloc(1, sizeof *k);
                if (!k)
                        str_no_memory();
                *k = (struct lookup){.resolver = r, .name = *name, .next = r->lookups};
                k->timer = (struct loop_timer){.fn = on_time, .ctx = k};
                k->settle = (struct loop_timer){.fn = on_settle, .ctx = k};
                r->lookups = k;
        }
        struct resolve_wait *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct resolve_wait){.lookup = k, .fn = fn, .ctx = ctx, .next = k->waits};
        k->waits = w;
        if (is_new)
                lookup_ask(k);
        return w;
}

void resolve_cancel(struct resolve_wait **pw)
{
        struct resolve_wait *w = *pw;
        *pw = NULL;
        if (!w)
                return;
        struct lookup *k = w->lookup;
        for (struct resolve_wait **p = &k->waits; *p; p = &(*p)->next)
                if (*p == w) {
                        *p = w->next;
                        break;
                }
        free(w);
        if (!k->waits && !k->is_done)
                lookup_free(k);
}
