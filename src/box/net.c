/* net.c - the box's network: a namespace of its own with a loopback that is up, and no other way
 * anywhere. Made by the assistant (assist.c), because it takes longer than anything else in a box's
 * start; joined by pid 1. */
#include "box/net.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/step.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int loopback_up(void)
{
        _cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq r = {.ifr_flags = IFF_UP | IFF_RUNNING};
        strcpy(r.ifr_name, "lo");
        if (s < 0 || ioctl(s, SIOCSIFFLAGS, &r) < 0 || ioctl(s, SIOCGIFFLAGS, &r) < 0)
                return -1;
        return r.ifr_flags & IFF_UP ? 0 : (errno = ENODEV, -1);
}

int net_make(int to_fd)
{
        if (unshare(CLONE_NEWNET) < 0 || loopback_up() < 0)
                return -1;
        _cleanup_close_ int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        return ns < 0 || dup3(ns, to_fd, O_CLOEXEC) < 0 ? -1 : 0;
}

int step_network(struct build *b, struct err *err)
{
        if (box_weak(WEAK_NETNS))
                return 0;
        if (setns(b->net_fd, CLONE_NEWNET) < 0)
                return err_sys(err, "enter the network namespace");
        close_fd(&b->net_fd);
        return 0;
}
