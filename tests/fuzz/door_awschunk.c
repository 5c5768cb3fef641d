/* door_awschunk.c - any bytes as a body in signed chunks. Whatever is taken comes out again to the
 * byte, but for signatures in their places; the same units come out wherever the body is cut; and
 * what came out as a whole is a whole again. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/awschunk.h"
#include "policy/aws_auth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

struct read {
        struct buf out;
        size_t units;
        bool is_bad, is_over;
};

static struct read read_all(const uint8_t *p, size_t n, size_t cut, bool has_trailer)
{
        struct awschunk *c = awschunk_new(has_trailer, UINT64_MAX);
        struct read r = {0};
        for (int part = 0; part < 2 && !r.is_bad; part++) {
                const uint8_t *at = p + (part ? cut : 0);
                size_t left = part ? n - cut : cut;
                int code = 0;
                struct awschunk_unit u;
                struct err err = {0};
                while (left && (code = awschunk_feed(c, &at, &left, &u, &err)) == 1) {
                        must(u.signature + AWSCHUNK_SIGNATURE <= u.bytes.len);
                        must(!u.is_last || awschunk_is_over(c));
                        must(u.bytes.len <= AWSCHUNK_MAX + 2 * AWSCHUNK_TRAILER_MAX);
                        buf_put(&r.out, u.bytes.data, u.bytes.len);
                        r.units++;
                        awschunk_unit_free(&u);
                }
                r.is_bad = code < 0;
                must(!r.is_bad || err.text[0]);
        }
        r.is_over = !r.is_bad && awschunk_is_over(c);
        awschunk_free(c);
        return r;
}

static void fuzz_chunks(const uint8_t *p, size_t n, size_t cut, bool has_trailer)
{
        struct read whole = read_all(p, n, n, has_trailer);
        struct read parts = read_all(p, n, cut, has_trailer);
        must(whole.is_bad == parts.is_bad && whole.is_over == parts.is_over);
        must(whole.units == parts.units && whole.out.len == parts.out.len);
        must(whole.out.len <= n);
        if (whole.out.len)
                must(!memcmp(whole.out.data, p, whole.out.len) &&
                     !memcmp(parts.out.data, p, whole.out.len));
        must(!whole.is_over || whole.out.len == n);
        buf_free(&whole.out);
        buf_free(&parts.out);
}

/* The texts around a signature are read by the same rules on both sides of the door. */
static void fuzz_texts(const char *p, size_t n)
{
        struct aws_auth auth;
        if (aws_auth_parse(p, n, &auth) == 0) {
                must(aws_auth_is_aws(p, n));
                must(auth.signature.n == 64 && auth.scope.date.n == 8 && auth.names.n >= 4);
        }
        struct aws_presigned q;
        if (aws_presigned_parse(p, n, &q) == 0)
                must(aws_presigned_has(p, n));
        aws_presigned_free(&q);
        /* Encoding and decoding give the bytes back. */
        _cleanup_buf_ struct buf enc = {0}, dec = {0};
        aws_encode(p, n, false, &enc);
        aws_decode((const char *)enc.data, enc.len, &dec);
        must(dec.len == n && (n == 0 || !memcmp(dec.data, p, n)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2 || size > 1 << 16)
                return 0;
        size_t n = size - 2;
        size_t cut = n ? (size_t)data[1] * 257 % n : 0;
        if (data[0] & 2)
                fuzz_texts((const char *)data + 2, n);
        else
                fuzz_chunks(data + 2, n, cut, data[0] & 1);
        return 0;
}
