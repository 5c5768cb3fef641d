/* conn.h - one byte stream, deciphered or plain, without blocking: what every protocol engine reads
 * from and writes to. It owns its descriptor and its TLS state, and knows nothing of HTTP.
 *
 * Reading is by level: `readable` is called as long as there are bytes and reading is wanted, TLS's
 * own buffer included. Writing never fails in the caller's face: bytes that do not fit are kept,
 * and `conn_queued` tells how many, so that engines stop taking more in (back-pressure). After
 * `closed` the connection does nothing more; its owner frees it. Callbacks may free the connection.
 */
#ifndef EGRESS_CONN_H
#define EGRESS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct door;
struct conn;
struct host_name;
typedef struct ssl_st SSL;

struct conn_ops {
        void (*ready)(void *ctx);    /* the handshake is over; never called for a plain one */
        void (*readable)(void *ctx); /* read until conn_read says -1 or reading is paused */
        void (*drained)(void *ctx);  /* the queue fell below CONN_LOW after having been full */
        void (*closed)(void *ctx, const char *why); /* failed or reset; ${why} is a sentence */
        void (*later)(void *ctx); /* after conn_later; NULL for whoever does not call that */
};

enum { CONN_HIGH = 64 << 10, CONN_LOW = 16 << 10, CONN_READ = 16 << 10 };

/* conn_plain(door, fd, ops, ctx): the descriptor becomes the connection's. */
struct conn *conn_plain(struct door *, int fd, const struct conn_ops *, void *ctx);
/* conn_tls(door, fd, ssl, ops, ctx): ${ssl} is set up as server or client and becomes the
 * connection's; the handshake begins at once. */
struct conn *conn_tls(struct door *, int fd, SSL *, const struct conn_ops *, void *ctx);
void conn_free(struct conn *); /* closes at once; unsent bytes are lost. NULL is fine */

/* conn_take_over(c, ops, ctx): another engine goes on with this connection. */
void conn_take_over(struct conn *, const struct conn_ops *, void *ctx);

/* conn_read(c, p, n): bytes; 0 at the end (a TLS end without close_notify is conn_was_cut); -1 when
 * there is nothing now, or `closed` is about to be called. */
ssize_t conn_read(struct conn *, void *, size_t);
bool conn_was_cut(const struct conn *);
/* conn_is_silent(c): nothing has come that was not read yet, not even an end. One call of the
 * kernel. */
bool conn_is_silent(const struct conn *);

/* conn_write(c, p, n): send now or keep. */
void conn_write(struct conn *, const void *, size_t);
/* conn_gather(c, p, n): the same, but at the end of this round or when a TLS record is full: pieces
 * that belong together become one record and one packet. */
void conn_gather(struct conn *, const void *, size_t);
/* conn_wipe(c): a secret is in what was given to conn_gather: wipe it when it is sent. */
void conn_wipe(struct conn *);
size_t conn_queued(const struct conn *);
static inline bool conn_is_full(const struct conn *c)
{
        return conn_queued(c) >= CONN_HIGH;
}

/* conn_later(c): call `later` once, between two rounds of the loop: for an engine that gathers what
 * it writes. */
void conn_later(struct conn *);

/* conn_want_read(c, yes): pause or resume reading. */
void conn_want_read(struct conn *, bool);
/* conn_finish(c): when everything queued is out, say goodbye (close_notify, FIN); reading goes on
 * until the peer closes too. conn_finish_free(c): the same and free afterwards, with a short time
 * limit; the owner's callbacks are not called again. */
void conn_finish(struct conn *);
void conn_finish_free(struct conn *);

SSL *conn_ssl(const struct conn *);

#endif
