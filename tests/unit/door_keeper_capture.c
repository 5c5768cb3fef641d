/* door_keeper_capture.c - tokens that come with answers become secrets of their own: a placeholder
 * goes to the box, the token may be shown where the secret may with which it was got. */
#include "policy/secret_forms.h"
#include "unit/libkeeper.h"

static uint32_t number;  /* of the last DOOR_GRANTED */
static char line[1000];  /* its line */
static uint32_t parts_n; /* and parts */
static char part[4][16], stand[4][200];
static int fingers;       /* messages of them, with the last DOOR_CAPTURED */
static bool is_cut;       /* one is of a beginning or an end */
static uint32_t is_local; /* of the last of them */

static void hear_fingers(void)
{
        uint32_t of, at;
        struct door_finger f;
        fingers++;
        cur_u32(&kp.f.body, &of);
        cur_u32(&kp.f.body, &at);
        cur_u32(&kp.f.body, &is_local);
        while (kp.f.body.left && door_finger_get(&kp.f.body, &f) == 0)
                is_cut |= f.coding == SECRET_HEAD || f.coding == SECRET_TAIL;
}

static void hear_granted(void)
{
        cur_u32(&kp.f.body, &number);
        kp_text(line, sizeof line);
        cur_u32(&kp.f.body, &parts_n);
        for (uint32_t i = 0; i < parts_n && i < 4; i++) {
                kp_text(part[i], sizeof part[i]);
                kp_text(stand[i], sizeof stand[i]);
        }
}

/* ask(of, host, name, value, is_sure): its placeholder, or "" and kp.no. */
static const char *ask(uint32_t of, const char *host, const char *name, const char *value,
                       bool is_sure)
{
        _cleanup_buf_ struct buf b = {0};
        uint32_t type, id;
        buf_put_u32(&b, 9);
        buf_put_u32(&b, of);
        buf_put_lstr(&b, host);
        buf_put_lstr(&b, name);
        buf_put_lstr(&b, value);
        buf_put_u32(&b, is_sure);
        frame_send(kp.egress, DOOR_CAPTURE, &b, NULL, 0);
        number = parts_n = 0;
        fingers = 0;
        is_cut = false;
        while ((type = kp_hear(kp.egress, 10000)) && type != DOOR_CAPTURED &&
               type != DOOR_PLACE_NO) {
                if (type == DOOR_GRANTED)
                        hear_granted();
                if (type == DOOR_FINGERS)
                        hear_fingers();
        }
        kp.no = 99;
        kp.answer[0] = 0;
        cur_u32(&kp.f.body, &id);
        if (type == DOOR_CAPTURED) {
                kp_text(kp.answer, sizeof kp.answer);
        } else {
                cur_u32(&kp.f.body, &kp.no);
        }
        return kp.answer;
}

static const char *capture(uint32_t of, const char *host, const char *name, const char *value)
{
        return ask(of, host, name, value, true);
}

static void tokens(void)
{
        char slot[300];
        const char *got = capture(1, "auth.example.org", "access_token", "fake_access_token_1");
        CHECK("a token has a placeholder of its length",
              strlen(got) == 19 && strcmp(got, "fake_access_token_1") != 0);
        CHECK("and a number of its own", number == 1000 && parts_n == 1);
        check_str("its line is that of the secret, with the host it came from", line,
                  "secret MAIN_ACCESS_TOKEN from env at api.example.org,auth.example.org as "
                  "bearer,basic,json /access_token,form access_token,header x-key");
        snprintf(slot, sizeof slot, "Bearer %.200s", stand[0]);
        check_str("it is shown where the secret is",
                  kp_place(1000, 0, TO("api.example.org", "/"), slot),
                  "Bearer fake_access_token_1");
        check_str("and where it came from",
                  kp_place(1000, 3, TO("auth.example.org", "/token"), stand[0]),
                  "fake_access_token_1");
        kp_place(1000, 0, TO("evil.example.org", "/"), slot);
        CHECK("and nowhere else", kp.no == DOOR_NO_GRANT);
        CHECK("words are not looked for in what other hosts send", fingers == 0);
        char first[100];
        snprintf(first, sizeof first, "%.99s", stand[0]);
        check_str("the same token again is the same placeholder",
                  capture(1, "auth.example.org", "access_token", "fake_access_token_1"), first);
        CHECK("without another secret", number == 0);
        got = capture(1, "auth.example.org", "refresh_token", "fake_refresh_token_1");
        CHECK("another one is another", number == 1001 && strcmp(got, first) != 0);
        CHECK("the value of a secret that is known has its own placeholder",
              capture(1, "auth.example.org", "access_token", "fake_main_value_1")[0] &&
                      number == 0);
        capture(0, "api.example.org", "id_token",
                "fake_id_token_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1");
        CHECK("egress can know it again before it has the placeholder", fingers > 0);
        CHECK("as a whole: many tokens begin alike", !is_cut);
        check(strstr(line, "secret MAIN_ID_TOKEN ") == line,
              "without a secret it belongs to the one whose place it is", "%s", line);
        capture(0, "vault.example.net", "client_token", "fake_client_token_1");
        check_str("a token of Vault's has its header", line,
                  "secret CAPTURED_CLIENT_TOKEN from env at vault.example.net as bearer,basic,json "
                  "/client_token,form client_token,header x-vault-token");
        capture(0, "other.example.net", "id_token", "fake_id_token_67890");
        check_str("or to nobody", line,
                  "secret CAPTURED_ID_TOKEN from env at other.example.net as bearer,basic,json "
                  "/id_token,form id_token");
}

/* What was only guessed to be a token is looked for where it belongs. */
static void guesses(void)
{
        static const char sum[] = "3da541559918a808c2402bba5012f6c60b27661c";
        char first[100], slot[200];
        snprintf(first, sizeof first, "%.99s", ask(0, "lender.example.net", "made", sum, false));
        CHECK("a guess has a placeholder", first[0] && strcmp(first, sum) != 0);
        CHECK("and is looked for at its places alone", fingers == 1 && is_local);
        uint32_t guess = number;
        snprintf(slot, sizeof slot, "Bearer %.100s", first);
        kp_place(guess, 0, TO("other.example.net", "/"), slot);
        CHECK("it is shown nowhere else", kp.no == DOOR_NO_GRANT);
        check_str("but there", kp_place(guess, 0, TO("lender.example.net", "/"), slot),
                  "Bearer 3da541559918a808c2402bba5012f6c60b27661c");
        check_str("the same guess again is the same",
                  ask(0, "lender.example.net", "made", sum, false), first);
        CHECK("and nothing is said of it", fingers == 0 && number == 0);
        const char *other = ask(0, "second.example.net", "made", sum, false);
        CHECK("what another host lends is another secret",
              number != 0 && number != guess && strcmp(other, first) != 0 && is_local);
        snprintf(slot, sizeof slot, "Bearer %.100s", other);
        CHECK("which works there",
              kp_place(number, 0, TO("second.example.net", "/"), slot)[0] != 0);
        check_str("what is certain later keeps its placeholder",
                  ask(0, "lender.example.net", "access_token", sum, true), first);
        CHECK("and is looked for everywhere", fingers == 1 && !is_local);
        ask(0, "third.example.net", "access_token", "x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93", true);
        CHECK("what is certain is looked for everywhere", fingers == 1 && !is_local);
}

static void refused(void)
{
        capture(77, "auth.example.org", "access_token", "fake_access_token_2");
        CHECK("a secret that is not there", kp.no == DOOR_NO_GRANT);
        capture(1, "auth.example.org\n", "access_token", "fake_access_token_2");
        CHECK("no host", kp.no == DOOR_NO_GRANT);
        capture(1, "auth.example.org", "access token", "fake_access_token_2");
        CHECK("no name", kp.no == DOOR_NO_GRANT);
        capture(1, "auth.example.org", "", "fake_access_token_2");
        CHECK("none at all", kp.no == DOOR_NO_GRANT);
        capture(1, "auth.example.org", "access_token", "fake\r\nx-evil: token");
        CHECK("a token with a line break", kp.no == DOOR_NO_SLOT);
        capture(1, "auth.example.org", "access_token", "short");
        CHECK("one that is too short", kp.no == DOOR_NO_SLOT);
}

static void lent_keys(void)
{
        capture(2, "sts.amazonaws.com", "AccessKeyId", "ASIAFAKEFAKEFAKEFAKE");
        uint32_t key = number;
        CHECK("the first piece of a key of AWS", parts_n == 1 && !strcmp(part[0], "id"));
        check_str("its line signs", line,
                  "secret CLOUD_AWS from env at *.amazonaws.com as sigv4 service=s3");
        capture(2, "sts.amazonaws.com", "SecretAccessKey", "fake/key+0123456789abcdef01234567");
        CHECK("the second is of the same",
              number == key && parts_n == 2 && !strcmp(part[1], "key"));
        capture(2, "sts.amazonaws.com", "SessionToken", "fakesessiontoken0123456789");
        CHECK("and the third", number == key && parts_n == 3 && !strcmp(part[2], "token"));
        capture(2, "sts.amazonaws.com", "SecretAccessKey", "fake/key+other6789abcdef01234567");
        CHECK("the next key is another, in whatever order it comes",
              number == key + 1 && parts_n == 1 && !strcmp(part[0], "key"));
        capture(2, "sts.amazonaws.com", "AccessKeyId", "ASIAFAKEFAKEFAKEFAK2");
        CHECK("and grows together", number == key + 1 && parts_n == 2);
        CHECK("the id keeps its shape", strncmp(stand[1], "ASIA", 4) == 0);
}

static void revoked(void)
{
        _cleanup_buf_ struct buf b = {0};
        uint32_t type, gone = 0, n;
        buf_put_u32(&b, 1);
        frame_send(kp.ctl, DOOR_REVOKE, &b, NULL, 0);
        while ((type = kp_hear(kp.egress, 300)) == DOOR_GONE) {
                cur_u32(&kp.f.body, &n);
                gone++;
                b.len = 0;
                buf_put_u32(&b, n);
                frame_send(kp.egress, DOOR_GONE_OK, &b, NULL, 0);
        }
        check(gone == 4, "what was got with a secret goes with it", "%u", gone);
        CHECK("and then it is done", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        capture(1, "auth.example.org", "access_token", "fake_access_token_3");
        CHECK("a token that comes late is not kept", kp.no == DOOR_NO_REVOKED);
}

int main(void)
{
        kp_begin();
        CHECK("secrets",
              kp_secret(1,
                        "secret MAIN from env at api.example.org as bearer,header x-key inject "
                        "ttl=1h",
                        "fake_main_value_1") == DOOR_SECRET_OK &&
                      kp_secret(2, "secret CLOUD from aws at *.amazonaws.com as sigv4 service=s3",
                                "AKIAFAKEFAKEFAKEFAKE\nfake/key+0123456789abcdef\n") ==
                              DOOR_SECRET_OK);
        CHECK("egress begins", kp_grants() == 2);
        tokens();
        guesses();
        refused();
        lent_keys();
        revoked();
        CHECK("it ends with the supervisor", kp_end() == 0);
        return check_end();
}
