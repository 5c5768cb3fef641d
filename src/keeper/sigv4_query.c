/* sigv4_query.c - see sigv4.h: a URL that was signed in the box, signed anew. Called by sigv4.c.
 * Our signature must not live longer than the one the box could have made. Pure. */
#include "keeper/sigv4_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* stamp_read(s, t): a time as sigv4_stamp writes it. 0 or -1. */
static int stamp_read(const char *s, time_t *t)
{
        struct tm tm = {0};
        const char *end = strptime(s, "%Y%m%dT%H%M%SZ", &tm);
        if (strlen(s) != SIGV4_STAMP || !end || *end)
                return -1;
        *t = timegm(&tm);
        return 0;
}

/* lifetime(j, p, now, &s): what is left of the URL's own, at most a week, and no longer than the
 * grant. Our signature is used at once; it must not outlive what the box could have made. */
static int lifetime(struct sigv4_job *j, const struct aws_presigned *p, time_t now, uint64_t *s)
{
        time_t made;
        uint64_t expires;
        if (stamp_read(p->values[AWS_PARAM_DATE], &made) < 0 ||
            memcmp(p->values[AWS_PARAM_DATE], p->scope.date.p, 8) != 0 ||
            str_u64(p->values[AWS_PARAM_EXPIRES], &expires) < 0 || expires == 0)
                return sigv4_refuse(
                        j, "X-Amz-Date and X-Amz-Expires of the presigned URL cannot be read, "
                           "or are not of the day in X-Amz-Credential");
        if (expires > SIGV4_EXPIRES_MAX)
                return sigv4_refuse(
                        j, "X-Amz-Expires is more than the 604800 seconds that AWS allows");
        if (now > made && (uint64_t)(now - made) >= expires)
                return sigv4_refuse(j, "the presigned URL has expired");
        if (now > made)
                expires -= (uint64_t)(now - made);
        if (j->secret->left_s && expires > j->secret->left_s)
                expires = j->secret->left_s;
        *s = expires;
        return 0;
}

static void put_param(struct buf *b, enum aws_param k, const char *value)
{
        if (b->len && b->data[b->len - 1] != '?')
                buf_put_u8(b, '&');
        buf_put_fmt(b, "%s=", aws_param_name(k));
        aws_encode(value, strlen(value), false, b);
}

int sigv4_in_query(struct sigv4_job *j, const struct aws_presigned *p, time_t now)
{
        uint64_t expires = 0;
        size_t n;
        sigv4_field(j, "x-amz-security-token", &n);
        if (n)
                return sigv4_refuse(j, "the session token of a presigned URL stands in the URL");
        if (sigv4_check_token(j, p->values[AWS_PARAM_TOKEN]) < 0 || sigv4_pin(j, &p->scope) < 0 ||
            sigv4_take_payload(j) < 0 || lifetime(j, p, now, &expires) < 0)
                return -1;
        if (j->made->has_chunks)
                return sigv4_refuse(j, "a presigned URL cannot have signed chunks");
        const char *said = p->values[AWS_PARAM_CONTENT];
        if (said && strcmp(said, j->payload) != 0)
                return sigv4_refuse(j, "X-Amz-Content-Sha256 in the URL is not what is signed");
        sigv4_begin_scope(j, now);
        const char *list = p->values[AWS_PARAM_NAMES];
        sigv4_put_names(j, (struct aws_text){list, strlen(list)});

        /* What else stands in the query stays as it is and where it is. */
        _cleanup_buf_ struct buf target = {0};
        _cleanup_free_ char *credential = str_fmt("%s/%s", j->secret->id, j->scope);
        char number[24], signature[SIGV4_HEX + 1];
        const char *query = strchr(j->ask->target, '?') + 1;
        struct aws_text rest = {query, strlen(query)}, name, value;
        buf_put(&target, j->ask->target, (size_t)(query - j->ask->target));
        while (aws_query_next(&rest, &name, &value)) {
                enum aws_param k = aws_param_of(name.p, name.n);
                if (k != AWS_PARAM_OTHER && k != AWS_PARAM_CONTENT)
                        continue;
                if (target.data[target.len - 1] != '?')
                        buf_put_u8(&target, '&');
                /* name and value stand in one piece, with what is between them */
                buf_put(&target, name.p,
                        value.n ? (size_t)(value.p + value.n - name.p)
                                : name.n + (name.p[name.n] == '=' ? 1 : 0));
        }
        snprintf(number, sizeof number, "%" PRIu64, expires);
        put_param(&target, AWS_PARAM_ALGORITHM, "AWS4-HMAC-SHA256");
        put_param(&target, AWS_PARAM_CREDENTIAL, credential);
        put_param(&target, AWS_PARAM_DATE, j->stamp);
        put_param(&target, AWS_PARAM_EXPIRES, number);
        put_param(&target, AWS_PARAM_NAMES, buf_cstr(&j->names));
        /* One service wants the token beside what is signed. */
        bool is_token_late = strcmp(j->service, "iotdevicegateway") == 0;
        if (j->secret->token && !is_token_late)
                put_param(&target, AWS_PARAM_TOKEN, j->secret->token);
        int r = sigv4_sign_job(j, buf_cstr(&target), signature);
        put_param(&target, AWS_PARAM_SIGNATURE, signature);
        if (j->secret->token && is_token_late)
                put_param(&target, AWS_PARAM_TOKEN, j->secret->token);
        if (r == 0 && target.is_broken)
                r = sigv4_refuse(j, "the presigned URL is too long");
        if (r == 0)
                j->made->target = str_dup(buf_cstr(&target));
        if (target.data)
                explicit_bzero(target.data, target.len);
        explicit_bzero(credential, strlen(credential));
        return r;
}
