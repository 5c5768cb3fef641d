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

        /* Read back: exactly one interface may exist. A second would be somebody's way out. */
        struct if_nameindex *all = if_nameindex();
        if (!all)
                return err_sys(err, "list the interfaces of the new network");
        int others = 0;
        for (size_t i = 0; all[i].if_index; i++) {
                r = (struct ifreq){0};
                strncpy(r.ifr_name, all[i].if_name, sizeof r.ifr_name - 1);
                /* Some kernels make down tunnel stubs (tunl0, sit0) in every namespace. */
                if (strcmp(all[i].if_name, "lo") != 0 && ioctl(s, SIOCGIFFLAGS, &r) == 0 &&
                    (r.ifr_flags & IFF_UP))
                        others++;
        }
        if_freenameindex(all);
        return others ? err_set(err, E_MACHINE, "the box's network has an interface besides lo")
                      : 0;
}
