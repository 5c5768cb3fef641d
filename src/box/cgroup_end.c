/* cgroup_end.c - end a box's group: kill what is in it, delete it, sweep up what was left.
 *
 * Called by the supervisor when a box ends and by gc for supervisors that were killed. Must never
 * signal a process that is not in the group at that moment, nor delete a group somebody holds. */
#include "base/cleanup.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SWEEP_DEPTH 16

static void nap_ms(long ms)
{
        struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

        nanosleep(&t, NULL);
}

/* One round. A number read from a file may belong to somebody else by the time it is used, so take
 * a handle first and kill through it only what the group still lists afterwards. */
static int kill_round(int dir_fd)
{
        pid_t before[CGROUP_BATCH], after[CGROUP_BATCH];
        int handle[CGROUP_BATCH];
        int n = cgroup_procs(dir_fd, before), after_n;

        for (int i = 0; i < n; i++)
                handle[i] = (int)syscall(SYS_pidfd_open, before[i], 0);
        after_n = n ? cgroup_procs(dir_fd, after) : 0;
        for (int i = 0; i < n; i++) {
                for (int k = 0; k < after_n; k++)
                        if (after[k] == before[i] && handle[i] >= 0)
                                syscall(SYS_pidfd_send_signal, handle[i], SIGKILL, NULL, 0);
                if (handle[i] >= 0)
                        close(handle[i]);
        }
        return n;
}

int box_cgroup_kill(const struct box_cgroup *cg)
{
        if (cg->kind == BOX_CGROUP_NONE)
                return 0;
        if (cg->kind == BOX_CGROUP_V2 && fdio_put(cg->fd[0], "cgroup.kill", "1") == 0)
                return 0;
        for (int i = 0; i < BOX_CTL_N; i++) {
                if (cg->fd[i] < 0)
                        continue;
                for (int round = 0; round < 50; round++) {
                        if (kill_round(cg->fd[i]) == 0)
                                return 0;
                        nap_ms(1);
                }
                return -1;
        }
        return 0;
}

void box_cgroup_remove(struct box_cgroup *cg)
{
        long waited = 0, nap = 1;

        for (int i = 0; i < BOX_CTL_N; i++) {
                if (!cg->dir[i][0]) /* also true for a struct that is all zero */
                        continue;
                while (rmdir(cg->dir[i]) < 0 && errno == EBUSY && waited < 200) {
                        nap_ms(nap);
                        waited += nap;
                        nap = nap < 16 ? nap * 2 : nap;
                }
                close_fd(&cg->fd[i]);
                cg->dir[i][0] = '\0';
        }
        cg->kind = BOX_CGROUP_NONE;
        cg->has = 0;
}

struct sweep {
        int (*is_alive)(const char *, void *);
        void *ctx;
        int gone_n;
        int seen_n;
};

/* Delete ${name} in ${dir_fd} if it is ours and nobody's. The kernel itself refuses when a process
 * is in it; the lock says whether a supervisor still counts on it. */
static void sweep_one(struct sweep *s, int dir_fd, const char *name)
{
        const char *id = name + strlen(CGROUP_PREFIX);
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid())
                return;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0 || (s->is_alive && s->is_alive(id, s->ctx)))
                return;
        if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
                s->gone_n++;
}

static bool is_ours(const char *name)
{
        size_t len = strlen(name), scope = strlen(".scope");

        if (strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
                return false;
        return len < scope || strcmp(name + len - scope, ".scope") != 0; /* that one is systemd's */
}

/* Walk below ${fd}, which is consumed. Inner groups go before outer ones. */
static void sweep_below(struct sweep *s, int fd, int depth)
{
        _cleanup_closedir_ DIR *d = fdopendir(fd);
        struct dirent *e;

        if (!d) {
                close(fd);
                return;
        }
        while (depth < SWEEP_DEPTH && s->seen_n < 20000 && (e = readdir(d))) {
                if (e->d_type != DT_DIR || e->d_name[0] == '.')
                        continue;
                s->seen_n++;
                int sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub >= 0)
                        sweep_below(s, sub, depth + 1);
                if (is_ours(e->d_name))
                        sweep_one(s, fd, e->d_name);
        }
}

static void sweep_mount(struct sweep *s, const char *place, size_t top)
{
        char point[BOX_CGROUP_PATH_MAX];
        int fd;

        snprintf(point, sizeof(point), "%.*s", (int)top, place);
        fd = place[0] ? open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd >= 0)
                sweep_below(s, fd, 0);
}

int box_cgroup_sweep(int (*is_alive)(const char *box_id, void *ctx), void *ctx)
{
        struct sweep s = {.is_alive = is_alive, .ctx = ctx};
        struct cgroup_map map;

        cgroup_find(&map);
        sweep_mount(&s, map.v2, map.v2_top);
        for (int c = 0; c < BOX_CTL_N; c++)
                sweep_mount(&s, map.v1[c], map.v1_top[c]);
        return s.gone_n;
}
