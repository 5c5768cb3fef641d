/* door_keeper_memory.c - of a value that was revoked, replaced or refused nothing is left in the
 * keeper's memory, in any writing. Read with root's rights from /proc/PID/mem; the same search
 * finds the value while it is there, so a search that finds nothing means something. */
#include "unit/libkeeper.h"

#include "policy/secret_forms.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#define LINE(name) "secret " name " from env at api.example.org as bearer,basic,json /key inject"

static const struct door_toward *const there = TO("api.example.org", "/");

/* Values are drawn after the keeper was forked, so that it has no copy of the test's own memory. */
static void draw(char value[41])
{
        static const char letters[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        uint8_t r[40];
        RAND_bytes(r, sizeof r);
        for (int i = 0; i < 40; i++)
                value[i] = letters[r[i] % 62];
        value[40] = 0;
}

static size_t count_in(const uint8_t *p, size_t n, const struct buf *what)
{
        size_t found = 0;
        const uint8_t *at = p;
        while ((at = memmem(at, n - (size_t)(at - p), what->data, what->len))) {
                found++;
                at++;
        }
        return found;
}

/* found(value, mem_fd, pid): how often any writing of it, or half of it, is in any page. */
static long found(const char *value)
{
        char path[64], line[512];
        long n = 0;
        struct buf w[SECRET_CODINGS + 2] = {0};
        size_t w_n = 0;
        for (int c = 0; c < SECRET_CODINGS; c++)
                w_n += secret_form_put((enum secret_coding)c, value, strlen(value), &w[w_n]);
        buf_put(&w[w_n++], value, 16);
        buf_put(&w[w_n++], value + 20, 16);
        snprintf(path, sizeof path, "/proc/%d/maps", kp.pid);
        _cleanup_fclose_ FILE *maps = fopen(path, "re");
        snprintf(path, sizeof path, "/proc/%d/mem", kp.pid);
        _cleanup_close_ int mem = open(path, O_RDONLY | O_CLOEXEC);
        if (!maps || mem < 0)
                n = -1;
        while (n >= 0 && fgets(line, sizeof line, maps)) {
                unsigned long from, to;
                char may[5];
                if (sscanf(line, "%lx-%lx %4s", &from, &to, may) != 3 || may[0] != 'r' ||
                    to - from > (256ul << 20))
                        continue;
                uint8_t *p = malloc(to - from);
                ssize_t got = p ? pread(mem, p, to - from, (off_t)from) : -1;
                for (size_t i = 0; got > 0 && i < w_n; i++)
                        n += (long)count_in(p, (size_t)got, &w[i]);
                free(p);
        }
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
                buf_free(&w[i]);
        return n;
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

static void drain(void)
{
        while (kp_hear(kp.egress, 20))
                ;
}

/* use(number): in every way that makes a copy somewhere. */
static void use(uint32_t number)
{
        char slot[200], basic[300] = "Basic ";
        char stand[100];
        snprintf(stand, sizeof stand, "%.99s", kp.placeholder[0]);
        drain();
        snprintf(slot, sizeof slot, "Bearer %s", stand);
        CHECK("it is shown", strncmp(kp_place(number, 0, there, slot), "Bearer ", 7) == 0);
        snprintf(slot, sizeof slot, "me:%s", stand);
        EVP_EncodeBlock((uint8_t *)basic + 6, (const uint8_t *)slot, (int)strlen(slot));
        CHECK("as basic", strncmp(kp_place(number, 1, there, basic), "Basic ", 6) == 0);
        CHECK("in a body", kp_place(number, 2, there, stand)[0] != 0);
        CHECK("injected", kp_place(number, 0, there, "")[0] != 0);
}

static void capture(const char *value)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, 9);
        buf_put_u32(&b, 0);
        buf_put_lstr(&b, "auth.example.org");
        buf_put_lstr(&b, "access_token");
        buf_put_lstr(&b, value);
        buf_put_u32(&b, 1);
        frame_send(kp.egress, DOOR_CAPTURE, &b, NULL, 0);
        uint32_t type, number = 0;
        while ((type = kp_hear(kp.egress, 10000)) && type != DOOR_CAPTURED)
                if (type == DOOR_GRANTED)
                        cur_u32(&kp.f.body, &number);
        check(type == DOOR_CAPTURED && number == 1000, "a token is captured", "%u %u", type,
              number);
}

/* sign(number, host, target, authorization): DOOR_SIGN with a body or payload line. */
static uint32_t sign(uint32_t number, const char *host, const char *authorization,
                     const char *payload)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, 8);
        buf_put_u32(&b, number);
        buf_put_u32(&b, 0);
        door_toward_put(&b, TO(host, "/object"));
        buf_put_lstr(&b, "/object");
        buf_put_u32(&b, 4);
        buf_put_lstr(&b, "host");
        buf_put_lstr(&b, host);
        buf_put_lstr(&b, "x-amz-date");
        buf_put_lstr(&b, "20260101T000000Z");
        buf_put_lstr(&b, "x-amz-content-sha256");
        buf_put_lstr(&b, payload);
        buf_put_lstr(&b, "authorization");
        buf_put_lstr(&b, authorization);
        buf_put_lstr(&b, payload);
        frame_send(kp.egress, DOOR_SIGN, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000), id, no;
        if (type == DOOR_PLACE_NO && cur_u32(&kp.f.body, &id) == 0 &&
            cur_u32(&kp.f.body, &no) == 0) {
                kp_text(kp.words, sizeof kp.words);
                printf("# %s\n", kp.words);
        }
        return type;
}

static void signers(void)
{
        char key[41], hmac[41], text[300], authorization[400];
        draw(key), draw(hmac);
        snprintf(text, sizeof text, "AKIAFAKEFAKEFAKEFAKE\n%s\n", key);
        CHECK("a key that signs", kp_secret(5, "secret AWS from aws at *.amazonaws.com as sigv4",
                                            text) == DOOR_SECRET_OK);
        snprintf(authorization, sizeof authorization,
                 "AWS4-HMAC-SHA256 Credential=%.40s/20260101/us-east-1/s3/aws4_request, "
                 "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=%064d",
                 kp.placeholder[0], 0);
        drain();
        CHECK("signs", sign(5, "s3.us-east-1.amazonaws.com", authorization,
                            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") == DOOR_SIGNED);
        CHECK("and is there", found(key) > 0);
        ask_revoke(5);
        CHECK("it goes", kp_hear(kp.egress, 10000) == DOOR_GONE);
        check(found(key) == 0, "of a key that signed nothing is left", "%ld", found(key));
        gone_ok(5);
        CHECK("and told that it did", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);

        CHECK("another", kp_secret(6,
                                   "secret MAC from env at api.example.org as hmac x-sig "
                                   "message={body}",
                                   hmac) == DOOR_SECRET_OK);
        drain();
        CHECK("signs too", sign(6, "api.example.org", "x", "the body") == DOOR_SIGNED);
        CHECK("and is there too", found(hmac) > 0);
        ask_revoke(6);
        CHECK("it goes too", kp_hear(kp.egress, 10000) == DOOR_GONE);
        check(found(hmac) == 0, "of it nothing is left", "%ld", found(hmac));
        gone_ok(6);
        CHECK("and it is told", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
}

static void trial(void)
{
        char one[41], two[41], three[41], bad[41], token[41];
        draw(one), draw(two), draw(three), draw(bad), draw(token);
        kp_secret(1, LINE("ONE"), one);
        kp_grants();
        use(1);
        CHECK("while it is there it is found (the search works)", found(one) > 0);
        kp_secret(1, LINE("ONE"), two);
        use(1);
        check(found(one) == 0, "of a value that was replaced nothing is left", "%ld", found(one));
        CHECK("the new one is there", found(two) > 0);
        ask_revoke(1);
        CHECK("it is revoked", kp_hear(kp.egress, 10000) == DOOR_GONE);
        check(found(two) == 0, "nothing is left, before anybody is told so", "%ld", found(two));
        gone_ok(1);
        CHECK("and told", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);

        bad[20] = '\a';
        CHECK("a value is refused", kp_secret(2, LINE("TWO"), bad) == DOOR_SECRET_BAD);
        bad[20] = 0;
        check(found(bad) == 0, "of which nothing is left", "%ld", found(bad));

        capture(token);
        CHECK("it is kept", found(token) > 0);
        ask_revoke(1000);
        CHECK("and ended", kp_hear(kp.egress, 10000) == DOOR_GONE);
        check(found(token) == 0, "of a token nothing is left", "%ld", found(token));
        gone_ok(1000);
        CHECK("so it is told", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);

        signers();
        /* A value that is half read when everything is revoked. */
        int p[2];
        if (pipe2(p, O_CLOEXEC) == 0 && write(p[1], three, 36) == 36) {
                kp_give(3, LINE("THREE"), p[0]);
                close(p[0]);
                for (int i = 0; i < 100 && found(three) == 0; i++)
                        usleep(20000);
                CHECK("half of a value is there", found(three) > 0);
                ask_revoke(DOOR_SECRET_ALL);
                CHECK("all is revoked", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
                check(found(three) == 0, "nothing is left of it", "%ld", found(three));
                close(p[1]);
        }
}

int main(void)
{
        kp_begin();
        if (found("this is not anywhere, but can be asked for") < 0) {
                CHECK("without root's rights nobody reads the keeper's memory", getuid() != 0);
                printf("# skip: the rest needs the right to read another process's memory\n");
        } else if (getuid() != 0) {
                CHECK("without root's rights nobody reads the keeper's memory", false);
        } else {
                trial();
        }
        CHECK("it ends with the supervisor", kp_end() == 0);
        return check_end();
}
