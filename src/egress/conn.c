/* conn.c - see conn.h. Every connection of egress, to the box and to origins, is one of these.
 *
 * Nothing here calls its owner from inside one of the owner's own calls: what happens then (an
 * error, bytes that TLS still holds) is noted, and told between two rounds of the loop. */
#include "egress/conn.h"

#include "base/buf.h"
#include "base/loop.h"
#include "egress/door.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* So many reads in one round, then the others have their turn. */
enum { READS_PER_ROUND = 16, KICKS_PER_ROUND = 64, RECORD_MAX = 16 << 10 };
/* What is left for a slow reader is sent as long as it takes some of it now and then. */
enum { GOODBYE_MS = 2000, SLOW_MS = 10000, ORPHANS_MIN = 16 };

struct conn {
        struct door *door;
        int fd;
        SSL *ssl;
        struct loop_src *src;
        const struct conn_ops *ops;
        void *ctx;
        struct buf out;
        size_t out_at; /* what of it is sent */
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

static void put_on_list(struct conn *c)
{
        if (c->is_kicked || c->is_dead)
                return;
        c->is_kicked = true;
        c->next_kicked = c->door->kicked;
        c->door->kicked = c;
}

static void kick(struct conn *c)
{
        c->is_stirred = true;
        put_on_list(c);
}

void conn_later(struct conn *c)
{
        c->wants_later = true;
        put_on_list(c);
}

static void fail(struct conn *c, const char *why)
{
        if (c->is_failed)
                return;
        c->is_failed = true;
        c->why = why;
        kick(c);
}

size_t conn_queued(const struct conn *c)
{
        return c->out.len - c->out_at;
}

static void update(struct conn *c)
{
        if (c->is_dead || c->is_failed)
                return;
        uint32_t want = 0;
        if (c->is_shaking || (c->wants_read && !c->is_ended))
                want |= EPOLLIN;
        if ((conn_queued(c) > 0 && !c->is_gathering) || (c->is_shaking && SSL_want_write(c->ssl)))
                want |= EPOLLOUT;
        loop_want(c->src, want);
}

/* tls_trouble(c, r): what an SSL_* call that did not succeed means: 0 to wait, -1 for the end or an
 * error that was noted. */
static int tls_trouble(struct conn *c, int r)
{
        switch (SSL_get_error(c->ssl, r)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
                return 0;
        case SSL_ERROR_ZERO_RETURN:
                c->is_ended = true;
                return -1;
        case SSL_ERROR_SYSCALL:
                c->is_ended = true;
                if (errno == 0)
                        c->is_cut = true;
                else
                        fail(c, strerrordesc_np(errno));
                return -1;
        default: {
                unsigned long e = ERR_peek_error();
                if (ERR_GET_REASON(e) == SSL_R_UNEXPECTED_EOF_WHILE_READING && !c->is_shaking) {
                        c->is_ended = c->is_cut = true;
                        return -1;
                }
                const char *words = ERR_reason_error_string(e);
                fail(c, words ? words : "the TLS connection failed");
                return -1;
        }
        }
}

/* put(c, p, n): hand bytes to the kernel or to TLS; how many were taken. */
static size_t put(struct conn *c, const char *p, size_t n)
{
        size_t done = 0;
        while (done < n) {
                ssize_t r;
                if (c->ssl) {
                        ERR_clear_error();
                        size_t part = n - done > RECORD_MAX ? RECORD_MAX : n - done;
                        r = SSL_write(c->ssl, p + done, (int)part);
                        if (r <= 0) {
                                tls_trouble(c, (int)r);
                                break;
                        }
                } else {
                        r = send(c->fd, p + done, n - done, MSG_NOSIGNAL);
                        if (r < 0 && errno == EINTR)
                                continue;
                        if (r < 0) {
                                if (errno != EAGAIN)
                                        fail(c, strerrordesc_np(errno));
                                break;
                        }
                }
                done += (size_t)r;
        }
        return done;
}

static void say_goodbye(struct conn *c)
{
        if (!c->is_finishing || c->is_goodbye_sent || c->is_shaking || conn_queued(c) > 0)
                return;
        c->is_goodbye_sent = true;
        if (c->is_orphan)
                loop_timer_set(c->door->loop, &c->timer, GOODBYE_MS);
        if (c->ssl) {
                ERR_clear_error();
                SSL_shutdown(c->ssl);
        }
        shutdown(c->fd, SHUT_WR);
}

static void wipe(struct conn *c)
{
        if (c->is_wiped && c->out.data)
                explicit_bzero(c->out.data, c->out.len);
        c->is_wiped = false;
}

static void flush(struct conn *c)
{
        if (c->is_shaking || c->is_failed || conn_queued(c) == 0)
                return;
        c->out_at += put(c, (const char *)c->out.data + c->out_at, conn_queued(c));
        if (conn_queued(c) == 0) {
                wipe(c);
                if (c->out.cap > CONN_LOW)
                        buf_free(&c->out);
                c->out.len = c->out_at = 0;
        } else if (c->out_at > CONN_HIGH) {
                buf_drop(&c->out, c->out_at);
                c->out_at = 0;
        }
}

/* told(c): tell the owner that there is room again. */
static void tell_drained(struct conn *c)
{
        if (c->was_full && conn_queued(c) <= CONN_LOW && !c->is_orphan) {
                c->was_full = false;
                c->ops->drained(c->ctx);
        }
}

/* listen_on(c): an orphan reads and forgets, so that its last bytes are not lost to a reset. */
static void drain_orphan(struct conn *c)
{
        for (int i = 0; i < READS_PER_ROUND && !c->is_dead; i++) {
                ssize_t r = conn_read(c, c->door->scratch, sizeof c->door->scratch);
                if (r == 0 || c->is_failed)
                        conn_free(c);
                if (r <= 0)
                        return;
        }
}

static void shake(struct conn *c)
{
        ERR_clear_error();
        int r = SSL_do_handshake(c->ssl);
        if (r == 1) {
                c->is_shaking = false;
                loop_timer_stop(&c->timer);
                flush(c);
                if (!c->is_orphan)
                        c->ops->ready(c->ctx);
                if (!c->is_dead && SSL_has_pending(c->ssl))
                        kick(c);
                return;
        }
        if (tls_trouble(c, r) < 0 && !c->is_failed)
                fail(c, "the other side hung up during the TLS handshake");
}

static void on_event(void *ctx, uint32_t events)
{
        struct conn *c = ctx;
        if (c->is_failed)
                return;
        c->reads = 0;
        c->is_dry = false;
        if (c->is_shaking) {
                shake(c);
        } else {
                if (events & (EPOLLOUT | EPOLLERR)) {
                        flush(c);
                        tell_drained(c);
                }
                if (!c->is_dead && !c->is_failed && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
                        if (c->is_orphan)
                                drain_orphan(c);
                        else if (c->wants_read)
                                c->ops->readable(c->ctx);
                }
        }
        if (!c->is_dead) {
                say_goodbye(c);
                update(c);
        }
}

static void on_timer(void *ctx)
{
        struct conn *c = ctx;
        if (!c->is_orphan) {
                fail(c, "the TLS handshake took too long");
        } else if (conn_queued(c) > 0 && conn_queued(c) < c->left) {
                c->left = conn_queued(c);
                loop_timer_set(c->door->loop, &c->timer, SLOW_MS);
        } else {
                conn_free(c);
        }
}

static struct conn *new_conn(struct door *d, int fd, SSL *ssl, const struct conn_ops *ops,
                             void *ctx)
{
        struct conn *c = calloc(1, sizeof *c);
        if (!c)
                abort();
        *c = (struct conn){.door = d,
                           .fd = fd,
                           .ssl = ssl,
                           .ops = ops,
                           .ctx = ctx,
                           .wants_read = true,
                           .is_shaking = ssl != NULL,
                           .timer = {.fn = on_timer, .ctx = c}};
        c->src = loop_add(d->loop, fd, EPOLLIN, on_event, c);
        if (!c->src)
                fail(c, "too many connections");
        return c;
}

struct conn *conn_plain(struct door *d, int fd, const struct conn_ops *ops, void *ctx)
{
        return new_conn(d, fd, NULL, ops, ctx);
}

struct conn *conn_tls(struct door *d, int fd, SSL *ssl, const struct conn_ops *ops, void *ctx)
{
        struct conn *c = new_conn(d, fd, ssl, ops, ctx);
        /* One message of TLS itself in one read: an endless row of them must not keep us here. */
        SSL_clear_mode(ssl, SSL_MODE_AUTO_RETRY);
        if (SSL_set_fd(ssl, fd) != 1)
                fail(c, "the TLS connection could not be set up");
        loop_timer_set(d->loop, &c->timer, DOOR_HANDSHAKE_MS);
        kick(c);
        return c;
}

void conn_free(struct conn *c)
{
        if (!c || c->is_dead)
                return;
        c->is_dead = true;
        if (c->is_orphan)
                c->door->orphans_n--;
        loop_timer_stop(&c->timer);
        loop_del(&c->src);
        if (c->ssl)
                SSL_free(c->ssl);
        close(c->fd);
        wipe(c);
        buf_free(&c->out);
        c->next_dead = c->door->dead;
        c->door->dead = c;
}

void conn_take_over(struct conn *c, const struct conn_ops *ops, void *ctx)
{
        c->ops = ops;
        c->ctx = ctx;
        c->was_full = conn_is_full(c);
        if (!c->is_shaking)
                kick(c);
}

ssize_t conn_read(struct conn *c, void *p, size_t n)
{
        if (c->is_failed || c->is_dead || c->is_shaking)
                return -1;
        if (c->is_ended)
                return 0;
        if (c->is_dry) /* epoll says when there is more; asking the kernel now would be in vain */
                return -1;
        if (c->reads++ >= READS_PER_ROUND) {
                kick(c);
                return -1;
        }
        if (c->ssl) {
                ERR_clear_error();
                errno = 0;
                int r = SSL_read(c->ssl, p, (int)n);
                if (r > 0) {
                        c->is_dry = !SSL_has_pending(c->ssl);
                        return r;
                }
                if (tls_trouble(c, r) == 0) {
                        if (errno != EAGAIN) /* a message of TLS itself; there may be more */
                                kick(c);
                        return -1;
                }
                return c->is_failed ? -1 : 0;
        }
        for (;;) {
                ssize_t r = recv(c->fd, p, n, 0);
                if (r > 0) {
                        c->is_dry = (size_t)r < n;
                        return r;
                }
                if (r == 0) {
                        c->is_ended = true;
                        return 0;
                }
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN)
                        fail(c, strerrordesc_np(errno));
                return -1;
        }
}

bool conn_was_cut(const struct conn *c)
{
        return c->is_cut;
}

/* send_gathered(c): it waited long enough. */
static void send_gathered(struct conn *c)
{
        if (!c->is_gathering || c->is_dead)
                return;
        c->is_gathering = false;
        if (c->out.is_broken)
                fail(c, "too much was queued");
        flush(c);
        update(c);
}

void conn_write(struct conn *c, const void *p, size_t n)
{
        if (c->is_failed || c->is_dead || c->is_goodbye_sent || n == 0)
                return;
        size_t done = 0;
        send_gathered(c);
        if (!c->is_shaking && conn_queued(c) == 0)
                done = put(c, p, n);
        if (done < n && !c->is_failed) {
                buf_put(&c->out, (const char *)p + done, n - done);
                if (c->out.is_broken)
                        fail(c, "too much was queued");
                update(c);
        }
        if (conn_is_full(c))
                c->was_full = true;
}

void conn_gather(struct conn *c, const void *p, size_t n)
{
        if (c->is_failed || c->is_dead || c->is_goodbye_sent)
                return;
        if (c->is_shaking || (conn_queued(c) > 0 && !c->is_gathering)) {
                conn_write(c, p, n); /* has to wait anyway */
                return;
        }
        const char *at = p;
        while (n > 0 && !c->is_failed) {
                size_t room = RECORD_MAX - conn_queued(c), part = n < room ? n : room;
                if (part == RECORD_MAX) {
                        conn_write(c, at, part);
                } else {
                        c->is_gathering = true;
                        buf_put(&c->out, at, part);
                        if (part == room)
                                send_gathered(c);
                }
                at += part;
                n -= part;
                if (n > 0 && conn_queued(c) > 0) { /* the kernel took not all of it */
                        conn_write(c, at, n);
                        return;
                }
        }
        if (c->is_gathering)
                put_on_list(c);
}

void conn_wipe(struct conn *c)
{
        c->is_wiped = true;
}

void conn_want_read(struct conn *c, bool yes)
{
        if (c->wants_read == yes)
                return;
        c->wants_read = yes;
        if (yes && (c->is_ended || (c->ssl && SSL_has_pending(c->ssl))))
                kick(c);
        update(c);
}

void conn_finish(struct conn *c)
{
        send_gathered(c);
        c->is_finishing = true;
        say_goodbye(c);
}

/* is_crowded(d): so many are saying goodbye that the next one has no time for it. */
static bool is_crowded(const struct door *d)
{
        return d->orphans_n >= d->conns_max / 4 + ORPHANS_MIN;
}

void conn_finish_free(struct conn *c)
{
        if (!c || c->is_dead)
                return;
        if (c->is_failed || c->is_shaking || is_crowded(c->door)) {
                conn_free(c);
                return;
        }
        c->is_orphan = true;
        c->door->orphans_n++;
        c->wants_read = true;
        conn_finish(c);
        if (c->is_ended && c->is_goodbye_sent) {
                conn_free(c);
                return;
        }
        c->left = conn_queued(c);
        loop_timer_set(c->door->loop, &c->timer, c->left > 0 ? SLOW_MS : GOODBYE_MS);
        kick(c);
        update(c);
}

SSL *conn_ssl(const struct conn *c)
{
        return c->ssl;
}

bool conn_round(struct door *d)
{
        struct conn *c = d->kicked;
        d->kicked = NULL;
        for (int n = 0; c && n < KICKS_PER_ROUND; n++) {
                struct conn *next = c->next_kicked;
                bool is_stirred = c->is_stirred, wants_later = c->wants_later;
                c->is_kicked = c->is_stirred = c->wants_later = false;
                c->reads = 0;
                c->is_dry = false;
                if (wants_later && !c->is_dead && !c->is_failed && !c->is_orphan)
                        c->ops->later(c->ctx);
                send_gathered(c);
                if (c->is_dead || !is_stirred) {
                } else if (c->is_failed) {
                        loop_del(&c->src);
                        if (c->is_orphan)
                                conn_free(c);
                        else
                                c->ops->closed(c->ctx, c->why);
                } else {
                        on_event(c, c->wants_read ? EPOLLIN | EPOLLOUT : EPOLLOUT);
                }
                c = next;
        }
        if (c) { /* the others come first in the next round */
                struct conn *last = c;
                while (last->next_kicked)
                        last = last->next_kicked;
                last->next_kicked = d->kicked;
                d->kicked = c;
        }
        /* What died in this round, and is on no list any more. */
        struct conn **p = &d->dead;
        while (*p) {
                struct conn *x = *p;
                if (x->is_kicked) {
                        p = &x->next_dead;
                        continue;
                }
                *p = x->next_dead;
                free(x);
        }
        return d->kicked != NULL;
}
