/* explain.c - the facts of a plan that text and JSON share. See explain.h. */
#include "cli/explain.h"

#include "base/str.h"
#include "box/cgroup.h"
#include "box/plan.h"

#include <inttypes.h>
#include <stdio.h>

const struct explain_namespace explain_namespaces[] = {
        {"user", "one user id; no right outside the box; no further namespaces"},
        {"pid", "its own process tree: no host process is seen or signalled"},
        {"mount", "its own files, listed below; the host's mounts are not there"},
        {"net", "a loopback of its own and one link, to the door: nothing else is there to reach"},
        {"ipc", "no shared memory or message queue of the host"},
        {"uts", "its own host name"},
        {"cgroup", "its control group is the root of what it sees"},
        {0},
};

const struct explain_namespace explain_walls[] = {
        {"capabilities", "none, in any set"},
        {"no_new_privs", "no setuid program gains anything"},
        {"seccomp", "an allow-list of system calls (explain --seccomp prints it)"},
        {"landlock", "a second opinion on files, sockets and signals, as far as the kernel has it"},
        {"nosuid, nodev", "on every mount; device files are only the six of /dev and ptys"},
        {"descriptors", "none of yours is inherited but the three of the command"},
        {"keyring", "a new, empty session keyring"},
        {"terminal", "a pty of its own; no character can be typed into yours"},
        {0},
};

const char *explain_mode(const struct box_mount *m)
{
        switch (m->kind) {
        case BOX_MOUNT_TREE:
                return "read-only";
        case BOX_MOUNT_COW:
                return "copy-on-write";
        case BOX_MOUNT_LIVE:
                return "LIVE";
        case BOX_MOUNT_HOME:
                return "private";
        case BOX_MOUNT_FILE:
                return "read-only file";
        case BOX_MOUNT_SHIELD:
                return "protected";
        }
        return "?";
}

static void bytes(char to[32], uint64_t n)
{
        char words[16];
        snprintf(to, 32, "%s", n ? str_size_words(n, words) : "none");
}

static void count(char to[32], uint64_t n, const char *unit)
{
        if (n)
                snprintf(to, 32, "%" PRIu64 "%s", n, unit);
        else
                snprintf(to, 32, "none");
}

void explain_limits(const struct box_limits *l, int kind, struct explain_limit out[EXPLAIN_LIMITS])
{
        const char *group = kind == BOX_CGROUP_V2   ? "control group (v2)"
                            : kind == BOX_CGROUP_V1 ? "control group (v1)"
                                                    : NULL;
        size_t n = 0;
        out[n] = (struct explain_limit){.name = "memory",
                                        .by = group ? group : "the supervisor, which watches it"};
        bytes(out[n++].value, l->memory);
        out[n] = (struct explain_limit){.name = "cpu",
                                        .by = group ? group : "nothing here: no control group"};
        if (l->cpu_milli)
                snprintf(out[n].value, 32, "%" PRIu64 ".%02" PRIu64 " cores", l->cpu_milli / 1000,
                         l->cpu_milli % 1000 / 10);
        else
                snprintf(out[n].value, 32, "none");
        n++;
        out[n] = (struct explain_limit){.name = "pids", .by = group ? group : "rlimit"};
        count(out[n++].value, l->pids, "");
        out[n] = (struct explain_limit){.name = "files", .by = "rlimit, per process"};
        count(out[n++].value, l->files, "");
        out[n] = (struct explain_limit){.name = "disk", .by = "supervisor, as it grows"};
        bytes(out[n++].value, l->disk);
        out[n] = (struct explain_limit){.name = "time", .by = "supervisor"};
        count(out[n++].value, l->time_s, " s");
        out[n] = (struct explain_limit){.name = "inotify watches", .by = "user namespace"};
        count(out[n++].value, l->inotify_watches, "");
        out[n] = (struct explain_limit){.name = "inotify instances", .by = "user namespace"};
        count(out[n++].value, l->inotify_instances, "");
        out[n] = (struct explain_limit){.name = "door memory",
                                        .by = "the door's own account, and rlimit behind it"};
        bytes(out[n++].value, l->door_memory);
}
