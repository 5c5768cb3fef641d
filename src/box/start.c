/* start.c - the supervisor's side of making a box: sources by descriptor when started by root, one
 * clone3 in the user namespace that is being furnished with a network (net_maker.c), and the group;
 * then the new process is on its own.
 *
 * The new process is pid 1 of the box from its first instruction. It builds the walls around itself
 * (build.c), gives everything up, and serves (init.c). No exec: that is most of the difference
 * between three milliseconds and thirty. */
#include "box/box.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/spread.h"
#include "box/idmap.h"
#include "box/init.h"
#include "box/net.h"
#include "box/step.h"
#include "box/weak.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static uint64_t namespaces(void)
{
        uint64_t flags = CLONE_NEWNS;
        /* The user namespace is there already; NEWCGROUP is taken by the child itself, once it is
         * in its group; NEWNET in net.c. */
        flags |= box_weak(WEAK_PIDNS) ? 0 : CLONE_NEWPID;
        flags |= box_weak(WEAK_IPCNS) ? 0 : CLONE_NEWIPC;
        flags |= box_weak(WEAK_UTSNS) ? 0 : CLONE_NEWUTS;
        return flags;
}

/* take_user_ns(net_fd, err): the namespace that pid 1 is to be born in. A descriptor or -1. */
static int take_user_ns(int net_fd, struct err *err)
{
        int fd;
        size_t n;
        if (net_receive(net_fd, NET_USER, &fd, 1, &n, err) < 0)
                return -1;
        return n == 1 ? fd : err_set(err, E_MACHINE, "the box's user namespace did not come");
}

int box_start(const struct box_plan *plan, const struct box_first *first, int net_fd,
              struct box *box, struct err *err)
{
        *box = (struct box){.pid = -1, .pidfd = -1, .ctl_fd = -1};
        _cleanup_close_ int user_ns = take_user_ns(net_fd, err);
        if (user_ns < 0)
                return -1;
        struct idmap_fds staged = {0};
        if (plan->is_by_root && idmap_sources(plan, &staged, err) < 0)
                return -1;

        int ctl[2] = {-1, -1};
        if (box_cgroup_make(&box->cgroup, plan->id, &plan->limits, err) < 0)
                goto err0;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0) {
                err_sys(err, "make the control socket");
                goto err1;
        }

        int group_fd = box_weak(WEAK_CGROUP) ? -1 : box_cgroup_clone_fd(&box->cgroup);
        struct clone_args a = {.flags = namespaces() | CLONE_PARENT | CLONE_PARENT_SETTID |
                                        (group_fd >= 0 ? CLONE_INTO_CGROUP : 0),
                               .parent_tid = (uintptr_t)&box->pid,
                               .cgroup = group_fd >= 0 ? (uint64_t)group_fd : 0};
        /* Born in its groups: to move it there afterwards costs the kernel a grace period. */
        if (!box_weak(WEAK_CGROUP) && box_cgroup_enter(&box->cgroup, err) < 0)
                goto err1;
        struct verify outside;
        verify_note(&outside);
        /* We may not enter a user namespace and come back, so somebody else does, and has our child
         * there. It lives on our stack while we stand still; pid 1 has a copy of everything. */
        volatile int failed = 0;
        pid_t self = getpid();
        pid_t between = vfork();
        if (between == 0) {
                spread_off(self); /* it has other things to do than to stand in pid 1's way */
                if (setns(user_ns, CLONE_NEWUSER) < 0 ||
                    (box->pid = (pid_t)syscall(SYS_clone3, &a, sizeof a)) < 0)
                        failed = errno;
                if (box->pid != 0)
                        _exit(0);
                close(ctl[0]);
                struct build b = {.plan = plan,
                                  .outside = outside,
                                  .ctl_fd = ctl[1],
                                  .source_fds = staged.sources,
                                  .layer_fds = staged.layers,
                                  .lower_fds = staged.lowers,
                                  .root_on_fd = -1,
                                  .mask_fd = -1,
                                  .trust_fd = -1,
                                  .notify_fd = -1,
                                  .shown_root_fd = -1,
                                  .net_fd = net_fd,
                                  .stage_fd = -1,
                                  .root_fd = -1,
                                  .empty_fd = -1};
                init_main(&b, first);
        }

        if (between < 0)
                failed = errno;
        else
                waitpid(between, NULL, 0);
        /* Somebody may have killed it before it had our child; -1 is everybody to kill(). */
        if (failed || box->pid <= 0) {
                errno = failed ? failed : EINTR;
                box->pid = -1;
                net_explain(err);
                box_cgroup_leave(&box->cgroup, NULL);
                goto err1;
        }
        close_fd(&ctl[1]);
        box->pidfd = (int)syscall(SYS_pidfd_open, box->pid, 0);
        /* Ours alone, each end has its own flags: a pid 1 that does not read makes nobody wait. */
        if (box->pidfd < 0 || fcntl(ctl[0], F_SETFL, O_NONBLOCK) < 0) {
                err_sys(err, "hold the box's first process");
                goto err2;
        }
        if (box_cgroup_leave(&box->cgroup, err) < 0)
                goto err2;
        idmap_free(&staged);
        box->ctl_fd = ctl[0];
        return 0;

err2:
        if (box->pid > 0) {
                kill(box->pid, SIGKILL);
                waitpid(box->pid, NULL, 0);
                box->pid = -1;
        }
        close_fd(&box->pidfd);
err1:
        close_fd(&ctl[0]);
        close_fd(&ctl[1]);
        box_cgroup_remove(&box->cgroup);
err0:
        idmap_free(&staged);
        return -1;
}

int box_end(struct box *box)
{
        int status = 0;
        if (box->pid > 0) {
                kill(box->pid, SIGKILL);
                while (waitpid(box->pid, &status, 0) < 0 && errno == EINTR)
                        ;
                box->pid = -1;
        }
        box_cgroup_kill(&box->cgroup);
        box_cgroup_remove(&box->cgroup);
        close_fd(&box->pidfd);
        close_fd(&box->ctl_fd);
        return status;
}
