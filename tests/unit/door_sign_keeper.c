/* door_sign_keeper.c - a confined keeper that is asked for signatures by an egress which lies:
 * shows one request and wants another signed, another host, another service, somebody else's half
 * of a key. And chains of chunks, which end when their secret does. */
#include "unit/libkeeper.h"

#include <openssl/sha.h>

#define HOST     "s3.eu-west-1.amazonaws.com"
#define EMPTY    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ZEROS    "0000000000000000000000000000000000000000000000000000000000000000"
#define REAL_ID  "AKIAREALREALREALREAL"
#define REAL_KEY "fakefakefake/real+key/fakefakefakefakefake"

struct lie {
        const char *name;
        const char *method, *host, *path; /* what is judged */
        const char *target, *host_field;  /* what is to be signed */
        const char *payload;
        uint16_t port;
        bool is_plain, is_ok;
};

static uint32_t last_chain;

static bool sign(const struct lie *l, const char *auth, uint32_t number)
{
        static uint32_t id = 500;
        _cleanup_buf_ struct buf b = {0};
        uint32_t got;
        struct door_toward to = {.method = l->method,
                                 .host = l->host,
                                 .path = l->path,
                                 .port = l->port ? l->port : 443,
                                 .is_tls = !l->is_plain};
        const char *payload = l->payload ? l->payload : EMPTY;
        buf_put_u32(&b, ++id);
        buf_put_u32(&b, number);
        buf_put_u32(&b, 0);
        door_toward_put(&b, &to);
        buf_put_lstr(&b, l->target);
        buf_put_u32(&b, l->host_field ? 3 : 2);
        buf_put_lstr(&b, "host");
        buf_put_lstr(&b, l->host);
        buf_put_lstr(&b, "authorization");
        buf_put_lstr(&b, auth);
        if (l->host_field) { /* beside the right one, or alone */
                buf_put_lstr(&b, "host");
                buf_put_lstr(&b, l->host_field);
        }
        buf_put_u32(&b, (uint32_t)strlen(payload));
        buf_put(&b, payload, strlen(payload));
        frame_send(kp.egress, DOOR_SIGN, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000);
        kp.words[0] = kp.answer[0] = 0;
        if (cur_u32(&kp.f.body, &got) < 0 || got != id)
                return false;
        if (type == DOOR_SIGNED) {
                uint32_t n;
                cur_u32(&kp.f.body, &last_chain);
                kp_text(kp.answer, sizeof kp.answer); /* target */
                cur_u32(&kp.f.body, &n);
                for (char name[64]; n > 0; n--) {
                        kp_text(name, sizeof name);
                        kp_text(kp.answer, sizeof kp.answer); /* the last is Authorization */
                }
                return true;
        }
        cur_u32(&kp.f.body, &kp.no);
        kp_text(kp.words, sizeof kp.words);
        return false;
}

static const struct lie lies[] = {
        {"an honest question", "GET", HOST, "/public/x", "/public/x?a=1", .is_ok = true},
        {"another path than was judged", "GET", HOST, "/public/x", "/private/x", .is_ok = false},
        {"a path that is not granted", "GET", HOST, "/private/x", "/private/x", .is_ok = false},
        {"a path that becomes another", "GET", HOST, "/public/../private/x", "/private/x",
         .is_ok = false},
        {"another host in the header", "GET", HOST, "/public/x", "/public/x", "evil." HOST,
         .is_ok = false},
        {"the same host twice", "GET", HOST, "/public/x", "/public/x", HOST, .is_ok = false},
        {"a host that is not granted", "GET", "iam.amazonaws.com", "/public/x", "/public/x",
         .is_ok = false},
        {"another port", "GET", HOST, "/public/x", "/public/x", .port = 8443},
        {"without TLS", "GET", HOST, "/public/x", "/public/x", .port = 80, .is_plain = true},
        {"lines in the method", "GET\n/private/x\n", HOST, "/public/x", "/public/x",
         .is_ok = false},
        {"no method", "", HOST, "/public/x", "/public/x", .is_ok = false},
        {"a payload line with a line in it", "GET", HOST, "/public/x", "/public/x",
         .payload = "UNSIGNED-PAYLOAD\nx"},
};

static bool chunk(uint32_t chain, uint32_t is_trailer)
{
        static uint32_t id = 9000;
        _cleanup_buf_ struct buf b = {0};
        uint8_t hash[32];
        uint32_t got;
        SHA256((const uint8_t *)"data", 4, hash);
        buf_put_u32(&b, ++id);
        buf_put_u32(&b, chain);
        buf_put_u32(&b, is_trailer);
        buf_put(&b, hash, sizeof hash);
        frame_send(kp.egress, DOOR_SIGN_CHUNK, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000);
        if (cur_u32(&kp.f.body, &got) < 0 || got != id)
                return false;
        kp_text(kp.answer, sizeof kp.answer);
        return type == DOOR_CHUNK_SIGNED && strlen(kp.answer) == 64;
}

static void tell_u32(int fd, uint32_t type, uint32_t value)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, value);
        frame_send(fd, type, &b, NULL, 0);
}

int main(void)
{
        char auth[400];
        kp_begin();
        uint32_t type = kp_secret(1, "secret AWS from aws at " HOST "/public/** as sigv4",
                                  REAL_ID "\n" REAL_KEY "\n");
        check(type == DOOR_SECRET_OK && kp.parts_n == 2, "a keeper with keys of AWS", "%s",
              kp.words);
        char *id = strcmp(kp.part[0], "id") == 0 ? kp.placeholder[0] : kp.placeholder[1];
        snprintf(auth, sizeof auth,
                 "AWS4-HMAC-SHA256 Credential=%.64s/20260101/eu-west-1/s3/aws4_request, "
                 "SignedHeaders=host, Signature=" ZEROS,
                 id);
        CHECK("egress begins", kp_grants() == 1);

        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
                bool is_signed = sign(&lies[i], auth, 1);
                check(is_signed == lies[i].is_ok, lies[i].name, "%s", kp.words);
                CHECK("  no key in the answer",
                      !strstr(kp.answer, REAL_KEY) && !strstr(kp.words, REAL_KEY));
                if (is_signed)
                        CHECK("  the real id, in the header",
                              strstr(kp.answer, "Credential=" REAL_ID "/") != NULL);
                else
                        CHECK("  a sentence", kp.words[0] != 0);
        }
        CHECK("a number that is none", !sign(&lies[0], auth, 2));
        auth[strlen("AWS4-HMAC-SHA256 Credential=AK")] ^= 1;
        CHECK("another id", !sign(&lies[0], auth, 1));
        auth[strlen("AWS4-HMAC-SHA256 Credential=AK")] ^= 1;

        /* Chunks. */
        struct lie stream = lies[0];
        stream.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
        CHECK("a stream begins", sign(&stream, auth, 1) && last_chain != 0);
        uint32_t chain = last_chain;
        char first[65];
        CHECK("its first chunk", chunk(chain, 0));
        memcpy(first, kp.answer, 64);
        first[64] = 0;
        CHECK("the next depends on the one before",
              chunk(chain, 0) && strcmp(first, kp.answer) != 0);
        CHECK("it has no trailer", !chunk(chain, 1));
        CHECK("a chain that is none", !chunk(chain + 7, 0));
        tell_u32(kp.egress, DOOR_SIGN_END, chain);
        CHECK("a chain that has ended", !chunk(chain, 0));
        stream.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
        CHECK("a stream with a trailer", sign(&stream, auth, 1) && chunk(last_chain, 0));
        CHECK("signs it", chunk(last_chain, 1));
        chain = last_chain;
        size_t open = 1;
        while (open < 400 && sign(&stream, auth, 1))
                open++;
        check(open == 256, "so many streams at once and no more", "%zu", open);

        tell_u32(kp.ctl, DOOR_REVOKE, 1);
        CHECK("revoked", kp_hear(kp.egress, 10000) == DOOR_GONE);
        CHECK("a stream that is open signs no more", !chunk(chain, 0));
        tell_u32(kp.egress, DOOR_GONE_OK, 1);
        CHECK("nor does anything else", !sign(&lies[0], auth, 1) && kp.no == DOOR_NO_REVOKED);
        CHECK("the keeper ends well", kp_end() == 0);
        return check_end();
}
