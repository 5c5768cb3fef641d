/* sup_inbound.c - ports of the box that are to be had on the host: what is published, by whom, and
 * the way of one connection: the relay asks, pid 1 connects to the box's own loopback, the socket
 * goes back. The supervisor passes descriptors on and never reads from them. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/publish.h"
#include "session/relay.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct port {
        struct port *next;
        uint32_t id;
        struct publish what;
        struct client *owner; /* it ends with this conversation; NULL: with the box */
};

struct inbound {
        pid_t relay_pid;
        int relay_fd;
        struct loop_src *src;
        struct port *ports;
        size_t ports_n;
        uint32_t next_id;
};

/* What the relay may say: one thing. */
static void on_want(struct sup *s, struct frame *f)
{
        uint32_t conn, id;
        if (f->type != RELAY_WANT || cur_u32(&f->body, &conn) < 0 || cur_u32(&f->body, &id) < 0)
                return;
        struct port *p = s->inbound->ports;
        while (p && p->id != id)
                p = p->next;
        _cleanup_buf_ struct buf ask = {0}, no = {0};
        buf_put_u32(&ask, conn);
        buf_put_u32(&ask, p ? p->what.box_port : 0);
        if (p && frame_send(s->box.ctl_fd, MSG_CONNECT, &ask, NULL, 0) == 0)
                return;
        buf_put_u32(&no, conn);
        buf_put_u32(&no, ECONNREFUSED);
        frame_send(s->inbound->relay_fd, RELAY_GOT, &no, NULL, 0);
}

static void forget(struct inbound *in, struct port *p)
{
        struct port **at = &in->ports;
        while (*at != p)
                at = &(*at)->next;
        *at = p->next;
        in->ports_n--;
        free(p);
}

static void tell(struct sup *s, const char *words)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        for (struct client *c = s->clients; c; c = c->next)
                client_send(c, MSG_NOTICE, b.data, b.len);
}

static void on_relay(void *ctx, uint32_t events)
{
        static struct frame f;
        struct sup *s = ctx;
        struct inbound *in = s->inbound;
        (void)events;
        int r = frame_recv(in->relay_fd, &f, false);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (r > 0) {
                on_want(s, &f);
                frame_release(&f);
                return;
        }
        /* Its listeners went with it: nothing is open that should not be. */
        loop_del(&in->src);
        close_fd(&in->relay_fd);
        kill(in->relay_pid, SIGKILL);
        waitpid(in->relay_pid, NULL, 0);
        in->relay_pid = 0;
        while (in->ports)
                forget(in, in->ports);
        tell(s, "the process that carries published ports has ended; they are closed");
}

static int relay_start(struct sup *s, struct err *err)
{
        struct inbound *in = s->inbound;
        int fds[2];
        if (in->relay_pid)
                return 0;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return err_sys(err, "make a socket");
        in->relay_pid = fork();
        if (in->relay_pid == 0)
                relay_main(fds[1]);
        close(fds[1]);
        in->relay_fd = fds[0];
        if (in->relay_pid > 0 &&
            (in->src = loop_add(s->loop, in->relay_fd, EPOLLIN, on_relay, s)) != NULL)
                return 0;
        err_sys(err, "start the relay");
        sup_inbound_end(s);
        return -1;
}

/* open_port(s, text, owner, err): the new port, or NULL. */
static struct port *open_port(struct sup *s, const char *text, struct client *owner,
                              struct err *err)
{
        struct publish what;
        if (publish_parse(text, &what, err) < 0)
                return NULL;
        if (!s->inbound && !(s->inbound = calloc(1, sizeof *s->inbound)))
                str_no_memory();
        struct inbound *in = s->inbound;
        if (in->ports_n == RELAY_LISTENERS_MAX) {
                err_set(err, E_REFUSED, "this box has %d ports published already",
                        RELAY_LISTENERS_MAX);
                return NULL;
        }
        _cleanup_close_ int fd = publish_listen(&what, err);
        if (fd < 0 || relay_start(s, err) < 0)
                return NULL;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, in->next_id);
        if (frame_send(in->relay_fd, RELAY_LISTEN, &b, &fd, 1) < 0) {
                err_sys(err, "give the relay its socket");
                return NULL;
        }
        struct port *p = calloc(1, sizeof *p);
        if (!p)
                str_no_memory();
        *p = (struct port){.next = in->ports, .id = in->next_id++, .what = what, .owner = owner};
        in->ports = p;
        in->ports_n++;
        return p;
}

int sup_inbound_begin(struct sup *s, struct err *err)
{
        char words[PUBLISH_WORDS];
        const struct strs *list = &s->opts->publish;
        for (size_t i = 0; i < list->n; i++) {
                struct port *p = open_port(s, list->v[i], NULL, err);
                if (!p)
                        return err_add(err, "publish port %s", list->v[i]);
                char *grants = str_fmt("%s, port %u at %s", s->meta.grants, p->what.box_port,
                                       publish_words(&p->what, words));
                free(s->meta.grants);
                s->meta.grants = grants;
        }
        return 0;
}

void sup_inbound_end(struct sup *s)
{
        struct inbound *in = s->inbound;
        if (!in)
                return;
        loop_del(&in->src);
        if (in->relay_fd > 0)
                close_fd(&in->relay_fd);
        if (in->relay_pid > 0) {
                kill(in->relay_pid, SIGKILL);
                waitpid(in->relay_pid, NULL, 0);
        }
        while (in->ports)
                forget(in, in->ports);
        free(in);
        s->inbound = NULL;
}

void sup_inbound_forget(struct client *c)
{
        struct inbound *in = c->sup->inbound;
        for (struct port *p = in ? in->ports : NULL, *next; p; p = next) {
                next = p->next;
                if (p->owner != c)
                        continue;
                _cleanup_buf_ struct buf b = {0};
                buf_put_u32(&b, p->id);
                frame_send(in->relay_fd, RELAY_CLOSE, &b, NULL, 0);
                forget(in, p);
        }
}

void sup_inbound_connected(struct sup *s, struct frame *f)
{
        uint32_t conn, why;
        if (!s->inbound || s->inbound->relay_fd <= 0)
                return;
        if (cur_u32(&f->body, &conn) < 0 || cur_u32(&f->body, &why) < 0)
                return;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, conn);
        buf_put_u32(&b, f->fds_n == 1 ? 0 : why ? why : EPROTO);
        frame_send(s->inbound->relay_fd, RELAY_GOT, &b, f->fds, f->fds_n == 1 ? 1 : 0);
}

char *sup_inbound_open(struct sup *s, const char *spec, struct err *err)
{
        char words[PUBLISH_WORDS];
        struct port *p = open_port(s, spec, NULL, err);
        return p ? str_dup(publish_words(&p->what, words)) : NULL;
}

/* --- what clients ask ------------------------------------------------------------------------- */

void sup_on_publish(struct client *c, struct frame *f)
{
        struct err err = {0};
        char words[PUBLISH_WORDS];
        _cleanup_free_ char *text = NULL;
        uint32_t is_held;
        if (cur_lstr(&f->body, 128, &text) < 0 || cur_u32(&f->body, &is_held) < 0)
                return;
        struct port *p = open_port(c->sup, text, is_held ? c : NULL, &err);
        if (!p) {
                client_send_failed(c, &err);
                return;
        }
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, publish_words(&p->what, words));
        buf_put_u32(&b, p->what.box_port);
        client_send(c, MSG_PUBLISHED, b.data, b.len);
}

void sup_on_ports(struct client *c, struct frame *f)
{
        const struct inbound *in = c->sup->inbound;
        char words[PUBLISH_WORDS];
        _cleanup_buf_ struct buf b = {0};
        (void)f;
        buf_put_u32(&b, (uint32_t)c->sup->box.pid);
        buf_put_u32(&b, in ? (uint32_t)in->ports_n : 0);
        for (const struct port *p = in ? in->ports : NULL; p; p = p->next) {
                buf_put_lstr(&b, publish_words(&p->what, words));
                buf_put_u32(&b, p->what.box_port);
        }
        client_send(c, MSG_PORTS_ARE, b.data, b.len);
}
