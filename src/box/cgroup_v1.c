/* cgroup_v1.c - the groups of a box where cgroup v1 owns the controllers: one per hierarchy.
 *
 * Called by cgroup.c, in practice as root: v1 knows no safe delegation. A group is made below our
 * own in each hierarchy that a limit needs, so whatever limits us limits the box as well. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int memory_set(int fd, uint64_t bytes, struct err *err)
{
        if (cgroup_put(fd, "memory.limit_in_bytes", bytes) < 0)
                return err_sys(err, "set memory.limit_in_bytes of the box");
        /* Memory and swap together; may not be below the former, hence the order. Absent without
         * swap accounting. */
        if (cgroup_put(fd, "memory.memsw.limit_in_bytes", bytes) < 0 && errno != ENOENT &&
            errno != EOPNOTSUPP)
                return err_sys(err, "set memory.memsw.limit_in_bytes of the box");
        return 0;
}

static int cpu_set(int fd, uint64_t milli, struct err *err)
{
        if (milli < 10)
                milli = 10; /* the kernel's least is one millisecond */
        if (cgroup_put(fd, "cpu.cfs_quota_us", milli * 100) == 0)
                return 0;
        /* v1 refuses a quota above the parent's: then the parent's, which is tighter, holds. */
        return errno == EINVAL ? 0 : err_sys(err, "set cpu.cfs_quota_us of the box");
}

static int limit_set(int c, int fd, const struct box_limits *l, struct err *err)
{
        switch ((enum box_cgroup_ctl)c) {
        case BOX_CTL_MEMORY:
                return memory_set(fd, l->memory, err);
        case BOX_CTL_PIDS:
                return cgroup_put(fd, "pids.max", l->pids) < 0
                               ? err_sys(err, "set pids.max of the box")
                               : 0;
        case BOX_CTL_CPU:
                return cpu_set(fd, l->cpu_milli, err);
        case BOX_CTL_N:
                break;
        }
        return 0;
}

/* Controllers mounted together have one tree: a second group in it would take pid 1 out of the
 * first. */
static int share(struct box_cgroup *cg, int c, const struct cgroup_map *map)
{
        for (int k = 0; k < c; k++)
                if (cg->fd[k] >= 0 && strcmp(cg->home[k], map->v1[c]) == 0) {
                        memcpy(cg->dir[c], cg->dir[k], sizeof(cg->dir[c]));
                        cg->fd[c] = fcntl(cg->fd[k], F_DUPFD_CLOEXEC, 3);
                        return cg->fd[c] < 0 ? -1 : 0;
                }
        return -1;
}

int cgroup_v1_make(struct box_cgroup *cg, const struct cgroup_map *map, const char *id,
                   const struct box_limits *limits, char why[256], struct err *err)
{
        unsigned asked = cgroup_asked(limits);

        /* A box without limits still gets a group, so that all of it can be found and killed. */
        for (int c = 0; c < BOX_CTL_N; c++) {
                if (!(asked & CGROUP_BIT(c)) && (asked || c != BOX_CTL_PIDS))
                        continue;
                if (geteuid() != 0) {
                        snprintf(why, 256, "on cgroup v1 only root can make groups");
                        continue;
                }
                if (!map->v1[c][0]) {
                        snprintf(why, 256, "the %s controller is not mounted", cgroup_ctl_name[c]);
                        continue;
                }
                if (access(map->v1[c], W_OK | X_OK) < 0 ||
                    (share(cg, c, map) < 0 && cgroup_open(cg, c, map->v1[c], id) < 0)) {
                        snprintf(why, 256, "no group can be made in %.120s", map->v1[c]);
                        continue;
                }
                cg->kind = BOX_CGROUP_V1;
                memcpy(cg->home[c], map->v1[c], sizeof(cg->home[c]));
                if (!(asked & CGROUP_BIT(c)))
                        continue;
                if (limit_set(c, cg->fd[c], limits, err) < 0)
                        return -1;
                cg->has |= CGROUP_BIT(c);
        }
        return cg->kind == BOX_CGROUP_V1;
}

void cgroup_v1_read(const struct box_cgroup *cg, struct box_usage *u)
{
        int memory = cg->fd[BOX_CTL_MEMORY], pids = cg->fd[BOX_CTL_PIDS], cpu = cg->fd[BOX_CTL_CPU];
        uint64_t ns = 0;

        if (memory >= 0) {
                cgroup_value(memory, "memory.usage_in_bytes", NULL, &u->memory);
                cgroup_value(memory, "memory.max_usage_in_bytes", NULL, &u->memory_peak);
                cgroup_value(memory, "memory.oom_control", "oom_kill", &u->oom_kills);
        }
        if (pids >= 0) {
                cgroup_value(pids, "pids.current", NULL, &u->pids);
                cgroup_value(pids, "pids.events", "max", &u->pids_refused);
        }
        if (cpu >= 0) {
                cgroup_value(cpu, "cpu.stat", "nr_throttled", &u->throttled);
                /* There only where cpu and cpuacct share a mount, as on most machines. */
                if (cgroup_value(cpu, "cpuacct.usage", NULL, &ns) == 0)
                        u->cpu_us = ns / 1000;
        }
}
