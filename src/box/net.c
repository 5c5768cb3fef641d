/* net.c - the box's network: a loopback of its own that is up, and no other way anywhere. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/weak.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int step_network(struct build *b, struct err *err)
{
        (void)b;
        if (box_weak(WEAK_NETNS))
                return 0;
        _cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (s < 0)
                return err_sys(err, "open a socket in the new network");
        struct ifreq r = {.ifr_flags = IFF_UP | IFF_RUNNING};
        strcpy(r.ifr_name, "lo");
        if (ioctl(s, SIOCSIFFLAGS, &r) < 0)
                return err_sys(err, "bring the loopback up");

        /* Read back. That the namespace is a fresh one, and so has nothing else, is checked for all
         * namespaces at once (verify.c). */
        if (ioctl(s, SIOCGIFFLAGS, &r) < 0 || !(r.ifr_flags & IFF_UP))
                return err_set(err, E_MACHINE, "the loopback did not come up");
        return 0;
}
