/* cgroup.c - choose the world a box's group lives in, and everything that is the same in both.
 *
 * Called by the supervisor (make, attach, read); cgroup_end.c is the other half, kill and remove.
 * Holds no state of its own; a group is known by struct box_cgroup and locked while it is in use.
 */
#include "box/cgroup.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int cgroup_value(int dir_fd, const char *file, const char *key, uint64_t *n)
{
        char text[4096], *at = text, *end;
        _cleanup_close_ int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

        if (len <= 0)
                return -1;
        text[len] = '\0';
        for (size_t key_len = key ? strlen(key) : 0; key_len; at++) {
                if (strncmp(at, key, key_len) == 0 && at[key_len] == ' ') {
                        at += key_len + 1;
                        break;
                }
                at = strchr(at, '\n');
                if (!at)
                        return -1;
        }
        if (!isdigit((unsigned char)*at))
                return -1;
        *n = strtoull(at, &end, 10);
        return 0;
}

int cgroup_put(int fd, const char *file, uint64_t v)
{
        char text[32];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
        return fdio_put(fd, file, text);
}

int cgroup_procs(int dir_fd, pid_t out[CGROUP_BATCH])
{
        char text[CGROUP_BATCH * 8], *at = text, *end; /* a pid has at most seven digits */
        _cleanup_close_ int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
        ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        int n = 0;

        if (len <= 0)
                return 0;
        text[len] = '\0';
        for (char *line; n < CGROUP_BATCH && (line = strchr(at, '\n')); at = line + 1)
                out[n++] = (pid_t)strtol(at, &end, 10);
        return n;
}

/* One try of make, open, lock; -1 with EEXIST when somebody has that name, with EAGAIN when a
 * sweeping gc deleted the group before we held the lock: then the descriptor names a dead
 * directory. */
static int open_once(const char *dir)
{
        _cleanup_close_ int fd = -1;
        struct stat here, there;

        if (mkdir(dir, 0755) < 0)
                return -1;
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_SH) == 0 && stat(dir, &there) == 0 && fstat(fd, &here) == 0 &&
            here.st_ino == there.st_ino)
                return take_fd(&fd);
        if (errno == ENOENT || fd >= 0)
                errno = EAGAIN;
        return -1;
}

int cgroup_open(struct box_cgroup *cg, int slot, const char *parent, const char *id)
{
        char *dir = cg->dir[slot];
        const size_t len = sizeof(cg->dir[slot]);

        /* A group of that name may belong to a box of another state directory: never share it. */
        for (int i = 1; i < 100 && cg->fd[slot] < 0; i++) {
                int n = snprintf(dir, len, "%s/" CGROUP_PREFIX "%s", parent, id);
                if (i > 1)
                        n += snprintf(dir + n, (size_t)n < len ? len - (size_t)n : 0, ".%d", i);
                if (n < 0 || (size_t)n >= len) {
                        errno = ENAMETOOLONG;
                        break;
                }
                cg->fd[slot] = open_once(dir);
                if (cg->fd[slot] < 0 && errno != EEXIST && errno != EAGAIN)
                        break;
        }
        if (cg->fd[slot] < 0)
                dir[0] = '\0';
        return cg->fd[slot] < 0 ? -1 : 0;
}

static bool is_good_id(const char *id)
{
        size_t len =
                strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

        return len > 0 && len <= BOX_CGROUP_ID_MAX && id[len] == '\0' && id[0] != '.';
}

/* The sentence for explain, ps and doctor. */
static void why_made(struct box_cgroup *cg, unsigned asked, const char *reason)
{
        const char *version = cg->kind == BOX_CGROUP_V2 ? "v2" : "v1";
        char held[32], missing[32];

        if (!asked)
                snprintf(cg->why, sizeof(cg->why), "No limit was asked for; cgroup %s counts.",
                         version);
        else if (cg->has == asked)
                snprintf(cg->why, sizeof(cg->why), "cgroup %s holds the limits of %s.", version,
                         cgroup_names(asked, held));
        else
                snprintf(cg->why, sizeof(cg->why),
                         "cgroup %s holds %s%s; %s not limited, because %.100s.", version,
                         cg->has ? "the limits of " : "none of the limits",
                         cgroup_names(cg->has, held), cgroup_names(asked & ~cg->has, missing),
                         reason[0] ? reason : "that controller is not delegated to us");
}

int box_cgroup_make(struct box_cgroup *cg, const char *box_id, const struct box_limits *limits,
                    struct err *err)
{
        unsigned asked = cgroup_asked(limits);
        struct cgroup_map map;
        char why[256] = "";
        int made = 0;

        memset(cg, 0, sizeof(*cg));
        for (int i = 0; i < BOX_CTL_N; i++)
                cg->fd[i] = -1;
        if (!is_good_id(box_id))
                return err_set(err, E_INPUT, "\"%.80s\" cannot be the name of a box's cgroup",
                               box_id);
        cgroup_find(&map);
        if (map.on_v1 & CGROUP_CORE)
                made = cgroup_v1_make(cg, &map, box_id, limits, why, err);
        else if (map.v2[0])
                made = cgroup_v2_make(cg, &map, box_id, limits, why, err);
        else
                snprintf(why, sizeof(why), "no cgroup filesystem is mounted");
        if (made < 0) {
                box_cgroup_remove(cg);
                return -1;
        }
        if (made)
                why_made(cg, asked, why);
        else
                snprintf(cg->why, sizeof(cg->why), "No cgroup holds the limits, because %.180s.",
                         why);
        return 0;
}

int box_cgroup_clone_fd(const struct box_cgroup *cg)
{
        return cg->kind == BOX_CGROUP_V2 ? cg->fd[0] : -1;
}

/* "0" to tasks is the calling thread itself, the one move that the kernel does without stopping all
 * forks of the machine. */
int box_cgroup_enter(struct box_cgroup *cg, struct err *err)
{
        cg->is_entered = cg->kind == BOX_CGROUP_V1;
        for (int i = 0; i < BOX_CTL_N && cg->is_entered; i++)
                if (cg->fd[i] >= 0 && fdio_put(cg->fd[i], "tasks", "0") < 0) {
                        err_sys(err, "step into %s", cg->dir[i]);
                        box_cgroup_leave(cg, NULL);
                        return -1;
                }
        return 0;
}

/* The way back is opened only now: pid 1 must not inherit a descriptor that leads out of its group.
 */
int box_cgroup_leave(struct box_cgroup *cg, struct err *err)
{
        char path[BOX_CGROUP_PATH_MAX + 8];
        int result = 0;

        for (int i = 0; i < BOX_CTL_N && cg->is_entered; i++) {
                snprintf(path, sizeof(path), "%s/tasks", cg->home[i]);
                if (cg->fd[i] >= 0 && fdio_put(AT_FDCWD, path, "0") < 0)
                        result = err_sys(err, "step back into %s", cg->home[i]);
        }
        return result;
}

void box_cgroup_read(const struct box_cgroup *cg, struct box_usage *u)
{
        memset(u, 0, sizeof(*u));
        if (cg->kind == BOX_CGROUP_V2)
                cgroup_v2_read(cg, u);
        if (cg->kind == BOX_CGROUP_V1)
                cgroup_v1_read(cg, u);
}
