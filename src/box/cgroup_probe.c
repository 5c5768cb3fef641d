/* cgroup_probe.c - what this machine's cgroups can hold for a box, as a sentence with its cure.
 *
 * Called by doctor and explain. Does not guess: a child makes a real group with small limits and
 * removes it, because making one may move the maker into a scope of its own. */
#include "base/cleanup.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* What holds without a group. */
#define UNTIL "Until then ostiary itself watches memory, and rlimits hold processes and files."

struct answer {
        enum box_cgroup_kind kind;
        unsigned has;
        char why[256];
};

static void answer_find(struct answer *a)
{
        const struct box_limits limits = {.memory = 64u << 20, .cpu_milli = 500, .pids = 64};
        struct box_cgroup cg;
        char id[32];

        snprintf(id, sizeof(id), "probe-%d", (int)getpid());
        if (box_cgroup_make(&cg, id, &limits, NULL) < 0) {
                snprintf(a->why, sizeof(a->why),
                         "No cgroup holds the limits, because the kernel refused them.");
                return;
        }
        a->kind = cg.kind;
        a->has = cg.has;
        memcpy(a->why, cg.why, sizeof(a->why));
        box_cgroup_remove(&cg);
}

/* Some kernels are started with the memory controller off; then nobody can have it. */
static bool is_memory_off(const struct cgroup_map *map)
{
        char path[BOX_CGROUP_PATH_MAX + 32];
        _cleanup_free_ char *text = NULL;

        snprintf(path, sizeof(path), "%.*s/cgroup.controllers", (int)map->v2_top, map->v2);
        text = fdio_read_file(AT_FDCWD, path, 4096, NULL);
        return text && !strstr(text, "memory");
}

/* What somebody with root would have to do. Only the nearest way is told. */
static const char *cure(const struct answer *a)
{
        struct cgroup_map map;
        struct statvfs fs;

        cgroup_find(&map);
        if (a->has == CGROUP_ALL)
                return "";
        if (a->kind == BOX_CGROUP_V2)
                return " To delegate cpu as well, put \"[Service]\" and \"Delegate=cpu memory "
                       "pids\" into /etc/systemd/system/user@.service.d/delegate.conf, run "
                       "systemctl daemon-reload, and log in again.";
        if (map.on_v1)
                return " Boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1 on the kernel "
                       "command line), or run ostiary as root. " UNTIL;
        if (!map.v2[0])
                return " Mount it: mount -t cgroup2 none /sys/fs/cgroup. " UNTIL;
        if (is_memory_off(&map))
                return " The kernel runs with the memory controller off: add cgroup_enable=memory "
                       "to its command line (and take cgroup_disable=memory away). " UNTIL;
        if (statvfs(map.v2, &fs) == 0 && (fs.f_flag & ST_RDONLY))
                return " That is how containers come: start this one with a writable "
                       "/sys/fs/cgroup "
                       "of its own (docker: --cgroupns=private and --privileged; podman: "
                       "--systemd=always). " UNTIL;
        if (access("/run/systemd/system", F_OK) == 0)
                return " Let your systemd user manager run (log in through a session, or "
                       "loginctl enable-linger USER as root); it can then give us a scope. " UNTIL;
        return " As root, make a group with a group below it, enable memory, pids and cpu for it, "
               "chown both with their cgroup.procs and cgroup.subtree_control to your user, and "
               "start ostiary in the lower one. " UNTIL;
}

int box_cgroup_probe(char *sentence, size_t len)
{
        struct answer a = {.why = "No cgroup holds the limits, because the probe did not finish."};
        int pipe_fd[2], status;
        pid_t pid;

        if (pipe2(pipe_fd, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
                snprintf(sentence, len, "cgroups were not probed: %s.", strerror(errno));
                return BOX_CGROUP_NONE;
        }
        if (pid == 0) {
                answer_find(&a);
                _exit(write(pipe_fd[1], &a, sizeof(a)) == sizeof(a) ? 0 : 1);
        }
        close(pipe_fd[1]);
        if (read(pipe_fd[0], &a, sizeof(a)) != sizeof(a))
                a.kind = BOX_CGROUP_NONE;
        close(pipe_fd[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        snprintf(sentence, len, "%s%s", a.why, cure(&a));
        return (int)a.kind;
}
