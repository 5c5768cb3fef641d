/* keeper.c - the role that holds the box's authority and its secrets. It hears the supervisor and
 * egress (serve_table.c says what) and has no network, no files and no way to start a program.
 * Whoever takes egress over gets what the lines of the secrets grant anyway, and never a key. */
#include "keeper/keeper.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/mint.h"
#include "keeper/serve_int.h"
#include "keeper/sign.h"
#include "keeper/token.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>

enum { KEY_MAX = 4096, CERT_MAX = 8192, FRAMES_AT_ONCE = 64 };

/* One frame at a time; it carries keys, so it is locked and wiped. */
static struct frame frame __attribute__((aligned(4096)));

static void release(void)
{
        size_t n = frame.body.p ? (size_t)(frame.body.p - frame.raw) + frame.body.left : 0;
        frame_release(&frame);
        explicit_bzero(frame.raw, n < sizeof frame.raw ? n : sizeof frame.raw);
}

/* begin(k, ca): wait for DOOR_BEGIN; the authority is in ${ca} (for egress) and in the mint. */
static void begin(struct keeper *k, struct buf *ca)
{
        struct err err = {0};
        const uint8_t *key, *cert;
        const char *box;
        size_t key_len, cert_len, box_n;
        if (frame_recv(DOOR_CONTROL_FD, &frame, false) != 1 || frame.type != DOOR_BEGIN)
                role_die("the keeper was started without its beginning");
        if (keeper_get_bytes(&frame.body, KEY_MAX, &key, &key_len) < 0 ||
            keeper_get_bytes(&frame.body, CERT_MAX, &cert, &cert_len) < 0 ||
            keeper_get_text(&frame.body, sizeof k->box - 1, &box, &box_n) < 0 || frame.body.left)
                role_die("the keeper's beginning cannot be read");
        memcpy(k->box, box, box_n);
        k->mint = mint_new(key, key_len, cert, cert_len, &err);
        buf_put(ca, cert, cert_len);
        k->control_fd = DOOR_CONTROL_FD;
        k->egress_fd = frame_take_fd(&frame, 0);
        k->audit_fd = frame_take_fd(&frame, 1);
        release();
        if (!k->mint)
                role_die("%s", err.text);
        if (k->egress_fd < 0 || k->audit_fd < 0 || ca->is_broken)
                role_die("the keeper was not given its sockets to egress and audit");
        if (fcntl(k->egress_fd, F_SETFL, O_NONBLOCK) < 0 ||
            fcntl(k->control_fd, F_SETFL, O_NONBLOCK) < 0 ||
            RAND_bytes(k->finger_key, sizeof k->finger_key) != 1)
                role_die("the keeper cannot begin");
}

static int say_hello(struct keeper *k, const struct buf *ca)
{
        uint8_t key[MINT_KEY_MAX];
        size_t key_len = 0;
        int r = mint_leaf_key(k->mint, key, &key_len);
        struct buf *b = keeper_message(k, DOOR_KEEPER_HELLO);
        keeper_put_bytes(b, key, key_len);
        keeper_put_bytes(b, ca->data, ca->len);
        keeper_put_bytes(b, k->finger_key, sizeof k->finger_key);
        explicit_bzero(key, sizeof key);
        return r < 0 ? -1 : keeper_to_egress(k);
}

/* hear(k, fd, table): answer what is there, but not so much that the others wait. 0, or -1 at the
 * end of the peer, or when it says what makes no sense. */
static int hear(struct keeper *k, int fd, const struct keeper_entry *table)
{
        for (int i = 0; i < FRAMES_AT_ONCE; i++) {
                int got = frame_recv(fd, &frame, false);
                if (got < 0 && (errno == EAGAIN || errno == EINTR))
                        return 0;
                if (got != 1)
                        return -1;
                int r = serve_frame(k, table, &frame);
                release();
                if (r < 0)
                        return -1;
        }
        return 0;
}

static int sooner(int a, int b)
{
        return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* once(k): one round. -1 when the keeper shall end. */
static int once(struct keeper *k)
{
        static struct pollfd p[2 + SERVE_READINGS_MAX];
        p[0] = (struct pollfd){.fd = k->control_fd, .events = POLLIN};
        p[1] = (struct pollfd){.fd = k->egress_fd, .events = POLLIN};
        if (k->to_supervisor.first)
                p[0].events |= POLLOUT;
        if (k->to_egress.first)
                p[1].events |= POLLOUT;
        size_t n = serve_readings_poll(k, p + 2);
        int wait = sooner(keeper_expire(k), keeper_record_wait_ms(k));
        if (poll(p, 2 + n, wait) < 0)
                return errno == EINTR ? 0 : -1;
        if (serve_queue_push(k->control_fd, &k->to_supervisor) < 0 ||
            serve_queue_push(k->egress_fd, &k->to_egress) < 0)
                return -1;
        /* Before the next frame, because a frame may change the list. */
        if (serve_readings_ready(k, p + 2, n) < 0)
                return -1;
        if (p[0].revents && hear(k, k->control_fd, keeper_from_supervisor) < 0)
                return -1;
        if (p[1].revents && hear(k, k->egress_fd, keeper_from_egress) < 0)
                return -1;
        if (keeper_record_wait_ms(k) == 0)
                keeper_record_flush(k);
        return 0;
}

static void end(struct keeper *k)
{
        keeper_record_flush(k);
        serve_readings_drop(k, DOOR_SECRET_ALL);
        serve_revoke_end(k);
        serve_io_end(k);
        sign_forget(k);
        token_forget(k);
        store_free(k->store);
        mint_free(k->mint);
        buf_free(&k->records);
}

/* What libraries load or look up late, they do now; afterwards they could not. */
static void warm_up(struct keeper *k)
{
        struct err err = {0};
        struct host_name host;
        uint8_t der[MINT_LEAF_MAX];
        size_t der_len;
        uint32_t seed;
        if (host_name_parse("localhost", 9, &host, &err) < 0 ||
            mint_leaf(k->mint, &host, der, &der_len, &err) < 0)
                role_die("%s", err.text);
        if (RAND_bytes((uint8_t *)&seed, sizeof seed) != 1)
                role_die("there is no randomness");
        json_object_seed(seed | 1);
}

int keeper_main(int argc, char **argv)
{
        (void)argc, (void)argv;
        static struct keeper k;
        struct err err = {0};
        _cleanup_buf_ struct buf ca = {0};
        role_begin("ostiary-keeper");
        store_memory();
        mlock(&frame, sizeof frame);
        madvise(&frame, sizeof frame, MADV_DONTDUMP);
        serve_io_begin(&k);
        k.store = store_new();

        begin(&k, &ca);
        warm_up(&k);
        static const struct role_needs needs = {0};
        if (role_confine(&needs, &err) < 0)
                role_die("%s", err.text);
        keeper_message(&k, DOOR_READY);
        if (keeper_to_supervisor(&k) < 0 || say_hello(&k, &ca) < 0)
                return 1;
        while (once(&k) == 0)
                ;
        end(&k);
        return 0;
}
