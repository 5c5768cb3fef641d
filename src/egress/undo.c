/* undo.c - see undo.h. Called by scrub.c for each coded answer. It must never hand out a byte that
 * was not decoded.
 *
 * Each coding is a stage that takes from the one before it; the first takes what was put. */
#include "egress/undo.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/awschunk.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum { STAGES_MAX = 3, STEP = 16 << 10, ZSTD_WINDOW = 23 /* RFC 8878 asks for no more */ };

enum kind { KIND_IDENTITY, KIND_GZIP, KIND_DEFLATE, KIND_BROTLI, KIND_ZSTD, KIND_AWS };

struct stage {
        enum kind kind;
        struct buf in;
        size_t in_at;
        z_stream z;
        BrotliDecoderState *br;
        ZSTD_DCtx *zstd;
        struct awschunk_plain aws;
        bool is_begun, is_whole; /* something came; it is at an end that may be the last */
};

struct undo {
        struct stage stages[STAGES_MAX];
        size_t stages_n;
};

static const struct {
        const char *name;
        enum kind kind;
} codings[] = {
        {"identity", KIND_IDENTITY}, {"gzip", KIND_GZIP}, {"x-gzip", KIND_GZIP},
        {"deflate", KIND_DEFLATE},   {"br", KIND_BROTLI}, {"zstd", KIND_ZSTD},
        {"aws-chunked", KIND_AWS},
};
enum { CODINGS = sizeof codings / sizeof *codings };

static int find(const char *name, size_t n, enum kind *kind)
{
        for (size_t i = 0; i < CODINGS; i++)
                if (strlen(codings[i].name) == n && strncasecmp(codings[i].name, name, n) == 0) {
                        *kind = codings[i].kind;
                        return 0;
                }
        return -1;
}

bool undo_knows(const char *name, size_t n)
{
        enum kind kind;
        return find(name, n, &kind) == 0;
}

void undo_free(struct undo *u)
{
        if (!u)
                return;
        for (size_t i = 0; i < u->stages_n; i++) {
                struct stage *s = &u->stages[i];
                if (s->z.state)
                        inflateEnd(&s->z);
                if (s->br)
                        BrotliDecoderDestroyInstance(s->br);
                ZSTD_freeDCtx(s->zstd);
                buf_free(&s->in);
        }
        free(u);
}

int undo_new(const char *coding, struct undo **out, struct err *err)
{
        struct undo *u = calloc(1, sizeof *u);
        if (!u)
                str_no_memory();
        *out = NULL;
        for (const char *c = coding + strspn(coding, " \t,"); *c; c += strspn(c, " \t,")) {
                size_t len = strcspn(c, ", \t");
                enum kind kind;
                if (find(c, len, &kind) < 0 || (kind && u->stages_n == STAGES_MAX)) {
                        undo_free(u);
                        return err_set(err, E_PROTO,
                                       "its coding \"%.*s\" cannot be read here, and what cannot "
                                       "be read may hold a secret",
                                       (int)(len < 40 ? len : 40), c);
                }
                if (kind) {
                        memmove(&u->stages[1], &u->stages[0], u->stages_n * sizeof u->stages[0]);
                        u->stages[0] =
                                (struct stage){.kind = kind}; /* the last one comes off first */
                        u->stages_n++;
                }
                c += len;
        }
        if (u->stages_n == 0) {
                undo_free(u);
                return 0;
        }
        /* The chunks of S3 are outside of everything, wherever they stand in the list. */
        for (size_t i = 1; i < u->stages_n; i++)
                if (u->stages[i].kind == KIND_AWS) {
                        memmove(&u->stages[1], &u->stages[0], i * sizeof u->stages[0]);
                        u->stages[0] = (struct stage){.kind = KIND_AWS};
                }
        *out = u;
        return 0;
}

void undo_put(struct undo *u, const void *p, size_t n)
{
        buf_put(&u->stages[0].in, p, n);
        if (u->stages[0].in.is_broken)
                str_no_memory();
}

static int broken(struct err *err)
{
        return err_set(err, E_PROTO, "the compressed answer is broken");
}

/* begin(s, err): the decoder, once its first bytes are there. */
static int begin(struct stage *s, struct err *err)
{
        const uint8_t *p = s->in.data + s->in_at;
        /* Servers mean two things by deflate. */
        bool is_zlib = s->in.len - s->in_at < 2 ||
                       ((p[0] & 15) == 8 && ((unsigned)p[0] << 8 | p[1]) % 31 == 0);
        s->is_begun = true;
        switch (s->kind) {
        case KIND_GZIP:
                return inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK ? 0 : broken(err);
        case KIND_DEFLATE:
                return inflateInit2(&s->z, is_zlib ? MAX_WBITS : -MAX_WBITS) == Z_OK ? 0
                                                                                     : broken(err);
        case KIND_BROTLI:
                s->br = BrotliDecoderCreateInstance(NULL, NULL, NULL);
                return s->br ? 0 : broken(err);
        case KIND_ZSTD:
                s->zstd = ZSTD_createDCtx();
                if (s->zstd)
                        ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW);
                return s->zstd ? 0 : broken(err);
        case KIND_AWS:
                return 0;
        case KIND_IDENTITY:
                break;
        }
        return broken(err);
}

static ssize_t step_zlib(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        if (s->is_whole) { /* more after the end: another member of gzip, or nothing we know */
                if (s->kind != KIND_GZIP || inflateReset(&s->z) != Z_OK)
                        return err_set(err, E_PROTO, "something follows the compressed answer");
                s->is_whole = false;
        }
        s->z.next_in = s->in.data + s->in_at;
        s->z.avail_in = (uInt)(s->in.len - s->in_at);
        s->z.next_out = to;
        s->z.avail_out = (uInt)n;
        int r = inflate(&s->z, Z_NO_FLUSH);
        s->in_at = s->in.len - s->z.avail_in;
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
                return broken(err);
        s->is_whole = r == Z_STREAM_END;
        return (ssize_t)(n - s->z.avail_out);
}

static ssize_t step_brotli(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        const uint8_t *p = s->in.data + s->in_at;
        size_t left = s->in.len - s->in_at, room = n;
        if (s->is_whole)
                return err_set(err, E_PROTO, "something follows the compressed answer");
        BrotliDecoderResult r = BrotliDecoderDecompressStream(s->br, &left, &p, &room, &to, NULL);
        s->in_at = s->in.len - left;
        if (r == BROTLI_DECODER_RESULT_ERROR)
                return broken(err);
        s->is_whole = r == BROTLI_DECODER_RESULT_SUCCESS;
        return (ssize_t)(n - room);
}

static ssize_t step_zstd(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        ZSTD_inBuffer in = {.src = s->in.data, .size = s->in.len, .pos = s->in_at};
        ZSTD_outBuffer out = {.dst = to, .size = n};
        size_t r = ZSTD_decompressStream(s->zstd, &out, &in);
        s->in_at = in.pos;
        if (ZSTD_isError(r))
                return broken(err);
        s->is_whole = r == 0;
        return (ssize_t)out.pos;
}

static ssize_t step_aws(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        size_t used = 0;
        ssize_t got = awschunk_plain_step(&s->aws, s->in.data + s->in_at, s->in.len - s->in_at,
                                          &used, to, n, err);
        s->in_at += used;
        s->is_whole = awschunk_plain_is_over(&s->aws);
        return got;
}

static ssize_t step(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        switch (s->kind) {
        case KIND_GZIP:
        case KIND_DEFLATE:
                return step_zlib(s, to, n, err);
        case KIND_BROTLI:
                return step_brotli(s, to, n, err);
        case KIND_ZSTD:
                return step_zstd(s, to, n, err);
        case KIND_AWS:
                return step_aws(s, to, n, err);
        case KIND_IDENTITY:
                break;
        }
        return broken(err);
}

/* refill(u, i, is_end, err): more for stage ${i} from the one before. 1, 0 when there is none, -1.
 */
static ssize_t take(struct undo *u, size_t i, bool is_end, uint8_t *to, size_t n, struct err *err);

static int refill(struct undo *u, size_t i, bool is_end, struct err *err)
{
        struct stage *s = &u->stages[i];
        if (i == 0)
                return 0;
        uint8_t *room = buf_room(&s->in, STEP);
        if (!room)
                str_no_memory();
        ssize_t got = take(u, i - 1, is_end, room, STEP, err);
        s->in.len -= STEP - (got > 0 ? (size_t)got : 0);
        return got > 0 ? 1 : (int)got;
}

static ssize_t take(struct undo *u, size_t i, bool is_end, uint8_t *to, size_t n, struct err *err)
{
        struct stage *s = &u->stages[i];
        for (;;) {
                size_t have = s->in.len - s->in_at;
                if (s->is_begun && (have > 0 || !s->is_whole)) {
                        /* Also without input: a decoder may hold back what it has decoded. */
                        ssize_t got = step(s, to, n, err);
                        if (got != 0)
                                return got;
                        have = s->in.len - s->in_at;
                }
                if (have == 0) {
                        s->in.len = s->in_at = 0;
                } else if (s->is_begun && s->is_whole) {
                        continue; /* the next member */
                }
                int r = refill(u, i, is_end, err);
                if (r < 0)
                        return -1;
                have = s->in.len - s->in_at;
                bool may_begin = have >= 2 || (have > 0 && is_end);
                if (!s->is_begun && may_begin) {
                        if (begin(s, err) < 0)
                                return -1;
                        continue;
                }
                if (r > 0)
                        continue;
                if (is_end && s->is_begun && !s->is_whole)
                        return err_set(err, E_PROTO,
                                       s->kind == KIND_AWS
                                               ? "its chunks (Content-Encoding: aws-chunked) end "
                                                 "before the last of them"
                                               : "the compressed answer is cut off");
                return 0;
        }
}

ssize_t undo_take(struct undo *u, bool is_end, void *to, size_t n, struct err *err)
{
        return take(u, u->stages_n - 1, is_end, to, n, err);
}
