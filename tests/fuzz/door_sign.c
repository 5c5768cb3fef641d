/* door_sign.c - any request as one that wants a signature. What is signed names the real key's id,
 * the service and region of the line and nothing else; a request that is refused gets a sentence;
 * the real key is in no answer. Lines of the input: target, Authorization, token, payload line,
 * then name and value of further fields. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/sigv4.h"
#include "policy/aws_auth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

#define REAL_KEY "real-key-real-key-real-key"

static const struct sigv4_secret secret = {.id = "AKIAREAL",
                                           .key = REAL_KEY,
                                           .token = "real-token",
                                           .shown_id = "AKIAFAKE",
                                           .shown_token = "fake-token",
                                           .left_s = 900};

static void judge_made(const struct sigv4_made *m)
{
        bool has_signature = false;
        for (size_t i = 0; i < m->fields_n; i++) {
                must(!strstr(m->fields[i].value, REAL_KEY));
                must(!strpbrk(m->fields[i].value, "\r\n"));
                if (strcmp(m->fields[i].name, "authorization") != 0)
                        continue;
                struct aws_auth a;
                const char *v = m->fields[i].value;
                must(aws_auth_parse(v, strlen(v), &a) == 0);
                must(aws_text_is(a.scope.id, "AKIAREAL") && aws_text_is(a.scope.service, "s3") &&
                     aws_text_is(a.scope.region, "eu-west-1"));
                has_signature = true;
        }
        if (m->target) {
                struct aws_presigned p;
                const char *query = strchr(m->target, '?');
                must(query && !strstr(m->target, REAL_KEY));
                must(aws_presigned_parse(query + 1, strlen(query + 1), &p) == 0);
                must(aws_text_is(p.scope.id, "AKIAREAL") && aws_text_is(p.scope.service, "s3"));
                must(strcmp(p.values[AWS_PARAM_TOKEN], "real-token") == 0);
                must(atol(p.values[AWS_PARAM_EXPIRES]) <= 900);
                aws_presigned_free(&p);
                has_signature = true;
        }
        must(has_signature);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sigv4_field fields[32] = {{"host", "s3.eu-west-1.amazonaws.com"}};
        size_t n = 1, at = 0;
        if (size > 8192)
                return 0;
        char *text = malloc(size + 1), *lines[68] = {NULL}, *save = NULL;
        must(text);
        memcpy(text, data, size);
        text[size] = 0;
        for (char *p = text; at < 68 && (p = strtok_r(p, "\n", &save)); p = NULL)
                lines[at++] = p;
        /* A fuzzer finds the key out by watching us compare; what it says itself proves nothing. */
        if (at < 4 || lines[0][0] != '/' || memmem(data, size, REAL_KEY, strlen(REAL_KEY))) {
                free(text);
                return 0;
        }
        if (strcmp(lines[1], "-") != 0)
                fields[n++] = (struct sigv4_field){"authorization", lines[1]};
        if (strcmp(lines[2], "-") != 0)
                fields[n++] = (struct sigv4_field){"x-amz-security-token", lines[2]};
        for (size_t i = 4; i + 1 < at && n < 28; i += 2)
                fields[n++] = (struct sigv4_field){lines[i], lines[i + 1]};
        struct sigv4_ask ask = {.method = "GET",
                                .target = lines[0],
                                .host = "s3.eu-west-1.amazonaws.com",
                                .fields = fields,
                                .fields_n = n,
                                .payload = lines[3],
                                .is_tls = true,
                                .may_inject = size & 1};
        struct sigv4_made made;
        struct err err = {0};
        if (sigv4_make(&ask, &secret, 1767225600, &made, &err) == 0)
                judge_made(&made);
        else
                must(err.text[0] && !strstr(err.text, REAL_KEY));
        sigv4_made_free(&made);
        free(text);
        return 0;
}
