/* keeper.c - the role that holds the box's authority. It hears DOOR_BEGIN from the supervisor and
 * DOOR_LEAF from egress, and nothing else; it has no network, no files and no way to start a
 * program. Whoever takes egress over gets leaves of this one box, and never the key. */
#include "keeper/keeper.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "keeper/mint.h"
#include "policy/host_name.h"
#include "role/role.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One frame at a time; it carries the key once, so it is locked and wiped. */
static struct frame frame;

static int get_bytes(struct cur *c, size_t max, const uint8_t **p, size_t *n)
{
        uint32_t len;
        if (cur_u32(c, &len) < 0 || len > max || cur_bytes(c, len, p) < 0)
                return -1;
        *n = len;
        return 0;
}

static void put_bytes(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* begin(&egress_fd, ca): wait for DOOR_BEGIN; the authority is in ${ca} (for egress) and in the
 * mint that is returned. */
static struct mint *begin(int *egress_fd, struct buf *ca)
{
        struct err err = {0};
        const uint8_t *key, *cert;
        size_t key_len, cert_len;
        if (frame_recv(DOOR_CONTROL_FD, &frame, false) != 1 || frame.type != DOOR_BEGIN)
                role_die("the keeper was started without its beginning");
        if (get_bytes(&frame.body, 4096, &key, &key_len) < 0 ||
            get_bytes(&frame.body, 8192, &cert, &cert_len) < 0)
                role_die("the keeper's beginning cannot be read");
        struct mint *m = mint_new(key, key_len, cert, cert_len, &err);
        buf_put(ca, cert, cert_len);
        *egress_fd = frame_take_fd(&frame, 0);
        frame_release(&frame);
        explicit_bzero(frame.raw, sizeof frame.raw);
        if (!m)
                role_die("%s", err.text);
        if (*egress_fd < 0 || ca->is_broken)
                role_die("the keeper was given no socket to egress");
        return m;
}

static int say_hello(const struct mint *m, int egress_fd, const struct buf *ca)
{
        uint8_t key[MINT_KEY_MAX];
        size_t key_len = 0;
        _cleanup_buf_ struct buf b = {0};
        int r = mint_leaf_key(m, key, &key_len);
        put_bytes(&b, key, key_len);
        put_bytes(&b, ca->data, ca->len);
        uint8_t fingers[DOOR_FINGER_KEY];
        if (RAND_bytes(fingers, sizeof fingers) != 1)
                r = -1;
        put_bytes(&b, fingers, sizeof fingers);
        if (r == 0)
                r = b.is_broken ? -1 : frame_send(egress_fd, DOOR_KEEPER_HELLO, &b, NULL, 0);
        explicit_bzero(key, sizeof key);
        if (b.data)
                explicit_bzero(b.data, b.len);
        return r;
}

/* answer_leaf(m, fd, c): the name is parsed again by the one function that may; what egress made of
 * it counts for nothing. */
static int answer_leaf(struct mint *m, int egress_fd, struct cur *c)
{
        uint8_t der[MINT_LEAF_MAX];
        struct host_name host;
        struct err err = {0};
        size_t der_len = 0;
        uint32_t id;
        _cleanup_free_ char *text = NULL;
        _cleanup_buf_ struct buf b = {0};
        if (cur_u32(c, &id) < 0 || cur_lstr(c, HOST_TEXT_MAX, &text) < 0)
                return -1;
        buf_put_u32(&b, id);
        if (host_name_parse(text, strlen(text), &host, &err) < 0 ||
            mint_leaf(m, &host, der, &der_len, &err) < 0) {
                buf_put_lstr(&b, err.text);
                return frame_send(egress_fd, DOOR_LEAF_FAILED, &b, NULL, 0);
        }
        put_bytes(&b, der, der_len);
        return frame_send(egress_fd, DOOR_LEAF_OK, &b, NULL, 0);
}

static void serve(struct mint *m, int egress_fd)
{
        struct pollfd p[2] = {{.fd = DOOR_CONTROL_FD, .events = POLLIN},
                              {.fd = egress_fd, .events = POLLIN}};
        for (;;) {
                if (poll(p, 2, -1) < 0 && errno != EINTR)
                        return;
                /* The supervisor has nothing more to say: this is its end, and ours. */
                if (p[0].revents)
                        return;
                if (!p[1].revents)
                        continue;
                if (frame_recv(egress_fd, &frame, false) != 1)
                        return;
                int r = -1;
                if (frame.type == DOOR_LEAF)
                        r = answer_leaf(m, egress_fd, &frame.body);
                else if (frame.type == DOOR_GRANTS)
                        r = frame_send(egress_fd, DOOR_GRANTED_END, NULL, NULL, 0);
                frame_release(&frame);
                if (r < 0)
                        return;
        }
}

int keeper_main(int argc, char **argv)
{
        (void)argc, (void)argv;
        struct err err = {0};
        int egress_fd = -1;
        _cleanup_buf_ struct buf ca = {0};
        role_begin("ostiary-keeper");
        /* Where private numbers are kept is locked and left out of core files. Without the right to
         * lock even that much it is at least not dumpable. */
        CRYPTO_secure_malloc_init(1 << 16, 32);
        mlock(&frame, sizeof frame);

        struct mint *m = begin(&egress_fd, &ca);
        /* The first leaf loads whatever OpenSSL loads late; afterwards it could not. */
        struct host_name warm;
        uint8_t der[MINT_LEAF_MAX];
        size_t der_len;
        if (host_name_parse("localhost", 9, &warm, &err) < 0 ||
            mint_leaf(m, &warm, der, &der_len, &err) < 0)
                role_die("%s", err.text);
        static const struct role_needs needs = {0};
        if (role_confine(&needs, &err) < 0)
                role_die("%s", err.text);
        if (frame_send(DOOR_CONTROL_FD, DOOR_READY, NULL, NULL, 0) < 0 ||
            say_hello(m, egress_fd, &ca) < 0)
                return 1;
        serve(m, egress_fd);
        mint_free(m);
        return 0;
}
