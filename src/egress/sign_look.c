/* sign_look.c - see sign.h: whose signature a request carries, and what of the request is signed.
 * Pure. Called by sign.c and custody_request.c. In doubt a signature is somebody else's, which is
 * refused where a secret of ours lives (case S13). */
#include "egress/sign_int.h"

#include "base/str.h"
#include "policy/aws_auth.h"
#include "policy/aws_host.h"

#include <stdlib.h>
#include <string.h>

const char *sign_placeholder(const struct custody_secret *s, const char *part)
{
        for (size_t i = 0; i < s->parts_n; i++)
                if (strcmp(s->parts[i].name, part) == 0)
                        return s->parts[i].placeholder;
        return NULL;
}

static const char *query_of(const struct head *h, size_t *n)
{
        *n = h->query ? h->query_len : 0;
        return *n ? head_str(h, h->query) : "";
}

/* is_token_ours(s, token, n): a session token beside our id is ours too, or there is none. */
static bool is_token_ours(const struct custody_secret *s, const char *token, size_t n)
{
        const char *ours = sign_placeholder(s, "token");
        return ours && strlen(ours) == n && memcmp(ours, token, n) == 0;
}

static bool is_id_ours(const struct custody_secret *s, struct aws_text id)
{
        const char *ours = sign_placeholder(s, "id");
        return ours && aws_text_is(id, ours);
}

static enum sign_found look_query(const struct custody_secret *s, const struct head *h)
{
        struct aws_presigned p;
        size_t n;
        const char *query = query_of(h, &n);
        bool is_ours = aws_presigned_parse(query, n, &p) == 0 && is_id_ours(s, p.scope.id);
        const char *token = p.values[AWS_PARAM_TOKEN];
        if (token && !is_token_ours(s, token, strlen(token)))
                is_ours = false;
        aws_presigned_free(&p);
        return is_ours ? SIGN_OURS : SIGN_FOREIGN;
}

static enum sign_found look_sigv4(const struct custody_secret *s, const struct head *h)
{
        size_t query_n, tokens_n = head_count(h, "x-amz-security-token");
        const char *query = query_of(h, &query_n);
        const struct field *f = head_find(h, "authorization");
        const struct field *token = head_find(h, "x-amz-security-token");
        const char *value = f ? head_str(h, f->value) : "";
        bool is_header = f && aws_auth_is_aws(value, f->value_len);
        bool is_query = aws_presigned_has(query, query_n);
        if (!is_header && !is_query)
                return tokens_n ? SIGN_FOREIGN : SIGN_NONE;
        if ((is_header && is_query) || head_count(h, "authorization") > 1 || (is_query && f))
                return SIGN_FOREIGN;
        if (is_query)
                return tokens_n ? SIGN_FOREIGN : look_query(s, h);
        struct aws_auth auth;
        if (aws_auth_parse(value, f->value_len, &auth) < 0 || !is_id_ours(s, auth.scope.id))
                return SIGN_FOREIGN;
        if (tokens_n > 1 ||
            (token && !is_token_ours(s, head_str(h, token->value), token->value_len)))
                return SIGN_FOREIGN;
        return SIGN_OURS;
}

enum sign_found sign_look(const struct custody_secret *s, size_t form, const struct head *h)
{
        const struct rule_secret_form *f = &s->line.secret->forms[form];
        if (f->form == RULE_AS_SIGV4)
                return look_sigv4(s, h);
        if (f->form != RULE_AS_HMAC)
                return SIGN_NONE;
        _cleanup_free_ char *name = sign_small(f->name);
        return head_find(h, name) ? SIGN_OURS : SIGN_NONE;
}

bool sign_is_replaceable(const struct head *h)
{
        size_t n;
        const char *query = query_of(h, &n);
        return !aws_presigned_has(query, n);
}

char *sign_small(const char *s)
{
        char *small = str_dup(s);
        for (char *p = small; *p; p++)
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char)(*p + 32);
        return small;
}

bool sign_is_s3(const struct custody_secret *s, const struct head *h)
{
        const struct rule_secret *line = s->line.secret;
        const struct field *f = head_find(h, "authorization");
        struct aws_auth auth;
        struct aws_host at;
        size_t n;
        const char *query = query_of(h, &n);
        if (f && aws_auth_parse(head_str(h, f->value), f->value_len, &auth) == 0)
                return aws_service_is_s3(auth.scope.service.p, auth.scope.service.n);
        if (aws_presigned_has(query, n)) {
                struct aws_presigned p;
                bool is_s3 = aws_presigned_parse(query, n, &p) == 0 &&
                             aws_service_is_s3(p.scope.service.p, p.scope.service.n);
                aws_presigned_free(&p);
                return is_s3;
        }
        if (line->service)
                return aws_service_is_s3(line->service, strlen(line->service));
        return aws_host_of(h->host.text, &at) && aws_service_is_s3(at.service, strlen(at.service));
}

char *sign_payload(const struct custody_secret *s, const struct head *h)
{
        const struct field *f = head_find(h, "x-amz-content-sha256");
        struct aws_presigned p;
        size_t n;
        const char *query = query_of(h, &n);
        char *found = NULL;
        if (f)
                return str_dup(head_str(h, f->value));
        if (aws_presigned_has(query, n)) {
                if (aws_presigned_parse(query, n, &p) == 0 && p.values[AWS_PARAM_CONTENT])
                        found = str_dup(p.values[AWS_PARAM_CONTENT]);
                aws_presigned_free(&p);
        }
        if (!found && sign_is_s3(s, h))
                found = str_dup("UNSIGNED-PAYLOAD");
        return found;
}

bool sign_needs_body(const struct custody_secret *s, size_t form, const struct head *h)
{
        const struct rule_secret *line = s->line.secret;
        if (h->body == HEAD_BODY_NONE)
                return false;
        if (line->forms[form].form == RULE_AS_HMAC)
                return line->message &&
                       (strstr(line->message, "{body}") || strstr(line->message, "{body_sha256}"));
        _cleanup_free_ char *payload = sign_payload(s, h);
        return !payload;
}

/* has_dots(h): S3 takes "." and ".." in a key for what they are; the door has resolved them, as
 * every other server would, and must not fetch another object than was meant. */
static bool has_dots(const struct head *h)
{
        const char *p = head_str(h, h->target);
        size_t n = h->target ? h->target_len : 0, path_n = 0;
        while (path_n < n && p[path_n] != '?')
                path_n++;
        for (size_t i = 0; i < path_n;) {
                size_t dots = 0;
                bool is_other = false;
                for (; i < path_n && p[i] != '/'; i++) {
                        if (p[i] == '.') {
                                dots++;
                        } else if (path_n - i > 2 && p[i] == '%' && p[i + 1] == '2' &&
                                   (p[i + 2] | 32) == 'e') {
                                dots++;
                                i += 2;
                        } else {
                                is_other = true;
                        }
                }
                if (!is_other && (dots == 1 || dots == 2))
                        return true;
                i++;
        }
        return false;
}

const char *sign_refusal(const struct custody_secret *s, size_t form, const struct head *h)
{
        if (h->is_options_star)
                return "OPTIONS * cannot be signed";
        if (s->line.secret->forms[form].form == RULE_AS_SIGV4 && sign_is_s3(s, h) && has_dots(h))
                return "an S3 key with . or .. as a part of its path cannot be asked for through "
                       "the door, because other servers would resolve it";
        return NULL;
}
