/* net.c - pid 1 joins the network that was made for it (net_maker.c), opens the ports that the plan
 * names on the door's side, passes the door's sockets on to the supervisor and keeps none.
 *
 * A box without its door does not come up: that the sockets are there is checked here, that the
 * namespace has no other link in verify.c. */
#include "box/net.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "box/box.h"
#include "box/step.h"
#include "box/weak.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static const char *const stages[] = {
        [NET_USER] = "open the user namespace",       [NET_SPACES] = "make a network namespace",
        [NET_SETTINGS] = "set the network's sysctls", [NET_LINKS] = "make the network's links",
        [NET_SOCKETS] = "make the door's sockets",    [NET_DONE] = "make the network",
};

int net_receive(int fd, enum net_stage at, int *fds, size_t fds_cap, size_t *fds_n, struct err *err)
{
        struct net_word w;
        ssize_t n = fdio_recv(fd, &w, sizeof w, fds, fds_cap, fds_n);
        if (n < 0)
                return err_sys(err, "hear of the network");
        if (n != (ssize_t)sizeof w || (w.sys == 0 && w.at != at))
                return err_set(err, E_MACHINE,
                               "whoever made the box's network ended before it did");
        if (w.sys == 0)
                return 0;
        errno = w.sys;
        err_sys(err, "%s", stages[w.at <= NET_DONE ? w.at : NET_DONE]);
        err->code = E_MACHINE;
        if (w.at == NET_SPACES && w.sys == ENOSPC)
                return err_hint(err, "user.max_net_namespaces is reached or 0");
        if (w.at == NET_LINKS && w.sys == EOPNOTSUPP)
                return err_hint(err, "this kernel has no veth");
        if (w.sys == EMFILE)
                return err_hint(err, "the limit of open files is too low: ulimit -n");
        return -1;
}

int box_net_try(struct err *err)
{
        _cleanup_net_ struct box_net net;
        int fds[FDIO_MAX_FDS];
        size_t n;
        if (box_net_begin(&net, true, err) < 0)
                return -1;
        for (enum net_stage at = NET_USER;; at = NET_DONE) {
                if (net_receive(net.fd, at, fds, FDIO_MAX_FDS, &n, err) < 0)
                        return -1;
                for (size_t i = 0; i < n; i++)
                        close(fds[i]);
                if (at == NET_DONE)
                        return 0;
        }
}

/* open_door(b, sockets, err): listen on the plan's ports, and hand everything over. */
static int open_door(struct build *b, const int *sockets, struct err *err)
{
        const struct box_plan *p = b->plan;
        _cleanup_buf_ struct buf body = {0};
        if (p->door_ports_n > NET_SPARE_N)
                return err_set(err, E_INPUT, "the policy names %zu ports; a box can have %d",
                               p->door_ports_n, (int)NET_SPARE_N);
        buf_put_u32(&body, DOOR_PORT_DNS_UDP);
        buf_put_u32(&body, 53);
        buf_put_u32(&body, DOOR_PORT_WATCH);
        for (size_t i = 0; i < NET_SPARE_N; i++) {
                if (i < p->door_ports_n &&
                    net_door_listen(sockets[NET_SOCKET_FREE + i], p->door_ports[i]) < 0)
                        return err_sys(err, "listen on port %u", p->door_ports[i]);
                buf_put_u32(&body, i < p->door_ports_n ? p->door_ports[i] : DOOR_PORT_SPARE);
        }
        if (frame_send(b->ctl_fd, DOOR_SOCKETS, &body, sockets, NET_SOCKETS_N) < 0)
                return err_sys(err, "hand the door's sockets over");
        return 0;
}

/* open_agent(b, err): the box's ssh agent is a socket that it can connect to and nobody in it
 * listens on. It is made before any program of the box runs, so what is there is ours. */
static int open_agent(struct build *b, struct err *err)
{
        struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = DOOR_SSH_AGENT_PATH};
        _cleanup_buf_ struct buf body = {0};
        mkdir("/run/ostiary", 0755);
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
            chmod(DOOR_SSH_AGENT_PATH, 0600) < 0 || listen(fd, NET_BACKLOG) < 0)
                return err_sys(err, "make the ssh agent's socket");
        buf_put_u32(&body, DOOR_PORT_SSH_AGENT);
        if (frame_send(b->ctl_fd, DOOR_SOCKETS, &body, &fd, 1) < 0)
                return err_sys(err, "hand the ssh agent's socket over");
        return 0;
}

int step_network(struct build *b, struct err *err)
{
        int fds[FDIO_MAX_FDS];
        size_t fds_n;
        if (net_receive(b->net_fd, NET_DONE, fds, FDIO_MAX_FDS, &fds_n, err) < 0)
                return -1;
        close_fd(&b->net_fd);
        if (box_weak(WEAK_NETNS))
                return 0;
        bool has_door = b->plan->has_door;
        int r;
        if (fds_n != (has_door ? 1 + NET_SOCKETS_N : 1))
                r = err_set(err, E_MACHINE, "the network came without the door's sockets (E14)");
        else if (setns(fds[0], CLONE_NEWNET) < 0)
                r = err_sys(err, "enter the network namespace");
        else
                r = has_door ? open_door(b, fds + 1, err) : 0;
        if (r == 0 && has_door && b->plan->has_ssh_agent)
                r = open_agent(b, err);
        for (size_t i = 0; i < fds_n; i++)
                close(fds[i]);
        return r;
}
