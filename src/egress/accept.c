/* accept.c - the ports on which the box's connections come in, and how many are let in at a time.
 * What they are is found out by guest.c; only names (dns_server.c) and signatures (ssh_agent.c)
 * have ports of their own. */
#include "egress/door.h"

#include "egress/custody.h"
#include "egress/guest.h"
#include "egress/idle.h"
#include "egress/port_watch.h"
#include "egress/ssh_agent.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_SPARE = 1600, CONNS_MIN = 64, RETRY_MS = 250 };
enum { GUEST_COST = 10 << 10 }; /* of memory: TLS and HTTP/1 with a program in the box */

/* set_listening(d, yes): no more connections than we can hold; the others wait in the kernel's
 * queue. */
static void set_listening(struct door *d, bool yes)
{
        d->is_full = !yes;
        d->is_short = false;
        for (size_t i = 0; i < d->listeners_n; i++)
                loop_want(d->listeners[i].src, yes ? EPOLLIN : 0);
        if (yes)
                loop_timer_stop(&d->retry);
        else
                loop_timer_set(d->loop, &d->retry, RETRY_MS);
}

/* on_retry(d): what is idle may have been so for long enough, or descriptors be free again. */
static void on_retry(void *ctx)
{
        struct door *d = ctx;
        d->is_short = false;
        loop_timer_set(d->loop, &d->retry, RETRY_MS);
        accept_look(d);
}

void accept_init(struct door *d)
{
        struct rlimit r;
        d->conns_max = DOOR_CONNS_MAX;
        d->retry = (struct loop_timer){.fn = on_retry, .ctx = d};
        /* Each may need an upstream and a share of HTTP/2's; the pool and the processes around us
         * need some. Without a descriptor left dial could not pass us one. */
        if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < 3 * DOOR_CONNS_MAX + FILES_SPARE)
                d->conns_max =
                        r.rlim_cur > 2 * FILES_SPARE ? (r.rlim_cur - FILES_SPARE) / 3 : CONNS_MIN;
}

/* is_crowded(d): there are as many connections as there may be, or no memory for one more. Those
 * that were just let in will need some, and so will the requests of all of them: that much is left,
 * because for a request it is too late to wait. */
static bool is_crowded(const struct door *d)
{
        const struct account *a = &d->account;
        size_t guests = d->guests_n * GUEST_COST;
        /* Connections alone leave a quarter for what is sent over them. Who holds much through a few
         * (account.h) keeps nobody out. */
        return d->conns_n >= d->conns_max ||
               (a->limit && (d->conns_held + guests >= a->limit - a->limit / 4 ||
                             a->now + guests >= a->limit - a->limit / 16));
}

void accept_ended(struct door *d)
{
        d->conns_n--;
        if (d->is_full && !is_crowded(d))
                set_listening(d, true);
}

void accept_look(struct door *d)
{
        if (d->is_full && !d->is_short && (!is_crowded(d) || idle_make_room(d)))
                set_listening(d, true);
}

static void on_accept(void *ctx, uint32_t events)
{
        struct listener *l = ctx;
        (void)events;
        for (int i = 0; i < 16 && !l->door->is_full; i++) {
                struct sockaddr_in peer;
                socklen_t n = sizeof peer;
                int fd = accept4(l->fd, (struct sockaddr *)&peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (fd < 0) {
                        bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
                        if (is_short && !idle_make_room(l->door)) {
                                set_listening(l->door, false);
                                l->door->is_short = true;
                        }
                        return;
                }
                if (l->port == 53) {
                        l->door->conns_n++;
                        dns_server_tcp(l->door, fd);
                } else if (l->port == DOOR_PORT_SSH_AGENT) {
                        l->door->conns_n++;
                        ssh_agent_begin(l->door, fd);
                } else {
                        guest_welcome(l->door, fd, &peer);
                }
                if (is_crowded(l->door) && !idle_make_room(l->door))
                        set_listening(l->door, false);
        }
}

/* is_ready(d): nobody is let in, and no name is answered, before there are rules and before it is
 * known what is secret. */
static bool is_ready(struct door *d)
{
        return d->policy && custody_of(d)->is_known;
}

static void add_listener(struct door *d, uint32_t port, int fd)
{
        struct listener *l = &d->listeners[d->listeners_n];
        *l = (struct listener){.door = d, .port = port, .fd = fd};
        l->src = loop_add(d->loop, fd, is_ready(d) && !d->is_full ? EPOLLIN : 0, on_accept, l);
        if (!l->src)
                door_fault(d, "port %u cannot be watched", port);
        d->listeners_n++;
}

void accept_add(struct door *d, uint32_t port, int fd)
{
        if (port == DOOR_PORT_DNS_UDP)
                dns_server_udp(d, fd);
        else if (port == DOOR_PORT_WATCH)
                port_watch_begin(d, fd);
        else if (port == DOOR_PORT_SPARE && d->spares_n < DOOR_LISTENERS_MAX)
                d->spares[d->spares_n++] = fd;
        else if (((port > 0 && port <= UINT16_MAX) || port == DOOR_PORT_SSH_AGENT) &&
                 d->listeners_n < DOOR_LISTENERS_MAX)
                add_listener(d, port, fd);
        else
                close(fd);
}

static void ensure_port(struct door *d, uint16_t port)
{
        for (size_t i = 0; i < d->listeners_n; i++)
                if (d->listeners[i].port == port)
                        return;
        if (d->spares_n == 0 || d->listeners_n == DOOR_LISTENERS_MAX)
                return; /* connections to it are refused by the kernel */
        int fd = d->spares[--d->spares_n], one = 1;
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
        if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
            bind(fd, (struct sockaddr *)&any, sizeof any) < 0 || listen(fd, 512) < 0)
                door_fault(d, "port %u cannot be listened on", port);
        add_listener(d, port, fd);
}

void accept_ports(struct door *d)
{
        for (size_t i = 0; i < d->policy->layers_n; i++) {
                const struct policy_layer *l = &d->policy->layers[i];
                for (size_t j = 0; j < l->lines_n; j++)
                        if (l->lines[j].kind == RULE_LINE_RULE &&
                            rule_is_grant(l->lines[j].rule.verdict) &&
                            l->lines[j].rule.place.port > 0)
                                ensure_port(d, (uint16_t)l->lines[j].rule.place.port);
        }
        if (!is_ready(d))
                return;
        dns_server_open(d);
        if (!d->is_full)
                set_listening(d, true);
}
