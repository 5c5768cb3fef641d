/* etc.c - the box's /etc: four layers, read-only. On top a few files made up for this box; below
 * them the stores of trusted roots with the box's own authority in them (session/ca.h); then the
 * mask, a whiteout for every name that is not on the list (policy/etc_list.c, made by
 * session/etcmask.c); at the bottom the host's, its sockets dead (B1).
 *
 * One mount takes a tenth of the time that copying and binding the listed entries does. A name that
 * the administrator adds to /etc while the box runs is not masked: the threat model says so. */
#include "box/etc.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/step.h"
#include "box/submounts.h"
#include "box/weak.h"
#include "wire/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int write_etc(int etc, const char *name, const char *text, struct err *err)
{
        _cleanup_close_ int fd = openat(etc, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
        if (fd < 0 || fdio_write_all(fd, text, strlen(text)) < 0)
                return err_sys(err, "write /etc/%s", name);
        return 0;
}

/* What is made up: one user, one group, this box's name, and the door as its resolver. */
static int synthesise(struct build *b, int etc, struct err *err)
{
        const struct box_plan *p = b->plan;
        char text[2048];
        snprintf(text, sizeof text,
                 "root:x:0:0:root:/:/usr/sbin/nologin\n%s:x:%u:%u:%s:%s:%s\n"
                 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
                 p->user, p->uid, p->gid, p->user, p->home, p->shell);
        if (write_etc(etc, "passwd", text, err) < 0)
                return -1;
        snprintf(text, sizeof text, "root:x:0:\n%s:x:%u:\nnogroup:x:65534:\n", p->user, p->gid);
        if (write_etc(etc, "group", text, err) < 0)
                return -1;
        snprintf(text, sizeof text,
                 "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 %s\n", p->hostname);
        if (write_etc(etc, "hosts", text, err) < 0)
                return -1;
        snprintf(text, sizeof text, "%s\n", p->hostname);
        if (write_etc(etc, "hostname", text, err) < 0)
                return -1;
        /* The door always answers, but on a full machine its start alone may take seconds: what is
         * lost is asked for again soon, and nobody gives up early. */
        return write_etc(etc, "resolv.conf",
                         p->has_door ? "nameserver " DOOR_GATEWAY_ADDR "\n"
                                       "options timeout:3 attempts:5\n"
                                     : "# This box has no network; names do not resolve.\n",
                         err);
}

/* layers(b, host, made, err): the overlay: what is made up, whom to trust, the mask, the host's. */
static int layers(struct build *b, int host, int made, struct err *err)
{
        const int fds[] = {made, b->trust_fd, box_weak(WEAK_ETC_FILTER) ? -1 : b->mask_fd, host};
        char lower[128] = "";
        size_t at = 0;
        for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
                if (fds[i] >= 0)
                        at += (size_t)snprintf(lower + at, sizeof lower - at, "%s/proc/self/fd/%d",
                                               at ? ":" : "", fds[i]);
        return mnt_make("overlay", MNT_SAFE | MOUNT_ATTR_RDONLY, err, "lowerdir", lower,
                        "userxattr", NULL, NULL);
}

int step_etc(struct build *b, struct err *err)
{
        _cleanup_close_ int host = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int made = openat(b->stage_fd, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (host < 0 || made < 0)
                return err_sys(err, "open /etc");
        _cleanup_close_ int etc = step_target(b, "/etc", true, err);
        if (etc < 0 || synthesise(b, made, err) < 0)
                return -1;
        _cleanup_close_ int mnt = layers(b, host, made, err);
        if (mnt >= 0)
                return mnt_attach(mnt, etc, err);
        if (err->sys != EINVAL || !submounts_below("/etc"))
                return -1;
        *err = (struct err){0};
        if (synthesise(b, etc, err) < 0 ||
            (b->trust_fd >= 0 && etc_copy(b->trust_fd, etc, err) < 0))
                return -1;
        return etc_entries(b, etc, host, err);
}
