/* reply.c - answers to egress, which may be busy: what its socket does not take waits here, so that
 * we always go on reading. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "dial/dial_int.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

struct reply {
        uint32_t type;
        struct buf body;
        int fd; /* -1: none */
        struct reply *next;
};

static void reply_free(struct reply *r)
{
        close_fd(&r->fd);
        buf_free(&r->body);
        free(r);
}

void reply_flush(struct dial *d)
{
        while (d->replies) {
                struct reply *r = d->replies;
                if (frame_send(d->egress_fd, r->type, &r->body, &r->fd, r->fd >= 0) < 0) {
                        if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS)
                                break;
                        role_die("egress is gone");
                }
                d->replies = r->next;
                d->replies_n--;
                reply_free(r);
        }
        if (!d->replies)
                d->replies_end = &d->replies;
        loop_want(d->egress_src, d->replies ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void reply_send(struct dial *d, uint32_t type, const struct buf *body, int fd)
{
        if (d->replies_n >= REPLIES_MAX)
                role_die("egress asks and does not listen");
        struct reply *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        *r = (struct reply){.type = type, .fd = fd};
        buf_put(&r->body, body->data, body->len);
        *d->replies_end = r;
        d->replies_end = &r->next;
        d->replies_n++;
        reply_flush(d);
}

void reply_dialled(struct dial *d, uint32_t id, const char *addr, int fd)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_lstr(&b, addr);
        reply_send(d, DOOR_DIALED, &b, fd);
}

void reply_failed(struct dial *d, uint32_t id, enum door_dial_fault fault, const char *fmt, ...)
{
        char words[1200];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(words, sizeof words, fmt, ap);
        va_end(ap);
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, fault);
        buf_put_lstr(&b, words);
        reply_send(d, DOOR_DIAL_FAILED, &b, -1);
}
