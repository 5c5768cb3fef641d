/* ws.c - see ws.h: RFC 6455, section 5. Called by websocket.c for each direction of a WebSocket.
 * It must never let through a frame that the two ends could cut up in different ways. */
#include "egress/ws.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <openssl/rand.h>
#include <string.h>

enum { OP_MORE = 0, OP_TEXT = 1, OP_BINARY = 2, OP_CLOSE = 8, OP_PING = 9, OP_PONG = 10 };

static int bad(struct err *err, const char *why)
{
        return err_set(err, E_PROTO, "%s", why);
}

static bool is_control(uint8_t opcode)
{
        return opcode >= OP_CLOSE;
}

static void fresh_mask(uint8_t mask[4])
{
        if (RAND_bytes(mask, 4) != 1)
                str_no_memory();
}

/* A frame's head: the shortest form of its length, and a mask when there is one. */
static void put_head(struct buf *out, uint8_t first, uint64_t len, const uint8_t *mask)
{
        uint8_t bit = mask ? 0x80 : 0;
        buf_put_u8(out, first);
        if (len < 126) {
                buf_put_u8(out, (uint8_t)(bit | len));
        } else if (len <= UINT16_MAX) {
                buf_put_u8(out, bit | 126);
                buf_put_u8(out, (uint8_t)(len >> 8));
                buf_put_u8(out, (uint8_t)len);
        } else {
                buf_put_u8(out, bit | 127);
                buf_put_u64(out, len);
        }
        if (mask)
                buf_put(out, mask, 4);
}

static void put_masked(struct buf *out, const uint8_t *p, size_t n, const uint8_t mask[4],
                       uint64_t done)
{
        uint8_t key[4];
        uint8_t *to = buf_room(out, n);
        for (size_t i = 0; i < 4; i++)
                key[i] = mask[(done + i) & 3];
        uint32_t wide;
        memcpy(&wide, key, 4);
        size_t i = 0;
        for (; to && i + 4 <= n; i += 4) {
                uint32_t v;
                memcpy(&v, p + i, 4);
                v ^= wide;
                memcpy(to + i, &v, 4);
        }
        for (; to && i < n; i++)
                to[i] = p[i] ^ key[i & 3];
}

/* How many bytes the head has, once its second byte is known. */
static size_t head_size(const uint8_t *head)
{
        size_t n = 2;
        if ((head[1] & 0x7f) == 126)
                n += 2;
        else if ((head[1] & 0x7f) == 127)
                n += 8;
        return n + (head[1] & 0x80 ? 4 : 0);
}

static int check_first(const struct ws *w, uint8_t first, struct err *err)
{
        uint8_t opcode = first & 0x0f;
        bool is_final = first & 0x80;
        if (first & 0x70)
                return bad(err, "a WebSocket frame uses an extension that was not agreed on");
        if ((opcode > OP_BINARY && opcode < OP_CLOSE) || opcode > OP_PONG)
                return bad(err, "a WebSocket frame has an unknown type");
        if (is_control(opcode))
                return is_final ? 0 : bad(err, "a WebSocket control frame is in pieces");
        if (opcode == OP_MORE && !w->in_message)
                return bad(err, "a WebSocket message goes on that never began");
        if (opcode != OP_MORE && w->in_message)
                return bad(err, "a WebSocket message begins inside another");
        return 0;
}

static int read_len(const uint8_t *head, uint64_t *len, struct err *err)
{
        size_t bytes = (head[1] & 0x7f) == 126 ? 2 : (head[1] & 0x7f) == 127 ? 8 : 0;
        *len = head[1] & 0x7f;
        if (bytes == 0)
                return 0;
        *len = 0;
        for (size_t i = 0; i < bytes; i++)
                *len = *len << 8 | head[2 + i];
        if (*len < 126 || (bytes == 8 && *len <= UINT16_MAX))
                return bad(err, "a WebSocket frame writes its length longer than it is");
        if (*len >> 63)
                return bad(err, "a WebSocket frame has an impossible length");
        return 0;
}

/* The head is whole: what kind of frame follows. */
static int begin_frame(struct ws *w, struct buf *out, struct err *err)
{
        const uint8_t *in_mask = w->head + w->head_need - 4;
        uint64_t len;
        w->opcode = w->head[0] & 0x0f;
        w->is_final = w->head[0] & 0x80;
        w->done = 0;
        if (read_len(w->head, &len, err) < 0)
                return -1;
        w->left = len;
        if (is_control(w->opcode)) {
                if (len > sizeof w->control)
                        return bad(err, "a WebSocket control frame is too long");
                w->control_n = 0;
                memset(w->mask, 0, 4);
                if (w->is_from_client)
                        memcpy(w->mask, in_mask, 4);
                return 0;
        }
        if (w->opcode != OP_MORE)
                w->message_len = 0;
        if (len > WS_MESSAGE_MAX || w->message_len + len > WS_MESSAGE_MAX)
                return bad(err, "a WebSocket message is too long");
        w->message_len += len;
        w->in_message = !w->is_final;
        if (w->is_from_client) {
                uint8_t ours[4];
                fresh_mask(ours);
                put_head(out, w->head[0], len, ours);
                for (size_t i = 0; i < 4; i++)
                        w->mask[i] = in_mask[i] ^ ours[i];
        } else {
                put_head(out, w->head[0], len, NULL);
        }
        return 0;
}

/* RFC 6455, 7.4: codes that may stand in a frame. */
static bool is_close_code(unsigned code)
{
        if (code >= 3000 && code <= 4999)
                return true;
        return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

static int check_close(const uint8_t *p, size_t n, struct err *err)
{
        if (n == 0)
                return 0;
        if (n == 1 || !is_close_code((unsigned)(p[0] << 8 | p[1])))
                return bad(err, "a WebSocket is closed with a code that may not be sent");
        return 0;
}

static void put_control(struct buf *out, uint8_t opcode, const uint8_t *p, size_t n, bool is_masked)
{
        uint8_t mask[4] = {0};
        if (is_masked)
                fresh_mask(mask);
        put_head(out, 0x80 | opcode, n, is_masked ? mask : NULL);
        put_masked(out, p, n, mask, 0);
}

static int end_frame(struct ws *w, struct buf *out, struct err *err)
{
        w->head_n = 0;
        w->frames_n++;
        if (!is_control(w->opcode)) {
                w->messages_n += w->is_final;
                return 0;
        }
        if (w->opcode == OP_CLOSE) {
                if (check_close(w->control, w->control_n, err) < 0)
                        return -1;
                w->is_closed = true;
        }
        put_control(out, w->opcode, w->control, w->control_n, w->is_from_client);
        return 0;
}

/* At most ${n} bytes of the frame's payload. */
static size_t use_payload(struct ws *w, const uint8_t *p, size_t n, struct buf *out)
{
        size_t part = w->left < n ? (size_t)w->left : n;
        if (is_control(w->opcode)) {
                for (size_t i = 0; i < part; i++)
                        w->control[w->control_n++] = p[i] ^ w->mask[(w->done + i) & 3];
        } else if (w->is_from_client) {
                put_masked(out, p, part, w->mask, w->done);
        } else {
                buf_put(out, p, part);
        }
        w->done += part;
        w->left -= part;
        return part;
}

/* The next byte of a frame's head. 1: it is whole. */
static int use_head(struct ws *w, uint8_t byte, struct err *err)
{
        w->head[w->head_n++] = byte;
        if (w->head_n == 1)
                return check_first(w, byte, err);
        if (w->head_n == 2) {
                bool is_masked = byte & 0x80;
                if (is_masked != w->is_from_client)
                        return bad(err, is_masked ? "a WebSocket server masks its frames"
                                                  : "a WebSocket client does not mask its frames");
                w->head_need = head_size(w->head);
        }
        return w->head_n == w->head_need;
}

int ws_feed(struct ws *w, const void *bytes, size_t n, struct buf *out, struct err *err)
{
        if (n == 0)
                return 0; /* bytes may be NULL then, which has no end to compute */
        const uint8_t *p = bytes, *end = p + n;
        while (p < end) {
                if (w->is_closed)
                        return bad(err, "a WebSocket goes on after it was closed");
                if (w->head_n == 0 || w->head_n == 1 || w->head_n < w->head_need) {
                        int r = use_head(w, *p++, err);
                        if (r < 0 || (r > 0 && begin_frame(w, out, err) < 0))
                                return -1;
                        if (r == 0)
                                continue;
                } else {
                        p += use_payload(w, p, (size_t)(end - p), out);
                }
                if (w->left == 0 && end_frame(w, out, err) < 0)
                        return -1;
        }
        return out->is_broken ? bad(err, "there is no memory for a WebSocket frame") : 0;
}

void ws_put_message(struct buf *b, bool is_text, const void *p, size_t n)
{
        uint8_t mask[4];
        fresh_mask(mask);
        buf_room(b, n + sizeof((struct ws *)0)->head); /* so that it never moves */
        b->len -= b->is_broken ? 0 : n + sizeof((struct ws *)0)->head;
        put_head(b, 0x80 | (is_text ? OP_TEXT : OP_BINARY), n, mask);
        put_masked(b, p, n, mask, 0);
}

void ws_put_close(struct buf *b, uint16_t code, const char *words, bool is_masked)
{
        uint8_t payload[125] = {(uint8_t)(code >> 8), (uint8_t)code};
        size_t n = strlen(words);
        if (n > sizeof payload - 2)
                n = sizeof payload - 2;
        while (words[n] && n > 0 && ((unsigned char)words[n] & 0xc0) == 0x80)
                n--; /* not in the middle of a character: the other side would call it broken */
        memcpy(payload + 2, words, n);
        put_control(b, OP_CLOSE, payload, n + 2, is_masked);
}
