/* idmap.c - see idmap.h. Runs in the supervisor, as root; the box's process only attaches what it
 * is given. */
#include "box/idmap.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/plan.h"
#include "box/submounts.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* map_namespace(on_disk_uid, on_disk_gid, plan, err): a user namespace that exists only to carry
 * the map "on disk -> high"; returned as a descriptor. The process that made it is gone again. */
static int map_namespace(uid_t uid, gid_t gid, const struct box_plan *p, struct err *err)
{
        int hold[2];
        if (pipe2(hold, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        _cleanup_close_ int wait_fd = hold[0];
        _cleanup_close_ int release_fd = hold[1];
        pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
        if (pid < 0)
                return err_sys(err, "make a user namespace for the id map");
        if (pid == 0) {
                char c;
                close(release_fd);
                while (read(wait_fd, &c, 1) < 0 && errno == EINTR)
                        ;
                _exit(0);
        }
        char path[64], line[64];
        int ns = -1;
        snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
        snprintf(line, sizeof line, "%u %u 1\n", uid, p->kuid);
        int r = fdio_put(AT_FDCWD, path, line);
        snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
        snprintf(line, sizeof line, "%u %u 1\n", gid, p->kgid);
        r = r < 0 ? r : fdio_put(AT_FDCWD, path, line);
        snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
        if (r == 0)
                ns = open(path, O_RDONLY | O_CLOEXEC);
        if (ns < 0)
                err_sys(err, "set up the id map");
        close_fd(&release_fd);
        waitpid(pid, NULL, 0);
        return ns;
}

/* as_box(mnt, uid, gid, is_recursive, plan, path, err): the mount shows what ${uid} and ${gid} own
 * on the disk as the box's. */
static int as_box(int mnt, uid_t uid, gid_t gid, bool is_recursive, const struct box_plan *p,
                  const char *path, struct err *err)
{
        if (box_weak(WEAK_HIGHUID) || (uid == p->kuid && gid == p->kgid))
                return 0;
        _cleanup_close_ int ns = map_namespace(uid, gid, p, err);
        if (ns < 0)
                return -1;
        struct mount_attr a = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)ns};
        if (mount_setattr(mnt, "", AT_EMPTY_PATH | (is_recursive ? AT_RECURSIVE : 0), &a,
                          sizeof a) == 0)
                return 0;
        err_sys(err, "map the owner of %s to the box's id", path);
        return err_hint(err, "its filesystem does not know idmapped mounts; run ostiary as an "
                             "ordinary user instead");
}

static int idmapped(const char *path, bool is_recursive, const struct box_plan *p, struct err *err)
{
        _cleanup_close_ int source = mnt_source(path, err);
        if (source < 0)
                return -1;
        _cleanup_close_ int mnt = mnt_clone(source, "", is_recursive, 0, err);
        struct stat st;
        if (mnt < 0)
                return -1;
        if (fstat(mnt, &st) < 0)
                return err_sys(err, "look at %s", path);
        if (as_box(mnt, st.st_uid, st.st_gid, is_recursive, p, path, err) < 0)
                return -1;
        return take_fd(&mnt);
}

/* layer(path, plan, err): a directory of ours, written by boxes; on the disk all have one owner. */
static int layer(const char *path, const struct box_plan *p, struct err *err)
{
        _cleanup_close_ int mnt = mnt_clone(AT_FDCWD, path, false, 0, err);
        if (mnt < 0 || as_box(mnt, p->disk_uid, p->disk_gid, false, p, path, err) < 0)
                return -1;
        return take_fd(&mnt);
}

/* copied(path, plan, err): a detached copy as it is; a file of ours that was laid there for the box,
 * and may be for nobody else to read, shows as the box's. */
static int copied(const char *path, const struct box_plan *p, struct err *err)
{
        struct stat st;
        _cleanup_close_ int source = mnt_source(path, err);
        if (source < 0)
                return -1;
        _cleanup_close_ int mnt = mnt_clone(source, "", false, 0, err);
        if (mnt < 0)
                return -1;
        if (fstat(mnt, &st) < 0)
                return err_sys(err, "look at %s", path);
        bool is_ours = st.st_uid == p->disk_uid && st.st_gid == p->disk_gid;
        if (is_ours && as_box(mnt, p->disk_uid, p->disk_gid, false, p, path, err) < 0)
                return -1;
        return take_fd(&mnt);
}

/* frozen(m, plan, err): what is frozen is a layer as well. Ends with -1; NULL on failure. */
static int *frozen(const struct box_mount *m, const struct box_plan *p, struct err *err)
{
        int *v = malloc((m->lowers.n + 1) * sizeof *v);
        if (!v) {
                err_set(err, E_SYSTEM, "out of memory");
                return NULL;
        }
        for (size_t i = 0; i < m->lowers.n; i++) {
                v[i] = layer(m->lowers.v[i], p, err);
                v[i + 1] = -1;
                if (v[i] >= 0)
                        continue;
                err_add(err, "prepare %s", m->lowers.v[i]);
                while (i-- > 0)
                        close(v[i]);
                free(v);
                return NULL;
        }
        v[m->lowers.n] = -1;
        return v;
}

int idmap_sources(const struct box_plan *p, struct idmap_fds *fds, struct err *err)
{
        fds->n = (unsigned)p->mounts_n;
        fds->sources = malloc((fds->n + 1) * sizeof(int));
        fds->layers = malloc((fds->n + 1) * sizeof(int));
        fds->lowers = calloc(fds->n + 1, sizeof(int *));
        if (!fds->sources || !fds->layers || !fds->lowers) {
                fds->n = 0;
                idmap_free(fds);
                return err_set(err, E_SYSTEM, "out of memory");
        }
        for (unsigned i = 0; i < fds->n; i++)
                fds->sources[i] = fds->layers[i] = -1;

        for (unsigned i = 0; i < fds->n; i++) {
                const struct box_mount *m = &p->mounts[i];
                bool is_live = m->kind == BOX_MOUNT_LIVE || m->kind == BOX_MOUNT_SHIELD;
                bool is_mapped = m->kind == BOX_MOUNT_COW || is_live;
                /* Our copy would leave such mounts out, without a word. */
                if (m->kind == BOX_MOUNT_COW && submounts_below(m->source)) {
                        idmap_free(fds);
                        return err_set(err, E_INPUT, "%s %s", m->source, SUBMOUNTS_WORDS);
                }
                if (m->source)
                        fds->sources[i] = is_mapped ? idmapped(m->source, is_live, p, err)
                                          : m->kind == BOX_MOUNT_HOME ? layer(m->source, p, err)
                                                                      : copied(m->source, p, err);
                if (m->source && fds->sources[i] < 0) {
                        idmap_free(fds);
                        return err_add(err, "prepare %s", m->source);
                }
                if (m->layer && (fds->layers[i] = layer(m->layer, p, err)) < 0) {
                        idmap_free(fds);
                        return err_add(err, "prepare %s", m->layer);
                }
                if (m->lowers.n && !(fds->lowers[i] = frozen(m, p, err))) {
                        idmap_free(fds);
                        return -1;
                }
        }
        return 0;
}

void idmap_free(struct idmap_fds *fds)
{
        for (unsigned i = 0; i < fds->n; i++) {
                close_fd(&fds->sources[i]);
                close_fd(&fds->layers[i]);
                for (int *v = fds->lowers[i]; v && *v >= 0; v++)
                        close(*v);
                free(fds->lowers[i]);
        }
        free(fds->sources);
        free(fds->layers);
        free(fds->lowers);
        *fds = (struct idmap_fds){0};
}
