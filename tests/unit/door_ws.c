/* door_ws.c - WebSocket frames on their way: the cases of RFC 6455, whole and byte by byte. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/ws.h"
#include "unit/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FRAME(bytes) bytes, sizeof(bytes) - 1

static void put(struct buf *b, uint8_t first, const void *payload, uint64_t n, bool is_masked)
{
        static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
        uint8_t bit = is_masked ? 0x80 : 0;
        buf_put_u8(b, first);
        if (n < 126) {
                buf_put_u8(b, (uint8_t)(bit | n));
        } else if (n <= UINT16_MAX) {
                buf_put_u8(b, bit | 126);
                buf_put_u8(b, (uint8_t)(n >> 8));
                buf_put_u8(b, (uint8_t)n);
        } else {
                buf_put_u8(b, bit | 127);
                buf_put_u64(b, n);
        }
        if (is_masked)
                buf_put(b, mask, 4);
        for (size_t i = 0; payload && i < n; i++)
                buf_put_u8(b, (uint8_t)(((const uint8_t *)payload)[i] ^
                                        (is_masked ? mask[i & 3] : 0)));
}

/* Undo the mask of what a client's frames became, so that it can be compared. */
static void unmask(struct buf *b)
{
        struct buf out = {0};
        for (size_t at = 0; at + 2 <= b->len;) {
                const uint8_t *p = b->data + at;
                uint64_t n = p[1] & 0x7f;
                size_t head = 2;
                if (n == 126) {
                        n = (uint64_t)(p[2] << 8 | p[3]);
                        head = 4;
                } else if (n == 127) {
                        n = 0;
                        for (size_t i = 0; i < 8; i++)
                                n = n << 8 | p[2 + i];
                        head = 10;
                }
                const uint8_t *mask = p + head;
                bool is_masked = p[1] & 0x80;
                head += is_masked ? 4 : 0;
                struct buf plain = {0};
                for (size_t i = 0; i < n; i++)
                        buf_put_u8(&plain, (uint8_t)(p[head + i] ^ (is_masked ? mask[i & 3] : 0)));
                put(&out, p[0], plain.data, n, false);
                buf_free(&plain);
                at += head + (size_t)n;
        }
        buf_free(b);
        *b = out;
}

/* pass(in, is_client, step, out): -1 as ws_feed says, ${step} bytes at a time. */
static int pass(const struct buf *in, bool is_client, size_t step, struct buf *out, struct err *err)
{
        struct ws w = {.is_from_client = is_client};
        for (size_t i = 0; i < in->len; i += step)
                if (ws_feed(&w, in->data + i, step < in->len - i ? step : in->len - i, out, err) <
                    0)
                        return -1;
        return 0;
}

static const struct {
        const char *name;
        struct {
                uint8_t first;
                uint32_t len;
                const char *bytes; /* NULL: letters */
        } frames[5];
        bool is_good;
} cases[] = {
        {"a text message", {{0x81, 5, "Hello"}}, true},
        {"an empty message", {{0x81, 0, ""}}, true},
        {"a binary message of 126 bytes", {{0x82, 126, NULL}}, true},
        {"of 65535 bytes", {{0x82, 65535, NULL}}, true},
        {"of 65536 bytes", {{0x82, 65536, NULL}}, true},
        {"a message in pieces", {{0x01, 3, "Hel"}, {0x00, 1, "l"}, {0x80, 1, "o"}}, true},
        {"a ping inside it", {{0x01, 3, "Hel"}, {0x89, 1, "x"}, {0x80, 2, "lo"}}, true},
        {"ping and pong", {{0x89, 125, NULL}, {0x8a, 0, ""}}, true},
        {"close without a code", {{0x88, 0, ""}}, true},
        {"close with a code", {{0x88, 2, "\x03\xe8"}}, true},
        {"close with a code and words",
         {{0x88, 5,
           "\x03\xe9"
           "bye"}},
         true},
        {"close with a code of one's own", {{0x88, 2, "\x0f\xa0"}}, true},
        {"reserved bit 1", {{0xc1, 1, "x"}}, false},
        {"reserved bit 2", {{0xa1, 1, "x"}}, false},
        {"reserved bit 3", {{0x91, 1, "x"}}, false},
        {"opcode 3", {{0x83, 1, "x"}}, false},
        {"opcode 7", {{0x87, 1, "x"}}, false},
        {"opcode 11", {{0x8b, 1, "x"}}, false},
        {"opcode 15", {{0x8f, 1, "x"}}, false},
        {"a ping of 126 bytes", {{0x89, 126, NULL}}, false},
        {"a ping in pieces", {{0x09, 1, "x"}}, false},
        {"a continuation of nothing", {{0x80, 1, "x"}}, false},
        {"a continuation after the end", {{0x81, 1, "x"}, {0x80, 1, "x"}}, false},
        {"a message inside another", {{0x01, 1, "x"}, {0x81, 1, "x"}}, false},
        {"close with one byte", {{0x88, 1, "\x03"}}, false},
        {"close with 999", {{0x88, 2, "\x03\xe7"}}, false},
        {"close with 1004", {{0x88, 2, "\x03\xec"}}, false},
        {"close with 1005", {{0x88, 2, "\x03\xed"}}, false},
        {"close with 1006", {{0x88, 2, "\x03\xee"}}, false},
        {"close with 1015", {{0x88, 2, "\x03\xf7"}}, false},
        {"close with 2000", {{0x88, 2, "\x07\xd0"}}, false},
        {"close with 5000", {{0x88, 2, "\x13\x88"}}, false},
        {"a message after the close", {{0x88, 0, ""}, {0x81, 1, "x"}}, false},
};

static void check_case(size_t i, bool is_client)
{
        static const size_t steps[] = {SIZE_MAX, 1, 7, 4096};
        struct buf in = {0}, plain = {0};
        for (size_t k = 0; k < 5 && cases[i].frames[k].first; k++) {
                uint32_t n = cases[i].frames[k].len;
                char *letters = malloc(n + 1);
                for (uint32_t j = 0; j < n; j++)
                        letters[j] = (char)('a' + j % 26);
                const char *p = cases[i].frames[k].bytes ? cases[i].frames[k].bytes : letters;
                put(&in, cases[i].frames[k].first, p, n, is_client);
                put(&plain, cases[i].frames[k].first, p, n, false);
                free(letters);
        }
        bool is_right = true;
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
                struct err err = {0};
                struct buf out = {0};
                int r = pass(&in, is_client, steps[k] < in.len ? steps[k] : in.len, &out, &err);
                if (r == 0 && is_client) {
                        is_right &= !(in.len > 6 && out.len == in.len &&
                                      memcmp(out.data, in.data, in.len) == 0); /* a fresh mask */
                        unmask(&out);
                }
                if (cases[i].is_good)
                        is_right &= r == 0 && out.len == plain.len &&
                                    memcmp(out.data, plain.data, plain.len) == 0;
                else
                        is_right &= r < 0 && err.text[0];
                buf_free(&out);
        }
        check(is_right, cases[i].name, "from the %s", is_client ? "client" : "server");
        buf_free(&in);
        buf_free(&plain);
}

static bool is_refused(const char *bytes, size_t n, bool is_client)
{
        struct buf in = {0}, out = {0};
        buf_put(&in, bytes, n);
        int r = pass(&in, is_client, n, &out, NULL);
        buf_free(&in);
        buf_free(&out);
        return r < 0;
}

int main(void)
{
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                check_case(i, false);
                check_case(i, true);
        }
        CHECK("a client that does not mask", is_refused(FRAME("\x81\x01x"), true));
        CHECK("a server that masks", is_refused(FRAME("\x81\x81\1\2\3\4x"), false));
        CHECK("16 bits for a length of 125", is_refused(FRAME("\x82\x7e\x00\x7d"), false));
        CHECK("64 bits for a length of 65535",
              is_refused(FRAME("\x82\x7f\0\0\0\0\0\0\xff\xff"), false));
        CHECK("a length with its highest bit",
              is_refused(FRAME("\x82\x7f\x80\0\0\0\0\1\0\0"), false));
        CHECK("a message over the limit", is_refused(FRAME("\x82\x7f\0\0\0\0\x01\0\0\1"), false));
        struct ws w = {0};
        struct buf big = {0}, out = {0};
        put(&big, 0x02, NULL, WS_MESSAGE_MAX, false);
        CHECK("a message at the limit", ws_feed(&w, big.data, big.len, &out, NULL) == 0);
        w.left = 0;
        w.head_n = 0;
        CHECK("a piece beyond the limit", ws_feed(&w, "\x80\x01", 2, &out, NULL) < 0);
        buf_free(&big);
        buf_free(&out);
        ws_put_close(&out, 1002, "why", false);
        CHECK("a close of our own",
              out.len == 7 && memcmp(out.data, "\x88\x05\x03\xeawhy", 7) == 0);
        buf_free(&out);
        return check_end();
}
