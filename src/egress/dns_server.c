/* dns_server.c - the box's name server: queries to any address's port 53 arrive here, by UDP or
 * TCP, and are answered as if from there. dns.c decides what; nothing is asked of anybody. */
#include "egress/door.h"

#include "base/str.h"
#include "egress/conn.h"
#include "egress/custody.h"
#include "egress/dns.h"
#include "egress/dns_query.h"
#include "egress/names.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { PER_ROUND = 64 };

/* flag(d, note): many new names at once are how data leaves through names. Told once a second, or
 * it would be how a disk is filled. */
static void flag(struct door *d, const struct dns_note *note)
{
        uint64_t second = loop_now(d->loop) / 1000;
        if (!note->is_capped || d->flagged_s == second)
                return;
        d->flagged_s = second;
        record_put(d, &(struct door_record){
                              .time_us = record_now_us(),
                              .kind = "dns",
                              .verdict = "deny",
                              .protocol = "dns",
                              .host = note->host.text,
                              .port = 53,
                              .note = "new names are asked for too fast; answered that "
                                      "there is no such name",
                      });
}

/* answer(d, query, n, out): a name that holds a secret's placeholder is a way out (case E8), so
 * that there is no such name. */
static size_t answer(struct door *d, const uint8_t *query, size_t n, uint8_t *out)
{
        struct dns_note note = {0};
        struct dns_query q;
        bool is_leak = custody_of(d)->secrets && dns_query_read(query, n, &q) == DNS_NOERROR &&
                       !q.is_root && custody_lookup_leaks(d, &q.name);
        names_hold(d->names, account_is_full(&d->account));
        size_t len = dns_answer(is_leak ? NULL : d->names, query, n, loop_now(d->loop), out, &note);
        account_set(&d->account, &d->names_charged, names_held(d->names));
        flag(d, &note);
        return len;
}

struct udp {
        struct door *door;
        int fd;
};

static void on_udp(void *ctx, uint32_t events)
{
        struct udp *u = ctx;
        uint8_t query[DNS_MAX], reply[DNS_MAX];
        (void)events;
        for (int i = 0; i < PER_ROUND; i++) {
                struct sockaddr_in from;
                union {
                        struct cmsghdr align;
                        char room[CMSG_SPACE(sizeof(struct in_pktinfo))];
                } control;
                struct iovec v = {.iov_base = query, .iov_len = sizeof query};
                struct msghdr m = {.msg_name = &from,
                                   .msg_namelen = sizeof from,
                                   .msg_iov = &v,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
                ssize_t n = recvmsg(u->fd, &m, 0);
                if (n < 0)
                        return;
                struct cmsghdr *c = CMSG_FIRSTHDR(&m);
                if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !c || c->cmsg_level != IPPROTO_IP ||
                    c->cmsg_type != IP_PKTINFO)
                        continue;
                size_t len = answer(u->door, query, (size_t)n, reply);
                if (len == 0)
                        continue;
                /* From the address that was asked, whoever that was. */
                struct in_pktinfo info;
                memcpy(&info, CMSG_DATA(c), sizeof info);
                info.ipi_spec_dst = info.ipi_addr;
                info.ipi_ifindex = 0;
                memcpy(CMSG_DATA(c), &info, sizeof info);
                v = (struct iovec){.iov_base = reply, .iov_len = len};
                m.msg_controllen = CMSG_SPACE(sizeof info);
                m.msg_flags = 0;
                sendmsg(u->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
}

void dns_server_udp(struct door *d, int fd)
{
        struct udp *u = calloc(1, sizeof *u);
        if (!u)
                str_no_memory();
        *u = (struct udp){.door = d, .fd = fd};
        d->dns_udp = loop_add(d->loop, fd, 0, on_udp, u);
        if (!d->dns_udp)
                door_fault(d, "the name server's socket cannot be watched");
}

void dns_server_open(struct door *d)
{
        if (d->dns_udp)
                loop_want(d->dns_udp, EPOLLIN);
}

/* --- TCP: a length before each message ---------------------------------------------------------
 */

struct tcp {
        struct door *door;
        struct conn *conn;
        struct loop_timer timer;
        uint8_t in[2 + DNS_MAX];
        size_t n;
};

static void end(struct tcp *t)
{
        loop_timer_stop(&t->timer);
        accept_ended(t->door);
        free(t);
}

static void on_timer(void *ctx)
{
        struct tcp *t = ctx;
        conn_free(t->conn);
        end(t);
}

static void on_closed(void *ctx, const char *why)
{
        (void)why;
        on_timer(ctx);
}

/* answer_one(t): the first message in the buffer; false when it is not whole, or not ours. */
static bool answer_one(struct tcp *t, bool *is_bad)
{
        if (t->n < 2)
                return false;
        size_t len = (size_t)t->in[0] << 8 | t->in[1];
        *is_bad = len > DNS_MAX || len == 0;
        if (*is_bad || t->n < 2 + len)
                return false;
        uint8_t out[2 + DNS_MAX];
        size_t n = answer(t->door, t->in + 2, len, out + 2);
        *is_bad = n == 0 || conn_is_full(t->conn);
        if (*is_bad)
                return false;
        out[0] = (uint8_t)(n >> 8);
        out[1] = (uint8_t)n;
        conn_write(t->conn, out, 2 + n);
        t->n -= 2 + len;
        memmove(t->in, t->in + 2 + len, t->n);
        return true;
}

static void on_readable(void *ctx)
{
        struct tcp *t = ctx;
        for (;;) {
                ssize_t r = conn_read(t->conn, t->in + t->n, sizeof t->in - t->n);
                if (r < 0)
                        return;
                bool is_bad = false;
                t->n += (size_t)r;
                while (r > 0 && answer_one(t, &is_bad))
                        ;
                if (r == 0 || is_bad) {
                        conn_finish_free(t->conn);
                        end(t);
                        return;
                }
                loop_timer_set(t->door->loop, &t->timer, DOOR_HEAD_MS);
        }
}

static void on_drained(void *ctx)
{
        (void)ctx;
}

void dns_server_tcp(struct door *d, int fd)
{
        static const struct conn_ops ops = {
                .readable = on_readable, .drained = on_drained, .closed = on_closed};
        struct tcp *t = calloc(1, sizeof *t);
        if (!t)
                str_no_memory();
        *t = (struct tcp){.door = d, .timer = {.fn = on_timer, .ctx = t}};
        t->conn = conn_plain(d, fd, &ops, t);
        loop_timer_set(d->loop, &t->timer, DOOR_HEAD_MS);
}
