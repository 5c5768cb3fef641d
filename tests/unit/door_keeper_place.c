/* door_keeper_place.c - a placeholder becomes the value in its slot, in every form, and nowhere
 * else: what the keeper answers to DOOR_PLACE. */
#include "unit/libkeeper.h"

#include <openssl/evp.h>

static char stand[20000];

/* granted(number, line, value): a secret whose placeholder is then in `stand`. */
static void granted(uint32_t number, const char *line, const char *value)
{
        uint32_t type = kp_secret(number, line, value);
        check(type == DOOR_SECRET_OK && kp.parts_n == 1, "a secret is taken", "%s: %s", line,
              kp.words);
        snprintf(stand, sizeof stand, "%s", kp.placeholder[0]);
        CHECK("what stands for it has its length and is another",
              strlen(stand) == strlen(value) && strcmp(stand, value) != 0);
        while (kp_hear(kp.egress, 0))
                ; /* that egress is told is another test's matter */
}

static char *with(const char *before, const char *after)
{
        static char text[2][30000];
        static int at;
        at = !at;
        snprintf(text[at], sizeof text[at], "%s%s%s", before, stand, after);
        return text[at];
}

static const char *basic(const char *plain)
{
        static char text[2][40000];
        static int at;
        at = !at;
        memcpy(text[at], "Basic ", 6);
        EVP_EncodeBlock((uint8_t *)text[at] + 6, (const uint8_t *)plain, (int)strlen(plain));
        return text[at];
}

#define VALUE "fake_value_0123456789abcdef"

static void bearer(void)
{
        const struct door_toward *to = TO("api.example.org", "/v1/x");
        granted(1, "secret ONE from env at api.example.org as bearer", VALUE);
        check_str("bearer", kp_place(1, 0, to, with("Bearer ", "")), "Bearer " VALUE);
        check_str("as it was written", kp_place(1, 0, to, with("bearer ", "")), "bearer " VALUE);
        check_str("GitHub's word", kp_place(1, 0, to, with("token ", "")), "token " VALUE);
        static const char *const bad[][2] = {
                {"", ""},         {"Bearer ", " "}, {"Bearer  ", ""}, {"Bearer x", ""},
                {"Bearer ", "x"}, {"Digest ", ""},  {"Bearer", ""},   {"Bearer ", ",Bearer x"},
                {" Bearer ", ""}, {"Bearer\t", ""}, {"Bearer a ", ""}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                kp_place(1, 0, to, with(bad[i][0], bad[i][1]));
                check(kp.no == DOOR_NO_SLOT, "only the placeholder after its word", "%s|%s: %u",
                      bad[i][0], bad[i][1], kp.no);
        }
        kp_place(1, 0, to, "Bearer " VALUE);
        CHECK("a value itself is not known to the keeper's slot", kp.no == DOOR_NO_SLOT);
        CHECK("and is not said again", !strstr(kp.words, VALUE));
        kp_place(1, 0, to, "");
        CHECK("nothing is injected that the line does not inject", kp.no == DOOR_NO_GRANT);
        kp_place(1, 1, to, with("Bearer ", ""));
        CHECK("a form that the line does not have", kp.no == DOOR_NO_GRANT);
        kp_place(2, 0, to, with("Bearer ", ""));
        CHECK("a secret that is not there", kp.no == DOOR_NO_GRANT);
}

static void places(void)
{
        granted(2, "secret TWO from env at api.example.org/v1/**,*.example.net:8443 as bearer",
                VALUE "2");
        struct door_toward to = {.method = "GET",
                                 .host = "api.example.org",
                                 .path = "/v1/x",
                                 .port = 443,
                                 .is_tls = true};
        const char *slot = with("Bearer ", "");
        check_str("at its place", kp_place(2, 0, &to, slot), "Bearer " VALUE "2");
        to.path = "/v2/x";
        kp_place(2, 0, &to, slot);
        CHECK("another path", kp.no == DOOR_NO_GRANT);
        CHECK("the sentence says which secret and where it belongs",
              strstr(kp.words, "TWO") && strstr(kp.words, "api.example.org/v1/**"));
        to.path = "/v1/%252e%252e/v2";
        kp_place(2, 0, &to, slot);
        CHECK("a path that can be read in two ways", kp.no == DOOR_NO_GRANT);
        to.path = "/v1/..%2fv2/x";
        kp_place(2, 0, &to, slot);
        CHECK("a slash in disguise", kp.no == DOOR_NO_GRANT);
        to.path = "no path";
        kp_place(2, 0, &to, slot);
        CHECK("no path at all", kp.no == DOOR_NO_GRANT);
        to.path = "/v1/x";
        to.port = 8443;
        kp_place(2, 0, &to, slot);
        CHECK("another port", kp.no == DOOR_NO_GRANT);
        to.host = "a.example.net";
        check_str("below a wildcard, at its port", kp_place(2, 0, &to, slot), "Bearer " VALUE "2");
        to.host = "example.net";
        kp_place(2, 0, &to, slot);
        CHECK("the wildcard's own name", kp.no == DOOR_NO_GRANT);
        to.host = "a.evilexample.net";
        kp_place(2, 0, &to, slot);
        CHECK("a name that only looks like it", kp.no == DOOR_NO_GRANT);
        to.host = "a.example.net\t";
        kp_place(2, 0, &to, slot);
        CHECK("no name", kp.no == DOOR_NO_GRANT);
        to.host = "a.example.net";
        to.is_tls = false;
        kp_place(2, 0, &to, slot);
        CHECK("without TLS", kp.no == DOOR_NO_GRANT && strstr(kp.words, "TLS"));
        granted(3, "secret THREE from env at api.example.org:80 as bearer plain", VALUE "3");
        to = (struct door_toward){
                .method = "GET", .host = "api.example.org", .path = "/", .port = 80};
        check_str("without TLS where the line says so", kp_place(3, 0, &to, with("Bearer ", "")),
                  "Bearer " VALUE "3");
}

static void basics(void)
{
        const struct door_toward *to = TO("git.example.org", "/a.git/info/refs");
        granted(4, "secret FOUR from env at git.example.org as basic inject", VALUE "4");
        check_str("as the password", kp_place(4, 0, to, basic(with("me:", ""))),
                  basic("me:" VALUE "4"));
        check_str("as the user", kp_place(4, 0, to, basic(with("", ":"))), basic(VALUE "4:"));
        check_str("as the user alone", kp_place(4, 0, to, basic(with("", ""))), basic(VALUE "4"));
        check_str("injected", kp_place(4, 0, to, ""), basic("x-access-token:" VALUE "4"));
        static const char *const bad[][2] = {
                {"me:x", ""}, {"me:", "x"}, {"", "x:"}, {"me:", ":"}, {"me", ""}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                kp_place(4, 0, to, basic(with(bad[i][0], bad[i][1])));
                check(kp.no == DOOR_NO_SLOT, "not in the middle of a word", "%s|%s", bad[i][0],
                      bad[i][1]);
        }
        kp_place(4, 0, to, "Basic !!!!");
        CHECK("what is not base64", kp.no == DOOR_NO_SLOT);
        kp_place(4, 0, to, "Basic ");
        CHECK("an empty one", kp.no == DOOR_NO_SLOT);
        kp_place(4, 0, to, with("Bearer ", ""));
        CHECK("another scheme", kp.no == DOOR_NO_SLOT);
        granted(5, "secret FIVE from env at git.example.org as basic inject user=bot",
                "aaaa1111bbbb2222:cccc3333dddd");
        kp_place(5, 0, to, basic(with("", ":x")));
        CHECK("a colon cannot move the border between user and password (S7)",
              kp.no == DOOR_NO_SLOT);
        check_str("as a password it may have one", kp_place(5, 0, to, basic(with("me:", ""))),
                  basic("me:aaaa1111bbbb2222:cccc3333dddd"));
        check_str("the line names the user", kp_place(5, 0, to, ""),
                  basic("bot:aaaa1111bbbb2222:cccc3333dddd"));
}

static void others(void)
{
        const struct door_toward *to = TO("api.example.org", "/x");
        granted(6,
                "secret SIX from env at api.example.org as header x-api-key,query key,cookie "
                "sid,json /auth/key,form token,path,ws /token inject",
                "fake!value?with&odd=chars#12345678");
        const char *value = "fake!value?with&odd=chars#12345678";
        char text[200];
        check_str("header", kp_place(6, 0, to, stand), value);
        snprintf(text, sizeof text, "Key %s", value);
        check_str("header with a word", kp_place(6, 0, to, with("Key ", "")), text);
        kp_place(6, 0, to, with("a b ", ""));
        CHECK("not with two words", kp.no == DOOR_NO_SLOT);
        kp_place(6, 0, to, with("", stand));
        CHECK("not twice", kp.no == DOOR_NO_SLOT);
        check_str("query", kp_place(6, 1, to, stand), value);
        kp_place(6, 1, to, with("Key ", ""));
        CHECK("not with a word", kp.no == DOOR_NO_SLOT);
        check_str("cookie", kp_place(6, 2, to, stand), value);
        check_str("json", kp_place(6, 3, to, stand), value);
        check_str("form", kp_place(6, 4, to, stand), value);
        check_str("path", kp_place(6, 5, to, stand), value);
        snprintf(text, sizeof text, "bot%s", value);
        check_str("the end of a segment", kp_place(6, 5, to, with("bot", "")), text);
        kp_place(6, 5, to, with("", "x"));
        CHECK("not its beginning", kp.no == DOOR_NO_SLOT);
        kp_place(6, 5, to, with(stand, ""));
        CHECK("not twice in a segment", kp.no == DOOR_NO_SLOT);
        check_str("ws", kp_place(6, 6, to, stand), value);
        check_str("header injected", kp_place(6, 0, to, ""), value);
        check_str("query injected", kp_place(6, 1, to, ""), value);
        check_str("cookie injected", kp_place(6, 2, to, ""), value);
        kp_place(6, 5, to, "");
        CHECK("a path cannot be injected", kp.no == DOOR_NO_SLOT);
        kp_place(6, 3, to, "");
        CHECK("nor a body", kp.no == DOOR_NO_SLOT);
        granted(7, "secret SEVEN from env at api.example.org as cookie sid", "abcd;efgh1234ijkl");
        kp_place(7, 0, to, stand);
        CHECK("a value that would end a cookie", kp.no == DOOR_NO_SLOT);
        granted(8, "secret EIGHT from env at api.example.org as bearer inject", VALUE "8");
        check_str("a bearer is injected with its word", kp_place(8, 0, to, ""),
                  "Bearer " VALUE "8");
}

static void long_slots(void)
{
        const struct door_toward *to = TO("api.example.org", "/x");
        static char value[DOOR_SECRET_MAX + 1], slot[64000];
        for (size_t i = 0; i < DOOR_SECRET_MAX; i++)
                value[i] = (char)('a' + i % 26);
        granted(10, "secret TEN from env at api.example.org as path,basic,header x-key", value);
        CHECK("the longest value", strlen(kp_place(10, 2, to, stand)) == DOOR_SECRET_MAX);
        CHECK("in basic", strlen(kp_place(10, 1, to, basic(with("me:", "")))) ==
                                  6 + 4 * ((DOOR_SECRET_MAX + 3 + 2) / 3));
        size_t before = (40 << 10) - DOOR_SECRET_MAX;
        memset(slot, 'x', sizeof slot);
        strcpy(slot + before, stand);
        CHECK("behind the longest beginning",
              strlen(kp_place(10, 0, to, slot)) == before + DOOR_SECRET_MAX);
        memset(slot, 'x', sizeof slot - 1);
        strcpy(slot + before + 1, stand);
        kp_place(10, 0, to, slot);
        CHECK("longer ones are refused", kp.no == DOOR_NO_SLOT);
        memset(slot, 'x', sizeof slot);
        slot[sizeof slot - 1] = 0;
        kp_place(10, 1, to, slot);
        CHECK("whatever they are", kp.no == DOOR_NO_SLOT);
}

static void reflective(void)
{
        kp_secret(9, "secret NINE from env at api.example.org as header user-agent,bearer", VALUE);
        if (kp.f.type == DOOR_SECRET_BAD) {
                CHECK("a header that servers send back is refused at once (S3)", kp.words[0] != 0);
                printf("# %s\n", kp.words);
                return;
        }
        while (kp_hear(kp.egress, 0))
                ;
        snprintf(stand, sizeof stand, "%s", kp.placeholder[0]);
        kp_place(9, 0, TO("api.example.org", "/"), stand);
        CHECK("a header that servers send back gets nothing (S3)", kp.no == DOOR_NO_GRANT);
}

/* Every answer is a line of the log, and none of them has a value in it. */
static void logged(void)
{
        int allow = 0, deny = 0;
        bool is_leaked = false, is_named = false;
        while (kp_hear(kp.audit, 300) == DOOR_RECORD) {
                is_leaked |= memmem(kp.f.raw, kp.f.body.left + 4, "fake", 4) != NULL;
                struct door_record r;
                _cleanup_buf_ struct buf strings = {0};
                while (door_record_get(&kp.f.body, &r, &strings) == 0) {
                        allow += strcmp(r.verdict, "allow") == 0;
                        deny += strcmp(r.verdict, "deny") == 0;
                        is_named |= strcmp(r.kind, "secret") == 0 &&
                                    strcmp(r.secrets, "FOUR") == 0 &&
                                    strcmp(r.host, "git.example.org") == 0 &&
                                    strcmp(r.note, "placed as basic") == 0;
                }
        }
        check(allow > 25 && deny > 35, "every answer is logged", "%d allowed, %d denied", allow,
              deny);
        CHECK("with name, host and form", is_named);
        CHECK("and without any value", !is_leaked);
}

int main(void)
{
        kp_begin();
        CHECK("nothing is granted yet", kp_grants() == 0);
        bearer();
        places();
        basics();
        others();
        long_slots();
        reflective();
        logged();
        CHECK("it ends with the supervisor", kp_end() == 0);
        return check_end();
}
