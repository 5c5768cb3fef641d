/* undo.c - see undo.h. Called by scrub.c for each coded answer, by custody_body.c for each coded
 * request and by pack.c for what is packed in either. It must never hand out a byte that was not decoded.
 *
 * Each coding is a stage that takes from the one before it; the first takes what was put. */
#include "egress/undo.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/account.h"
#include "egress/awschunk.h"
#include "egress/work.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* the memory that a decoder may have */
#include <zstd.h>
#include <zstd_errors.h>

enum {
        CODINGS_MAX = 2,
        STAGES_MAX = CODINGS_MAX + 1, /* and S3's chunks */
        STEP = WORK_PIECE,
        ZSTD_WINDOW = 23, /* RFC 8878 asks for no more */
};

enum kind {
        KIND_IDENTITY,
        KIND_GZIP,
        KIND_DEFLATE,
        KIND_BROTLI,
        KIND_ZSTD,
        KIND_AWS,
        KIND_BARE, /* deflate that certainly has no zlib head */
};

struct stage {
        enum kind kind;
        struct buf in;
        size_t in_at;
        z_stream z;
        BrotliDecoderState *br;
        ZSTD_DCtx *zstd;
        struct awschunk_plain aws;
        bool is_begun, is_whole; /* something came; it is at an end that may be the last */
        uint64_t made;           /* bytes that came out of it */
        size_t charged;          /* for ${in} */
};

struct undo {
        struct stage stages[STAGES_MAX];
        size_t stages_n;
        struct work_budget *work;
        struct account *account;
        uint64_t put; /* bytes that came */
        bool is_short, is_bomb, is_strict;
        bool is_one;    /* it ends with its first member */
        size_t charged; /* for itself */
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
                account_set(u->account, &s->charged, 0);
        }
        account_set(u->account, &u->charged, 0);
        free(u);
}

/* may_add(u, kind): two codings at most, and one row of S3's chunks around them. */
static bool may_add(const struct undo *u, enum kind kind)
{
        size_t same = 0, chunks = 0;
        for (size_t i = 0; i < u->stages_n; i++)
                chunks += u->stages[i].kind == KIND_AWS;
        same = kind == KIND_AWS ? chunks : u->stages_n - chunks;
        return same < (kind == KIND_AWS ? 1 : CODINGS_MAX);
}

int undo_new(const char *coding, struct work_budget *work, struct account *account,
             struct undo **out, struct err *err)
{
        struct undo *u = calloc(1, sizeof *u);
        if (!u)
                str_no_memory();
        u->work = work;
        u->account = account;
        account_set(account, &u->charged, sizeof *u);
        *out = NULL;
        for (const char *c = coding + strspn(coding, " \t,"); *c; c += strspn(c, " \t,")) {
                size_t len = strcspn(c, ", \t");
                enum kind kind;
                if (find(c, len, &kind) < 0) {
                        undo_free(u);
                        return err_set(err, E_PROTO,
                                       "its coding \"%.*s\" cannot be read here, and what cannot "
                                       "be read may hold a secret",
                                       (int)(len < 40 ? len : 40), c);
                }
                if (kind && !may_add(u, kind)) {
                        undo_free(u);
                        return err_set(err, E_PROTO,
                                       "it has more than %d codings, one inside the other, and no "
                                       "more are read",
                                       CODINGS_MAX);
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

struct undo *undo_one(enum undo_kind kind, struct work_budget *work, struct account *account)
{
        static const enum kind kinds[] = {[UNDO_GZIP] = KIND_GZIP,
                                          [UNDO_ZLIB] = KIND_DEFLATE,
                                          [UNDO_DEFLATE] = KIND_BARE,
                                          [UNDO_ZSTD] = KIND_ZSTD};
        struct undo *u = calloc(1, sizeof *u);
        if (!u)
                str_no_memory();
        u->work = work;
        u->account = account;
        account_set(account, &u->charged, sizeof *u);
        u->is_strict = u->is_one = true;
        u->stages[0].kind = kinds[kind];
        u->stages_n = 1;
        return u;
}

void undo_again(struct undo *u)
{
        struct stage *s = &u->stages[0];
        s->in.len = s->in_at = 0;
        s->is_begun = s->is_whole = false; /* begin() finds the decoder */
        s->made = u->put = 0;
        u->is_short = u->is_bomb = false;
}

bool undo_is_over(const struct undo *u, size_t *rest)
{
        const struct stage *s = &u->stages[0];
        *rest = s->in.len - s->in_at;
        return u->is_one && s->is_whole;
}

void undo_put(struct undo *u, const void *p, size_t n)
{
        struct stage *s = &u->stages[0];
        if (account_put(u->account, &s->charged, &s->in, p, n))
                u->put += n;
        else
                u->is_short = true;
}

int undo_strictly(struct undo *u)
{
        u->is_strict = true;
        for (size_t i = 0; i < u->stages_n; i++)
                if (u->stages[i].kind == KIND_AWS)
                        return -1;
        return 0;
}

bool undo_is_short(const struct undo *u)
{
        return u->is_short;
}

bool undo_is_bomb(const struct undo *u)
{
        return u->is_bomb;
}

static int broken(struct err *err)
{
        return err_set(err, E_PROTO, "what is compressed is broken");
}

/* no_room(u, err): a decoder was not given the memory that it asked for. */
static int no_room(struct undo *u, struct err *err)
{
        u->is_short = true;
        return err_set(err, E_SYSTEM, "%s", ACCOUNT_FULL);
}

static void *zlib_alloc(void *account, unsigned items, unsigned size)
{
        size_t n;
        return __builtin_mul_overflow((size_t)items, (size_t)size, &n) ? NULL
                                                                       : account_alloc(account, n);
}

static int begin_zlib(struct undo *u, struct stage *s, int bits, struct err *err)
{
        if (s->z.state)
                return inflateReset2(&s->z, bits) == Z_OK ? 0 : broken(err);
        s->z.zalloc = zlib_alloc;
        s->z.zfree = account_free;
        s->z.opaque = u->account;
        int r = inflateInit2(&s->z, bits);
        return r == Z_OK ? 0 : r == Z_MEM_ERROR ? no_room(u, err) : broken(err);
}

static int begin_zstd(struct undo *u, struct stage *s, struct err *err)
{
        if (s->zstd)
                return ZSTD_isError(ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only)) ? broken(err)
                                                                                       : 0;
        s->zstd =
                ZSTD_createDCtx_advanced((ZSTD_customMem){account_alloc, account_free, u->account});
        if (s->zstd)
                ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW);
        return s->zstd ? 0 : no_room(u, err);
}

/* begin(u, s, err): the decoder, once its first bytes are there. */
static int begin(struct undo *u, struct stage *s, struct err *err)
{
        const uint8_t *p = s->in.data + s->in_at;
        /* Servers mean two things by deflate. */
        bool is_zlib = s->in.len - s->in_at < 2 ||
                       ((p[0] & 15) == 8 && ((unsigned)p[0] << 8 | p[1]) % 31 == 0);
        s->is_begun = true;
        switch (s->kind) {
        case KIND_GZIP:
                return begin_zlib(u, s, 16 + MAX_WBITS, err);
        case KIND_DEFLATE:
                return begin_zlib(u, s, is_zlib || u->is_strict ? MAX_WBITS : -MAX_WBITS, err);
        case KIND_BARE:
                return begin_zlib(u, s, -MAX_WBITS, err);
        case KIND_BROTLI:
                s->br = BrotliDecoderCreateInstance(account_alloc, account_free, u->account);
                return s->br ? 0 : no_room(u, err);
        case KIND_ZSTD:
                return begin_zstd(u, s, err);
        case KIND_AWS:
                return 0;
        case KIND_IDENTITY:
                break;
        }
        return broken(err);
}

/* A step takes no more than a piece in: what is decoded to nothing costs as much. */
static size_t step_in(const struct stage *s)
{
        size_t have = s->in.len - s->in_at;
        return have < STEP ? have : STEP;
}

static ssize_t step_zlib(struct undo *u, struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        if (s->is_whole) { /* more after the end: another member of gzip, or nothing we know */
                if (s->kind != KIND_GZIP || u->is_strict || inflateReset(&s->z) != Z_OK)
                        return err_set(err, E_PROTO, "something follows what is compressed");
                s->is_whole = false;
        }
        s->z.next_in = s->in.data + s->in_at;
        size_t part = step_in(s);
        s->z.avail_in = (uInt)part;
        s->z.next_out = to;
        s->z.avail_out = (uInt)n;
        int r = inflate(&s->z, Z_NO_FLUSH);
        s->in_at += part - s->z.avail_in;
        if (r == Z_MEM_ERROR)
                return no_room(u, err);
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
                return broken(err);
        s->is_whole = r == Z_STREAM_END;
        return (ssize_t)(n - s->z.avail_out);
}

static ssize_t step_brotli(struct undo *u, struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        const uint8_t *p = s->in.data + s->in_at;
        size_t part = step_in(s), left = part, room = n;
        if (s->is_whole)
                return err_set(err, E_PROTO, "something follows what is compressed");
        BrotliDecoderResult r = BrotliDecoderDecompressStream(s->br, &left, &p, &room, &to, NULL);
        s->in_at += part - left;
        if (r == BROTLI_DECODER_RESULT_ERROR) {
                BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(s->br);
                bool is_short = code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                                code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
                return is_short ? no_room(u, err) : broken(err);
        }
        s->is_whole = r == BROTLI_DECODER_RESULT_SUCCESS;
        return (ssize_t)(n - room);
}

static ssize_t step_zstd(struct undo *u, struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        ZSTD_inBuffer in = {.src = s->in.data, .size = s->in_at + step_in(s), .pos = s->in_at};
        ZSTD_outBuffer out = {.dst = to, .size = n};
        if (s->is_whole && u->is_strict)
                return err_set(err, E_PROTO, "something follows what is compressed");
        size_t r = ZSTD_decompressStream(s->zstd, &out, &in);
        s->in_at = in.pos;
        if (ZSTD_isError(r))
                return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? no_room(u, err)
                                                                            : broken(err);
        s->is_whole = r == 0;
        return (ssize_t)out.pos;
}

static ssize_t step_aws(struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        size_t used = 0;
        ssize_t got =
                awschunk_plain_step(&s->aws, s->in.data + s->in_at, step_in(s), &used, to, n, err);
        s->in_at += used;
        s->is_whole = awschunk_plain_is_over(&s->aws);
        return got;
}

static ssize_t step_any(struct undo *u, struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        switch (s->kind) {
        case KIND_GZIP:
        case KIND_DEFLATE:
        case KIND_BARE:
                return step_zlib(u, s, to, n, err);
        case KIND_BROTLI:
                return step_brotli(u, s, to, n, err);
        case KIND_ZSTD:
                return step_zstd(u, s, to, n, err);
        case KIND_AWS:
                return step_aws(s, to, n, err);
        case KIND_IDENTITY:
                break;
        }
        return broken(err);
}

/* is_bomb(u, s): what comes out of a coding is out of all proportion to what came in. */
static bool is_bomb(const struct undo *u, const struct stage *s)
{
        return s->made > UNDO_TOTAL || (s->made > UNDO_FREE && s->made / UNDO_RATIO > u->put);
}

/* step(u, s, to, n, err): one call of its decoder, paid for and judged. */
static ssize_t step(struct undo *u, struct stage *s, uint8_t *to, size_t n, struct err *err)
{
        size_t at = s->in_at;
        ssize_t got = step_any(u, s, to, n, err);
        size_t made = got > 0 ? (size_t)got : 0;
        work_step(u->work, s->in_at - at + made);
        s->made += made;
        u->is_bomb = got >= 0 && is_bomb(u, s);
        if (u->is_bomb)
                return err_set(err, E_PROTO, "what is compressed grows beyond all measure");
        return got;
}

/* refill(u, i, is_end, err): more for stage ${i} from the one before. 1, 0 when there is none, -1,
 * UNDO_LATER. */
static ssize_t take(struct undo *u, size_t i, bool is_end, uint8_t *to, size_t n, struct err *err);

static int refill(struct undo *u, size_t i, bool is_end, struct err *err)
{
        struct stage *s = &u->stages[i];
        if (i == 0)
                return 0;
        uint8_t *room = account_room(u->account, &s->charged, &s->in, STEP);
        if (!room)
                return no_room(u, err);
        ssize_t got = take(u, i - 1, is_end, room, STEP, err);
        s->in.len -= STEP - (got > 0 ? (size_t)got : 0);
        return got > 0 ? 1 : (int)got;
}

/* settle(u, s): what was used of its input is forgotten. */
static void settle(struct undo *u, struct stage *s)
{
        enum { KEEP = 4 * STEP };
        if (s->in_at < s->in.len && s->in_at < KEEP)
                return;
        buf_drop(&s->in, s->in_at);
        s->in_at = 0;
        if (s->in.len == 0 && s->in.cap > KEEP)
                buf_free(&s->in);
        account_set(u->account, &s->charged, s->in.cap);
}

static ssize_t take(struct undo *u, size_t i, bool is_end, uint8_t *to, size_t n, struct err *err)
{
        struct stage *s = &u->stages[i];
        for (;;) {
                size_t have = s->in.len - s->in_at;
                if (u->is_one && s->is_whole)
                        return 0; /* the rest is not its own */
                if (s->is_begun && (have > 0 || !s->is_whole)) {
                        if (work_is_spent(u->work))
                                return UNDO_LATER;
                        /* Also without input: a decoder may hold back what it has decoded. */
                        bool was_whole = s->is_whole;
                        ssize_t got = step(u, s, to, n, err);
                        if (got != 0)
                                return got;
                        size_t left = s->in.len - s->in_at;
                        bool is_used = left < have;
                        have = left;
                        if (have > 0 && was_whole && s->is_whole && !is_used)
                                return err_set(err, E_PROTO,
                                               "something follows what is compressed");
                        if (have > 0 && (is_used || s->is_whole))
                                continue; /* more of the same, or the next member */
                }
                settle(u, s);
                int r = refill(u, i, is_end, err);
                if (r < 0)
                        return r;
                have = s->in.len - s->in_at;
                bool may_begin = have >= 2 || (have > 0 && is_end);
                if (!s->is_begun && may_begin) {
                        if (begin(u, s, err) < 0)
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
                                               : "what is compressed is cut off");
                return 0;
        }
}

ssize_t undo_take(struct undo *u, bool is_end, void *to, size_t n, struct err *err)
{
        if (u->is_short) /* something that was put is missing */
                return no_room(u, err);
        return take(u, u->stages_n - 1, is_end, to, n, err);
}
