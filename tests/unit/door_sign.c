/* door_sign.c - signatures of AWS against the values that AWS has published: examples of the S3 and
 * IAM documentation, the cases of the signing test suite, and the streams of the S3 documentation.
 * The requests go through sigv4_make as they would come from a box. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/sigv4.h"
#include "unit/check.h"

#include <openssl/sha.h>
#include <stdlib.h>

#define EMPTY        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define NO_SIGNATURE "0000000000000000000000000000000000000000000000000000000000000000"

enum { S3_TIME = 1369353600, SUITE_TIME = 1440938160 };

struct vector {
        const char *name, *method, *target;
        const char *fields; /* "name: value" lines */
        const char *names;
        const char *payload, *signature;
};

/* docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
static const struct vector s3[] = {
        {"GET of an object", "GET", "/test.txt",
         "host: examplebucket.s3.amazonaws.com\nrange: bytes=0-9\nx-amz-content-sha256: " EMPTY
         "\n",
         "host;range;x-amz-content-sha256;x-amz-date", EMPTY,
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {"PUT of an object", "PUT", "/test%24file.text",
         "host: examplebucket.s3.amazonaws.com\ndate: Fri, 24 May 2013 00:00:00 GMT\n"
         "x-amz-storage-class: REDUCED_REDUNDANCY\nx-amz-content-sha256: "
         "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\n",
         "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
         "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
        {"GET of a bucket's lifecycle", "GET", "/?lifecycle",
         "host: examplebucket.s3.amazonaws.com\nx-amz-content-sha256: " EMPTY "\n",
         "host;x-amz-content-sha256;x-amz-date", EMPTY,
         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
        {"list of objects", "GET", "/?max-keys=2&prefix=J",
         "host: examplebucket.s3.amazonaws.com\nx-amz-content-sha256: " EMPTY "\n",
         "host;x-amz-content-sha256;x-amz-date", EMPTY,
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
};

/* The signing test suite: AKIDEXAMPLE, 20150830T123600Z, us-east-1, "service". */
#define HOST "host: example.amazonaws.com\n"
static const struct vector suite[] = {
        {"get-vanilla", "GET", "/", HOST, "host;x-amz-date", EMPTY,
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", HOST,
         "host;x-amz-date", EMPTY,
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        {"get-vanilla-query-order-encoded", "GET", "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
         HOST, "host;x-amz-date", EMPTY,
         "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
        {"get-utf8", "GET", "/\xe1\x88\xb4", HOST, "host;x-amz-date", EMPTY,
         "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        {"get-slashes-normalized", "GET", "//example//", HOST, "host;x-amz-date", EMPTY,
         "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
        {"get-relative-relative-normalized", "GET", "/example1/example2/../..", HOST,
         "host;x-amz-date", EMPTY,
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-slash-dot-slash-normalized", "GET", "/./", HOST, "host;x-amz-date", EMPTY,
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-space-normalized", "GET", "/example space/", HOST, "host;x-amz-date", EMPTY,
         "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        {"get-query-plus", "GET", "/?c+d", HOST, "host;x-amz-date", EMPTY,
         "ae684ce3aadc299e3ac7d9216fcc039c7edf40dea57cf5b3005821dd2f176654"},
        {"get-header-key-duplicate", "GET", "/",
         HOST "my-header1: value2\nmy-header1: value2\nmy-header1: value1\n",
         "host;my-header1;x-amz-date", EMPTY,
         "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        {"get-header-value-trim", "GET", "/",
         HOST "my-header1:  value1\nmy-header2:  \"a   b   c\"\n",
         "host;my-header1;my-header2;x-amz-date", EMPTY,
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        {"get-header-value-multiline", "GET", "/", HOST "my-header1: value1   value2      value3\n",
         "host;my-header1;x-amz-date", EMPTY,
         "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"},
};

#define TOKEN                                                                                      \
        "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmx" \
        "fpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0K" \
        "PkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZb" \
        "qBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

/* Who signs: the examples of S3 and those of the suite. */
static const struct sigv4_secret s3_key = {.id = "AKIAIOSFODNN7EXAMPLE",
                                           .key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                           .shown_id = "AKIAFAKEFAKEFAKEFAKE",
                                           .shown_token = "fake-token",
                                           .region = "us-east-1"};
static const struct sigv4_secret suite_key = {.id = "AKIDEXAMPLE",
                                              .key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                              .shown_id = "AKIDFAKE",
                                              .shown_token = "fake-token",
                                              .service = "service",
                                              .region = "us-east-1"};

struct request {
        struct sigv4_field fields[24];
        size_t n;
        char *text;
};

static void add(struct request *r, const char *name, const char *value)
{
        r->fields[r->n++] = (struct sigv4_field){name, value};
}

static struct request read_fields(const char *lines)
{
        struct request r = {.text = str_dup(lines)};
        char *save = NULL;
        for (char *p = r.text; (p = strtok_r(p, "\n", &save)) != NULL; p = NULL) {
                char *colon = strchr(p, ':');
                *colon = 0;
                add(&r, p, colon + 2);
        }
        return r;
}

static const char *made_field(const struct sigv4_made *m, const char *name)
{
        for (size_t i = 0; i < m->fields_n; i++)
                if (strcmp(m->fields[i].name, name) == 0)
                        return m->fields[i].value;
        return NULL;
}

/* run(v, key, service, now, made, err): as it comes from a box whose clock is wrong and which
 * signed with its placeholder. */
static int run(const struct vector *v, const struct sigv4_secret *key, const char *service,
               time_t now, const char *token, struct sigv4_made *made, struct err *err)
{
        struct request r = read_fields(v->fields);
        char *auth = str_fmt("AWS4-HMAC-SHA256 Credential=%s/20991231/us-east-1/%s/aws4_request, "
                             "SignedHeaders=%s, Signature=" NO_SIGNATURE,
                             key->shown_id, service, v->names);
        add(&r, "authorization", auth);
        add(&r, "x-amz-date", "20991231T235959Z");
        if (token)
                add(&r, "x-amz-security-token", token);
        struct sigv4_ask ask = {.method = v->method,
                                .target = v->target,
                                .host = strcmp(service, "s3") == 0
                                                ? "examplebucket.s3.amazonaws.com"
                                                : "example.amazonaws.com",
                                .fields = r.fields,
                                .fields_n = r.n,
                                .payload = v->payload,
                                .is_tls = true};
        int code = sigv4_make(&ask, key, now, made, err);
        free(auth);
        free(r.text);
        return code;
}

static void check_vectors(const struct vector *v, size_t n, const struct sigv4_secret *key,
                          const char *service, time_t now)
{
        for (size_t i = 0; i < n; i++) {
                struct sigv4_made made;
                struct err err = {0};
                int r = run(&v[i], key, service, now, NULL, &made, &err);
                const char *auth = made_field(&made, "authorization");
                char *want = str_fmt("AWS4-HMAC-SHA256 Credential=%s/%s/us-east-1/%s/aws4_request, "
                                     "SignedHeaders=%s, Signature=%s",
                                     key->id, now == S3_TIME ? "20130524" : "20150830", service,
                                     v[i].names, v[i].signature);
                check(r == 0, v[i].name, "%s", err.text);
                check_str(v[i].name, auth, want);
                free(want);
                sigv4_made_free(&made);
        }
}

static void test_token(void)
{
        static const struct vector v = {
                "post-sts-header-before",
                "POST",
                "/",
                HOST,
                "host;x-amz-date",
                EMPTY,
                "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"};
        struct sigv4_secret key = suite_key;
        struct sigv4_made made;
        struct err err = {0};
        key.token = TOKEN;
        CHECK("a token that the box does not have is added",
              run(&v, &key, "service", SUITE_TIME, NULL, &made, &err) == 0);
        check_str("it stands in its header", made_field(&made, "x-amz-security-token"), TOKEN);
        CHECK("and is signed (post-sts-header-before)",
              strstr(made_field(&made, "authorization"),
                     "SignedHeaders=host;x-amz-date;x-amz-security-token, Signature="
                     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"));
        sigv4_made_free(&made);

        CHECK("a token that only the box has is taken out",
              run(&suite[0], &suite_key, "service", SUITE_TIME, "fake-token", &made, &err) == 0);
        check_str("of the head", made_field(&made, "x-amz-security-token"), "");
        CHECK("and of the signature",
              strstr(made_field(&made, "authorization"), suite[0].signature) != NULL);
        sigv4_made_free(&made);

        CHECK("a token of somebody else beside our id is refused (S13)",
              run(&suite[0], &suite_key, "service", SUITE_TIME, "foreign", &made, &err) < 0);
        sigv4_made_free(&made);
}

static void test_iam(void)
{
        /* The example of the General Reference. */
        static const struct vector v = {
                "IAM ListUsers",
                "GET",
                "/?Action=ListUsers&Version=2010-05-08",
                "host: iam.amazonaws.com\ncontent-type: application/x-www-form-urlencoded; "
                "charset=utf-8\n",
                "content-type;host;x-amz-date",
                EMPTY,
                "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"};
        struct sigv4_secret key = suite_key;
        key.service = "iam";
        struct sigv4_made made;
        struct err err = {0};
        CHECK("IAM ListUsers", run(&v, &key, "iam", SUITE_TIME, NULL, &made, &err) == 0);
        CHECK("its signature", strstr(made_field(&made, "authorization"), v.signature) != NULL);
        sigv4_made_free(&made);
}

#define PRESIGNED(id, date, expires)                                                               \
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" id "%2F" date                         \
        "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=" date "T000000Z&X-Amz-Expires=" expires      \
        "&X-Amz-SignedHeaders=host"

static int presigned(const char *target, const struct sigv4_secret *key, time_t now,
                     struct sigv4_made *made, struct err *err)
{
        static const struct sigv4_field host[] = {{"host", "examplebucket.s3.amazonaws.com"}};
        struct sigv4_ask ask = {.method = "GET",
                                .target = target,
                                .host = "examplebucket.s3.amazonaws.com",
                                .fields = host,
                                .fields_n = 1,
                                .payload = "UNSIGNED-PAYLOAD",
                                .is_tls = true};
        return sigv4_make(&ask, key, now, made, err);
}

static void test_presigned(void)
{
        struct sigv4_made made;
        struct err err = {0};
        int r = presigned("/test.txt?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                                 "86400") "&X-Amz-Signature=" NO_SIGNATURE,
                          &s3_key, S3_TIME, &made, &err);
        check(r == 0, "presigned GET", "%s", err.text);
        check_str("its URL is the one of the documentation", made.target,
                  "/test.txt?" PRESIGNED("AKIAIOSFODNN7EXAMPLE", "20130524",
                                         "86400") "&X-Amz-Signature="
                                                  "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c26595"
                                                  "7d157751f604d404");
        sigv4_made_free(&made);

        r = presigned("/test.txt?a=1&" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                                 "86400") "&X-Amz-Signature=" NO_SIGNATURE "&b&c=",
                      &s3_key, S3_TIME + 3600, &made, &err);
        CHECK("an hour later the URL has an hour less", r == 0 && strstr(made.target, "=82800&"));
        CHECK("what else stands in it stays", r == 0 && strstr(made.target, "?a=1&b&c=&X-Amz-Al"));
        sigv4_made_free(&made);

        struct sigv4_secret key = s3_key;
        key.left_s = 600;
        r = presigned("/test.txt?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                             "86400") "&X-Amz-Signature=" NO_SIGNATURE,
                      &key, S3_TIME, &made, &err);
        CHECK("a URL does not outlive the grant", r == 0 && strstr(made.target, "Expires=600&"));
        sigv4_made_free(&made);

        static const struct {
                const char *name, *target;
                time_t now;
        } bad[] = {
                {"an expired URL is refused",
                 "/?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524", "60") "&X-Amz-Signature=00",
                 S3_TIME + 60},
                {"more than a week is refused",
                 "/?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524", "604801") "&X-Amz-Signature=00",
                 S3_TIME},
                {"a URL of another key is refused",
                 "/?" PRESIGNED("AKIAIOSFODNN7EXAMPLE", "20130524", "60") "&X-Amz-Signature=00",
                 S3_TIME},
                {"a token of somebody else in the URL is refused (S13)",
                 "/?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                "60") "&X-Amz-Signature=00&X-Amz-Security-Token=x",
                 S3_TIME},
                {"two signatures are refused",
                 "/?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                "60") "&X-Amz-Signature=00&X-Amz-Signature=00",
                 S3_TIME},
                {"one in an odd spelling too",
                 "/?" PRESIGNED("AKIAFAKEFAKEFAKEFAKE", "20130524",
                                "60") "&X-Amz-Signature=00&x-amz-si%67nature=00",
                 S3_TIME},
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                r = presigned(bad[i].target, &s3_key, bad[i].now, &made, &err);
                CHECK(bad[i].name, r < 0);
                sigv4_made_free(&made);
        }
}

/* The stream of the documentation: 65536 and 1024 times "a". */
static void chain_letters(struct sigv4_chain *c, size_t n)
{
        static uint8_t letters[65536];
        uint8_t hash[SIGV4_HASH];
        memset(letters, 'a', sizeof letters);
        SHA256(letters, n, hash);
        sigv4_chain_next(c, hash, false);
}

static void test_stream(void)
{
        static const struct vector v = {
                "stream",
                "PUT",
                "/examplebucket/chunkObject.txt",
                "host: s3.amazonaws.com\nx-amz-storage-class: REDUCED_REDUNDANCY\n"
                "content-encoding: aws-chunked\nx-amz-decoded-content-length: 66560\n"
                "content-length: 66824\n"
                "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\n",
                "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                "x-amz-decoded-content-length;x-amz-storage-class",
                "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                ""};
        struct sigv4_made made;
        struct err err = {0};
        int r = run(&v, &s3_key, "s3", S3_TIME, NULL, &made, &err);
        check(r == 0 && made.has_chunks, "a stream of signed chunks", "%s", err.text);
        check_str("its seed", made.chain.last,
                  "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
        chain_letters(&made.chain, 65536);
        check_str("first chunk", made.chain.last,
                  "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648");
        chain_letters(&made.chain, 1024);
        check_str("second chunk", made.chain.last,
                  "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497");
        chain_letters(&made.chain, 0);
        check_str("last chunk", made.chain.last,
                  "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9");
        sigv4_made_free(&made);
}

static void test_trailer(void)
{
        static const struct vector v = {
                "stream with a trailer",
                "PUT",
                "/examplebucket/chunkObject.txt",
                "host: s3.amazonaws.com\nx-amz-storage-class: REDUCED_REDUNDANCY\n"
                "content-encoding: aws-chunked\nx-amz-decoded-content-length: 66560\n"
                "x-amz-trailer: x-amz-checksum-crc32c\n"
                "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER\n",
                "content-encoding;host;x-amz-content-sha256;x-amz-date;"
                "x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
                "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
                ""};
        static const char trailer[] = "x-amz-checksum-crc32c:sOO8/Q==\n";
        struct sigv4_made made;
        struct err err = {0};
        uint8_t hash[SIGV4_HASH];
        int r = run(&v, &s3_key, "s3", S3_TIME, NULL, &made, &err);
        check(r == 0 && made.has_chunks && made.chain.has_trailer, "a stream with a trailer", "%s",
              err.text);
        check_str("its seed", made.chain.last,
                  "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e");
        chain_letters(&made.chain, 65536);
        check_str("first chunk", made.chain.last,
                  "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2");
        chain_letters(&made.chain, 1024);
        check_str("second chunk", made.chain.last,
                  "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7");
        chain_letters(&made.chain, 0);
        check_str("last chunk", made.chain.last,
                  "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992");
        SHA256((const uint8_t *)trailer, sizeof trailer - 1, hash);
        sigv4_chain_next(&made.chain, hash, true);
        check_str("trailer", made.chain.last,
                  "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435");
        sigv4_made_free(&made);
}

int main(void)
{
        check_vectors(s3, sizeof s3 / sizeof *s3, &s3_key, "s3", S3_TIME);
        check_vectors(suite, sizeof suite / sizeof *suite, &suite_key, "service", SUITE_TIME);
        test_token();
        test_iam();
        test_presigned();
        test_stream();
        test_trailer();
        return check_end();
}
