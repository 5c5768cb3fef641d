/* door_keeper_token.c - secrets that are exchanged for tokens: one call at a time, whoever asks
 * meanwhile waits, a failure is an answer, and a revoked login still gives the host what is its.
 */
#include "unit/libkeeper.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

static char stand[300];

static void ask_place(uint32_t id, uint32_t number, const char *host)
{
        _cleanup_buf_ struct buf b = {0};
        char slot[320];
        snprintf(slot, sizeof slot, "Bearer %s", stand);
        buf_put_u32(&b, id);
        buf_put_u32(&b, number);
        buf_put_u32(&b, 0);
        door_toward_put(&b, TO(host, "/v1/x"));
        buf_put_lstr(&b, slot);
        frame_send(kp.egress, DOOR_PLACE, &b, NULL, 0);
}

/* hear_fetch(id, body): a call that egress shall make, and what it would send. */
static bool hear_fetch(uint32_t *id, char *host, char *body, size_t max)
{
        uint32_t type, port, n, len;
        char text[5000];
        const uint8_t *p;
        while ((type = kp_hear(kp.egress, 10000)) == DOOR_FINGERS || type == DOOR_GRANTED)
                ;
        if (type != DOOR_FETCH || cur_u32(&kp.f.body, id) < 0)
                return false;
        kp_text(text, sizeof text); /* method */
        kp_text(host, 200);
        cur_u32(&kp.f.body, &port);
        kp_text(text, sizeof text); /* target */
        cur_u32(&kp.f.body, &n);
        for (uint32_t i = 0; i < 2 * n; i++)
                kp_text(text, sizeof text);
        if (cur_u32(&kp.f.body, &len) < 0 || cur_bytes(&kp.f.body, len, &p) < 0)
                return false;
        snprintf(body, max, "%.*s", (int)len, (const char *)p);
        return true;
}

static void fetched(uint32_t id, uint32_t status, const char *access, const char *refresh)
{
        const char *v[] = {access, access ? "3600" : NULL, refresh,
                           access ? NULL : "invalid_grant"};
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, status);
        buf_put_lstr(&b, "");
        buf_put_u32(&b, 4);
        for (int i = 0; i < 4; i++) {
                buf_put_u32(&b, v[i] != NULL);
                buf_put_lstr(&b, v[i] ? v[i] : "");
        }
        frame_send(kp.egress, DOOR_FETCHED, &b, NULL, 0);
}

/* answered(id): the text that was placed, or "no" and kp.no. */
static const char *answered(uint32_t id)
{
        uint32_t type, got = 0;
        while ((type = kp_hear(kp.egress, 10000)) == DOOR_FINGERS || type == DOOR_GRANTED ||
               type == DOOR_GONE)
                ;
        cur_u32(&kp.f.body, &got);
        kp.no = 99;
        if (type == DOOR_PLACE_NO)
                cur_u32(&kp.f.body, &kp.no);
        kp_text(kp.answer, sizeof kp.answer);
        return got != id ? "another" : type == DOOR_PLACED ? kp.answer : "no";
}

static void ask_revoke(uint32_t number)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, number);
        frame_send(kp.ctl, DOOR_REVOKE, &b, NULL, 0);
}

static void gone_ok(uint32_t number)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, number);
        frame_send(kp.egress, DOOR_GONE_OK, &b, NULL, 0);
}

#define OAUTH                                                                                      \
        "secret OA from env at api.example.org as oauth token=https://auth.example.org/token "     \
        "app=client1"

static void oauth(void)
{
        uint32_t id = 0;
        char host[200], body[4000];
        CHECK("a refresh token is taken",
              kp_secret(1, OAUTH, "fake_refresh_token_1") == DOOR_SECRET_OK);
        for (uint32_t i = 0; i < kp.parts_n; i++)
                if (strcmp(kp.part[i], "access") == 0)
                        snprintf(stand, sizeof stand, "%.299s", kp.placeholder[i]);
        CHECK("the box has a placeholder for a token that is not there yet", stand[0]);
        kp_grants();
        ask_place(11, 1, "api.example.org");
        ask_place(12, 1, "api.example.org");
        CHECK("its first use is a call", hear_fetch(&id, host, body, sizeof body));
        check_str("to the endpoint of its line", host, "auth.example.org");
        CHECK("with the refresh token", strstr(body, "fake_refresh_token_1") != NULL);
        CHECK("one call for both", kp_hear(kp.egress, 50) == 0);
        fetched(id, 200, "fake_access_token_1", NULL);
        check_str("the first is answered", answered(11), "Bearer fake_access_token_1");
        check_str("the second too", answered(12), "Bearer fake_access_token_1");
        ask_place(13, 1, "api.example.org");
        check_str("the next needs no call", answered(13), "Bearer fake_access_token_1");
        ask_place(14, 1, "evil.example.org");
        CHECK("elsewhere there is none", !strcmp(answered(14), "no") && kp.no == DOOR_NO_GRANT);

        CHECK("a second secret", kp_secret(2, OAUTH, "fake_refresh_token_2") == DOOR_SECRET_OK);
        snprintf(stand, sizeof stand, "%.299s", kp.placeholder[0]);
        ask_place(21, 2, "api.example.org");
        CHECK("it is fetched", hear_fetch(&id, host, body, sizeof body));
        fetched(id, 400, NULL, NULL);
        CHECK("a failure is an answer (S14)",
              !strcmp(answered(21), "no") && kp.no == DOOR_NO_VALUE);
        ask_place(22, 2, "api.example.org");
        CHECK("and the endpoint is left alone for a while",
              !strcmp(answered(22), "no") && kp.no == DOOR_NO_VALUE);

        CHECK("a third", kp_secret(3, OAUTH, "fake_refresh_token_3") == DOOR_SECRET_OK);
        snprintf(stand, sizeof stand, "%.299s", kp.placeholder[0]);
        ask_place(31, 3, "api.example.org");
        CHECK("it is being fetched", hear_fetch(&id, host, body, sizeof body));
        ask_revoke(3);
        CHECK("when it is revoked whoever waits hears so",
              !strcmp(answered(31), "no") && kp.no == DOOR_NO_REVOKED);
        gone_ok(3);
        CHECK("and it is done", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        fetched(id, 200, "fake_access_token_3", NULL);
        ask_place(32, 3, "api.example.org");
        CHECK("a token that comes late is not used",
              !strcmp(answered(32), "no") && kp.no == DOOR_NO_REVOKED);
}

#define LOGIN "secret LG from login claude at api.anthropic.com as bearer"
#define OLD                                                                                        \
        "{\"access\":\"fake_login_access_1\",\"refresh\":\"fake_login_refresh_1\",\"expires\":1}"

static void login(void)
{
        uint32_t id = 0, number = 0, n = 0;
        char host[200], body[4000];
        const uint8_t *p;
        check(kp_secret(4, LOGIN, OLD) == DOOR_SECRET_OK, "a login", "%s", kp.words);
        for (uint32_t i = 0; i < kp.parts_n; i++)
                if (strcmp(kp.part[i], "access") == 0)
                        snprintf(stand, sizeof stand, "%.299s", kp.placeholder[i]);
        ask_place(41, 4, "api.anthropic.com");
        CHECK("one that is over: the host is asked first, under its lock",
              kp_hear(kp.ctl, 10000) == DOOR_REFRESH);
        CHECK("whose copy is as old", kp_secret(4, LOGIN, OLD) == DOOR_SECRET_OK);
        CHECK("so it is refreshed",
              hear_fetch(&id, host, body, sizeof body) && strstr(body, "fake_login_refresh_1"));
        ask_revoke(4);
        CHECK("it is revoked meanwhile", !strcmp(answered(41), "no") && kp.no == DOOR_NO_REVOKED);
        gone_ok(4);
        CHECK("and that is told", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        fetched(id, 200, "fake_login_access_2", "fake_login_refresh_2");
        CHECK("the host gets what the endpoint gave: its old one is of no use any more",
              kp_hear(kp.ctl, 10000) == DOOR_ROTATED && cur_u32(&kp.f.body, &number) == 0 &&
                      number == 4 && cur_u32(&kp.f.body, &n) == 0 &&
                      cur_bytes(&kp.f.body, n, &p) == 0 &&
                      memmem(p, n, "fake_login_refresh_2", 20) != NULL);
        ask_place(42, 4, "api.anthropic.com");
        CHECK("the box does not", !strcmp(answered(42), "no") && kp.no == DOOR_NO_REVOKED);
}

/* pem(escaped): a private key, with its line breaks as JSON writes them or as they are. */
static char *pem(bool is_escaped)
{
        static char text[2][6000];
        char *to = text[is_escaped];
        static EVP_PKEY *key;
        const char *from;
        if (!key)
                key = EVP_RSA_gen(2048);
        BIO *bio = BIO_new(BIO_s_mem());
        PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
        long n = BIO_get_mem_data(bio, (char **)(uintptr_t)&from);
        for (long i = 0; i < n; i++) {
                if (from[i] == '\n' && is_escaped)
                        *to++ = '\\', *to++ = 'n';
                else
                        *to++ = from[i];
        }
        *to = 0;
        BIO_free(bio);
        return text[is_escaped];
}

static void take_stand(const char *part)
{
        stand[0] = 0;
        for (uint32_t i = 0; i < kp.parts_n; i++)
                if (strcmp(kp.part[i], part) == 0)
                        snprintf(stand, sizeof stand, "%.299s", kp.placeholder[i]);
}

#define GCP "secret SA from file /x at *.googleapis.com as gcp"

static void accounts(void)
{
        static char json[8000];
        uint32_t id = 0;
        char host[200], body[4000];
        snprintf(json, sizeof json,
                 "{\"type\":\"service_account\",\"client_email\":\"me@fake.iam.example.com\","
                 "\"private_key_id\":\"0123\",\"private_key\":\"%s\"}",
                 pem(true));
        check(kp_secret(5, GCP, json) == DOOR_SECRET_OK, "a service account", "%s", kp.words);
        bool has_file = false;
        for (uint32_t i = 0; i < kp.parts_n; i++)
                has_file |= strcmp(kp.part[i], "account") == 0 &&
                            strstr(kp.placeholder[i], "me@fake.iam.example.com") &&
                            !strstr(kp.placeholder[i], "\"0123\"");
        CHECK("the box gets a file of its own", has_file);
        int fingers = 0;
        for (uint32_t type; (type = kp_hear(kp.egress, 100));)
                fingers += type == DOOR_FINGERS;
        CHECK("an address is not looked for in answers", fingers <= 1);
        take_stand("access");
        ask_place(51, 5, "storage.googleapis.com");
        CHECK("its key signs for a token",
              hear_fetch(&id, host, body, sizeof body) && strstr(body, "assertion=") != NULL);
        fetched(id, 200, "ya29.fake_access_token_of_account", NULL);
        check_str("which is shown", answered(51), "Bearer ya29.fake_access_token_of_account");
        CHECK("without a key",
              kp_secret(6, GCP, "{\"client_email\":\"me@example.com\"}") == DOOR_SECRET_BAD &&
                      strstr(kp.words, "private_key"));
        CHECK("with half a key",
              kp_secret(6, GCP,
                        "{\"client_email\":\"me@example.com\",\"private_key\":\"-----BEGIN\"}") ==
                      DOOR_SECRET_BAD);
        CHECK("no JSON", kp_secret(6, GCP, "not json at all") == DOOR_SECRET_BAD);

        const char *app = "secret APP from file /x at api.github.com,github.com as github-app "
                          "app=Iv1.fake installation=123 repos=site";
        check(kp_secret(7, app, pem(false)) == DOOR_SECRET_OK, "an app's key", "%s", kp.words);
        take_stand("access");
        ask_place(71, 7, "api.github.com");
        CHECK("gets a token for its repositories",
              hear_fetch(&id, host, body, sizeof body) && strstr(body, "site") != NULL);
        fetched(id, 201, "ghs_fakefakefakefakefakefakefakefakefake", NULL);
        check_str("which is shown as well", answered(71),
                  "Bearer ghs_fakefakefakefakefakefakefakefakefake");
        CHECK("no key", kp_secret(8, app, "something else") == DOOR_SECRET_BAD);
}

int main(void)
{
        kp_begin();
        oauth();
        login();
        accounts();
        CHECK("it ends with the supervisor", kp_end() == 0);
        return check_end();
}
