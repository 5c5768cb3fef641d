/* custody_body_ws.c - see custody_body_ws.h. A frame goes on when nothing of its message is in
 * doubt; a message with a slot is taken apart and framed anew. It must never trust a length: ws.c
 * has checked them, and the limit on messages here is its own. */
#include "egress/custody_body_ws.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/door.h"
#include "egress/scan.h"
#include "egress/ws.h"
#include "policy/cred_slots.h"

#include <stdlib.h>
#include <string.h>

enum {
        OP_MORE = 0,
        OP_TEXT = 1,
        OP_CLOSE = 8,
        MESSAGE_MAX = 1 << 20, /* of one with a slot */
        HELD_MAX = 1 << 20,    /* of frames that are in doubt */
        HEAD_MAX_N = 14,
};

struct custody_ws {
        struct door *door;
        struct custody_request *q;
        struct host_name host;
        struct origin origin;
        const struct head *head;
        const struct custody_body_ops *ops;
        void *ctx;
        bool has_slots, is_model, is_over, is_full, is_feeding;

        /* the frame that is being read */
        uint8_t raw[HEAD_MAX_N];
        size_t raw_n, mask_at, done;
        uint64_t left;
        bool in_payload;

        bool is_collecting; /* a text message that may have a slot */
        struct buf message, control, held;
        struct scan scan;
        /* Of messages that have no slot: bytes that the scanner was given, gave back, and that may go on. */
        uint64_t fed, seen, passed;

        struct custody_body *body; /* of a message that is being changed */
        bool is_working;
        struct buf made, waiting;
        size_t charged; /* for what it holds */
};

static void fail(struct custody_ws *w, int status, const char *why)
{
        if (w->is_over)
                return;
        w->is_over = true;
        w->ops->bad(w->ctx, status, why);
}

/* hold(w, to, p, n): keep bytes of it. The account has no room: this one WebSocket ends. */
static bool hold(struct custody_ws *w, struct buf *to, const void *p, size_t n)
{
        if (account_put(&w->door->account, &w->charged, to, p, n))
                return true;
        fail(w, 503, ACCOUNT_FULL);
        return false;
}

static void leak(struct custody_ws *w, const struct scan_hit *hit)
{
        char *why = custody_request_hit(w->q, hit, "a WebSocket message");
        fail(w, 403, why);
        free(why);
}

static void send(struct custody_ws *w, const void *p, size_t n)
{
        if (n && !w->is_over)
                w->is_full = !w->ops->out(w->ctx, p, n);
}

/* send_message(w): what was made of a message, as one frame. */
static void send_message(struct custody_ws *w)
{
        struct buf b = {0};
        ws_put_message(&b, true, w->made.data, w->made.len);
        send(w, b.data, b.len);
        buf_free(&b); /* masked with what stands before it, and gone to the origin */
        if (w->made.data)
                explicit_bzero(w->made.data, w->made.len);
        w->made.len = 0;
}

/* --- a message with slots -------------------------------------------------------------------- */

static void go_on(struct custody_ws *);
static void look(struct custody_ws *, const void *, size_t, bool is_message);

static bool message_out(void *ctx, const void *p, size_t n)
{
        struct custody_ws *w = ctx;
        hold(w, &w->made, p, n);
        return true;
}

static void message_end(void *ctx)
{
        struct custody_ws *w = ctx;
        w->is_working = false;
        if (!w->is_over)
                send_message(w);
        if (w->is_feeding)
                return; /* whoever feeds goes on */
        /* The keeper has answered: what came meanwhile follows. */
        go_on(w);
        if (!w->is_over && !w->is_working && !w->is_full)
                w->ops->idle(w->ctx);
}

static void message_bad(void *ctx, int status, const char *why)
{
        fail(ctx, status, why);
}

static void message_idle(void *ctx)
{
        (void)ctx;
}

static const struct custody_body_ops message_ops = {
        .out = message_out, .end = message_end, .bad = message_bad, .idle = message_idle};

static void free_body(void *p)
{
        custody_body_free(p);
}

static void change_message(struct custody_ws *w)
{
        const char *p = (const char *)w->message.data;
        size_t n = w->message.len, at = 0;
        while (at < n && strchr(" \t\r\n", p[at] ? p[at] : 'x'))
                at++;
        bool is_json = at < n && (p[at] == '{' || p[at] == '[');
        if (!is_json) { /* a word of the protocol that is spoken there */
                look(w, p, n, true);
                if (!w->is_over && hold(w, &w->made, p, n))
                        send_message(w);
                return;
        }
        if (w->body) /* it may be what called us */
                door_later(w->door, free_body, w->body);
        w->body =
                custody_body_message(w->door, w->q, &w->host, &w->origin, w->head, &message_ops, w);
        w->is_working = true;
        custody_body_feed(w->body, p, n);
        if (!w->is_over)
                custody_body_end(w->body);
}

/* --- frames ---------------------------------------------------------------------------------- */

static void begin_frame(struct custody_ws *w)
{
        uint8_t op = w->raw[0] & 0x0f;
        w->in_payload = true;
        w->done = 0;
        if (op >= OP_CLOSE) {
                w->control.len = 0;
        } else if (op != OP_MORE) {
                w->is_collecting = op == OP_TEXT && w->has_slots;
                w->message.len = 0;
        }
        if (op >= OP_CLOSE || !w->is_collecting)
                hold(w, &w->held, w->raw, w->raw_n);
}

static void flush_held(struct custody_ws *w)
{
        enum { KEPT = 4 << 10 };
        send(w, w->held.data, w->held.len);
        w->held.len = 0;
        if (w->held.cap > KEPT)
                buf_free(&w->held);
}

/* look(w, p, n, is_message): more of what is sent in messages; ${is_message}: one of them ends. */
static void look(struct custody_ws *w, const void *p, size_t n, bool is_message)
{
        _cleanup_buf_ struct buf out = {0};
        struct scan_hit hit = {0};
        size_t found =
                n ? scan_feed(&w->scan, custody_of(w->door)->placeholders, p, n, false, &out, &hit)
                  : 0;
        w->fed += n;
        w->seen += out.len;
        if (w->seen > w->passed)
                w->passed = w->seen;
        if (found && w->is_model)
                custody_request_flag(w->q, hit.tag);
        else if (found)
                leak(w, &hit);
        /* A message waits for nothing; the rest of a placeholder may be in the next, and is known. */
        if (is_message)
                w->passed = w->fed;
}

static void use_payload(struct custody_ws *w, const uint8_t *p, size_t n)
{
        uint8_t op = w->raw[0] & 0x0f, plain[4096];
        const uint8_t *mask = w->raw + w->mask_at;
        if (op >= OP_CLOSE || !w->is_collecting)
                hold(w, &w->held, p, n);
        for (size_t at = 0; at < n && !w->is_over;) {
                size_t part = n - at < sizeof plain ? n - at : sizeof plain;
                for (size_t i = 0; i < part; i++)
                        plain[i] = p[at + i] ^ mask[(w->done + i) & 3];
                w->done += part;
                at += part;
                if (op >= OP_CLOSE)
                        hold(w, &w->control, plain, part);
                else if (w->is_collecting)
                        hold(w, &w->message, plain, part);
                else
                        look(w, plain, part, false);
        }
        w->left -= n;
        if (w->message.len > MESSAGE_MAX)
                fail(w, 403, "a WebSocket message with a secret's slot is too long to be read");
}

static void end_frame(struct custody_ws *w)
{
        bool is_final = w->raw[0] & 0x80, is_control = (w->raw[0] & 0x0f) >= OP_CLOSE;
        struct scan_hit hit;
        w->in_payload = false;
        w->raw_n = 0;
        if (is_control) {
                if (scan_look(custody_of(w->door)->placeholders, w->control.data, w->control.len,
                              &hit))
                        leak(w, &hit);
        } else if (is_final && w->is_collecting) {
                w->is_collecting = false;
                change_message(w);
        } else if (is_final) {
                look(w, NULL, 0, true);
        }
}

/* use_head(w, byte): true when the head of a frame is whole. */
static bool use_head(struct custody_ws *w, uint8_t byte)
{
        w->raw[w->raw_n++] = byte;
        if (w->raw_n < 2)
                return false;
        size_t len = w->raw[1] & 0x7f, bytes = len == 126 ? 2 : len == 127 ? 8 : 0;
        w->mask_at = 2 + bytes;
        if (w->raw_n < w->mask_at + 4)
                return false;
        w->left = bytes ? 0 : len;
        for (size_t i = 0; i < bytes; i++)
                w->left = w->left << 8 | w->raw[2 + i];
        return true;
}

static size_t use(struct custody_ws *w, const uint8_t *p, size_t n)
{
        size_t used = 1;
        if (!w->in_payload) {
                if (!use_head(w, *p))
                        return used;
                begin_frame(w);
        } else {
                used = w->left < n ? (size_t)w->left : n;
                use_payload(w, p, used);
        }
        if (w->in_payload && w->left == 0 && !w->is_over)
                end_frame(w);
        return used;
}

/* go_on(w): what waits, until a message waits for the keeper. */
static void go_on(struct custody_ws *w)
{
        size_t at = 0;
        w->is_feeding = true;
        while (at < w->waiting.len && !w->is_over && !w->is_working)
                at += use(w, w->waiting.data + at, w->waiting.len - at);
        w->is_feeding = false;
        buf_drop(&w->waiting, at);
        if (w->is_over)
                return;
        if (w->fed == w->passed)
                flush_held(w);
        else if (w->held.len > HELD_MAX)
                fail(w, 403, "a WebSocket message cannot be told from one that hides a secret");
}

/* charge(w): what it holds, for the account. */
static void charge(struct custody_ws *w)
{
        account_set(&w->door->account, &w->charged,
                    sizeof *w + w->message.cap + w->control.cap + w->held.cap + w->waiting.cap +
                            w->made.cap + scan_held(&w->scan));
}

bool custody_ws_feed(struct custody_ws *w, const void *p, size_t n)
{
        w->is_full = false;
        if (w->is_over)
                return true;
        if (hold(w, &w->waiting, p, n))
                go_on(w);
        if (w->waiting.len == 0)
                buf_free(&w->waiting);
        charge(w);
        return w->is_over || (!w->is_full && !w->is_working);
}

static bool has_slots(struct door *d, const struct host_name *host, const struct origin *o,
                      const struct head *h)
{
        for (const struct custody_secret *s = custody_of(d)->secrets; s; s = s->next)
                for (size_t i = 0; i < s->line.secret->forms_n; i++)
                        if (s->line.secret->forms[i].form == RULE_AS_WS &&
                            custody_may_show(s, host, o->port, o->is_tls, &h->path))
                                return true;
        return false;
}

struct custody_ws *custody_ws_new(struct door *d, struct custody_request *q,
                                  const struct host_name *host, const struct origin *o,
                                  const struct head *h, const struct custody_body_ops *ops,
                                  void *ctx)
{
        if (!custody_of(d)->placeholders)
                return NULL;
        struct custody_ws *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct custody_ws){.door = d,
                                 .q = q,
                                 .host = *host,
                                 .origin = *o,
                                 .head = h,
                                 .ops = ops,
                                 .ctx = ctx,
                                 .has_slots = has_slots(d, host, o, h),
                                 .is_model = cred_slots_is_model_host(host)};
        return w;
}

void custody_ws_free(struct custody_ws *w)
{
        if (!w)
                return;
        custody_body_free(w->body);
        scan_free(&w->scan);
        buf_free(&w->message);
        buf_free(&w->control);
        buf_free(&w->held);
        buf_free(&w->waiting);
        if (w->made.data)
                explicit_bzero(w->made.data, w->made.cap);
        buf_free(&w->made);
        account_set(&w->door->account, &w->charged, 0);
        free(w);
}
