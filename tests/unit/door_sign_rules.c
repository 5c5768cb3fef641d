/* door_sign_rules.c - what the signer refuses and where it differs: scopes that are not the line's,
 * half of a credential, paths of S3 and of everybody else, names of AWS's hosts, HMAC templates. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/sign.h"
#include "keeper/sigv4.h"
#include "policy/aws_auth.h"
#include "policy/aws_host.h"
#include "unit/check.h"

#include <stdlib.h>

#define EMPTY     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIGNATURE "0000000000000000000000000000000000000000000000000000000000000000"
#define AUTH(id, scope, names)                                                                     \
        "AWS4-HMAC-SHA256 Credential=" id "/20260101/" scope "/aws4_request, SignedHeaders=" names \
        ", Signature=" SIGNATURE

static void test_paths(void)
{
        static const struct {
                const char *path, *s3, *other;
        } t[] = {
                {"/", "/", "/"},
                {"", "/", "/"},
                {"/a%20b", "/a%20b", "/a%2520b"},
                {"/a+b", "/a%2Bb", "/a%2Bb"},
                {"/a%2Bb", "/a%2Bb", "/a%252Bb"},
                {"/a%2fb", "/a%2Fb", "/a%252fb"},
                {"/%61%7e", "/a~", "/%2561%257e"},
                {"//a//b/", "//a//b/", "/a/b/"},
                {"/a/./b/../c", "/a/./b/../c", "/a/c"},
                {"/a/..", "/a/..", "/"},
                {"/../../x", "/../../x", "/x"},
                {"/(x)*!'", "/%28x%29%2A%21%27", "/%28x%29%2A%21%27"},
                {"/50%", "/50%25", "/50%25"},
                {"/%zz", "/%25zz", "/%25zz"},
                {"/%C3%A4", "/%C3%A4", "/%25C3%25A4"},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                _cleanup_buf_ struct buf s3 = {0}, other = {0};
                sigv4_put_path(t[i].path, strlen(t[i].path), true, &s3);
                sigv4_put_path(t[i].path, strlen(t[i].path), false, &other);
                check_str("S3 signs the path once and as it is", buf_cstr(&s3), t[i].s3);
                check_str("others sign it twice and tidied", buf_cstr(&other), t[i].other);
        }
}

static void test_queries(void)
{
        static const struct {
                const char *query, *want;
        } t[] = {
                {"", ""},
                {"b=2&a=1", "a=1&b=2"},
                {"a=2&a=1&a=%20", "a=%20&a=1&a=2"},
                {"key", "key="},
                {"a-b=1&a=2", "a=2&a-b=1"},
                {"p=a+b", "p=a%2Bb"},
                {"p=a/b%2fc", "p=a%2Fb%2Fc"},
                {"p=x=y", "p=x%3Dy"},
                {"&&a=1&", "a=1"},
                {"a=1&X-Amz-Signature=00&b=2", "a=1&b=2"},
                {"prefix=%e4", "prefix=%E4"},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                _cleanup_buf_ struct buf b = {0};
                sigv4_put_query(t[i].query, strlen(t[i].query), &b);
                check_str("canonical query", buf_cstr(&b), t[i].want);
        }
}

struct attempt {
        const char *name;
        const char *host, *service, *region; /* of the line */
        const char *auth, *token, *payload, *extra;
        bool is_plain, is_injected, is_ok;
};

static int try(const struct attempt *a, struct sigv4_made *made, struct err *err)
{
        struct sigv4_field f[8];
        size_t n = 0;
        f[n++] = (struct sigv4_field){"host", a->host};
        if (a->auth)
                f[n++] = (struct sigv4_field){"authorization", a->auth};
        if (a->extra)
                f[n++] = (struct sigv4_field){"authorization", a->extra};
        if (a->token)
                f[n++] = (struct sigv4_field){"x-amz-security-token", a->token};
        struct sigv4_ask ask = {.method = "GET",
                                .target = "/",
                                .host = a->host,
                                .fields = f,
                                .fields_n = n,
                                .payload = a->payload ? a->payload : EMPTY,
                                .is_tls = !a->is_plain,
                                .may_inject = a->is_injected};
        struct sigv4_secret key = {.id = "AKIAREAL",
                                   .key = "real",
                                   .shown_id = "AKIAFAKE",
                                   .shown_token = "fake",
                                   .service = a->service,
                                   .region = a->region};
        return sigv4_make(&ask, &key, 1767225600, made, err);
}

#define S3   "s3.eu-west-1.amazonaws.com"
#define OURS AUTH("AKIAFAKE", "eu-west-1/s3", "host")
static const struct attempt attempts[] = {
        {"a signature for what the host's name says", S3, NULL, NULL, OURS, .is_ok = true},
        {"another service than the host's", S3, NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/iam", "host"), .is_ok = false},
        {"another region than the host's", S3, NULL, NULL, AUTH("AKIAFAKE", "us-east-1/s3", "host"),
         .is_ok = false},
        {"a bucket whose name is a service", "iam.s3.eu-west-1.amazonaws.com", NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/iam", "host"), .is_ok = false},
        {"a bucket whose name is a region", "us-east-1.s3.amazonaws.com", NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/s3", "host"), .is_ok = true},
        {"a line that pins another region", S3, NULL, "us-east-1", OURS, .is_ok = false},
        {"a line that pins another service", S3, "iam", NULL, OURS, .is_ok = false},
        {"a host that is not AWS's, without a word on the line", "minio.example.org", NULL, NULL,
         AUTH("AKIAFAKE", "auto/s3", "host"), .is_ok = false},
        {"the same with service= only", "minio.example.org", "s3", NULL,
         AUTH("AKIAFAKE", "auto/s3", "host"), .is_ok = false},
        {"the same with both", "minio.example.org", "s3", "auto",
         AUTH("AKIAFAKE", "auto/s3", "host"), .is_ok = true},
        {"a signature with somebody else's id", S3, NULL, NULL,
         AUTH("AKIAOTHER", "eu-west-1/s3", "host"), .is_ok = false},
        {"with the real id", S3, NULL, NULL, AUTH("AKIAREAL", "eu-west-1/s3", "host"),
         .is_ok = false},
        {"with our token", S3, NULL, NULL, OURS, "fake", .is_ok = true},
        {"our id beside a foreign token (S13)", S3, NULL, NULL, OURS, "theirs", .is_ok = false},
        {"two signatures", S3, NULL, NULL, OURS, .extra = OURS, .is_ok = false},
        {"host is not signed", S3, NULL, NULL, AUTH("AKIAFAKE", "eu-west-1/s3", "x-amz-date"),
         .is_ok = false},
        {"signed headers out of order", S3, NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/s3", "x-amz-date;host"), .is_ok = false},
        {"signed headers in large letters", S3, NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/s3", "Host"), .is_ok = false},
        {"the algorithm of version 4A", S3, NULL, NULL,
         "AWS4-ECDSA-P256-SHA256 Credential=AKIAFAKE/20260101/s3/aws4_request, "
         "SignedHeaders=host, Signature=" SIGNATURE,
         .is_ok = false},
        {"UNSIGNED-PAYLOAD over TLS", S3, NULL, NULL, OURS, .payload = "UNSIGNED-PAYLOAD",
         .is_ok = true},
        {"UNSIGNED-PAYLOAD without TLS", S3, NULL, NULL, OURS, .payload = "UNSIGNED-PAYLOAD",
         .is_plain = true},
        {"unsigned chunks with a trailer", S3, NULL, NULL, OURS,
         .payload = "STREAMING-UNSIGNED-PAYLOAD-TRAILER", .is_ok = true},
        {"signed chunks", S3, NULL, NULL, OURS, .payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
         .is_ok = true},
        {"signed chunks for a service that has none", "sqs.eu-west-1.amazonaws.com", NULL, NULL,
         AUTH("AKIAFAKE", "eu-west-1/sqs", "host"), .payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
         .is_ok = false},
        {"chunks of version 4A", S3, NULL, NULL, OURS,
         .payload = "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", .is_ok = false},
        {"event streams", S3, NULL, NULL, OURS, .payload = "STREAMING-AWS4-HMAC-SHA256-EVENTS",
         .is_ok = false},
        {"a payload line that is no hash", S3, NULL, NULL, OURS, .payload = "abc", .is_ok = false},
        {"nothing signed, and no inject", S3, NULL, NULL, NULL, .is_ok = false},
        {"nothing signed, and inject", S3, NULL, NULL, NULL, .is_injected = true, .is_ok = true},
        {"inject, and a token alone", S3, NULL, NULL, NULL, "fake", .is_injected = true},
        {"inject, and another credential", S3, NULL, NULL, "Bearer x", .is_injected = true},
};

static void test_attempts(void)
{
        for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
                struct sigv4_made made;
                struct err err = {0};
                int r = try(&attempts[i], &made, &err);
                check((r == 0) == attempts[i].is_ok, attempts[i].name, "%s",
                      r ? err.text : "signed");
                CHECK("a refusal is a sentence without the key",
                      r == 0 || (err.text[0] && !strstr(err.text, "AKIAREAL")));
                sigv4_made_free(&made);
        }
}

static void test_inject(void)
{
        struct sigv4_made made;
        struct err err = {0};
        struct attempt a = {"", S3, .payload = "UNSIGNED-PAYLOAD", .is_injected = true};
        CHECK("a request without a credential is signed", try(&a, &made, &err) == 0);
        const char *auth = made.fields_n ? made.fields[made.fields_n - 1].value : "";
        CHECK("with the host, the date and the content",
              strstr(auth, "Credential=AKIAREAL/20260101/eu-west-1/s3/aws4_request, SignedHeaders="
                           "host;x-amz-content-sha256;x-amz-date, ") != NULL);
        sigv4_made_free(&made);
}

static void test_hosts(void)
{
        static const struct {
                const char *host, *service, *region; /* service NULL: unknown */
        } t[] = {
                {"s3.amazonaws.com", "s3", ""},
                {"bucket.s3.amazonaws.com", "s3", ""},
                {"a.b.s3.eu-west-1.amazonaws.com", "s3", "eu-west-1"},
                {"s3.dualstack.eu-west-1.amazonaws.com", "s3", "eu-west-1"},
                {"s3-eu-west-1.amazonaws.com", "s3", "eu-west-1"},
                {"b.s3-fips.us-gov-west-1.amazonaws.com", "s3", "us-gov-west-1"},
                {"b.s3-accelerate.amazonaws.com", "s3", ""},
                {"s3.cn-north-1.amazonaws.com.cn", "s3", "cn-north-1"},
                {"ap-1.s3-accesspoint.eu-west-1.amazonaws.com", "s3", "eu-west-1"},
                {"dynamodb.eu-west-1.amazonaws.com", "dynamodb", "eu-west-1"},
                {"streams.dynamodb.us-east-2.amazonaws.com", "dynamodb", "us-east-2"},
                {"sts.amazonaws.com", "sts", "us-east-1"},
                {"iam.amazonaws.com", "iam", "us-east-1"},
                {"bedrock-runtime.us-west-2.amazonaws.com", "bedrock", "us-west-2"},
                {"email.us-west-2.amazonaws.com", "ses", "us-west-2"},
                {"api.ecr.us-west-2.amazonaws.com", "ecr", "us-west-2"},
                {"abc.execute-api.us-west-2.amazonaws.com", "execute-api", "us-west-2"},
                {"search-x.eu-west-1.es.amazonaws.com", "es", "eu-west-1"},
                {"eu-west-1.queue.amazonaws.com", "sqs", "eu-west-1"},
                {"abc.lambda-url.eu-west-1.on.aws", "lambda", "eu-west-1"},
                {"lambda.eu-west-1.api.aws", "lambda", "eu-west-1"},
                {"example.org", NULL, NULL},
                {"amazonaws.com", NULL, NULL},
                {"s3.eu-west-1.amazonaws.com.evil.example", NULL, NULL},
                {"eu-west-1.amazonaws.com", NULL, NULL},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                struct aws_host at;
                bool is = aws_host_of(t[i].host, &at);
                check(is == (t[i].service != NULL), t[i].host, "known: %d", is);
                if (is && t[i].service) {
                        check_str(t[i].host, at.service, t[i].service);
                        check_str(t[i].host, at.region, t[i].region);
                }
        }
}

static void test_hmac(void)
{
        static const struct sigv4_field fields[] = {{"x-nonce", "7"}, {"host", "api.example.org"}};
        struct hmac_ask ask = {.method = "POST",
                               .host = "api.example.org",
                               .target = "/v1/order?b=2",
                               .fields = fields,
                               .fields_n = 2,
                               .body = "Hello, World!",
                               .body_n = 13,
                               .now_ms = 1700000000123};
        struct err err = {0};
        char stamp[24];
        /* The example of GitHub's documentation. */
        {
                _cleanup_buf_ struct buf b = {0};
                struct rule_secret line = {.message = (char *)"{body}",
                                           .prefix = (char *)"sha256="};
                const char *key = "It's a Secret to Everybody";
                CHECK("hmac of a body",
                      hmac_make(&line, &ask, key, strlen(key), &b, stamp, &err) == 0);
                check_str(
                        "as GitHub publishes it", buf_cstr(&b),
                        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
                check_str("no time", stamp, "");
        }
        /* RFC 4231, case 2, and RFC 2202, case 2: key "Jefe", "what do ya want for nothing?". */
        ask.body = "what do ya want for nothing?";
        ask.body_n = 28;
        static const struct {
                const char *hash, *encoding, *want;
        } t[] = {
                {"sha1", "hex", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
                {"sha1", "base64", "7/zfauXrL6LSdBbV8YTfnCWafHk="},
                {"sha256", NULL,
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
                {"sha512", "hex",
                 "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6"
                 "d"
                 "034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                _cleanup_buf_ struct buf b = {0};
                struct rule_secret line = {.message = (char *)"{body}",
                                           .hash = (char *)t[i].hash,
                                           .encoding = (char *)t[i].encoding};
                CHECK("hmac", hmac_make(&line, &ask, "Jefe", 4, &b, stamp, &err) == 0);
                check_str(t[i].hash, buf_cstr(&b), t[i].want);
        }
        /* Every part, by the signature of the message that it must make. */
        static const struct {
                const char *message, *same;
        } parts[] = {
                {"{method} {path}?{query}", "POST /v1/order?b=2"},
                {"{target}\\n{host}", "/v1/order?b=2\napi.example.org"},
                {"{time}.{header:X-Nonce}", "1700000000.7"},
                {"{time_ms}{header:none}", "1700000000123"},
        };
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                _cleanup_buf_ struct buf got = {0}, want = {0};
                struct hmac_ask plain = {
                        .target = "/", .body = parts[i].same, .body_n = strlen(parts[i].same)};
                struct rule_secret line = {.message = (char *)parts[i].message};
                struct rule_secret body = {.message = (char *)"{body}"};
                CHECK("parts", hmac_make(&line, &ask, "k", 1, &got, stamp, &err) == 0);
                CHECK("time", (strstr(parts[i].message, "{time") != NULL) == (stamp[0] != 0));
                hmac_make(&body, &plain, "k", 1, &want, stamp, &err);
                check_str(parts[i].message, buf_cstr(&got), buf_cstr(&want));
        }
        _cleanup_buf_ struct buf b = {0};
        struct rule_secret line = {.message = (char *)"{secret}"};
        CHECK("a part that nobody knows", hmac_make(&line, &ask, "k", 1, &b, stamp, &err) < 0);
}

int main(void)
{
        test_paths();
        test_queries();
        test_attempts();
        test_inject();
        test_hosts();
        test_hmac();
        return check_end();
}
