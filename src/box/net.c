/* net.c - the box's network: a namespace of its own with a loopback that is up, and no other way
 * anywhere.
 *
 * Making a network namespace takes longer than anything else in a box's start, so a short-lived
 * child makes it while we build the file tree, and hands it over through the shared descriptor
 * table; we join it when both are done. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int loopback_up(void)
{
        _cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq r = {.ifr_flags = IFF_UP | IFF_RUNNING};
        strcpy(r.ifr_name, "lo");
        if (s < 0 || ioctl(s, SIOCSIFFLAGS, &r) < 0 || ioctl(s, SIOCGIFFLAGS, &r) < 0)
                return -1;
        return r.ifr_flags & IFF_UP ? 0 : (errno = ENODEV, -1);
}

/* make_network(to_fd): runs in the child; its exit status is an errno. */
static _Noreturn void make_network(int to_fd)
{
        if (unshare(CLONE_NEWNET) < 0 || loopback_up() < 0)
                _exit(errno);
        int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        if (ns < 0 || dup3(ns, to_fd, O_CLOEXEC) < 0)
                _exit(errno);
        close(ns);
        _exit(0);
}

int step_network_begin(struct build *b, struct err *err)
{
        if (box_weak(WEAK_NETNS))
                return 0;
        /* A descriptor number kept free for the child to put the namespace at. */
        b->net_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (b->net_fd < 0)
                return err_sys(err, "open /dev/null");
        b->net_pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (b->net_pid < 0)
                return err_sys(err, "start a process");
        if (b->net_pid == 0)
                make_network(b->net_fd);
        return 0;
}

int step_network(struct build *b, struct err *err)
{
        int status;
        if (box_weak(WEAK_NETNS))
                return 0;
        while (waitpid(b->net_pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_sys(err, "wait for the network");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
                err_sys(err, "make a network namespace");
                err->code = E_MACHINE;
                return -1;
        }
        if (setns(b->net_fd, CLONE_NEWNET) < 0)
                return err_sys(err, "enter the network namespace");
        close_fd(&b->net_fd);
        return 0;
}
