/* tunnel.c - see tunnel.h. Reads one answer of a proxy, of bounded length and strict form. */
#include "dial/tunnel.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { HEAD_MAX = 16 << 10, LIMIT_MS = 20000 };

void tunnel_stop(struct tunnel *t)
{
        if (!t->loop)
                return;
        loop_del(&t->src);
        close_fd(&t->fd);
        loop_timer_stop(&t->limit);
        buf_free(&t->out);
        buf_free(&t->in);
        t->loop = NULL;
}

static void finish(struct tunnel *t, const char *words)
{
        int fd = words ? -1 : take_fd(&t->fd);
        tunnel_fn *fn = t->fn;
        void *ctx = t->ctx;
        char copy[256];
        snprintf(copy, sizeof copy, "%s", words ? words : "");
        tunnel_stop(t);
        fn(ctx, fd, words ? copy : NULL);
}

static void on_limit(void *ctx)
{
        finish(ctx, "the upstream proxy did not answer in time");
}

/* is_printable(head, len): text of a head, nothing else: bytes from here go into our sentence. */
static bool is_printable(const uint8_t *p, size_t len)
{
        for (size_t i = 0; i < len; i++)
                if (p[i] < 0x20 || p[i] > 0x7e)
                        return false;
        return true;
}

/* judge(t): the whole head is here. */
static void judge(struct tunnel *t)
{
        const uint8_t *p = t->in.data;
        const uint8_t *end = memmem(p, t->in.len, "\r\n", 2);
        size_t len = (size_t)(end - p);
        if (len < 12 || memcmp(p, "HTTP/1.", 7) != 0 || (p[7] != '0' && p[7] != '1') ||
            p[8] != ' ' || (len > 12 && p[12] != ' ') || !is_printable(p, len)) {
                finish(t, "the upstream proxy does not answer in HTTP/1");
                return;
        }
        for (int i = 9; i < 12; i++)
                if (p[i] < '0' || p[i] > '9') {
                        finish(t, "the upstream proxy does not answer in HTTP/1");
                        return;
                }
        if (p[9] == '2') {
                finish(t, NULL);
                return;
        }
        char words[200];
        snprintf(words, sizeof words, "the upstream proxy refused: %.*s",
                 (int)(len - 9 > 100 ? 100 : len - 9), (const char *)p + 9);
        finish(t, words);
}

/* read_head(t): looks first and takes then, so that what follows the head stays in the socket. */
static void read_head(struct tunnel *t)
{
        uint8_t part[2048];
        for (;;) {
                ssize_t n = recv(t->fd, part, sizeof part, MSG_PEEK);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return;
                if (n <= 0) {
                        finish(t, "the upstream proxy closed the connection");
                        return;
                }
                size_t had = t->in.len, from = had > 3 ? had - 3 : 0;
                buf_put(&t->in, part, (size_t)n);
                const uint8_t *end = t->in.is_broken ? NULL
                                                     : memmem(t->in.data + from, t->in.len - from,
                                                              "\r\n\r\n", 4);
                if (t->in.is_broken || (!end && t->in.len > HEAD_MAX)) {
                        finish(t, "the upstream proxy's answer is too long");
                        return;
                }
                if (end)
                        t->in.len = (size_t)(end - t->in.data) + 4;
                if (recv(t->fd, part, t->in.len - had, 0) != (ssize_t)(t->in.len - had)) {
                        finish(t, "the upstream proxy closed the connection");
                        return;
                }
                if (end) {
                        judge(t);
                        return;
                }
        }
}

static void on_event(void *ctx, uint32_t events)
{
        struct tunnel *t = ctx;
        if (t->out.len && events & EPOLLOUT) {
                ssize_t n = send(t->fd, t->out.data, t->out.len, MSG_NOSIGNAL);
                if (n < 0 && errno != EAGAIN && errno != EINTR) {
                        finish(t, "the upstream proxy closed the connection");
                        return;
                }
                if (n > 0)
                        buf_drop(&t->out, (size_t)n);
                if (t->out.len == 0)
                        loop_want(t->src, EPOLLIN);
                return;
        }
        read_head(t);
}

void tunnel_start(struct tunnel *t, struct loop *loop, int fd, const struct tunnel_proxy *proxy,
                  const struct host_name *host, uint16_t port, tunnel_fn *fn, void *ctx)
{
        memset(t, 0, sizeof *t);
        t->loop = loop;
        t->fd = fd;
        t->fn = fn;
        t->ctx = ctx;
        t->in.max = HEAD_MAX + 4096;
        t->limit = (struct loop_timer){.fn = on_limit, .ctx = t};
        loop_timer_set(loop, &t->limit, LIMIT_MS);
        buf_put_fmt(&t->out, "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n", host->text, port,
                    host->text, port);
        if (proxy->auth[0])
                buf_put_fmt(&t->out, "Proxy-Authorization: Basic %s\r\n", proxy->auth);
        buf_put_str(&t->out, "\r\n");
        t->src = loop_add(loop, fd, EPOLLIN | EPOLLOUT, on_event, t);
        if (!t->src)
                loop_timer_set(loop, &t->limit, 0);
}
