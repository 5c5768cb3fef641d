/* verify.c - reads back that the namespaces really are others than the supervisor's, and that the
 * network has the links it should have and no other: a kernel or a container that ignores a flag
 * must not leave the box on the host's network or among its processes (B8). */
#include "box/verify.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/step.h"
#include "box/weak.h"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CARRIER_MS = 5000 };

static const struct {
        const char *path, *what;
        enum box_weak_layer layer;
} spaces[VERIFY_SPACES] = {
        {"/proc/self/ns/net", "network", WEAK_NETNS},
};

void verify_note(struct verify *v)
{
        struct stat st;
        for (int i = 0; i < VERIFY_SPACES; i++)
                v->inode[i] = stat(spaces[i].path, &st) == 0 ? st.st_ino : 0;
}

/* carries(s, r): does this link carry yet? The kernel sees to that on the side, mostly before we
 * ask; a packet sent too early would be lost, and a program's first connection wait a second. */
static bool carries(int s, struct ifreq *r)
{
        for (int waited_ms = 0; waited_ms < CARRIER_MS; waited_ms++) {
                if (ioctl(s, SIOCGIFFLAGS, r) == 0 && r->ifr_flags & IFF_RUNNING)
                        return true;
                poll(NULL, 0, 1);
        }
        return false;
}

/* check_links(has_door, err): the loopback is up, eth0 where there is a door, and nothing else is;
 * tunnels that some kernels put into every namespace stay down, because the box cannot bring up
 * what we have not. */
static int check_links(bool has_door, struct err *err)
{
        _cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct if_nameindex *all = s < 0 ? NULL : if_nameindex();
        if (!all)
                return err_sys(err, "list the network's links");
        bool has_lo = false, has_eth = false;
        const char *strange = NULL;
        struct ifreq r = {0};
        for (const struct if_nameindex *i = all; i->if_index; i++) {
                strncpy(r.ifr_name, i->if_name, sizeof r.ifr_name - 1);
                bool is_seen = ioctl(s, SIOCGIFFLAGS, &r) == 0;
                if (is_seen && !(r.ifr_flags & IFF_UP))
                        continue;
                if (!is_seen)
                        strange = r.ifr_name; /* nobody can say whether it is up */
                else if (strcmp(r.ifr_name, "lo") == 0)
                        has_lo = true;
                else if (has_door && strcmp(r.ifr_name, "eth0") == 0)
                        has_eth = carries(s, &r);
                else
                        strange = r.ifr_name;
                if (strange)
                        break;
        }
        if_freenameindex(all);
        if (strange)
                return err_set(err, E_MACHINE, "the box's network has a link %s", strange);
        if (!has_lo || has_eth != has_door)
                return err_set(err, E_MACHINE, "the box's network has no %s",
                               has_lo ? "eth0 that carries" : "loopback");
        return 0;
}

int step_verify(struct build *b, struct err *err)
{
        /* The other namespaces show in the steps that use them: the id map, the new root, the name.
         */
        if (getpid() != 1 && !box_weak(WEAK_PIDNS))
                return err_set(err, E_MACHINE, "the box shares the host's pid namespace");
        struct verify now;
        verify_note(&now);
        for (int i = 0; i < VERIFY_SPACES; i++) {
                if (box_weak(spaces[i].layer))
                        continue;
                if (!now.inode[i] || !b->outside.inode[i])
                        return err_set(err, E_MACHINE, "the %s namespace cannot be read from /proc",
                                       spaces[i].what);
                if (now.inode[i] == b->outside.inode[i])
                        return err_set(err, E_MACHINE, "the box shares the host's %s namespace",
                                       spaces[i].what);
        }
        return box_weak(WEAK_NETNS) ? 0 : check_links(b->plan->has_door, err);
}
