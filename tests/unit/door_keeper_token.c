/* door_keeper_token.c - secrets that are exchanged for tokens: one call at a time, whoever asks
 * meanwhile waits, a failure is an answer, and a revoked login still gives the host what is its.
 */
#include "unit/libkeeper.h"

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

int main(void)
{
        kp_begin();
        oauth();
        login();
        CHECK("it ends with the supervisor", kp_end() == 0);
        return check_end();
}
