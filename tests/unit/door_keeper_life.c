/* door_keeper_life.c - a secret from its source to its end: which values are taken, what egress
 * hears, fresh values, revocation, expiry, and that nothing of a value is left in memory. */
#include "unit/libkeeper.h"

#include "policy/secret_forms.h"

#include <stdint.h>
#include <time.h>

#define LINE(name) "secret " name " from env at api.example.org as bearer"

static const struct door_toward *const there = TO("api.example.org", "/");

static void drain(int fd)
{
        while (kp_hear(fd, 0))
                ;
}

/* What a source may print, and the word of the sentence that says why not. */
static void values(void)
{
        static const struct {
                const char *value;
                size_t n;
                const char *why; /* NULL: it is taken */
        } table[] = {
                {"", 0, "nothing"},
                {"\n", 1, "empty"},
                {"fewchar", 7, "short"},
                {"fewchar\n", 8, "short"},
                {"fine_value_1", 12, NULL},
                {"fine_value_2\n", 13, NULL},
                {"fine_value_3\r\n", 14, NULL},
                {"two_lines_1\n\n", 13, "line break"},
                {"two\nlines_123", 13, "line break"},
                {"carriage\rreturn_1", 17, "line break"},
                {"nul_in_it\0_here1", 16, "NUL"},
                {"bell_in_it\a_12", 14, "control"},
                {"tab_in_it\t_123", 14, "control"},
                {"delete_in\x7fit_1", 13, "control"},
                {"m\xc3\xbcller_key_123", 16, "ASCII"},
                {" space_before_1", 15, "blank"},
                {"space_after_12 ", 15, "blank"},
                {"with blanks in it 1", 19, NULL},
        };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                uint32_t type =
                        kp_secret_bytes((uint32_t)i + 1, LINE("NAMED"), table[i].value, table[i].n);
                if (!table[i].why) {
                        check(type == DOOR_SECRET_OK, "a value is taken", "%zu: %s", i, kp.words);
                        continue;
                }
                check(type == DOOR_SECRET_BAD && strstr(kp.words, "NAMED") &&
                              strstr(kp.words, table[i].why),
                      "a value that cannot be used is refused in a sentence", "%zu: \"%s\"", i,
                      kp.words);
                check(table[i].n < 8 || !memmem(kp.words, strlen(kp.words), table[i].value, 5),
                      "which does not show it", "%zu: \"%s\"", i, kp.words);
        }
        static char large[DOOR_SECRET_MAX + 2];
        memset(large, 'x', sizeof large);
        for (size_t i = 0; i < sizeof large; i++)
                large[i] = (char)('a' + i % 23);
        CHECK("the largest",
              kp_secret_bytes(50, LINE("LARGE"), large, DOOR_SECRET_MAX) == DOOR_SECRET_OK);
        CHECK("one byte more",
              kp_secret_bytes(51, LINE("LARGE"), large, DOOR_SECRET_MAX + 1) == DOOR_SECRET_BAD &&
                      strstr(kp.words, "16 KiB"));
        CHECK("no line",
              kp_secret(52, "allow * api.example.org", "fine_value_9") == DOOR_SECRET_BAD);
        CHECK("a broken line",
              kp_secret(52, "secret X from nowhere", "fine_value_9") == DOOR_SECRET_BAD);

        CHECK("somebody else's key is taken",
              kp_secret(53, LINE("WRONG"),
                        "sk-ant-api03-fakefakefakefakefake"
                        "fakefakefakefakefakefakefakefakefakefake"
                        "fakefakefakefakefakefake-fakefakeAA") == DOOR_SECRET_OK);
        check(strstr(kp.words, "anthropic") && strstr(kp.words, "api.example.org") &&
                      !strstr(kp.words, "fakefake"),
              "with a warning", "\"%s\"", kp.words);
        CHECK("what stands for it begins alike", strncmp(kp.placeholder[0], "sk-ant-", 7) == 0);

        const char *aws = "secret AWS from aws at *.amazonaws.com as sigv4";
        CHECK("keys of AWS as lines",
              kp_secret(60, aws,
                        "AKIAFAKEFAKEFAKEFAKE\nfake/key+0123456789abcdef0123456789abcde\n"
                        "faketoken0123456789\n") == DOOR_SECRET_OK);
        CHECK("have three parts", kp.parts_n == 3 && !strcmp(kp.part[0], "id") &&
                                          !strcmp(kp.part[1], "key") &&
                                          !strcmp(kp.part[2], "token"));
        CHECK("the id keeps its shape",
              strncmp(kp.placeholder[0], "AKIA", 4) == 0 && strlen(kp.placeholder[0]) == 20);
        char token[100];
        snprintf(token, sizeof token, "%.99s", kp.placeholder[2]);
        CHECK("the same as JSON",
              kp_secret(
                      60, aws,
                      "{\"Version\":1,\"AccessKeyId\":\"AKIAFAKEFAKEFAKEFAK2\",\"SecretAccessKey\":"
                      "\"fake/key+0123456789abcdef0123456789abcde\"}") == DOOR_SECRET_OK);
        CHECK("its placeholders stay, also of a token that is no more",
              kp.parts_n == 3 && strcmp(kp.placeholder[2], token) == 0);
        static const char *const bad[] = {"AKIAFAKEFAKEFAKEFAKE",
                                          "AKIAFAKEFAKEFAKEFAKE\n",
                                          "AKIAFAKEFAKEFAKEFAKE\n\n",
                                          "a\nb\nc\nd\n",
                                          "{\"AccessKeyId\":\"AKIAFAKEFAKEFAKEFAKE\"}",
                                          "{\"AccessKeyId\":1,\"SecretAccessKey\":[]}",
                                          "{\"AccessKeyId\"",
                                          "{}"};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                uint32_t type = kp_secret(61, aws, bad[i]);
                check(type == DOOR_SECRET_BAD && strstr(kp.words, "AWS"),
                      "keys of AWS that are not", "%s: %s", bad[i], kp.words);
        }
}

static void source_that_hangs(void)
{
        int slow[2];
        if (pipe2(slow, O_CLOEXEC) < 0)
                return;
        kp_give(70, LINE("SLOW"), slow[0]);
        close(slow[0]);
        CHECK("one that hangs", write(slow[1], "half_of_", 8) == 8);
        CHECK("holds nobody up", kp_secret(71, LINE("QUICK"), "fine_value_71") == DOOR_SECRET_OK);
        CHECK("it goes on", write(slow[1], "a_value", 7) == 7);
        close(slow[1]);
        CHECK("and is whole", kp_told() == DOOR_SECRET_OK && strlen(kp.placeholder[0]) == 15);
}

/* --- what egress hears --- */
static uint8_t key[DOOR_FINGER_KEY];

static bool hear_hello(void)
{
        uint32_t n;
        const uint8_t *p;
        if (kp_hear(kp.egress, 10000) != DOOR_KEEPER_HELLO)
                return false;
        for (int i = 0; i < 3; i++)
                if (cur_u32(&kp.f.body, &n) < 0 || cur_bytes(&kp.f.body, n, &p) < 0)
                        return false;
        memcpy(key, p, sizeof key);
        return n == sizeof key;
}

/* writing_of(inner, coding, value, b): ${value} in one writing, or in one of another. */
static bool writing_of(enum secret_coding inner, enum secret_coding coding, const char *value,
                       struct buf *b)
{
        _cleanup_buf_ struct buf within = {0};
        if (inner == SECRET_RAW)
                return secret_form_put(coding, value, strlen(value), b);
        return secret_form_is_nested(inner, coding) &&
               secret_form_put(inner, value, strlen(value), &within) &&
               secret_form_put(coding, (const char *)within.data, within.len, b);
}

static bool is_finger_of(const struct door_finger *f, const char *value)
{
        _cleanup_buf_ struct buf b = {0};
        if (!writing_of((enum secret_coding)f->inner, (enum secret_coding)f->coding, value, &b))
                return false;
        const uint8_t *last = b.data + b.len - 8;
        return f->len == b.len && f->hint == secret_finger_hint(last) &&
               f->tail == secret_siphash(key, last, 8, true) &&
               f->whole == secret_siphash(key, b.data, b.len,
                                          secret_form_ignores_case((enum secret_coding)f->coding));
}

/* fingers_fit(value): the frame that came is DOOR_FINGERS of exactly its writings. */
static bool fingers_fit(const char *value)
{
        uint32_t number, part, is_local;
        bool seen[SECRET_CODINGS][SECRET_CODINGS] = {{false}};
        struct door_finger f;
        if (kp.f.type != DOOR_FINGERS || cur_u32(&kp.f.body, &number) < 0 ||
            cur_u32(&kp.f.body, &part) < 0 || cur_u32(&kp.f.body, &is_local) < 0)
                return false;
        while (kp.f.body.left) {
                if (door_finger_get(&kp.f.body, &f) < 0 || f.coding >= SECRET_CODINGS ||
                    f.inner >= SECRET_CODINGS || !is_finger_of(&f, value))
                        return false;
                seen[f.inner][f.coding] = true;
        }
        for (int inner = 0; inner < SECRET_CODINGS; inner++)
                for (int c = 0; c < SECRET_CODINGS; c++) {
                        _cleanup_buf_ struct buf b = {0};
                        if (writing_of((enum secret_coding)inner, (enum secret_coding)c, value,
                                       &b) != seen[inner][c])
                                return false;
                }
        return part == 0 && !is_local;
}

static bool hears_grant(void)
{
        uint32_t granted = kp_hear(kp.egress, 10000), fingers = kp_hear(kp.egress, 10000);
        return granted == DOOR_GRANTED && fingers == DOOR_FINGERS;
}

static void egress_hears(void)
{
        char stand[100];
        CHECK("a secret before egress is there",
              kp_secret(1, LINE("EARLY"), "fake_early_value/+1") == DOOR_SECRET_OK);
        snprintf(stand, sizeof stand, "%.99s", kp.placeholder[0]);
        CHECK("the greeting is the first thing", hear_hello());
        CHECK("and the only one until egress asks", kp_hear(kp.egress, 50) == 0);
        frame_send(kp.egress, DOOR_GRANTS, NULL, NULL, 0);
        uint32_t number, n;
        char line[200], part[20], text[100];
        CHECK("it hears of the secret", kp_hear(kp.egress, 10000) == DOOR_GRANTED &&
                                                cur_u32(&kp.f.body, &number) == 0 && number == 1);
        kp_text(line, sizeof line);
        check_str("its line", line, LINE("EARLY"));
        CHECK("one part", cur_u32(&kp.f.body, &n) == 0 && n == 1);
        kp_text(part, sizeof part);
        kp_text(text, sizeof text);
        CHECK("the placeholder that the supervisor was told",
              strcmp(text, stand) == 0 && !*part && !kp.f.body.left);
        kp_hear(kp.egress, 10000);
        CHECK("and the fingers of every writing", fingers_fit("fake_early_value/+1"));
        CHECK("then the end", kp_hear(kp.egress, 10000) == DOOR_GRANTED_END);

        CHECK("a secret after it",
              kp_secret(2, LINE("LATE"), "fake_late_value_1") == DOOR_SECRET_OK);
        CHECK("is told at once", hears_grant());

        CHECK("a fresh value",
              kp_secret(1, LINE("EARLY"), "fake_newer_value_22") == DOOR_SECRET_OK);
        check_str("has the same placeholder", kp.placeholder[0], stand);
        kp_hear(kp.egress, 10000);
        CHECK("and fingers of its own", fingers_fit("fake_newer_value_22"));
        char slot[120];
        snprintf(slot, sizeof slot, "Bearer %s", stand);
        check_str("it is what is shown", kp_place(1, 0, there, slot), "Bearer fake_newer_value_22");
        CHECK("a fresh value that is none", kp_secret(1, LINE("EARLY"), "x") == DOOR_SECRET_BAD);
        check_str("changes nothing", kp_place(1, 0, there, slot), "Bearer fake_newer_value_22");
        CHECK("with another line",
              kp_secret(1, "secret EARLY from env at api.example.net as bearer",
                        "fake_third_value_33") == DOOR_SECRET_OK);
        CHECK("it is granted anew", hears_grant());
        kp_place(1, 0, there, slot);
        CHECK("the old place is over", kp.no == DOOR_NO_GRANT);
        check_str("the new one is not", kp_place(1, 0, TO("api.example.net", "/"), slot),
                  "Bearer fake_third_value_33");
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

static void revoked(void)
{
        uint32_t number = 0;
        char slot[120];
        kp_secret(3, LINE("DOOMED"), "fake_doomed_value");
        snprintf(slot, sizeof slot, "Bearer %.99s", kp.placeholder[0]);
        drain(kp.egress);
        ask_revoke(3);
        CHECK("egress is told to cut it", kp_hear(kp.egress, 10000) == DOOR_GONE &&
                                                  cur_u32(&kp.f.body, &number) == 0 && number == 3);
        CHECK("nobody is told that it is done before", kp_hear(kp.ctl, 50) == 0);
        kp_place(3, 0, there, slot);
        CHECK("it is not shown any more", kp.no == DOOR_NO_REVOKED && strstr(kp.words, "revoked"));
        gone_ok(3);
        CHECK("then it is", kp_hear(kp.ctl, 10000) == DOOR_REVOKED &&
                                    cur_u32(&kp.f.body, &number) == 0 && number == 3);
        CHECK("a fresh value does not bring it back",
              kp_secret(3, LINE("DOOMED"), "fake_risen_value") == DOOR_SECRET_BAD);
        ask_revoke(3);
        CHECK("twice is once", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        ask_revoke(77);
        CHECK("what never was is revoked", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        ask_revoke(DOOR_SECRET_ALL);
        int n = 0;
        while (n < 2 && kp_hear(kp.egress, 10000) == DOOR_GONE) {
                cur_u32(&kp.f.body, &number);
                CHECK("not before the last is cut", kp_hear(kp.ctl, 20) == 0);
                gone_ok(number);
                n++;
        }
        CHECK("all at once", n == 2 && kp_hear(kp.ctl, 10000) == DOOR_REVOKED &&
                                     cur_u32(&kp.f.body, &number) == 0 &&
                                     number == DOOR_SECRET_ALL);
        CHECK("and nothing new afterwards",
              kp_secret(9, LINE("NEW"), "fake_new_value_1") == DOOR_SECRET_BAD);
}

static void expired(void)
{
        char slot[120];
        CHECK("a secret for a second",
              kp_secret(1, LINE("BRIEF") " ttl=1s", "fake_brief_value") == DOOR_SECRET_OK);
        snprintf(slot, sizeof slot, "Bearer %.99s", kp.placeholder[0]);
        kp_secret(2, LINE("LONG") " ttl=1h", "fake_long_value_1");
        kp_grants();
        CHECK("egress is told when it is over", kp_hear(kp.egress, 10000) == DOOR_GONE);
        kp_place(1, 0, there, slot);
        CHECK("it is not shown any more", kp.no == DOOR_NO_EXPIRED && strstr(kp.words, "expired"));
        gone_ok(1);
        ask_revoke(2);
        CHECK("another one is", kp_hear(kp.egress, 10000) == DOOR_GONE);
        gone_ok(2);
        CHECK("by hand", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
}

/* As many as a box can have, long before egress is there; and what was revoked meanwhile. */
static void many(void)
{
        int taken = 0;
        for (uint32_t i = 1; i <= DOOR_SECRETS_MAX; i++) {
                char line[200], value[64];
                snprintf(line, sizeof line, "secret N%u from env at api.example.org as bearer", i);
                snprintf(value, sizeof value, "fake/value+number_%u_abcdefgh", i);
                taken += kp_secret(i, line, value) == DOOR_SECRET_OK;
        }
        check(taken == DOOR_SECRETS_MAX, "as many as a box can have", "%d", taken);
        ask_revoke(5);
        CHECK("without egress a revocation is done at once",
              kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
        CHECK("hello", hear_hello());
        frame_send(kp.egress, DOOR_GRANTS, NULL, NULL, 0);
        /* egress is busy: the socket fills up, and the keeper still answers the supervisor. */
        int granted = 0, fingers = 0, gone = 0;
        CHECK("nothing waits for egress",
              kp_secret(1, "secret N1 from env at api.example.org as bearer",
                        "fake/value+number_1_ijklmnop") == DOOR_SECRET_OK);
        uint32_t type;
        while ((type = kp_hear(kp.egress, 10000)) && type != DOOR_GRANTED_END) {
                granted += type == DOOR_GRANTED;
                fingers += type == DOOR_FINGERS;
                gone += type == DOOR_GONE;
        }
        check(granted == DOOR_SECRETS_MAX && fingers == DOOR_SECRETS_MAX - 1 && gone == 1,
              "egress hears of all, also of what was revoked", "%d %d %d", granted, fingers, gone);
}

int main(void)
{
        static const struct {
                void (*fn)(void);
        } parts[] = {{values}, {source_that_hangs}, {egress_hears}, {expired}, {many}};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                kp_begin();
                parts[i].fn();
                if (parts[i].fn == egress_hears)
                        revoked();
                CHECK("it ends with the supervisor", kp_end() == 0);
        }
        return check_end();
}
