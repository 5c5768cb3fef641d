/* nslimits.c - limits that hold without any cgroup: the user namespace's own counters, and rlimits.
 *
 * The counters forbid nested namespaces altogether (case 7): even a process that found a way to
 * call unshare gets ENOSPC. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Without a nested user namespace the other kinds cannot be had either. */
static const char *const none_of[] = {"max_user_namespaces"};

static int put_limit(int dir_fd, const char *name, uint64_t value, struct err *err)
{
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, value);
        if (fdio_put(dir_fd, name, text) < 0) {
                if (errno == ENOENT)
                        return 0; /* a kernel without that kind of namespace */
                return err_sys(err, "write /proc/sys/user/%s", name);
        }
        return 0;
}

int step_ns_limits(struct build *b, struct err *err)
{
        const struct box_limits *l = &b->plan->limits;
        if (box_weak(WEAK_USERNS_LIMITS))
                return 0;
        _cleanup_close_ int dir = open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return err_sys(err, "open /proc/sys/user");
        for (size_t i = 0; i < sizeof none_of / sizeof *none_of; i++)
                if (put_limit(dir, none_of[i], 0, err) < 0)
                        return -1;
        if (put_limit(dir, "max_inotify_instances", l->inotify_instances, err) < 0 ||
            put_limit(dir, "max_inotify_watches", l->inotify_watches, err) < 0 ||
            put_limit(dir, "max_fanotify_groups", 0, err) < 0)
                return -1;

        char back[24] = "";
        _cleanup_close_ int fd = openat(dir, none_of[0], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, back, sizeof back - 1) < 0 || strcmp(back, "0\n") != 0)
                return err_set(err, E_MACHINE, "nested user namespaces could not be forbidden");
        return 0;
}

static int set_limit(int which, const char *name, rlim_t value, struct err *err)
{
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)which, &now) < 0)
                return err_sys(err, "read the %s limit", name);
        if (value > now.rlim_max)
                value = now.rlim_max; /* never more than the caller has */
        struct rlimit want = {.rlim_cur = value, .rlim_max = value};
        if (setrlimit((__rlimit_resource_t)which, &want) < 0)
                return err_sys(err, "set the %s limit", name);
        return 0;
}

int step_rlimits(struct build *b, struct err *err)
{
        const struct box_limits *l = &b->plan->limits;
        if (box_weak(WEAK_RLIMITS))
                return 0;
        if (set_limit(RLIMIT_CORE, "core size", 0, err) < 0) /* case 21 */
                return -1;
        /* Where its owner may have real-time priority (audio), a box would stop the machine. */
        if (set_limit(RLIMIT_RTPRIO, "real-time priority", 0, err) < 0 ||
            set_limit(RLIMIT_NICE, "priority", 0, err) < 0)
                return -1;
        /* Open files are bounded where a command begins (spawn.c): a low limit would be held
         * against pid 1 when it passes descriptors on (base/openfiles.h). */
        /* Counted per user namespace since Linux 5.14, so other work of the same user does not
         * count. It stands also where a cgroup counts: two walls cost nothing. */
        if (l->pids && set_limit(RLIMIT_NPROC, "processes", l->pids, err) < 0)
                return -1;
        /* No limit of data or address space, also where no group holds the memory: sanitizers, Go,
         * Java and V8 reserve terabytes and touch little. The supervisor adds up what is touched. */
        /* The kernel adds these up over the user's processes and namespaces: a share of each. */
        if ((l->messages && set_limit(RLIMIT_MSGQUEUE, "message queues", l->messages, err) < 0) ||
            (l->signals && set_limit(RLIMIT_SIGPENDING, "pending signals", l->signals, err) < 0) ||
            (l->locked && set_limit(RLIMIT_MEMLOCK, "locked memory", l->locked, err) < 0))
                return -1;
        return 0;
}
