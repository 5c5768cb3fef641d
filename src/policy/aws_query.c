/* aws_query.c - see aws_auth.h: signatures of AWS that stand in the query of a URL, and the one way
 * in which AWS encodes bytes. Pure. Called by the keeper and by egress. */
#include "base/buf.h"
#include "base/str.h"
#include "policy/aws_auth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[AWS_PARAMS] = {
        [AWS_PARAM_OTHER] = "",
        [AWS_PARAM_ALGORITHM] = "X-Amz-Algorithm",
        [AWS_PARAM_CREDENTIAL] = "X-Amz-Credential",
        [AWS_PARAM_DATE] = "X-Amz-Date",
        [AWS_PARAM_EXPIRES] = "X-Amz-Expires",
        [AWS_PARAM_NAMES] = "X-Amz-SignedHeaders",
        [AWS_PARAM_TOKEN] = "X-Amz-Security-Token",
        [AWS_PARAM_SIGNATURE] = "X-Amz-Signature",
        [AWS_PARAM_CONTENT] = "X-Amz-Content-Sha256",
        [AWS_PARAM_OLD] = "AWSAccessKeyId",
};

const char *aws_param_name(enum aws_param p)
{
        return names[p];
}

static int digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void aws_decode(const char *p, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                int hi = p[i] == '%' && n - i > 2 ? digit(p[i + 1]) : -1;
                int lo = hi >= 0 ? digit(p[i + 2]) : -1;
                if (lo < 0) {
                        buf_put_u8(out, (uint8_t)p[i]);
                        continue;
                }
                buf_put_u8(out, (uint8_t)(hi * 16 + lo));
                i += 2;
        }
}

static bool is_unreserved(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_' || c == '~';
}

void aws_encode(const char *p, size_t n, bool keeps_slash, struct buf *out)
{
        static const char digits[] = "0123456789ABCDEF";
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)p[i];
                if (is_unreserved(c) || (c == '/' && keeps_slash)) {
                        buf_put_u8(out, c);
                } else {
                        const char text[3] = {'%', digits[c >> 4], digits[c & 15]};
                        buf_put(out, text, 3);
                }
        }
}

enum aws_param aws_param_of(const char *name, size_t n)
{
        _cleanup_buf_ struct buf b = {.max = 4096};
        if (n == 0 || n > 3 * 24) /* the longest of them, all of it encoded */
                return AWS_PARAM_OTHER;
        aws_decode(name, n, &b);
        for (enum aws_param p = AWS_PARAM_ALGORITHM; p < AWS_PARAMS; p++)
                if (b.len == strlen(names[p]) &&
                    strncasecmp((const char *)b.data, names[p], b.len) == 0)
                        return p;
        return AWS_PARAM_OTHER;
}

bool aws_query_next(struct aws_text *query, struct aws_text *name, struct aws_text *value)
{
        while (query->n) {
                const char *p = query->p, *and = memchr(p, '&', query->n);
                size_t n = and? (size_t)(and-p) : query->n;
                query->p += n + (and? 1 : 0);
                query->n -= n + (and? 1 : 0);
                if (n == 0)
                        continue;
                const char *is = memchr(p, '=', n);
                *name = (struct aws_text){p, is ? (size_t)(is - p) : n};
                *value = is ? (struct aws_text){is + 1, n - name->n - 1} : (struct aws_text){"", 0};
                return true;
        }
        return false;
}

bool aws_presigned_has(const char *p, size_t n)
{
        struct aws_text query = {p, n}, name, value;
        while (aws_query_next(&query, &name, &value))
                switch (aws_param_of(name.p, name.n)) {
                case AWS_PARAM_ALGORITHM:
                case AWS_PARAM_CREDENTIAL:
                case AWS_PARAM_TOKEN:
                case AWS_PARAM_SIGNATURE:
                case AWS_PARAM_OLD:
                        return true;
                case AWS_PARAM_OTHER:
                case AWS_PARAM_DATE:
                case AWS_PARAM_EXPIRES:
                case AWS_PARAM_NAMES:
                case AWS_PARAM_CONTENT:
                case AWS_PARAMS:
                        break;
                }
        return false;
}

int aws_presigned_parse(const char *p, size_t n, struct aws_presigned *out)
{
        struct aws_text query = {p, n}, name, value;
        *out = (struct aws_presigned){0};
        while (aws_query_next(&query, &name, &value)) {
                enum aws_param k = aws_param_of(name.p, name.n);
                if (k == AWS_PARAM_OTHER)
                        continue;
                if (k == AWS_PARAM_OLD || out->values[k] || !aws_text_is(name, names[k]))
                        return -1;
                _cleanup_buf_ struct buf b = {0};
                aws_decode(value.p, value.n, &b);
                if (b.is_broken || memchr(b.data ? b.data : (const uint8_t *)"", 0, b.len))
                        return -1;
                out->values[k] = str_dup(buf_cstr(&b));
        }
        for (enum aws_param k = AWS_PARAM_ALGORITHM; k <= AWS_PARAM_SIGNATURE; k++)
                if (!out->values[k] && k != AWS_PARAM_TOKEN)
                        return -1;
        const char *credential = out->values[AWS_PARAM_CREDENTIAL];
        const char *list = out->values[AWS_PARAM_NAMES];
        if (strcmp(out->values[AWS_PARAM_ALGORITHM], "AWS4-HMAC-SHA256") != 0 ||
            aws_scope_parse(credential, strlen(credential), &out->scope) < 0 ||
            !aws_auth_names_ok(list, strlen(list)))
                return -1;
        return 0;
}

void aws_presigned_free(struct aws_presigned *p)
{
        for (size_t i = 0; i < AWS_PARAMS; i++)
                free(p->values[i]);
        *p = (struct aws_presigned){0};
}
