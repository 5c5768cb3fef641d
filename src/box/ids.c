/* ids.c - who the box is: one uid and one gid, both never 0 to the kernel, and a name of its own.
 *
 * Unprivileged, the process maps its own id by itself. Started by root, a map to a high id
 * was written before we were born (box_net_map); we only step into it. */
#include "box/step.h"

#include "base/err.h"
#include "base/fdio.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int map_self(const struct box_plan *p, struct err *err)
{
        char line[64];
        if (fdio_put(AT_FDCWD, "/proc/self/setgroups", "deny") < 0)
                return err_sys(err, "write /proc/self/setgroups");
        snprintf(line, sizeof line, "%u %u 1\n", p->uid, p->kuid);
        if (fdio_put(AT_FDCWD, "/proc/self/uid_map", line) < 0)
                return err_sys(err, "write /proc/self/uid_map");
        snprintf(line, sizeof line, "%u %u 1\n", p->gid, p->kgid);
        if (fdio_put(AT_FDCWD, "/proc/self/gid_map", line) < 0)
                return err_sys(err, "write /proc/self/gid_map");
        return 0;
}

int step_ids(struct build *b, struct err *err)
{
        const struct box_plan *p = b->plan;

        /* While we still are who may walk there: a high id cannot enter root's home. */
        b->root_on_fd = open(p->root_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (b->root_on_fd < 0)
                return err_sys(err, "open %s", p->root_dir);
        b->mask_fd = open(p->etc_mask, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (b->mask_fd < 0)
                return err_sys(err, "open %s", p->etc_mask);
        if (p->etc_trust) {
                b->trust_fd = open(p->etc_trust, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (b->trust_fd < 0)
                        return err_sys(err, "open %s", p->etc_trust);
        }
        /* The supervisor is not dumpable, so /proc/self belongs to root until we say otherwise; it
         * is taken back in step_caps, before any code of the box runs. */
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        if (!p->is_by_root && map_self(p, err) < 0) {
                if (err->sys == EPERM || err->sys == EACCES)
                        err->code = E_MACHINE;
                return -1;
        }
        if (p->is_by_root && setgroups(0, NULL) < 0)
                return err_sys(err, "drop the supplementary groups");
        if (setresgid(p->gid, p->gid, p->gid) < 0 || setresuid(p->uid, p->uid, p->uid) < 0)
                return err_sys(err, "become uid %u", p->uid);
        if (p->is_by_root)
                prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);

        if (getuid() != p->uid || geteuid() != p->uid || getgid() != p->gid || getegid() != p->gid)
                return err_set(err, E_MACHINE, "the user namespace shows uid %u instead of %u",
                               getuid(), p->uid);
        return 0;
}

int step_name(struct build *b, struct err *err)
{
        if (box_weak(WEAK_UTSNS))
                return 0;
        const char *name = b->plan->hostname;
        if (sethostname(name, strlen(name)) < 0)
                return err_sys(err, "set the host name");
        return 0;
}
