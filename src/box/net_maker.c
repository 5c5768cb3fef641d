/* net_maker.c - the process that makes a box's user namespace and in it the network, while the CLI
 * still plans the box; the kernel needs longer for that than for everything else in a start.
 *
 * It shares the memory of whoever started it, because copying page tables would cost a fifth of
 * what it saves. It may therefore touch nothing but its own stack: no allocation, and a call that
 * fails, and so writes errno, ends it and the box. It runs our code only, in the user's name, and
 * is gone before any code of the box runs. */
#include "box/box.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/openfiles.h"
#include "base/spread.h"
#include "box/net.h"
#include "box/net_link.h"
#include "box/netlink.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifdef OSTIARY_ASAN
enum { SHARED = 0 }; /* the sanitizer wants a stack it knows */
#else
enum { SHARED = CLONE_VM };
#endif

struct maker {
        int to_fd; /* where the results go */
        bool has_net, has_door, has_ipv6;
};

static int send_fds(int to_fd, enum net_stage at, const int *fds, size_t n)
{
        struct net_word w = {.at = at};
        return fdio_send(to_fd, &w, sizeof w, fds, n);
}

static int open_net_ns(void)
{
        return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* make_loopback(fds): a namespace with a loopback and nothing else. Returns the failed stage. */
static enum net_stage make_loopback(int *box_ns)
{
        if (unshare(CLONE_NEWNET) < 0 || (*box_ns = open_net_ns()) < 0)
                return NET_SPACES;
        int nl = netlink_open();
        return nl < 0 || net_link_loopback(nl) < 0 ? NET_LINKS : NET_DONE;
}

/* make_door(m, box_ns, sockets): the door's namespace first, then the box's and the cable between
 * them, then the sockets. What is open is closed by the end of the process. */
static enum net_stage make_door(const struct maker *m, int *box_ns, int *sockets)
{
        int door_ns, door_nl, box_nl;
        if (unshare(CLONE_NEWNET) < 0 || (door_ns = open_net_ns()) < 0)
                return NET_SPACES;
        if (net_door_settle(m->has_ipv6) < 0)
                return NET_SETTINGS;
        if ((door_nl = netlink_open()) < 0)
                return NET_LINKS;
        if (net_door_sockets(sockets) < 0)
                return NET_SOCKETS;
        if (unshare(CLONE_NEWNET) < 0 || (*box_ns = open_net_ns()) < 0)
                return NET_SPACES;
        if (net_box_settle(m->has_ipv6) < 0)
                return NET_SETTINGS;
        if ((box_nl = netlink_open()) < 0 || net_link_loopback(box_nl) < 0 ||
            net_link_join(box_nl, door_nl, door_ns) < 0)
                return NET_LINKS;
        return NET_DONE;
}

static int make(void *ctx)
{
        const struct maker *m = ctx;
        int fds[1 + NET_SOCKETS_N];
        openfiles_raise();
        int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
        enum net_stage at = user < 0 ? NET_USER : NET_DONE;
        if (at == NET_DONE && send_fds(m->to_fd, NET_USER, &user, 1) < 0)
                return 1; /* nobody wants it any more */
        if (at == NET_DONE && m->has_net)
                at = m->has_door ? make_door(m, fds, fds + 1) : make_loopback(fds);
        if (at == NET_DONE)
                return send_fds(m->to_fd, NET_DONE, fds,
                                !m->has_net    ? 0
                                : !m->has_door ? 1
                                               : 1 + NET_SOCKETS_N) < 0;
        struct net_word w = {.sys = errno ? errno : EIO, .at = at};
        fdio_send(m->to_fd, &w, sizeof w, NULL, 0);
        return 1;
}

int net_explain(struct err *err)
{
        int e = errno;
        err_sys(err, "make the box's namespaces");
        err->code = E_MACHINE;
        if (e == ENOSPC || e == EUSERS)
                return err_hint(err, "user.max_user_namespaces or another namespace limit is "
                                     "reached or 0");
        if (e == EPERM)
                return err_hint(err, "unprivileged user namespaces are switched off");
        if (e == EAGAIN)
                return err_hint(err, "the limit of processes is reached");
        return -1;
}

int box_net_begin(struct box_net *net, bool has_door, struct err *err)
{
        static char stack[65536] __attribute__((aligned(64)));
        static struct maker m; /* read by the maker while we go on */
        int pair[2];
        *net = (struct box_net){.maker_pid = -1, .fd = -1};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return err_sys(err, "make a socket");
        m = (struct maker){.to_fd = pair[1],
                           .has_net = !box_weak(WEAK_NETNS),
                           .has_door = has_door,
                           .has_ipv6 = access("/proc/sys/net/ipv6", F_OK) == 0};
        /* No handler of ours may run there: it would write our memory. */
        sigset_t all, before;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, &before);
        spread_patient(true);
        net->maker_pid = clone(make, stack + sizeof stack, SHARED | CLONE_NEWUSER | SIGCHLD, &m);
        int r = net->maker_pid < 0 ? net_explain(err) : 0;
        if (r == 0)
                spread_off(net->maker_pid);
        spread_patient(false);
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(pair[1]);
        net->fd = pair[0];
        if (r < 0)
                box_net_end(net);
        return r;
}

/* The maker may be done, and is there until box_net_end reaps it. */
int box_net_map(const struct box_net *net, const struct box_plan *p, struct err *err)
{
        char path[64], line[64];
        if (!p->is_by_root)
                return 0;
        snprintf(path, sizeof path, "/proc/%d/uid_map", net->maker_pid);
        snprintf(line, sizeof line, "%u %u 1\n", p->uid, p->kuid);
        if (fdio_put(AT_FDCWD, path, line) < 0)
                return err_sys(err, "write %s", path);
        snprintf(path, sizeof path, "/proc/%d/gid_map", net->maker_pid);
        snprintf(line, sizeof line, "%u %u 1\n", p->gid, p->kgid);
        if (fdio_put(AT_FDCWD, path, line) < 0)
                return err_sys(err, "write %s", path);
        return 0;
}

void box_net_end(struct box_net *net)
{
        close_fd(&net->fd); /* a maker that is not done hears of it by its next datagram */
        while (net->maker_pid > 0 && waitpid(net->maker_pid, NULL, 0) < 0 && errno == EINTR)
                ;
        net->maker_pid = -1;
}
