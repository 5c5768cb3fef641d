/* cgroup_v2.c - one cgroup v2 group for a box, below a directory that was given to us.
 *
 * Called by cgroup.c. Looks from our own group upward for the nearest one that we may write to and
 * whose children can have the memory and pids controllers. The kernel allows controllers only below
 * a group without processes of its own, so the box is a sibling of our own group, or of a leaf that
 * we move into when nobody else stands there. Must never move processes that are not ours. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Which of our controllers does this list ("cpuset cpu io memory pids") name? */
static unsigned controllers(const char *dir, const char *file)
{
        char path[BOX_CGROUP_PATH_MAX + 32], *rest = NULL;
        _cleanup_free_ char *text = NULL;
        unsigned bits = 0;

        snprintf(path, sizeof(path), "%s/%s", dir, file);
        text = fdio_read_file(AT_FDCWD, path, 4096, NULL);
        for (char *w = text ? strtok_r(text, " \n", &rest) : NULL; w;
             w = strtok_r(NULL, " \n", &rest))
                for (int c = 0; c < BOX_CTL_N; c++)
                        if (strcmp(w, cgroup_ctl_name[c]) == 0)
                                bits |= CGROUP_BIT(c);
        return bits;
}

static bool may_write(const char *dir)
{
        char path[BOX_CGROUP_PATH_MAX + 32];

        snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
        return access(path, W_OK) == 0 && access(dir, W_OK | X_OK) == 0;
}

/* systemd marks what it gave away, so that its other groups can be told from those. Its user
 * managers do not mark scopes, but ours have a name; and the root of a manager is marked by the
 * manager above it without being free to use: there init.scope gives it away. */
static bool is_delegated(const char *dir)
{
        char path[BOX_CGROUP_PATH_MAX + 32], v[4] = "";
        const char *name = strrchr(dir, '/'), *dot = strrchr(dir, '.');

        if (name && dot && strcmp(dot, ".scope") == 0 &&
            strncmp(name + 1, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) == 0)
                return true;
        if (getxattr(dir, "user.delegate", v, sizeof(v)) != 1 &&
            getxattr(dir, "trusted.delegate", v, sizeof(v)) != 1)
                return false;
        snprintf(path, sizeof(path), "%s/init.scope", dir);
        return v[0] == '1' && access(path, F_OK) < 0;
}

static int enable(const char *dir, unsigned bits)
{
        char path[BOX_CGROUP_PATH_MAX + 32], words[64] = "";

        for (int c = 0; c < BOX_CTL_N; c++)
                if (bits & CGROUP_BIT(c))
                        snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s+%s",
                                 words[0] ? " " : "", cgroup_ctl_name[c]);
        snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
        return fdio_put(AT_FDCWD, path, words);
}

/* Step aside: when only we and our parent (the command line) stand in ${dir}, go into a leaf of it.
 * 0 when ${dir} is free of processes now. */
static int step_aside(const char *dir)
{
        _cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        pid_t here[CGROUP_BATCH];
        int n = fd < 0 ? 0 : cgroup_procs(fd, here);

        if (fd < 0)
                return -1;
        for (int i = 0; i < n; i++)
                if (here[i] != getpid() && here[i] != getppid())
                        return -1;
        if (mkdirat(fd, CGROUP_LEAF, 0755) < 0 && errno != EEXIST)
                return -1;
        for (int i = 0; i < n; i++)
                if (cgroup_put(fd, CGROUP_LEAF "/cgroup.procs", (uint64_t)here[i]) < 0)
                        return -1;
        return 0;
}

/* Can ${dir} be the parent of a box's group? Makes it so if that is all it takes, and if
 * ${may_step}, at the price of our stepping out of it. On success returns the controllers its
 * children have; 0 and a clause in ${why} otherwise. */
static unsigned usable(const char *dir, bool may_step, char why[256])
{
        /* Memory is asked for even when no limit needs it: the others can be enabled beside
         * processes of ours too, but turn the group into a thread root below which no box can be
         * born. Cpu is often not delegated, so it is optional. */
        const unsigned need = CGROUP_CORE;
        unsigned on, offered;
        char names[32];

        if (!may_write(dir)) {
                if (!why[0] && errno == EROFS)
                        snprintf(why, 256, "%.120s is mounted read-only", dir);
                else if (!why[0])
                        snprintf(why, 256, "%.120s is not delegated to uid %u", dir,
                                 (unsigned)geteuid());
                return 0;
        }
        on = controllers(dir, "cgroup.subtree_control");
        offered = controllers(dir, "cgroup.controllers");
        if (need & ~offered) {
                snprintf(why, 256, "%.120s was given no %s controller", dir,
                         cgroup_names(need & ~offered, names));
                return 0;
        }
        if (!(offered & ~on) || enable(dir, offered & ~on) == 0)
                return offered;
        if (errno == EBUSY && may_step && step_aside(dir) == 0 && enable(dir, offered & ~on) == 0)
                return offered;
        /* One that cannot be had (cpu, while real-time processes run) must not cost us the others.
         */
        if (!(need & ~on) || enable(dir, need & ~on) == 0)
                return controllers(dir, "cgroup.subtree_control");
        if (errno == EBUSY)
                snprintf(why, 256, "%.120s has processes of its own besides ours", dir);
        else
                snprintf(why, 256, "%.120s lets no controller be enabled", dir);
        return 0;
}

/* From our own group to the top of the mount; only when none will do, our own by stepping out of
 * it. Returns the controllers and leaves the place in ${dir}, or 0 with the reason. */
static unsigned pick(const struct cgroup_map *map, bool only_delegated, char *dir, char why[256])
{
        unsigned got = 0;
        char *slash = dir;

        snprintf(dir, BOX_CGROUP_PATH_MAX, "%s", map->v2);
        while (!got && slash) {
                if (!only_delegated || is_delegated(dir))
                        got = usable(dir, false, why);
                slash = strrchr(dir + map->v2_top, '/');
                if (!got && slash)
                        *slash = '\0';
        }
        if (got)
                return got;
        snprintf(dir, BOX_CGROUP_PATH_MAX, "%s", map->v2);
        return !only_delegated || is_delegated(dir) ? usable(dir, true, why) : 0;
}

static int limits_set(struct box_cgroup *cg, unsigned got, const struct box_limits *l,
                      struct err *err)
{
        unsigned hold = got & cgroup_asked(l);
        char text[48];

        if (hold & CGROUP_BIT(BOX_CTL_MEMORY)) {
                if (cgroup_put(cg->fd[0], "memory.max", l->memory) < 0)
                        return err_sys(err, "set memory.max of the box");
                /* Without this the limit is memory plus all swap. Absent without swap accounting.
                 */
                if (fdio_put(cg->fd[0], "memory.swap.max", "0") < 0 && errno != ENOENT)
                        return err_sys(err, "set memory.swap.max of the box");
        }
        if ((hold & CGROUP_BIT(BOX_CTL_PIDS)) && cgroup_put(cg->fd[0], "pids.max", l->pids) < 0)
                return err_sys(err, "set pids.max of the box");
        if (hold & CGROUP_BIT(BOX_CTL_CPU)) {
                uint64_t milli =
                        l->cpu_milli < 10 ? 10 : l->cpu_milli; /* the kernel's least is 1 ms */
                snprintf(text, sizeof(text), "%llu 100000", (unsigned long long)milli * 100);
                if (fdio_put(cg->fd[0], "cpu.max", text) < 0)
                        return err_sys(err, "set cpu.max of the box");
        }
        cg->has = hold;
        return 0;
}

int cgroup_v2_make(struct box_cgroup *cg, struct cgroup_map *map, const char *id,
                   const struct box_limits *limits, char why[256], struct err *err)
{
        unsigned asked = cgroup_asked(limits), got = 0;
        bool is_managed = cgroup_scope_exists();
        char dir[BOX_CGROUP_PATH_MAX];

        got = pick(map, is_managed, dir, why);
        if (!got && is_managed && asked) {
                bool is_in = cgroup_scope_enter(id, asked | CGROUP_CORE, why) == 0;
                if (is_in)
                        cgroup_find(map);
                /* Once in a scope of our own, only there: what lies above it is systemd's. */
                got = pick(map, is_in, dir, why);
        }
        if (!got)
                return 0;
        if (cgroup_open(cg, 0, dir, id) < 0) {
                snprintf(why, 256, "no group can be made in %.120s: %s", dir, strerror(errno));
                return 0;
        }
        cg->kind = BOX_CGROUP_V2;
        return limits_set(cg, got, limits, err) < 0 ? -1 : 1;
}

void cgroup_v2_read(const struct box_cgroup *cg, struct box_usage *u)
{
        int fd = cg->fd[0];

        cgroup_value(fd, "memory.current", NULL, &u->memory);
        cgroup_value(fd, "memory.peak", NULL, &u->memory_peak);
        cgroup_value(fd, "memory.events", "oom_kill", &u->oom_kills);
        cgroup_value(fd, "pids.current", NULL, &u->pids);
        cgroup_value(fd, "pids.events", "max", &u->pids_refused);
        cgroup_value(fd, "cpu.stat", "usage_usec", &u->cpu_us);
        cgroup_value(fd, "cpu.stat", "nr_throttled", &u->throttled);
}
