/* limit.c - the resource group: how much of the machine one box can take.
 *
 * Each runs in a box of its own with small limits (LIMIT_PIDS, LIMIT_MEMORY, ...), and stops by
 * itself far below what could hurt a machine without any limit: 300 processes, 256 MiB, 8,000
 * descriptors, 400 terminals, 192 MiB of files. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void case_fork_bomb(struct outcome *o)
{
        enum { MOST = 300 };
        static pid_t pids[MOST];
        int n = 0, err = 0;

        for (; n < MOST; n++) {
                pids[n] = fork();
                if (pids[n] == 0) {
                        pause();
                        _exit(0);
                }
                if (pids[n] < 0) {
                        err = errno;
                        break;
                }
        }
        for (int i = 0; i < n; i++)
                kill(pids[i], SIGKILL);
        while (waitpid(-1, NULL, 0) > 0)
                ;
        if (n >= MOST)
                out_escaped(o, "%d processes were started, no limit was met", n);
        out_blocked(o, err, "the limit of processes was met after %d", n);
}

static void *thread_wait(void *arg)
{
        (void)arg;
        pause();
        return NULL;
}

static void case_thread_bomb(struct outcome *o)
{
        enum { MOST = 300 };
        pthread_attr_t attr;
        int n = 0, err = 0;

        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, 65536);
        for (; n < MOST; n++) {
                pthread_t t;
                err = pthread_create(&t, &attr, thread_wait, NULL);
                if (err)
                        break;
        }
        if (n >= MOST)
                out_escaped(o, "%d threads were started, no limit was met", n);
        out_blocked(o, err, "the limit of threads was met after %d", n);
}

/* touch(mebibytes): really use that much private memory. Returns how much was had. */
static int touch(int mib)
{
        for (int i = 0; i < mib; i++) {
                char *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
                if (at == MAP_FAILED)
                        return i;
                memset(at, i | 1, 1 << 20);
        }
        return mib;
}

/* Without a control group memory is watched: a box that is over its limit is ended when the
 * supervisor looks, and a busy machine may let it look late. */
enum { HOLD_S = 3 };

static void case_memory(struct outcome *o)
{
        int had = touch(112);

        if (had >= 112)
                sleep(HOLD_S);
        if (had >= 112)
                out_escaped(o, "%d MiB of memory were taken, no limit was met", had);
        out_blocked(o, errno, "the limit of memory was met after %d MiB", had);
}

static int touch_some(void *arg)
{
        int mib = *(int *)arg;
        if (touch(mib) < mib)
                return 1;
        sleep(HOLD_S);
        return 42;
}

/* Many processes, each below the limit of one: the sum is what the machine has to carry. */
static void case_memory_sum(struct outcome *o)
{
        enum { CHILDREN = 6 };
        int mib = 40, had = 0, status;
        pid_t pids[CHILDREN];

        for (int i = 0; i < CHILDREN; i++) {
                pids[i] = fork();
                if (pids[i] == 0)
                        _exit(touch_some(&mib));
        }
        for (int i = 0; i < CHILDREN; i++)
                if (pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 42)
                        had += mib;
        if (had >= CHILDREN * mib)
                out_escaped(o, "%d MiB were taken by several processes together", had);
        out_blocked_why(o, "LIMIT", "only %d MiB were had together", had);
}

static void case_descriptors(struct outcome *o)
{
        enum { MOST = 8000 };
        struct rlimit all;
        int n = 0;

        if (getrlimit(RLIMIT_NOFILE, &all) == 0) {
                all.rlim_cur = all.rlim_max;
                setrlimit(RLIMIT_NOFILE, &all);
        }
        while (n < MOST && open("/dev/null", O_RDONLY) >= 0)
                n++;
        if (n >= MOST)
                out_escaped(o, "%d descriptors were opened, no limit was met", n);
        out_blocked(o, errno, "the limit of descriptors was met after %d", n);
}

/* Watches live in kernel memory that no process limit counts. */
static void case_inotify(struct outcome *o)
{
        enum { MOST = 600 };
        char dir[64];
        int n = 0, fd = inotify_init1(IN_CLOEXEC);

        for (; fd >= 0 && n < MOST; n++) {
                snprintf(dir, sizeof dir, "/tmp/attack-watch-%d", n);
                mkdir(dir, 0700);
                if (inotify_add_watch(fd, dir, IN_CREATE) < 0)
                        break;
        }
        int err = errno;
        for (int i = 0; i <= n; i++) {
                snprintf(dir, sizeof dir, "/tmp/attack-watch-%d", i);
                rmdir(dir);
        }
        if (n >= MOST)
                out_escaped(o, "%d directories are watched, no limit was met", n);
        out_blocked(o, err, "the limit of watches was met after %d", n);
}

static void case_ptys(struct outcome *o)
{
        enum { MOST = 400 };
        int n = 0;

        while (n < MOST && open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0)
                n++;
        if (n == 0) {
                out_na(o, "no terminal can be made (%s)", errno_name(errno));
                return;
        }
        if (n >= MOST)
                out_escaped(o, "%d terminals were opened, no limit was met", n);
        out_blocked(o, errno, "the limit of terminals was met after %d", n);
}

/* fill(dir, mib, is_kept): write a file there until it is full. Returns the mebibytes that went in.
 */
static int fill(const char *dir, int mib, bool is_kept)
{
        static char block[1 << 20];
        char path[256];
        int n = 0;

        snprintf(path, sizeof path, "%s/attack-fill-%d", dir, (int)getpid());
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
                return -1;
        memset(block, 'x', sizeof block);
        while (n < mib && write(fd, block, sizeof block) == (ssize_t)sizeof block)
                n++;
        int err = errno;
        close(fd);
        if (!is_kept)
                unlink(path);
        errno = err;
        return n;
}

static void case_tmpfs(struct outcome *o)
{
        static const char *const dirs[] = {"/tmp", "/dev/shm", "/run", "/var/tmp"};
        int err = 0, most = 0;

        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                int n = fill(dirs[i], 192, false);
                if (n >= 192)
                        out_escaped(o, "%d MiB went into %s, no limit was met", n, dirs[i]);
                if (n > most) {
                        most = n;
                        err = errno;
                }
        }
        out_blocked(o, err, "file systems in memory are full after %d MiB", most);
}

/* The workspace lies on the host's disk, as a layer of the box; it is watched from outside. */
static void case_disk(struct outcome *o)
{
        int n = fill(".", 64, true);

        /* as much as the watch may need to come round */
        sleep(5);
        if (n >= 64)
                out_escaped(o, "%d MiB went to the disk, no limit was met", n);
        out_blocked(o, errno, "the disk is full after %d MiB", n);
}

/* The same for inodes: small files cost kernel memory. */
static void case_tmpfs_inodes(struct outcome *o)
{
        enum { MOST = 60000 };
        char path[64];
        int n = 0;

        mkdir("/tmp/attack-inodes", 0700);
        for (; n < MOST; n++) {
                snprintf(path, sizeof path, "/tmp/attack-inodes/%d", n);
                if (mknod(path, S_IFREG | 0600, 0) < 0)
                        break;
        }
        int err = errno;
        for (int i = 0; i < n; i++) {
                snprintf(path, sizeof path, "/tmp/attack-inodes/%d", i);
                unlink(path);
        }
        if (n >= MOST)
                out_escaped(o, "%d files were made in /tmp, no limit was met", n);
        out_blocked(o, err, "the limit of files in /tmp was met after %d", n);
}

const struct attack_case limit_cases[] = {
        {"R1", "fork bomb", STARVE, REAL, IN_LIMIT, case_fork_bomb, "rlimits", "rlimits+cgroup"},
        {"R2", "thread bomb", STARVE, REAL, IN_LIMIT, case_thread_bomb, "rlimits",
         "rlimits+cgroup"},
        {"R3", "memory of one process", STARVE, REAL, IN_LIMIT, case_memory, "rlimits", "cgroup"},
        {"R3s", "memory of many processes together", STARVE, REAL, IN_LIMIT, case_memory_sum,
         "rlimits", "cgroup"},
        {"R4", "descriptors", STARVE, REAL, IN_LIMIT, case_descriptors, "rlimits", "rlimits"},
        {"R5", "inotify watches", STARVE, REAL, IN_LIMIT, case_inotify, "userns-limits",
         "userns-limits"},
        {"R6", "terminals", STARVE, REAL, IN_LIMIT, case_ptys, "shape", "shape"},
        {"R7", "bytes in memory file systems", STARVE, REAL, IN_LIMIT, case_tmpfs, "shape",
         "shape"},
        {"R9", "bytes on the disk", STARVE, REAL, IN_LIMIT, case_disk, "shape", "shape"},
        {"R8", "inodes in memory file systems", STARVE, REAL, IN_LIMIT, case_tmpfs_inodes, "shape",
         "shape"},
        {0},
};
