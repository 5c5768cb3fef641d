/* door.h - the inside of egress: what its files share. One process, one loop, one box.
 *
 * accept.c takes connections in, guest.c finds out whom they mean; tls.c deciphers; h1_server.c and
 * h2_server.c read requests; exchange*.c carry each through gate.c (policy), refuse.c (refusals),
 * upstream.c (origins); relay.c moves what passes unread; record.c tells audit; control.c listens
 * to the supervisor; link.c talks to dial and keeper. */
#ifndef EGRESS_DOOR_H
#define EGRESS_DOOR_H

#include "base/buf.h"
#include "base/loop.h"
#include "egress/account.h"
#include "egress/conn.h"
#include "egress/exchange.h"
#include "egress/idle.h"
#include "egress/work.h"
#include "policy/policy.h"
#include "wire/door.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct guest_heard;
struct names;
struct trust;
struct leaf;
struct upstream;
struct relay;
struct allowance;
struct custody;

/* Limits on what one box can make us hold. */
enum {
        DOOR_CONNS_MAX = 4096, /* and as many requests at once over HTTP/2 */
        DOOR_LISTENERS_MAX = 256,
        DOOR_QUESTIONS_MAX = 64,
        DOOR_LEAF_SLOTS = 1024,
        DOOR_HEAD_MS = 10000,
        DOOR_SILENCE_MS = 3000,    /* for the first byte, on a port that is not HTTP's */
        DOOR_HANDSHAKE_MS = 15000, /* with an origin */
        DOOR_IDLE_MS = 300000,
        DOOR_STREAM_IDLE_MS = 1800000, /* a model may think for a long time */
        DOOR_ASK_MS = 120000,
        DOOR_QUEUE_MS = 30000, /* a body, for those that are read before it */
};

struct listener {
        struct door *door;
        uint32_t port;
        int fd;
        struct loop_src *src;
};

struct door {
        struct loop *loop;
        char *box_id;
        struct work_budget work; /* what is done in one go */
        struct account account;  /* what is held */

        /* control.c */
        int control_fd, dial_fd, keeper_fd, audit_fd;
        struct policy *policy;
        enum door_level level;
        uint64_t generation;

        /* accept.c */
        struct listener listeners[DOOR_LISTENERS_MAX];
        size_t listeners_n;
        int spares[DOOR_LISTENERS_MAX];
        size_t spares_n;
        size_t conns_n, conns_max, conns_peak;
        size_t conns_held; /* bytes for connections as such, whatever waits in them */
        size_t guests_n;   /* of them: that have not begun with HTTP or TLS */
        uint64_t trimmed_ms, held_peak;
        bool is_full;            /* listeners are paused; the others wait in the kernel's queue */
        bool is_short;           /* and that was for want of descriptors */
        struct loop_timer retry; /* while it is full: look again */
        struct idle_list fresh, used;
        size_t crowded_out_n;      /* connections that were ended to make room */
        uint64_t crowded_s;        /* when the log was last told of it */
        struct guest_heard *heard; /* origins with whom the box speaks first (guest.c) */
        struct loop_src *dns_udp;  /* dns_server.c */
        struct names *names;
        size_t names_charged;
        uint64_t flagged_s; /* when the log was last told of too many names */

        /* tls.c */
        SSL_CTX *server_ctx, *client_ctx;
        EVP_PKEY *leaf_key, *leaf_pub;
        struct leaf *leaves[DOOR_LEAF_SLOTS];
        size_t leaves_n, leaves_charged;
        uint64_t minted, minted_ms; /* thousandths of a new certificate, and when */
        struct trust *trust;

        /* exchange.c, relay.c, upstream.c: everything that is open, for changes of policy */
        struct exchange *exchanges;
        size_t exchanges_n;
        size_t held_n;                       /* bytes of requests that cannot be passed on yet */
        struct exchange *queue, **queue_end; /* bodies that wait for room: exchange_queue.c */
        struct relay *relays;
        struct upstream *upstreams;
        struct upstream_wait *waits;
        size_t idle_n; /* pooled connections that nobody uses */
        uint64_t question_id;
        size_t questions_n;
        struct allowance *allowances;

        /* link.c */
        uint32_t call_id;
        size_t dialling_n; /* calls that dial works on; the others wait here */
        struct dial_call *dials;
        struct leaf_call *leaf_calls;
        struct custody *custody;

        /* conn.c */
        struct conn *dead, *kicked, **kicked_end;
        size_t orphans_n;        /* that still say goodbye */
        char scratch[CONN_READ]; /* for whoever reads, within one callback */

        /* record.c */
        struct buf records;

        struct later *laters;
};

/* door_later(d, fn, p): call ${fn} with ${p} between two rounds of the loop: for freeing what
 * callers up the stack may still look at. */
void door_later(struct door *, void (*fn)(void *), void *p);
/* door_work(d): its budget; NULL, which has no end, where nothing goes round (tests). */
static inline struct work_budget *door_work(struct door *d)
{
        return d->loop ? &d->work : NULL;
}

/* accept.c */
void accept_init(struct door *);
/* accept_add(d, port, fd): a socket of the door's network namespace; becomes the door's. */
void accept_add(struct door *, uint32_t port, int fd);
/* accept_ports(d): listen on every port that the policy names, as far as spare sockets reach. */
void accept_ports(struct door *);
/* accept_look(d): between two rounds: is there room for connections again? */
void accept_look(struct door *);
/* accept_ended(d): a client's connection is over. */
void accept_ended(struct door *);

/* dns_server.c */
/* dns_server_udp(d, fd): queries that come to ${fd}; they wait in it until dns_server_open. */
void dns_server_udp(struct door *, int fd);
/* dns_server_open(d): answer. Called when rules and secrets are known: a lookup before that would
 * not be compared with the placeholders. */
void dns_server_open(struct door *);
void dns_server_tcp(struct door *, int fd); /* one accepted connection */

/* tls.c */
int tls_init(struct door *, struct err *);
/* tls_hello(d, key, key_n, ca, ca_n): the keeper's first message. */
int tls_keeper_hello(struct door *, const uint8_t *key, size_t, const uint8_t *ca, size_t);
/* tls_leaf(d, host, fn, ctx): a certificate for ${host}; calls back now or later, with NULL and a
 * sentence when there is none. Returns a call to cancel, or NULL when it was answered at once. */
struct leaf_call *tls_leaf(struct door *, const struct host_name *,
                           void (*fn)(void *ctx, X509 *, const char *why), void *ctx);
SSL *tls_server(struct door *, X509 *);
/* tls_client(d, host, ca, is_h1_only, err): ready for conn_tls; verifies name and chain. */
SSL *tls_client(struct door *, const struct host_name *, const char *ca, bool is_h1_only,
                struct err *);
const char *tls_alpn(const SSL *); /* "h2", "http/1.1" or "" */

/* link.c */
int link_init(struct door *, struct err *);
struct dial_call *
link_dial(struct door *, enum request_kind, const struct host_name *, uint16_t port,
          void (*fn)(void *ctx, int fd, const char *address, enum door_dial_fault, const char *why),
          void *ctx);
void link_dial_cancel(struct door *, struct dial_call *);
struct leaf_call *link_leaf(struct door *, const struct host_name *,
                            void (*fn)(void *ctx, const uint8_t *der, size_t n, const char *why),
                            void *ctx);

/* control.c */
int control_init(struct door *, struct err *);
/* control_hear(d): a message of the supervisor is here. link_look(d): hear the supervisor, dial and
 * the keeper now, if they say anything, without waiting for their turn among busy connections. */
void control_hear(struct door *);
void link_look(struct door *);
void control_question(struct door *, uint64_t id, const char *what, const char *rule,
                      const char *cure, const char *agent);
void control_settled(struct door *, uint64_t id);
_Noreturn void door_fault(struct door *, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* exchange.c */
void exchange_policy_changed(struct door *);
void exchange_answered(struct door *, uint64_t question, enum door_answer);
/* exchange_queue_look(d): between two rounds: is there room for a body that waits? */
void exchange_queue_look(struct door *);
/* exchange_secret_gone(d, number, sentence): cut or refuse whatever shows that secret
 * (DOOR_SECRET_ALL: any). */
void exchange_secret_gone(struct door *, uint32_t number, const char *sentence);

/* relay.c */
/* relay_begin(d, fd, origin, kind, line): pass the bytes of ${fd} on unread. */
void relay_begin(struct door *, int fd, const struct origin *, enum request_kind,
                 const struct policy_decision *);
void relay_policy_changed(struct door *);
/* relay_cut(d, host, port, why): what was opened with a key of ssh that is gone. */
void relay_cut(struct door *, const char *host, uint32_t port, const char *why);

/* h1_server.c */
void h1_server_begin(struct door *, struct conn *, const struct origin *, const void *early,
                     size_t);

/* conn.c */
/* conn_round(d): what is to be done between two rounds of the loop; true when there is more. */
bool conn_round(struct door *);

/* record.c */
void record_put(struct door *, const struct door_record *);
/* record_sum_up(d): when the box ends: how hard the door had to work and what it held at most, if
 * anybody was sent back for one or the other. */
void record_sum_up(struct door *);
/* record_flush(d): send what has come together, waiting for audit if it must. */
void record_flush(struct door *);
uint64_t record_now_us(void);

/* allowance.c: what rate=, bytes= and hosts= have left. */
/* allowance_take(d, rule, host, words): one more request by ${rule}; false and a sentence when a
 * limit is reached. */
bool allowance_take(struct door *, const struct rule *, const struct host_name *, char words[256]);
/* allowance_bytes(d, rule, n): so many bytes went by; false when that was too much. */
bool allowance_bytes(struct door *, const struct rule *, uint64_t n);

#endif
