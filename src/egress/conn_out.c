/* conn_out.c - what leaves through a connection: handed to the kernel or to TLS at once, queued
 * when they are full, gathered into whole records, wiped when it held a value. See conn.h. */
#include "egress/conn_int.h"

#include "egress/door.h"

#include <errno.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>

enum { RECORD_MAX = 16 << 10 };

size_t conn_queued(const struct conn *c)
{
        return c->out.len - c->out_at;
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
                                conn_tls_trouble(c, (int)r);
                                break;
                        }
                } else {
                        r = send(c->fd, p + done, n - done, MSG_NOSIGNAL);
                        if (r < 0 && errno == EINTR)
                                continue;
                        if (r < 0) {
                                if (errno != EAGAIN)
                                        conn_fail(c, strerrordesc_np(errno));
                                break;
                        }
                }
                done += (size_t)r;
        }
        return done;
}

void conn_say_goodbye(struct conn *c)
{
        if (!c->is_finishing || c->is_goodbye_sent || c->is_shaking || conn_queued(c) > 0)
                return;
        c->is_goodbye_sent = true;
        if (c->is_orphan)
                loop_timer_set(c->door->loop, &c->timer, CONN_GOODBYE_MS);
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

/* What a connection costs besides what waits in it: the state of TLS is most of it, as measured with
 * thousands that are idle. */
enum { CONN_COST = 1 << 10, CONN_TLS_COST = 8 << 10 };

void conn_charge(struct conn *c)
{
        size_t own = c->is_dead ? 0 : CONN_COST + (c->ssl ? CONN_TLS_COST : 0);
        c->door->conns_held += own - c->own;
        c->own = own;
        account_set(&c->door->account, &c->charged, own + c->out.cap);
}

void conn_clear(struct conn *c)
{
        wipe(c);
        buf_free(&c->out);
        conn_charge(c);
}

void conn_flush(struct conn *c)
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
        conn_charge(c);
}

void conn_send_gathered(struct conn *c)
{
        if (!c->is_gathering || c->is_dead)
                return;
        c->is_gathering = false;
        if (c->out.is_broken)
                conn_fail(c, "too much was queued");
        conn_flush(c);
        conn_update(c);
}

void conn_write(struct conn *c, const void *p, size_t n)
{
        if (c->is_failed || c->is_dead || c->is_goodbye_sent || n == 0)
                return;
        size_t done = 0;
        conn_send_gathered(c);
        if (!c->is_shaking && conn_queued(c) == 0)
                done = put(c, p, n);
        if (done < n && !c->is_failed) {
                if (!account_put(&c->door->account, &c->charged, &c->out, (const char *)p + done,
                                 n - done))
                        conn_fail(c, c->out.is_broken ? "too much was queued" : ACCOUNT_FULL);
                conn_update(c);
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
                        if (!account_put(&c->door->account, &c->charged, &c->out, at, part))
                                conn_fail(c, ACCOUNT_FULL);
                        else if (part == room)
                                conn_send_gathered(c);
                }
                at += part;
                n -= part;
                if (n > 0 && conn_queued(c) > 0) { /* the kernel took not all of it */
                        conn_write(c, at, n);
                        return;
                }
        }
        if (c->is_gathering)
                conn_put_on_list(c);
}

void conn_wipe(struct conn *c)
{
        c->is_wiped = true;
}

void conn_finish(struct conn *c)
{
        conn_send_gathered(c);
        c->is_finishing = true;
        conn_say_goodbye(c);
}
