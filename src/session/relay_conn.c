/* relay_conn.c - see relay_conn.h. Bytes are copied as they are. A side that does not read holds
 * the other up: at most PIECE bytes wait in each direction. */
#include "session/relay_conn.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { PIECE = 65536 };

static void on_side(void *ctx, uint32_t events);

struct relay_conn *relay_conn_new(struct loop *loop, int host_fd,
                                  void (*on_end)(struct relay_conn *))
{
        struct relay_conn *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        *c = (struct relay_conn){.loop = loop, .on_end = on_end};
        c->side[0] = (struct relay_side){.conn = c, .fd = host_fd};
        c->side[1] = (struct relay_side){.conn = c, .fd = -1};
        return c;
}

void relay_conn_free(struct relay_conn *c)
{
        for (int i = 0; i < 2; i++) {
                loop_del(&c->side[i].src);
                close_fd(&c->side[i].fd);
                free(c->side[i].data);
        }
        free(c);
}

void relay_conn_reset(struct relay_conn *c)
{
        struct linger now = {.l_onoff = 1};
        setsockopt(c->side[0].fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static struct relay_side *other(struct relay_side *s)
{
        return s == &s->conn->side[0] ? &s->conn->side[1] : &s->conn->side[0];
}

/* fill(s): read once when there is nothing left to pass on. -1 when the connection is broken. */
static int fill(struct relay_side *s)
{
        if (s->is_over || s->len)
                return 0;
        if (!s->data && !(s->data = malloc(PIECE)))
                str_no_memory();
        ssize_t n = read(s->fd, s->data, PIECE);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
                return -1;
        s->is_over = n == 0;
        s->at = 0;
        s->len = n > 0 ? (size_t)n : 0;
        return 0;
}

/* drain(s): pass on what was read; afterwards, if that was all, say so. */
static int drain(struct relay_side *s)
{
        struct relay_side *to = other(s);
        while (s->len) {
                ssize_t n = write(to->fd, s->data + s->at, s->len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return 0;
                if (n < 0)
                        return -1;
                s->at += (size_t)n;
                s->len -= (size_t)n;
        }
        if (s->is_over && !to->is_shut) {
                to->is_shut = true;
                shutdown(to->fd, SHUT_WR);
        }
        return 0;
}

static void want(struct relay_side *s)
{
        uint32_t in = s->len == 0 && !s->is_over ? EPOLLIN : 0;
        loop_want(s->src, in | (other(s)->len ? (uint32_t)EPOLLOUT : 0));
        if (s->len == 0) { /* an idle connection holds no memory */
                free(s->data);
                s->data = NULL;
        }
}

static void on_side(void *ctx, uint32_t events)
{
        struct relay_side *s = ctx, *to = other(s);
        struct relay_conn *c = s->conn;
        bool is_good = true;
        if (events & EPOLLOUT)
                is_good = drain(to) == 0;
        if (is_good && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                is_good = fill(s) == 0 && drain(s) == 0;
        bool is_done = s->is_over && to->is_over && s->len == 0 && to->len == 0;
        if (!is_good || is_done || (events & EPOLLERR && s->len == 0)) {
                if (!is_good)
                        relay_conn_reset(c);
                c->on_end(c);
                return;
        }
        want(s);
        want(to);
}

int relay_conn_join(struct relay_conn *c, int box_fd)
{
        c->side[1].fd = box_fd;
        for (int i = 0; i < 2; i++) {
                struct relay_side *s = &c->side[i];
                s->src = loop_add(c->loop, s->fd, EPOLLIN, on_side, s);
                if (!s->src)
                        return -1;
        }
        return 0;
}
