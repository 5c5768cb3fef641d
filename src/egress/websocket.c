/* websocket.c - see websocket.h. ws.c checks frames; here is the handshake and the closing. */
#include "egress/websocket.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/ws.h"
#include "egress/ws_scrub.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_N = 24, ACCEPT_N = 28 };

struct websocket {
        char ours[KEY_N + 1];
        char theirs[KEY_N + 1]; /* "" for a client that speaks HTTP/2 */
        struct ws up, down;
        struct ws_scrub scrub; /* of what comes down, when the box has secrets */
        bool is_broken, is_scrubbed;
        uint64_t counted; /* frames that websocket_steps told of */
};

/* accept_of(key, out): RFC 6455, 4.2.2. */
static void accept_of(const char *key, char out[ACCEPT_N + 1])
{
        unsigned char digest[SHA_DIGEST_LENGTH];
        char *text = str_fmt("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
        SHA1((const unsigned char *)text, strlen(text), digest);
        EVP_EncodeBlock((unsigned char *)out, digest, sizeof digest);
        free(text);
}

static void set_field(struct head *h, const char *name, const char *value)
{
        head_drop(h, name);
        head_add(h, name, strlen(name), value, strlen(value), NULL);
}

struct websocket *websocket_new(struct head *request)
{
        unsigned char random[16];
        struct websocket *w = calloc(1, sizeof *w);
        if (!w || RAND_bytes(random, sizeof random) != 1)
                str_no_memory();
        EVP_EncodeBlock((unsigned char *)w->ours, random, sizeof random);
        const struct field *f = head_find(request, "sec-websocket-key");
        if (f && f->value_len == KEY_N)
                memcpy(w->theirs, head_str(request, f->value), KEY_N);
        set_field(request, "sec-websocket-key", w->ours);
        set_field(request, "sec-websocket-version", "13");
        head_drop(request, "sec-websocket-extensions");
        w->up.is_from_client = true;
        return w;
}

void websocket_free(struct websocket *w)
{
        if (w)
                ws_scrub_free(&w->scrub);
        free(w);
}

uint64_t websocket_steps(struct websocket *w)
{
        uint64_t all = w->up.frames_n + w->down.frames_n, fresh = all - w->counted;
        w->counted = all;
        return fresh;
}

size_t websocket_held(const struct websocket *w)
{
        return sizeof *w + w->scrub.payload.cap + w->scrub.control.cap + scan_held(&w->scrub.scan);
}

size_t websocket_more(const struct websocket *w, size_t n)
{
        return buf_more(&w->scrub.payload, n);
}

bool websocket_agreed(const struct websocket *w, const struct head *answer, const char **why)
{
        char want[ACCEPT_N + 1];
        accept_of(w->ours, want);
        const struct field *f = head_find(answer, "sec-websocket-accept");
        *why = "the origin's WebSocket handshake is wrong";
        if (answer->status != 101 || !f || head_count(answer, "sec-websocket-accept") != 1 ||
            strcmp(head_str(answer, f->value), want) != 0)
                return false;
        *why = "the origin wants a WebSocket extension that was not offered";
        return head_count(answer, "sec-websocket-extensions") == 0;
}

void websocket_answer(const struct websocket *w, struct head *answer)
{
        char accept[ACCEPT_N + 1];
        head_drop(answer, "sec-websocket-accept");
        if (w->theirs[0]) {
                accept_of(w->theirs, accept);
                set_field(answer, "sec-websocket-accept", accept);
        }
}

/* scrub(w, values, frames): what comes down, without the values of secrets. */
static int scrub(struct websocket *w, const struct scan_set *values, struct buf *frames,
                 struct err *err)
{
        struct buf b = {0};
        ws_scrub_feed(&w->scrub, values, frames->data, frames->len, &b);
        bool is_broken = b.is_broken;
        buf_free(frames);
        *frames = b;
        frames->is_broken = false;
        return is_broken ? err_set(err, E_PROTO, "there is no memory for a WebSocket frame") : 0;
}

static bool pass(struct websocket *w, struct ws *ws, struct exchange *x, const struct side_ops *ops,
                 void *side, const void *p, size_t n, const struct scan_set *values)
{
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0};
        if (w->is_broken)
                return true;
        /* From a frame's beginning on: usually the first. */
        if (values && ws->head_n == 0 && !ws->in_message)
                w->is_scrubbed = true;
        bool is_ok = ws_feed(ws, p, n, &b, &err) == 0;
        if (values && w->is_scrubbed && scrub(w, values, &b, &err) < 0)
                is_ok = false;
        if (!is_ok) {
                w->is_broken = true;
                ws_put_close(&b, 1002, err.text, ws->is_from_client);
        }
        bool is_room = b.len == 0 || ops->data(side, x, b.data, b.len);
        if (!is_ok)
                exchange_cut(x, err.text);
        return is_room || !is_ok;
}

bool websocket_is_between(const struct websocket *w)
{
        return w->is_scrubbed || w->down.head_n == 0;
}

bool websocket_up(struct websocket *w, struct exchange *x, const struct side_ops *ops, void *side,
                  const void *p, size_t n)
{
        return pass(w, &w->up, x, ops, side, p, n, NULL);
}

bool websocket_down(struct websocket *w, struct exchange *x, const struct side_ops *ops, void *side,
                    const void *p, size_t n, const struct scan_set *values)
{
        return pass(w, &w->down, x, ops, side, p, n, values);
}
