/* libkeeper.h - a keeper as in life, confined, and the three others that it talks to: supervisor,
 * egress and audit are played by the test. Included by tests/unit/door_keeper_*.c. */
#ifndef UNIT_LIBKEEPER_H
#define UNIT_LIBKEEPER_H

#include "unit/check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "keeper/ca_cert.h"
#include "keeper/keeper.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
        pid_t pid;
        int ctl, egress, audit;
        struct frame f;             /* the last that came */
        char placeholder[4][20000]; /* of the last DOOR_SECRET_OK */
        char part[4][16];
        uint32_t parts_n;
        char words[1200]; /* of the last refusal or warning */
        uint32_t no;      /* why it was refused */
        char answer[60000];
} kp;

/* kp_hear(fd, ms): the next message into kp.f; its type, or 0. */
__attribute__((unused)) static uint32_t kp_hear(int fd, int ms)
{
        struct pollfd p = {.fd = fd, .events = POLLIN};
        frame_release(&kp.f);
        if (poll(&p, 1, ms) != 1 || frame_recv(fd, &kp.f, false) != 1)
                return 0;
        return kp.f.type;
}

static void kp_text(char *to, size_t max)
{
        _cleanup_free_ char *s = NULL;
        *to = 0;
        if (cur_lstr(&kp.f.body, 60000, &s) == 0)
                snprintf(to, max, "%s", s);
}

__attribute__((unused)) static void kp_begin(void)
{
        static struct ca_cert ca;
        int c[2], e[2], a[2];
        struct err err = {0};
        if (!ca.key_der && ca_cert_make(&ca, &err) < 0)
                exit(1);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a);
        signal(SIGPIPE, SIG_IGN);
        fflush(stdout);
        kp.pid = fork();
        if (kp.pid == 0) {
                dup2(c[1], DOOR_CONTROL_FD);
                _exit(keeper_main(1, (char *[]){"keeper", NULL}));
        }
        close(c[1]);
        kp.ctl = c[0], kp.egress = e[0], kp.audit = a[0];
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, (uint32_t)ca.key_len);
        buf_put(&b, ca.key_der, ca.key_len);
        buf_put_u32(&b, (uint32_t)ca.cert_len);
        buf_put(&b, ca.cert_der, ca.cert_len);
        buf_put_lstr(&b, "box");
        frame_send(kp.ctl, DOOR_BEGIN, &b, (const int[]){e[1], a[1]}, 2);
        close(e[1]), close(a[1]);
        if (kp_hear(kp.ctl, 10000) != DOOR_READY) {
                CHECK("the keeper is ready", false);
                exit(1);
        }
}

/* kp_end(): how it ended when the supervisor was gone. */
__attribute__((unused)) static int kp_end(void)
{
        int status = -1;
        frame_release(&kp.f);
        close(kp.ctl);
        waitpid(kp.pid, &status, 0);
        close(kp.egress), close(kp.audit);
        return status;
}

/* kp_give(number, line, fd): DOOR_SECRET. */
__attribute__((unused)) static void kp_give(uint32_t number, const char *line, int fd)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, number);
        buf_put_lstr(&b, line);
        frame_send(kp.ctl, DOOR_SECRET, &b, &fd, 1);
}

/* kp_told(): what the keeper makes of it, in kp.placeholder or kp.words. The type. */
__attribute__((unused)) static uint32_t kp_told(void)
{
        uint32_t number, type = kp_hear(kp.ctl, 10000);
        kp.parts_n = 0;
        kp.words[0] = 0;
        cur_u32(&kp.f.body, &number);
        if (type == DOOR_SECRET_OK) {
                kp_text(kp.answer, sizeof kp.answer); /* provider */
                kp_text(kp.words, sizeof kp.words);
                cur_u32(&kp.f.body, &kp.parts_n);
                for (uint32_t i = 0; i < kp.parts_n && i < 4; i++) {
                        kp_text(kp.part[i], sizeof kp.part[i]);
                        kp_text(kp.placeholder[i], sizeof kp.placeholder[i]);
                }
        } else {
                kp_text(kp.words, sizeof kp.words);
        }
        return type;
}

/* kp_secret(number, line, value, n): the whole way of a value. */
__attribute__((unused)) static uint32_t kp_secret_bytes(uint32_t number, const char *line,
                                                        const void *value, size_t n)
{
        int p[2];
        if (pipe2(p, O_CLOEXEC) < 0)
                return 0;
        kp_give(number, line, p[0]);
        close(p[0]);
        /* A line that is refused at once has no reader any more. */
        if (n && write(p[1], value, n) < 0)
                n = 0;
        close(p[1]);
        return kp_told();
}

__attribute__((unused)) static uint32_t kp_secret(uint32_t number, const char *line,
                                                  const char *value)
{
        return kp_secret_bytes(number, line, value, strlen(value));
}

/* kp_grants(): egress begins: reads the greeting, asks, reads to the end. How many were granted. */
__attribute__((unused)) static int kp_grants(void)
{
        int n = 0;
        uint32_t type;
        if (kp_hear(kp.egress, 10000) != DOOR_KEEPER_HELLO)
                return -1;
        frame_send(kp.egress, DOOR_GRANTS, NULL, NULL, 0);
        while ((type = kp_hear(kp.egress, 10000)) != DOOR_GRANTED_END) {
                if (!type)
                        return -1;
                n += type == DOOR_GRANTED;
        }
        return n;
}

/* kp_place(number, form, url-like pieces, slot): "" with kp.no and kp.words set when refused. */
__attribute__((unused)) static const char *kp_place(uint32_t number, uint32_t form,
                                                    const struct door_toward *to, const char *slot)
{
        _cleanup_buf_ struct buf b = {0};
        uint32_t id;
        static uint32_t last = 100;
        buf_put_u32(&b, ++last);
        buf_put_u32(&b, number);
        buf_put_u32(&b, form);
        door_toward_put(&b, to);
        buf_put_lstr(&b, slot);
        frame_send(kp.egress, DOOR_PLACE, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000);
        kp.no = 99;
        kp.words[0] = kp.answer[0] = 0;
        if (cur_u32(&kp.f.body, &id) < 0 || id != last)
                return "lost";
        if (type == DOOR_PLACED) {
                kp_text(kp.answer, sizeof kp.answer);
                return kp.answer;
        }
        cur_u32(&kp.f.body, &kp.no);
        kp_text(kp.words, sizeof kp.words);
        return "";
}

#define TO(h, p)                                                                                   \
        (&(struct door_toward){.method = "GET", .host = h, .path = p, .port = 443, .is_tls = true})

#endif
