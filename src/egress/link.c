/* link.c - calls to dial and keeper: a number goes out with each, and comes back with the answer.
 * Both are ours and yet read bytes from elsewhere, so what they say is checked like anything else,
 * and nonsense ends this process: the box then has no network, which is what should happen. */
#include "egress/door.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/custody.h"
#include "wire/frame.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* Dial takes no more calls than 256 at once, some of which may be cancelled and on their way out.
 */
enum { DIALLING_MAX = 200 };

struct dial_call {
        uint32_t id;
        enum request_kind kind;
        struct host_name host;
        uint16_t port;
        bool is_sent;
        void (*fn)(void *, int, const char *, enum door_dial_fault, const char *);
        void *ctx;
        struct dial_call *next;
};

struct leaf_call {
        uint32_t id;
        void (*fn)(void *, const uint8_t *, size_t, const char *);
        void *ctx;
        struct leaf_call *next;
};

/* send_call(d, fd, ...): these sockets block: dial and keeper always read, and answer less than
 * they are asked. */
static void send_call(struct door *d, int fd, uint32_t type, const struct buf *b)
{
        if (frame_send(fd, type, b, NULL, 0) < 0)
                door_fault(d, "a process of the door is gone");
}

static void send_dial(struct door *d, struct dial_call *c)
{
        _cleanup_buf_ struct buf b = {0};
        c->is_sent = true;
        d->dialling_n++;
        buf_put_u32(&b, c->id);
        buf_put_u32(&b, c->kind);
        buf_put_lstr(&b, c->host.text);
        buf_put_u32(&b, c->port);
        send_call(d, d->dial_fd, DOOR_DIAL, &b);
}

struct dial_call *
link_dial(struct door *d, enum request_kind kind, const struct host_name *host, uint16_t port,
          void (*fn)(void *, int, const char *, enum door_dial_fault, const char *), void *ctx)
{
        struct dial_call *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        *c = (struct dial_call){.id = ++d->call_id,
                                .kind = kind,
                                .host = *host,
                                .port = port,
                                .fn = fn,
                                .ctx = ctx,
                                .next = d->dials};
        d->dials = c;
        if (d->dialling_n < DIALLING_MAX)
                send_dial(d, c);
        return c;
}

static struct dial_call *take_dial(struct door *d, uint32_t id)
{
        for (struct dial_call **p = &d->dials; *p; p = &(*p)->next)
                if ((*p)->id == id) {
                        struct dial_call *c = *p;
                        *p = c->next;
                        if (c->is_sent)
                                d->dialling_n--;
                        return c;
                }
        return NULL;
}

/* send_next(d): the oldest call that waits, if there is room. */
static void send_next(struct door *d)
{
        struct dial_call *oldest = NULL;
        for (struct dial_call *c = d->dials; c && d->dialling_n < DIALLING_MAX; c = c->next)
                if (!c->is_sent)
                        oldest = c;
        if (oldest)
                send_dial(d, oldest);
}

void link_dial_cancel(struct door *d, struct dial_call *c)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, c->id);
        take_dial(d, c->id);
        if (c->is_sent) {
                send_call(d, d->dial_fd, DOOR_DIAL_CANCEL, &b);
                send_next(d);
        }
        free(c);
}

static void on_dialled(struct door *d, struct frame *f)
{
        uint32_t id, fault = DOOR_DIAL_DENIED;
        char *words = NULL;
        bool is_ok = f->type == DOOR_DIALED;
        if (cur_u32(&f->body, &id) < 0 || (!is_ok && cur_u32(&f->body, &fault) < 0) ||
            cur_lstr(&f->body, 1000, &words) < 0 || (is_ok && f->fds_n != 1))
                door_fault(d, "dial sent a message that makes no sense");
        struct dial_call *c = take_dial(d, id);
        send_next(d);
        if (c) { /* or it was cancelled meanwhile */
                if (is_ok)
                        c->fn(c->ctx, frame_take_fd(f, 0), words, DOOR_DIAL_DENIED, NULL);
                else
                        c->fn(c->ctx, -1, "", (enum door_dial_fault)fault, words);
                free(c);
        }
        free(words);
}

static void on_dial(void *ctx, uint32_t events)
{
        static struct frame f;
        struct door *d = ctx;
        (void)events;
        if (frame_recv(d->dial_fd, &f, false) <= 0)
                door_fault(d, "the process that dials is gone");
        if (f.type != DOOR_DIALED && f.type != DOOR_DIAL_FAILED)
                door_fault(d, "dial sent a message that it may not send");
        on_dialled(d, &f);
        frame_release(&f);
}

struct leaf_call *link_leaf(struct door *d, const struct host_name *host,
                            void (*fn)(void *, const uint8_t *, size_t, const char *), void *ctx)
{
        struct leaf_call *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        *c = (struct leaf_call){.id = ++d->call_id, .fn = fn, .ctx = ctx, .next = d->leaf_calls};
        d->leaf_calls = c;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, c->id);
        buf_put_lstr(&b, host->text);
        send_call(d, d->keeper_fd, DOOR_LEAF, &b);
        return c;
}

static struct leaf_call *take_leaf(struct door *d, uint32_t id)
{
        for (struct leaf_call **p = &d->leaf_calls; *p; p = &(*p)->next)
                if ((*p)->id == id) {
                        struct leaf_call *c = *p;
                        *p = c->next;
                        return c;
                }
        return NULL;
}

/* get_bytes(c, max, &p, &n): "bytes" of wire/door.h. */
static int get_bytes(struct cur *c, size_t max, const uint8_t **p, size_t *n)
{
        uint32_t len;
        if (cur_u32(c, &len) < 0 || len > max || cur_bytes(c, len, p) < 0)
                return -1;
        *n = len;
        return 0;
}

static void on_leaf(struct door *d, struct frame *f)
{
        enum { DER_MAX = 16 << 10 };
        uint32_t id;
        const uint8_t *der = NULL;
        size_t n = 0;
        char *words = NULL;
        bool is_ok = f->type == DOOR_LEAF_OK;
        if (cur_u32(&f->body, &id) < 0 ||
            (is_ok ? get_bytes(&f->body, DER_MAX, &der, &n) : cur_lstr(&f->body, 1000, &words)) < 0)
                door_fault(d, "the keeper sent a message that makes no sense");
        struct leaf_call *c = take_leaf(d, id);
        if (c)
                c->fn(c->ctx, der, n, words);
        free(c);
        free(words);
}

static void on_keeper(void *ctx, uint32_t events)
{
        static struct frame f;
        struct door *d = ctx;
        const uint8_t *key, *ca, *fingers;
        size_t key_n, ca_n, fingers_n;
        (void)events;
        if (frame_recv(d->keeper_fd, &f, false) <= 0)
                door_fault(d, "the process that holds the keys is gone");
        const size_t used_n = f.body.left + sizeof f.type;
        switch (f.type) {
        case DOOR_KEEPER_HELLO:
                if (get_bytes(&f.body, 16384, &key, &key_n) < 0 ||
                    get_bytes(&f.body, 16384, &ca, &ca_n) < 0 ||
                    get_bytes(&f.body, DOOR_FINGER_KEY, &fingers, &fingers_n) < 0 ||
                    tls_keeper_hello(d, key, key_n, ca, ca_n) < 0 ||
                    custody_hello(d, fingers, fingers_n) < 0)
                        door_fault(d, "the keeper's key could not be used");
                break;
        case DOOR_LEAF_OK:
        case DOOR_LEAF_FAILED:
                on_leaf(d, &f);
                break;
        default:
                if (!custody_hear(d, &f))
                        door_fault(d, "the keeper sent a message that it may not send");
        }
        frame_release(&f);
        /* A value that was to be placed, or the leaf's key, was in it. */
        explicit_bzero(f.raw, used_n);
}

void link_look(struct door *d)
{
        /* Each at most so often: an answer may be the beginning of a next question. */
        enum { AT_MOST = 16 };
        for (int i = 0; i < AT_MOST; i++) {
                struct pollfd p[] = {{.fd = d->control_fd, .events = POLLIN},
                                     {.fd = d->dial_fd, .events = POLLIN},
                                     {.fd = d->keeper_fd, .events = POLLIN}};
                if (poll(p, 3, 0) <= 0)
                        return;
                work_turn(&d->work);
                if (p[0].revents)
                        control_hear(d);
                if (p[1].revents)
                        on_dial(d, EPOLLIN);
                if (p[2].revents)
                        on_keeper(d, EPOLLIN);
        }
}

int link_init(struct door *d, struct err *err)
{
        if (!loop_add(d->loop, d->dial_fd, EPOLLIN, on_dial, d) ||
            !loop_add(d->loop, d->keeper_fd, EPOLLIN, on_keeper, d))
                return err_sys(err, "watch dial and keeper");
        /* The keeper is older than we are; it waits for somebody to tell its list to. */
        send_call(d, d->keeper_fd, DOOR_GRANTS, NULL);
        return 0;
}
