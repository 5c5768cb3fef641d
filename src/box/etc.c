/* etc.c - the box's /etc: the host's, behind a mask. The mask is a layer with a few files made up
 * for this box, and a whiteout for every name that is not on the list (policy/etc_list.c); below it
 * the host's /etc, read-only, its sockets dead (B1).
 *
 * One mount and some ninety whiteouts take a quarter of the time that copying and binding the
 * listed entries does. A name that the administrator adds to /etc while the box runs is not masked:
 * the threat model says so. */
#include "box/etc.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/step.h"
#include "box/submounts.h"
#include "box/weak.h"
#include "policy/etc_list.h"

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

/* What is made up: one user, one group, this box's name, no resolver. */
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
        return write_etc(etc, "resolv.conf",
                         "# This box has no network yet; names do not resolve.\n", err);
}

bool etc_is_listed(const char *name)
{
        for (const struct etc_entry *l = etc_list; l->name; l++)
                if (l->name[0] == name[0] && !strchr(l->name, '/') &&
                    etc_list_matches(l->name, name))
                        return true;
        return false;
}

/* holds_listed(dir): is something below this directory on the list ("ssl/certs")? */
static bool holds_listed(const char *dir)
{
        size_t n = strlen(dir);
        for (const struct etc_entry *l = etc_list; l->name; l++)
                if (l->name[0] == dir[0] && strncmp(l->name, dir, n) == 0 && l->name[n] == '/')
                        return true;
        return false;
}

/* hide_rest(b, host, mask, prefix, err): a whiteout in ${mask} for each name of ${host} that is not
 * listed; into directories that hold something listed, one level deeper at a time. */
static int hide_rest(struct build *b, int host, int mask, const char *prefix, struct err *err)
{
        int fd = openat(host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d)
                return err_sys(err, "read /etc/%s", prefix);
        struct dirent *e;
        while ((e = readdir(d))) {
                char path[520];
                snprintf(path, sizeof path, "%s%s", prefix, e->d_name);
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    (prefix[0] ? etc_list_allows(path) : etc_is_listed(e->d_name)))
                        continue;
                if (e->d_type == DT_DIR && holds_listed(path)) {
                        _cleanup_close_ int sub = openat(
                                host, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                        _cleanup_close_ int under = beneath_mkdirs(mask, e->d_name, 0755, err);
                        if (under < 0)
                                return -1;
                        strncat(path, "/", sizeof path - strlen(path) - 1);
                        if (sub >= 0 && hide_rest(b, sub, under, path, err) < 0)
                                return -1;
                        continue;
                }
                /* All links to one whiteout: a link costs a third of a new inode. */
                if (linkat(b->stage_fd, "whiteout", mask, e->d_name, 0) < 0 && errno != EEXIST)
                        return err_sys(err, "hide /etc/%s", path);
        }
        return 0;
}

int etc_mask(struct build *b, struct err *err)
{
        _cleanup_close_ int host = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int mask = openat(b->stage_fd, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (host < 0 || mask < 0)
                return err_sys(err, "open /etc");
        if (mknodat(b->stage_fd, "whiteout", S_IFCHR, 0) < 0)
                return err_sys(err, "make a whiteout");
        if (synthesise(b, mask, err) < 0)
                return -1;
        return box_weak(WEAK_ETC_FILTER) ? 0 : hide_rest(b, host, mask, "", err);
}

int step_etc(struct build *b, struct err *err)
{
        _cleanup_close_ int host = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int mask = openat(b->stage_fd, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (host < 0 || mask < 0)
                return err_sys(err, "open /etc");
        _cleanup_close_ int etc = step_target(b, "/etc", true, err);
        if (etc < 0)
                return -1;
        _cleanup_close_ int mnt = mnt_overlay_ro(mask, host, err);
        if (mnt >= 0)
                return mnt_attach(mnt, etc, err);
        if (err->sys != EINVAL || !submounts_below("/etc"))
                return -1;
        *err = (struct err){0};
        if (synthesise(b, etc, err) < 0)
                return -1;
        return etc_entries(b, etc, host, err);
}
