/* sigv4.c - see sigv4.h: a request that was signed in the box with the placeholder, signed anew
 * with the real key. Called by sign.c. What the box chose freely (service, region, lifetime, which
 * headers) is held to the line; half of a credential is none (case S13). Pure. */
#include "keeper/sigv4_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/aws_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sigv4_refuse(struct sigv4_job *j, const char *words)
{
        return err_set(j->err, E_REFUSED, "%s", words);
}

const char *sigv4_field(const struct sigv4_job *j, const char *name, size_t *n)
{
        const char *value = NULL;
        *n = 0;
        for (size_t i = 0; i < j->fields_n; i++)
                if (strcmp(j->fields[i].name, name) == 0) {
                        value = j->fields[i].value;
                        ++*n;
                }
        return value;
}

static bool is_same(const char *a, const char *b)
{
        return a && b && strcmp(a, b) == 0;
}

/* set(j, name, value): in what is signed and in what is sent. NULL takes it out. */
static void set(struct sigv4_job *j, const char *name, const char *value)
{
        size_t kept = 0;
        for (size_t i = 0; i < j->fields_n; i++)
                if (strcmp(j->fields[i].name, name) != 0)
                        j->fields[kept++] = j->fields[i];
        bool was_there = kept < j->fields_n;
        j->fields_n = kept;
        if (!value && !was_there)
                return;
        struct sigv4_made *m = j->made;
        m->fields[m->fields_n].name = name;
        m->fields[m->fields_n].value = str_dup(value ? value : "");
        if (value)
                j->fields[j->fields_n++] = (struct sigv4_field){name, m->fields[m->fields_n].value};
        m->fields_n++;
}

/* --- what the line allows --- */

int sigv4_pin(struct sigv4_job *j, const struct aws_scope *scope)
{
        struct aws_host at;
        bool is_aws = aws_host_of(j->ask->host, &at);
        const char *service = j->secret->service ? j->secret->service : is_aws ? at.service : "";
        const char *region = j->secret->region ? j->secret->region : is_aws ? at.region : "";
        if (!*service || (!*region && !(is_aws && !j->secret->region)))
                return err_set(j->err, E_REFUSED,
                               "the name %s does not tell the service and region of AWS that are "
                               "signed for; the secret's line must say service= and region=",
                               j->ask->host);
        if (scope && !aws_text_is(scope->service, service))
                return err_set(j->err, E_REFUSED,
                               "the request is signed for the service \"%.*s\", and only \"%s\" is "
                               "granted at %s (service= of the secret's line says otherwise)",
                               (int)scope->service.n, scope->service.p, service, j->ask->host);
        if (scope && *region && !aws_text_is(scope->region, region))
                return err_set(j->err, E_REFUSED,
                               "the request is signed for the region \"%.*s\", and only \"%s\" is "
                               "granted at %s (region= of the secret's line says otherwise)",
                               (int)scope->region.n, scope->region.p, region, j->ask->host);
        snprintf(j->service, sizeof j->service, "%s", service);
        /* A name of S3 without a region leads to the bucket's, which only the client knows. */
        if (!*region && scope)
                snprintf(j->region, sizeof j->region, "%.*s", (int)scope->region.n,
                         scope->region.p);
        else
                snprintf(j->region, sizeof j->region, "%s", *region ? region : "us-east-1");
        return 0;
}

static bool is_hash(const char *s)
{
        return strlen(s) == SIGV4_HEX && strspn(s, "0123456789abcdef") == SIGV4_HEX;
}

int sigv4_take_payload(struct sigv4_job *j)
{
        bool is_s3 = aws_service_is_s3(j->service, strlen(j->service));
        const char *p = j->ask->payload;
        size_t n;
        const char *said = sigv4_field(j, "x-amz-content-sha256", &n);
        if (n > 1 || (n == 1 && strcmp(said, p) != 0))
                return sigv4_refuse(j, "x-amz-content-sha256 is not what is signed");
        j->payload = p;
        if (is_hash(p))
                return 0;
        if (strcmp(p, "UNSIGNED-PAYLOAD") == 0 ||
            (is_s3 && strcmp(p, "STREAMING-UNSIGNED-PAYLOAD-TRAILER") == 0))
                return j->ask->is_tls
                               ? 0
                               : sigv4_refuse(j, "a request whose body is not signed goes only "
                                                 "over TLS");
        if (is_s3 && (strcmp(p, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") == 0 ||
                      strcmp(p, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER") == 0)) {
                j->made->has_chunks = true;
                j->made->chain.has_trailer = str_ends(p, "-TRAILER");
                return 0;
        }
        if (str_starts(p, "STREAMING-"))
                return sigv4_refuse(j,
                                    "this kind of signed stream cannot be signed anew; signed are "
                                    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, its -TRAILER form and "
                                    "STREAMING-UNSIGNED-PAYLOAD-TRAILER, for S3");
        return sigv4_refuse(
                j, "x-amz-content-sha256 is neither a hash in hexadecimal digits nor one of "
                   "the words that AWS knows");
}

int sigv4_check_token(struct sigv4_job *j, const char *token)
{
        if (!token || is_same(token, j->secret->shown_token))
                return 0;
        return sigv4_refuse(j,
                            "the signature names our access key beside a session token that is not "
                            "ours; both come from the box's environment, or neither");
}

/* --- signing --- */

void sigv4_begin_scope(struct sigv4_job *j, time_t now)
{
        sigv4_stamp(now, j->stamp);
        snprintf(j->scope, sizeof j->scope, "%.8s/%s/%s/aws4_request", j->stamp, j->region,
                 j->service);
}

static bool is_named(const char *name, struct aws_text list)
{
        struct aws_text one;
        while (aws_auth_name_next(&list, &one))
                if (aws_text_is(one, name))
                        return true;
        return false;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sigv4_put_names(struct sigv4_job *j, struct aws_text asked)
{
        const char *names[SIGV4_ALL_FIELDS_MAX] = {0};
        size_t n = 0;
        for (size_t i = 0; i < j->fields_n; i++) {
                const char *name = j->fields[i].name;
                bool is_ours = false;
                for (size_t k = 0; k < j->made->fields_n; k++)
                        is_ours |= strcmp(name, j->made->fields[k].name) == 0;
                bool is_due = asked.n ? is_named(name, asked)
                                      : strcmp(name, "host") == 0 ||
                                                strcmp(name, "content-type") == 0 ||
                                                str_starts(name, "x-amz-");
                if (is_ours || is_due)
                        names[n++] = name;
        }
        qsort(names, n, sizeof *names, compare_names);
        for (size_t i = 0; i < n; i++) {
                if (i && strcmp(names[i - 1], names[i]) == 0)
                        continue;
                if (j->names.len)
                        buf_put_u8(&j->names, ';');
                buf_put_str(&j->names, names[i]);
        }
}

int sigv4_sign_job(struct sigv4_job *j, const char *target, char out[SIGV4_HEX + 1])
{
        _cleanup_buf_ struct buf request = {0};
        uint8_t key[SIGV4_HASH];
        sigv4_put_request(j->ask->method, target, aws_service_is_s3(j->service, strlen(j->service)),
                          j->fields, j->fields_n, buf_cstr(&j->names), j->payload, &request);
        if (request.is_broken || j->names.is_broken)
                return sigv4_refuse(j, "the request is too large to be signed");
        sigv4_key(j->secret->key, j->scope, j->secret->keys, key);
        sigv4_sign(key, j->stamp, j->scope, request.data, request.len, out);
        if (j->made->has_chunks) {
                struct sigv4_chain *c = &j->made->chain;
                memcpy(c->key, key, sizeof c->key);
                memcpy(c->stamp, j->stamp, sizeof c->stamp);
                memcpy(c->scope, j->scope, sizeof c->scope);
                memcpy(c->last, out, sizeof c->last);
        }
        explicit_bzero(key, sizeof key);
        return 0;
}

/* --- the two places in which a signature stands --- */

/* in_header(j, auth, now): ${auth} NULL: there was none, and one is made. */
static int in_header(struct sigv4_job *j, const struct aws_auth *auth, time_t now)
{
        size_t n;
        const char *token = sigv4_field(j, "x-amz-security-token", &n);
        if (n > 1 || (n == 1 && !auth))
                return sigv4_refuse(
                        j, "a request has at most one session token, beside its signature");
        if (sigv4_check_token(j, token) < 0 || sigv4_pin(j, auth ? &auth->scope : NULL) < 0 ||
            sigv4_take_payload(j) < 0)
                return -1;

        sigv4_begin_scope(j, now);
        set(j, "x-amz-date", j->stamp);
        set(j, "x-amz-security-token", j->secret->token);
        /* S3 wants to be told; nobody else minds. */
        if (!sigv4_field(j, "x-amz-content-sha256", &n) &&
            aws_service_is_s3(j->service, strlen(j->service)))
                set(j, "x-amz-content-sha256", j->payload);
        sigv4_put_names(j, auth ? auth->names : (struct aws_text){"", 0});

        char signature[SIGV4_HEX + 1];
        if (sigv4_sign_job(j, j->ask->target, signature) < 0)
                return -1;
        _cleanup_buf_ struct buf value = {0};
        buf_put_fmt(&value, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                    j->secret->id, j->scope, buf_cstr(&j->names), signature);
        set(j, "authorization", buf_cstr(&value));
        if (value.data)
                explicit_bzero(value.data, value.len);
        return 0;
}

static int make(struct sigv4_job *j, time_t now)
{
        const char *mark = strchr(j->ask->target, '?');
        bool is_presigned = mark && aws_presigned_has(mark + 1, strlen(mark + 1));
        size_t auths_n;
        const char *value = sigv4_field(j, "authorization", &auths_n);
        if (auths_n > 1 || (auths_n && is_presigned))
                return sigv4_refuse(j, "the request has more than one credential");
        if (is_presigned) {
                struct aws_presigned p;
                int r = aws_presigned_parse(mark + 1, strlen(mark + 1), &p);
                if (r < 0)
                        sigv4_refuse(j,
                                     "the signature in the URL is not one of AWS4-HMAC-SHA256 with "
                                     "all its parts, each once");
                else if (!aws_text_is(p.scope.id, j->secret->shown_id))
                        r = sigv4_refuse(
                                j, "the URL is signed with an access key that is not the box's");
                else
                        r = sigv4_in_query(j, &p, now);
                aws_presigned_free(&p);
                return r;
        }
        if (!value)
                return j->ask->may_inject ? in_header(j, NULL, now)
                                          : sigv4_refuse(j, "the request has no signature, and the "
                                                            "secret's line does not say inject");
        struct aws_auth auth;
        if (aws_auth_parse(value, strlen(value), &auth) < 0)
                return sigv4_refuse(
                        j, "the Authorization header is not AWS4-HMAC-SHA256 with its three "
                           "parts, whose signed headers are sorted and have host among them");
        if (!aws_text_is(auth.scope.id, j->secret->shown_id))
                return sigv4_refuse(
                        j, "the request is signed with an access key that is not the box's");
        return in_header(j, &auth, now);
}

int sigv4_make(const struct sigv4_ask *ask, const struct sigv4_secret *secret, time_t now,
               struct sigv4_made *made, struct err *err)
{
        struct sigv4_job j = {.ask = ask, .secret = secret, .made = made, .err = err};
        *made = (struct sigv4_made){0};
        /* Room for those that are set. */
        if (ask->fields_n > sizeof j.fields / sizeof *j.fields - SIGV4_FIELDS_MAX)
                return err_set(err, E_REFUSED, "the request has too many header fields");
        /* A name with a line end in it would be more than a name once it is signed. */
        for (size_t i = 0; i < ask->fields_n; i++)
                if (!aws_auth_name_ok(ask->fields[i].name, strlen(ask->fields[i].name)))
                        return err_set(err, E_REFUSED, "a header of the request has no good name");
        memcpy(j.fields, ask->fields, ask->fields_n * sizeof *ask->fields);
        j.fields_n = ask->fields_n;
        int r = make(&j, now);
        buf_free(&j.names);
        return r;
}

void sigv4_made_free(struct sigv4_made *m)
{
        for (size_t i = 0; i < m->fields_n; i++) {
                explicit_bzero(m->fields[i].value, strlen(m->fields[i].value));
                free(m->fields[i].value);
        }
        if (m->target)
                explicit_bzero(m->target, strlen(m->target));
        free(m->target);
        explicit_bzero(m, sizeof *m);
}
