/* conn.c - see conn.h. Every connection of egress, to the box and to origins, is one of these.
 *
 * Nothing here calls its owner from inside one of the owner's own calls: what happens then (an
 * error, bytes that TLS still holds) is noted, and told between two rounds of the loop. */
#include "egress/conn_int.h"

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
enum { READS_PER_ROUND = 16, KICKS_PER_ROUND = 64 };
enum { ORPHANS_MIN = 16 };
/* A handshake is counted like so many bytes: it takes about as long as to pass them on. */
enum { CONN_SHAKE_COST = 64 << 10 };

void conn_put_on_list(struct conn *c)
{
        if (c->is_kicked || c->is_dead)
                return;
        c->is_kicked = true;
        c->next_kicked = NULL;
        if (!c->door->kicked)
                c->door->kicked_end = &c->door->kicked;
        *c->door->kicked_end = c;
        c->door->kicked_end = &c->next_kicked;
}

static void kick(struct conn *c)
{
        c->is_stirred = true;
        conn_put_on_list(c);
}

void conn_later(struct conn *c)
{
        c->wants_later = true;
        conn_put_on_list(c);
}

void conn_fail(struct conn *c, const char *why)
{
        if (c->is_failed)
                return;
        c->is_failed = true;
        c->why = why;
        kick(c);
}

void conn_update(struct conn *c)
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

int conn_tls_trouble(struct conn *c, int r)
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
                        conn_fail(c, strerrordesc_np(errno));
                return -1;
        default: {
                unsigned long e = ERR_peek_error();
                if (ERR_GET_REASON(e) == SSL_R_UNEXPECTED_EOF_WHILE_READING && !c->is_shaking) {
                        c->is_ended = c->is_cut = true;
                        return -1;
                }
                const char *words = ERR_reason_error_string(e);
                conn_fail(c, words ? words : "the TLS connection failed");
                return -1;
        }
        }
}

/* tell_drained(c): tell the owner that there is room again. */
static void tell_drained(struct conn *c)
{
        if (c->was_full && conn_queued(c) <= CONN_LOW && !c->is_orphan) {
                c->was_full = false;
                c->ops->drained(c->ctx);
        }
}

/* drain_orphan(c): an orphan reads and forgets, so that its last bytes are not lost to a reset. */
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
        work_step(&c->door->work, CONN_SHAKE_COST);
        if (r == 1) {
                c->is_shaking = false;
                loop_timer_stop(&c->timer);
                conn_flush(c);
                if (!c->is_orphan)
                        c->ops->ready(c->ctx);
                if (!c->is_dead && SSL_has_pending(c->ssl))
                        kick(c);
                return;
        }
        if (conn_tls_trouble(c, r) < 0 && !c->is_failed)
                conn_fail(c, "the other side hung up during the TLS handshake");
}

static void on_event(void *ctx, uint32_t events)
{
        struct conn *c = ctx;
        if (c->is_failed)
                return;
        work_turn(&c->door->work);
        c->reads = 0;
        c->is_dry = false;
        if (c->is_shaking) {
                shake(c);
        } else {
                if (events & (EPOLLOUT | EPOLLERR)) {
                        conn_flush(c);
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
                conn_say_goodbye(c);
                conn_update(c);
        }
}

static void on_timer(void *ctx)
{
        struct conn *c = ctx;
        if (c->is_shaking && !conn_is_silent(c)) { /* it has answered; we did not come to it yet */
                loop_timer_set(c->door->loop, &c->timer, CONN_SLOW_MS);
        } else if (!c->is_orphan) {
                conn_fail(c, "the TLS handshake took too long");
        } else if (conn_queued(c) > 0 && conn_queued(c) < c->left) {
                c->left = conn_queued(c);
                loop_timer_set(c->door->loop, &c->timer, CONN_SLOW_MS);
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
        conn_charge(c);
        if (!c->src)
                conn_fail(c, "too many connections");
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
                conn_fail(c, "the TLS connection could not be set up");
        /* A program in the box that opens hundreds at once comes back to each after a while. It
         * keeps nobody out meanwhile (idle.h); an origin keeps a request waiting. */
        loop_timer_set(d->loop, &c->timer, SSL_is_server(ssl) ? DOOR_IDLE_MS : DOOR_HANDSHAKE_MS);
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
        conn_clear(c);
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
        if (c->reads++ >= READS_PER_ROUND || work_is_spent(&c->door->work)) {
                kick(c);
                return -1;
        }
        if (c->ssl) {
                ERR_clear_error();
                errno = 0;
                int r = SSL_read(c->ssl, p, (int)n);
                work_step(&c->door->work, r > 0 ? (size_t)r : 0);
                if (r > 0) {
                        c->is_dry = !SSL_has_pending(c->ssl);
                        return r;
                }
                if (conn_tls_trouble(c, r) == 0) {
                        if (errno != EAGAIN) /* a message of TLS itself; there may be more */
                                kick(c);
                        return -1;
                }
                return c->is_failed ? -1 : 0;
        }
        for (;;) {
                ssize_t r = recv(c->fd, p, n, 0);
                work_step(&c->door->work, r > 0 ? (size_t)r : 0);
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
                        conn_fail(c, strerrordesc_np(errno));
                return -1;
        }
}

bool conn_is_silent(const struct conn *c)
{
        char byte;
        if (c->is_failed || c->is_dead || c->is_ended || (c->ssl && SSL_has_pending(c->ssl)))
                return false;
        return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

bool conn_was_cut(const struct conn *c)
{
        return c->is_cut;
}

void conn_want_read(struct conn *c, bool yes)
{
        if (c->wants_read == yes)
                return;
        c->wants_read = yes;
        if (yes && (c->is_ended || (c->ssl && SSL_has_pending(c->ssl))))
                kick(c);
        conn_update(c);
}

/* is_crowded(c): so many are saying goodbye that this one has no time for it. What it still has to
 * send counts for more: that is the end of an answer, which nobody could tell from the whole. */
static bool is_crowded(const struct conn *c)
{
        const struct door *d = c->door;
        size_t most = d->conns_max / 4 + ORPHANS_MIN;
        if (conn_queued(c) > 0 && !account_is_full(&d->account))
                most = d->conns_max + ORPHANS_MIN;
        return d->orphans_n >= most;
}

void conn_finish_free(struct conn *c)
{
        if (!c || c->is_dead)
                return;
        if (!c->is_failed && !c->is_shaking)
                conn_finish(c); /* the kernel sends what it has taken, whatever becomes of us */
        if (c->is_failed || c->is_shaking || is_crowded(c)) {
                conn_free(c);
                return;
        }
        c->is_orphan = true;
        c->door->orphans_n++;
        c->wants_read = true;
        if (c->is_ended && c->is_goodbye_sent) {
                conn_free(c);
                return;
        }
        c->left = conn_queued(c);
        loop_timer_set(c->door->loop, &c->timer, c->left > 0 ? CONN_SLOW_MS : CONN_GOODBYE_MS);
        kick(c);
        conn_update(c);
}

SSL *conn_ssl(const struct conn *c)
{
        return c->ssl;
}

bool conn_round(struct door *d)
{
        struct conn *c = d->kicked;
        d->kicked = NULL;
        for (int n = 0; c && n < KICKS_PER_ROUND && d->work.round < WORK_ROUND; n++) {
                work_turn(&d->work);
                struct conn *next = c->next_kicked;
                bool is_stirred = c->is_stirred, wants_later = c->wants_later;
                c->is_kicked = c->is_stirred = c->wants_later = false;
                c->reads = 0;
                c->is_dry = false;
                if (wants_later && !c->is_dead && !c->is_failed && !c->is_orphan)
                        c->ops->later(c->ctx);
                conn_send_gathered(c);
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
                if (!d->kicked)
                        d->kicked_end = &last->next_kicked;
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
