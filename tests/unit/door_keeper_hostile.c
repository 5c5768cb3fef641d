/* door_keeper_hostile.c - an egress that somebody has taken over: every message of the table cut
 * short at every byte, with bytes changed, too long, out of order. The keeper refuses or ends; it
 * never crashes, and it never says a value that its line does not grant. */
#include "unit/libkeeper.h"

#include "keeper/serve_int.h"

#include <errno.h>

#define VALUE "fake_value_of_hostile_test_1"
#define LINE  "secret ONE from env at api.example.org as bearer,basic,path"

/* --- in this process, so that thousands of messages cost nothing --- */
static struct keeper k;
static int far_egress, far_ctl, far_audit;

static void add(uint32_t number, const char *text, const char *value)
{
        struct err err = {0};
        struct rule_line line = {0};
        size_t column;
        bool is_good = rule_line_parse(text, strlen(text), &line, &column, &err) == 1;
        struct store_secret *x = is_good ? store_add(k.store, number, &line, &err) : NULL;
        if (!check(x && value_take(&k, x, (const uint8_t *)value, strlen(value), &err) == 0,
                   "a secret", "%s", err.text))
                exit(1);
}

static void make_keeper(void)
{
        int e[2], c[2], a[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, e);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, c);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, a);
        k = (struct keeper){.egress_fd = e[1], .control_fd = c[1], .audit_fd = a[1]};
        far_egress = e[0], far_ctl = c[0], far_audit = a[0];
        store_memory();
        serve_io_begin(&k);
        k.store = store_new();
        add(1, LINE, VALUE);
        add(2, "secret TWO from env at api.example.org as hmac x-sig message={body}", VALUE "2");
        add(3, "secret THREE from env at *.amazonaws.com as sigv4",
            "AKIAFAKEFAKEFAKEFAKE\n" VALUE "3\n");
}

/* drain(): what was answered; true when one of them had the value in it. */
static bool drain(void)
{
        static uint8_t raw[70000];
        bool has_value = false;
        for (ssize_t n; (n = recv(far_egress, raw, sizeof raw, MSG_DONTWAIT)) > 0;)
                has_value |= memmem(raw, (size_t)n, VALUE, strlen(VALUE)) != NULL;
        while (recv(far_ctl, raw, sizeof raw, MSG_DONTWAIT) > 0)
                ;
        while (recv(far_audit, raw, sizeof raw, MSG_DONTWAIT) > 0)
                ;
        k.records.len = 0;
        return has_value;
}

/* send(type, body, n): 0 or -1, as the keeper's loop would hear. */
static int offer(uint32_t type, const uint8_t *body, size_t n)
{
        static struct frame f;
        f.type = type;
        f.fds_n = 0;
        memcpy(f.raw, body, n);
        f.body = cur_of(f.raw, n);
        return serve_frame(&k, keeper_from_egress, &f);
}

static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        return (uint32_t)(seed >> 16);
}

/* good(type, slot): a message as egress would send it. */
static struct buf good(uint32_t type, const char *slot)
{
        struct buf b = {0};
        static const uint8_t hash[32];
        buf_put_u32(&b, 5);
        switch (type) {
        case DOOR_PLACE:
        case DOOR_SIGN:
        case DOOR_TOKEN:
                buf_put_u32(&b, type == DOOR_SIGN ? 2 + rnd() % 2 : 1);
                buf_put_u32(&b, 0);
                door_toward_put(&b, TO("api.example.org", "/v1"));
                buf_put_lstr(&b, slot);
                if (type == DOOR_SIGN) {
                        buf_put_u32(&b, 1);
                        buf_put_lstr(&b, "host");
                        buf_put_lstr(&b, "api.example.org");
                        buf_put_lstr(&b, "message");
                }
                break;
        case DOOR_CAPTURE:
                buf_put_u32(&b, 1);
                buf_put_lstr(&b, "auth.example.org");
                buf_put_lstr(&b, "access_token");
                buf_put_lstr(&b, "fake_token_123456");
                buf_put_u32(&b, 1);
                break;
        case DOOR_LEAF:
                buf_put_lstr(&b, "a.b.example.org");
                break;
        case DOOR_SIGN_CHUNK:
                buf_put_u32(&b, 1);
                buf_put_u32(&b, 0);
                buf_put(&b, hash, 32);
                break;
        case DOOR_SSH_SIGN:
                buf_put_u32(&b, 1);
                for (int i = 0; i < 4; i++)
                        buf_put_lstr(&b, "some bytes");
                buf_put_u32(&b, 0);
                break;
        case DOOR_FETCHED:
                buf_put_u32(&b, 200);
                buf_put_lstr(&b, "");
                buf_put_u32(&b, 1);
                buf_put_u32(&b, 1);
                buf_put_lstr(&b, "a value");
                break;
        default:
                break;
        }
        return b;
}

/* Leaves need an authority, which is another test's matter. */
static bool is_tried(uint32_t type)
{
        return type != DOOR_LEAF && type != DOOR_GRANTS;
}

static void cut_and_bent(void)
{
        char slot[100];
        size_t messages = 0, ended = 0;
        bool has_value = false;
        snprintf(slot, sizeof slot, "Bearer %.80s", store_find(k.store, 1)->parts[0].placeholder);
        struct buf b = good(DOOR_PLACE, slot);
        CHECK("the whole message is answered", offer(DOOR_PLACE, b.data, b.len) == 0 && drain());
        buf_free(&b);
        for (const struct keeper_entry *e = keeper_from_egress; e->fn; e++) {
                if (!is_tried(e->type))
                        continue;
                b = good(e->type, "not a placeholder");
                for (size_t n = 0; n < b.len; n++, messages++)
                        ended += offer(e->type, b.data, n) < 0;
                has_value |= drain();
                for (int i = 0; i < 4000 && b.len; i++, messages++) {
                        uint8_t bent[4096];
                        size_t n = b.len < sizeof bent ? b.len : sizeof bent;
                        memcpy(bent, b.data, n);
                        for (uint32_t j = 0; j <= rnd() % 3; j++)
                                bent[rnd() % n] = (uint8_t)rnd();
                        if (rnd() % 4 == 0 && n > 8)
                                memset(bent + rnd() % (n - 4), 0xff, 4);
                        ended += offer(e->type, bent, n) < 0;
                        has_value |= drain();
                }
                for (int i = 0; i < 500; i++, messages++) {
                        uint8_t noise[300];
                        for (size_t j = 0; j < sizeof noise; j++)
                                noise[j] = (uint8_t)(rnd() % 3 ? 0 : rnd());
                        ended += offer(e->type, noise, rnd() % sizeof noise) < 0;
                        has_value |= drain();
                }
                buf_free(&b);
        }
        printf("# %zu messages, %zu of them end the keeper\n", messages, ended);
        CHECK("many were nonsense", ended > 1000);
        CHECK("some were only refused", ended < messages);
        CHECK("the value was in no answer", !has_value);
        uint8_t none[8] = {0};
        CHECK("a type that is nobody's", offer(DOOR_DIAL, none, 8) < 0);
        CHECK("a type of the supervisor's", offer(DOOR_REVOKE, none, 4) < 0);
        CHECK("a type of the keeper's own", offer(DOOR_PLACED, none, 8) < 0);
}

/* Many tokens: the oldest make room, and nothing grows without end. */
static void many_tokens(void)
{
        for (int i = 0; i < 1000; i++) {
                _cleanup_buf_ struct buf b = {0};
                char token[40];
                snprintf(token, sizeof token, "fake_token_number_%d_abc", i);
                buf_put_u32(&b, 5);
                buf_put_u32(&b, i % 2);
                buf_put_lstr(&b, "auth.example.org");
                buf_put_lstr(&b, "access_token");
                buf_put_lstr(&b, token);
                buf_put_u32(&b, i % 3 == 0);
                if (offer(DOOR_CAPTURE, b.data, b.len) < 0)
                        CHECK("a token is kept", false);
                drain();
        }
        check(store_count(k.store, true) <= KEEPER_CAPTURED_MAX, "captured tokens make room", "%zu",
              store_count(k.store, true));
        CHECK("the last is there",
              store_holds(k.store, (const uint8_t *)"fake_token_number_999_abc", 25) != NULL);
        CHECK("the policy's own is too", store_find(k.store, 1) != NULL);
}

/* --- the process --- */
static bool ends_well(void)
{
        int status = 0;
        for (int i = 0; i < 1000; i++) {
                pid_t got = waitpid(kp.pid, &status, WNOHANG);
                if (got == kp.pid) {
                        close(kp.ctl), close(kp.egress), close(kp.audit);
                        return WIFEXITED(status);
                }
                usleep(10000);
        }
        return false;
}

static void process(void)
{
        _cleanup_buf_ struct buf b = {0};
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        kp_begin();
        frame_send(kp.egress, DOOR_GRANTS, NULL, NULL, 0);
        frame_send(kp.egress, DOOR_GRANTS, NULL, NULL, 0);
        CHECK("asking for the list twice ends it", ends_well());
        kp_begin();
        send(kp.egress, "ab", 2, MSG_NOSIGNAL);
        CHECK("half a type ends it", ends_well());
        kp_begin();
        buf_put_u32(&b, 1);
        buf_put_lstr(&b, LINE);
        frame_send(kp.ctl, DOOR_SECRET, &b, NULL, 0);
        CHECK("a secret without its source ends it", ends_well());
        kp_begin();
        b.len = 0;
        buf_put_u32(&b, 1000);
        buf_put_lstr(&b, LINE);
        frame_send(kp.ctl, DOOR_SECRET, &b, &fd, 1);
        CHECK("a number that is not the policy's ends it", ends_well());
        kp_begin();
        int fds[FDIO_MAX_FDS];
        for (int i = 0; i < FDIO_MAX_FDS; i++)
                fds[i] = fd;
        for (int i = 0; i < 40; i++) {
                b.len = 0;
                buf_put_u32(&b, 1);
                buf_put_lstr(&b, "a.example.org");
                frame_send(kp.egress, DOOR_LEAF, &b, fds, FDIO_MAX_FDS);
        }
        CHECK("descriptors that nobody wants are closed",
              kp_hear(kp.egress, 10000) == DOOR_KEEPER_HELLO &&
                      kp_hear(kp.egress, 10000) == DOOR_LEAF_OK);
        close(kp.egress);
        kp.egress = fd;
        CHECK("it ends with egress", ends_well());
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        process();
        make_keeper();
        cut_and_bent();
        many_tokens();
        return check_end();
}
