/* relay.c - see relay.h. */
#include "session/relay.h"

#include "base/cleanup.h"
#include "base/confine.h"
#include "base/err.h"
#include "base/loop.h"
#include "session/relay_conn.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

struct listener {
        uint32_t id;
        int fd;
        struct loop_src *src;
};

static struct {
        int control_fd;
        struct loop *loop;
        struct loop_src *control_src;
        struct listener listeners[RELAY_LISTENERS_MAX];
        size_t listeners_n;
        struct relay_conn *conns;
        size_t conns_n;
        size_t pending_n; /* asked for and not answered, also when the asker is gone */
        uint32_t next_id;
} r;

static struct frame in;

/* settle(): no more is accepted than can be asked for. */
static void settle(void)
{
        bool is_full = r.pending_n >= RELAY_PENDING_MAX || r.conns_n >= RELAY_CONNS_MAX;
        for (size_t i = 0; i < r.listeners_n; i++)
                loop_want(r.listeners[i].src, is_full ? 0 : EPOLLIN);
}

static void on_end(struct relay_conn *c)
{
        struct relay_conn **p = &r.conns;
        while (*p != c)
                p = &(*p)->next;
        *p = c->next;
        relay_conn_free(c);
        r.conns_n--;
        settle();
}

static void on_listener(void *ctx, uint32_t events)
{
        uint32_t id = (uint32_t)(uintptr_t)ctx;
        (void)events;
        struct listener *l = NULL;
        for (size_t i = 0; i < r.listeners_n; i++)
                if (r.listeners[i].id == id)
                        l = &r.listeners[i];
        int fd = l ? accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (fd < 0)
                return;
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct relay_conn *c = relay_conn_new(r.loop, fd, on_end);
        c->id = r.next_id++;
        c->listener = id;
        c->next = r.conns;
        r.conns = c;
        r.conns_n++;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, c->id);
        buf_put_u32(&b, id);
        if (frame_send(r.control_fd, RELAY_WANT, &b, NULL, 0) < 0) {
                relay_conn_reset(c);
                on_end(c);
                return;
        }
        r.pending_n++;
        settle();
}

/* is_stream(fd): pid 1 is in the box, so what it sends may be anything. Only a TCP socket is read
 * and written here; a file could make us wait. */
static bool is_stream(int fd)
{
        int domain = 0, protocol = 0;
        socklen_t n = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
            getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &n) < 0)
                return false;
        return (domain == AF_INET || domain == AF_INET6) && protocol == IPPROTO_TCP &&
               fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static void on_got(struct frame *f)
{
        uint32_t id, why;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &why) < 0)
                return;
        if (r.pending_n)
                r.pending_n--;
        settle();
        struct relay_conn *c = r.conns;
        while (c && c->id != id)
                c = c->next;
        if (!c || c->side[1].fd >= 0)
                return;
        int fd = why ? -1 : frame_take_fd(f, 0);
        if (fd >= 0 && is_stream(fd)) {
                if (relay_conn_join(c, fd) < 0)
                        on_end(c);
                return;
        }
        close_fd(&fd);
        relay_conn_reset(c);
        on_end(c);
}

static void on_listen(struct frame *f)
{
        uint32_t id;
        int fd = frame_take_fd(f, 0);
        if (fd < 0)
                return;
        if (cur_u32(&f->body, &id) < 0 || r.listeners_n == RELAY_LISTENERS_MAX) {
                close(fd);
                return;
        }
        struct listener *l = &r.listeners[r.listeners_n++];
        *l = (struct listener){.id = id, .fd = fd};
        l->src = loop_add(r.loop, fd, EPOLLIN, on_listener, (void *)(uintptr_t)id);
        settle();
}

static void on_close(struct frame *f)
{
        uint32_t id;
        if (cur_u32(&f->body, &id) < 0)
                return;
        for (size_t i = 0; i < r.listeners_n; i++) {
                if (r.listeners[i].id != id)
                        continue;
                loop_del(&r.listeners[i].src);
                close_fd(&r.listeners[i].fd);
                r.listeners[i] = r.listeners[--r.listeners_n];
                break;
        }
        for (struct relay_conn *c = r.conns, *next; c; c = next) {
                next = c->next;
                if (c->listener == id)
                        on_end(c);
        }
}

static void on_control(void *ctx, uint32_t events)
{
        (void)ctx;
        (void)events;
        int got = frame_recv(r.control_fd, &in, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (got <= 0)
                _exit(0); /* the box is over */
        switch (in.type) {
        case RELAY_LISTEN:
                on_listen(&in);
                break;
        case RELAY_CLOSE:
                on_close(&in);
                break;
        case RELAY_GOT:
                on_got(&in);
                break;
        default:
                break;
        }
        frame_release(&in);
}

_Noreturn void relay_main(int control_fd)
{
        static const int calls[] = {SYS_accept4, SYS_shutdown, SYS_getsockopt, SYS_setsockopt,
                                    SYS_fcntl};
        struct err err = {0};
        confine_begin("ostiary-relay", &control_fd, 1);
        r.control_fd = control_fd;
        r.loop = loop_new();
        if (!r.loop)
                _exit(125);
        r.control_src = loop_add(r.loop, control_fd, EPOLLIN, on_control, NULL);
        if (!r.control_src || confine_self(calls, sizeof calls / sizeof *calls, &err) < 0)
                _exit(125);
        loop_run(r.loop);
        _exit(125);
}
