/* sup_watch_machine.c - what the machine itself says of its memory, in the kernel's own text: how much is
 * left, and how much is gone that may be anybody's. See sup_watch.h; called by sup_watch_share.c. */
#include "session/sup_watch.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

uint64_t watch_machine_setting(const char *path, uint64_t otherwise)
{
        char text[32] = "";
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
                return otherwise;
        return strtoull(text, NULL, 10);
}

/* What the machine has of each kind of memory, as it says it. */
struct machine_text {
        char text[8192];
};

static void machine_read(struct machine_text *m)
{
        _cleanup_close_ int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, m->text, sizeof m->text - 1);
        m->text[n > 0 ? n : 0] = 0;
}

/* machine_kind(m, name): of one kind, in bytes. */
static uint64_t machine_kind(const struct machine_text *m, const char *name)
{
        const char *at = strstr(m->text, name);
        return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static uint64_t machine_has(const char *name)
{
        struct machine_text m;
        machine_read(&m);
        return machine_kind(&m, name);
}

uint64_t watch_machine_shmem(void)
{
        return machine_has("\nShmem:");
}

uint64_t watch_machine_pages(void)
{
        static const char *const kinds[] = {
                "\nMemFree:", "\nBuffers:",     "\nCached:",     "\nSwapCached:", "\nAnonPages:",
                "\nSlab:",    "\nKernelStack:", "\nPageTables:", "\nPercpu:"};
        struct machine_text m;
        machine_read(&m);
        uint64_t all = machine_kind(&m, "MemTotal:"), known = 0;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                known += machine_kind(&m, kinds[i]);
        return all > known ? all - known : 0;
}

uint64_t watch_machine_others(void)
{
        _cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
        char line[8192], on[4096];
        uint64_t sum = 0, seen[64];
        size_t seen_n = 0;
        while (f && fgets(line, sizeof line, f)) {
                unsigned major, minor;
                struct statfs fs;
                if (!strstr(line, " - tmpfs ") ||
                    sscanf(line, "%*s %*s %u:%u %*s %4095s", &major, &minor, on) != 3)
                        continue;
                uint64_t dev = makedev(major, minor);
                bool is_new = seen_n < sizeof seen / sizeof *seen;
                for (size_t i = 0; i < seen_n; i++)
                        is_new &= seen[i] != dev;
                if (!is_new || statfs(on, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
                        continue;
                seen[seen_n++] = dev;
                sum += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
        }
        struct usage_eyes own = USAGE_BLIND;
        own.fd[MSG_WATCHED_SHM] = open("/proc/sysvipc/shm", O_RDONLY | O_CLOEXEC);
        sum += usage_sysv(&own);
        usage_close(&own);
        return sum;
}

uint64_t watch_machine_room(void)
{
        struct machine_text m;
        machine_read(&m);
        return machine_kind(&m, "\nMemAvailable:") + machine_kind(&m, "\nSwapFree:");
}

bool watch_machine_is_low(void)
{
        struct machine_text m;
        machine_read(&m);
        return machine_kind(&m, "\nMemAvailable:") < machine_kind(&m, "MemTotal:") / 16;
}
