/* body_decode.c - undo Content-Encoding, with ceilings. See body_int.h. Pure.
 *
 * A coding that programs undo in different ways is refused: deflate without its zlib head, a second
 * gzip member, bytes after the end. */
#include "base/cleanup.h"
#include "base/err.h"
#include "egress/body.h"
#include "egress/body_int.h"

#include <brotli/decode.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum { STEP = 64 << 10, NESTED_MAX = 2 };

typedef int undo_fn(const uint8_t *, size_t, struct buf *, struct err *);

static int no_end(struct err *err)
{
        return err_set(err, E_PROTO, "the compressed body is broken or cut off");
}

static int too_much(struct err *err)
{
        return err_set(err, E_PROTO, "the compressed body grows beyond all measure");
}

static int trailing(struct err *err)
{
        return err_set(err, E_PROTO, "there are bytes after the end of the compressed body");
}

/* A window at the end of ${out} to decode into; NULL when the ceiling is reached. */
static uint8_t *window(struct buf *out, size_t in_len)
{
        bool is_bomb = out->len > BODY_MAX && out->len / BODY_RATIO_MAX > in_len;
        if (is_bomb || out->len + STEP > BODY_DECODED_MAX)
                return NULL;
        return buf_room(out, STEP);
}

static int undo_zlib(const uint8_t *p, size_t n, int window_bits, struct buf *out, struct err *err)
{
        z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
        int r = Z_OK;
        if (inflateInit2(&z, window_bits) != Z_OK)
                return no_end(err);
        while (r == Z_OK) {
                uint8_t *to = window(out, n);
                if (!to) {
                        inflateEnd(&z);
                        return too_much(err);
                }
                z.next_out = to;
                z.avail_out = STEP;
                r = inflate(&z, Z_NO_FLUSH);
                out->len -= z.avail_out;
        }
        size_t left = z.avail_in;
        inflateEnd(&z);
        if (r != Z_STREAM_END)
                return no_end(err);
        return left ? trailing(err) : 0;
}

static int undo_gzip(const uint8_t *p, size_t n, struct buf *out, struct err *err)
{
        return undo_zlib(p, n, 16 + MAX_WBITS, out, err);
}

static int undo_deflate(const uint8_t *p, size_t n, struct buf *out, struct err *err)
{
        return undo_zlib(p, n, MAX_WBITS, out, err);
}

static int undo_brotli(const uint8_t *p, size_t n, struct buf *out, struct err *err)
{
        BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
        BrotliDecoderResult r = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
        if (!s)
                return no_end(err);
        while (r == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
                uint8_t *to = window(out, n);
                size_t room = STEP;
                if (!to) {
                        BrotliDecoderDestroyInstance(s);
                        return too_much(err);
                }
                r = BrotliDecoderDecompressStream(s, &n, &p, &room, &to, NULL);
                out->len -= room;
        }
        BrotliDecoderDestroyInstance(s);
        if (r != BROTLI_DECODER_RESULT_SUCCESS)
                return no_end(err);
        return n ? trailing(err) : 0;
}

static int undo_zstd(const uint8_t *p, size_t n, struct buf *out, struct err *err)
{
        ZSTD_DCtx *d = ZSTD_createDCtx();
        ZSTD_inBuffer in = {.src = p, .size = n};
        size_t r = 1;
        if (!d)
                return no_end(err);
        ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 23); /* RFC 8878 asks for no more */
        while (r != 0 && !ZSTD_isError(r)) {
                uint8_t *to = window(out, n);
                if (!to) {
                        ZSTD_freeDCtx(d);
                        return too_much(err);
                }
                ZSTD_outBuffer o = {.dst = to, .size = STEP};
                r = ZSTD_decompressStream(d, &o, &in);
                out->len -= STEP - o.pos;
                if (r != 0 && o.pos == 0 && in.pos == in.size)
                        break; /* it wants bytes that are not there */
        }
        ZSTD_freeDCtx(d);
        if (r != 0)
                return no_end(err);
        return in.pos < in.size ? trailing(err) : 0;
}

static const struct {
        const char *name;
        undo_fn *undo; /* NULL: nothing to do */
} codings[] = {
        {"identity", NULL},        {"gzip", undo_gzip}, {"x-gzip", undo_gzip},
        {"deflate", undo_deflate}, {"br", undo_brotli}, {"zstd", undo_zstd},
};

/* Names in the order in which they were applied, for undoing from the last. */
static int parse(const char *s, undo_fn **list, size_t *list_n, struct err *err)
{
        *list_n = 0;
        for (;;) {
                s += strspn(s, " \t");
                size_t len = strcspn(s, ", \t"), i = 0, count = sizeof codings / sizeof *codings;
                while (i < count && !(strlen(codings[i].name) == len &&
                                      strncasecmp(codings[i].name, s, len) == 0))
                        i++;
                if (i == count)
                        return err_set(err, E_PROTO, "its coding \"%.*s\" is not known here",
                                       (int)(len < 40 ? len : 40), s);
                if (codings[i].undo) {
                        if (*list_n == NESTED_MAX)
                                return err_set(err, E_PROTO, "it is compressed too many times");
                        list[(*list_n)++] = codings[i].undo;
                }
                s += len;
                s += strspn(s, " \t");
                if (*s == '\0')
                        return 0;
                if (*s++ != ',')
                        return err_set(err, E_PROTO, "its Content-Encoding is not a list");
        }
}

int body_decode(const char *coding, const void *p, size_t n, struct buf *out, struct err *err)
{
        undo_fn *list[NESTED_MAX];
        size_t list_n = 0;
        if (coding[strspn(coding, " \t")] && parse(coding, list, &list_n, err) < 0)
                return -1;
        if (list_n == 0)
                return 0;
        if (list_n == 1)
                return list[0](p, n, out, err) < 0 ? -1 : 1;
        _cleanup_buf_ struct buf first = {.max = BODY_DECODED_MAX};
        if (list[1](p, n, &first, err) < 0 || list[0](first.data, first.len, out, err) < 0)
                return -1;
        return 1;
}
