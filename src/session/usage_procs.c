/* usage_procs.c - the processes of a box and what they hold open, by its own /proc: every process
 * is listed there, so it does not matter who forked whom. What several processes hold is counted
 * once. */
#include "session/usage.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 300 }; /* of processor time: for more descriptors than any box may have */

/* Numbers of inodes that were counted. */
struct usage_seen {
        uint64_t *v;
        size_t n, cap;
};

/* seen_add(s, key): true the first time. ${key} is not 0. */
static bool seen_add(struct usage_seen *s, uint64_t key)
{
        if (s->n * 2 >= s->cap) {
                struct usage_seen old = *s;
                s->cap = old.cap ? old.cap * 2 : 256;
                s->n = 0;
                s->v = calloc(s->cap, sizeof *s->v);
                if (!s->v)
                        str_no_memory();
                for (size_t i = 0; i < old.cap; i++)
                        if (old.v[i])
                                seen_add(s, old.v[i]);
                free(old.v);
        }
        size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull) & (s->cap - 1);
        while (s->v[at]) {
                if (s->v[at] == key)
                        return false;
                at = (at + 1) & (s->cap - 1);
        }
        s->v[at] = key;
        s->n++;
        return true;
}

struct usage_walk {
        struct usage *u;
        unsigned wants;
        struct usage_seen seen;
        uint64_t until_ms;
        uint64_t epolls_n, fds_n; /* of one process */
};

static uint64_t cpu_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* status_kib(text, name): "RssAnon:     123 kB", in bytes. */
static uint64_t status_kib(const char *text, const char *name)
{
        const char *at = strstr(text, name);
        return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* procs_memory(dir_fd, u): false when it has none: a zombie, or the first thread of a process whose
 * others live on. */
static bool procs_memory(int dir_fd, struct usage *u)
{
        char text[65536];
        _cleanup_close_ int fd = openat(dir_fd, "status", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
                return false;
        text[n] = 0;
        /* The name of the process, which it chooses itself, ends with the first line. */
        const char *rest = strchr(text, '\n');
        if (!rest || !strstr(rest, "\nRssAnon:"))
                return false;
        u->private += status_kib(rest, "\nRssAnon:") + status_kib(rest, "\nVmSwap:") +
                      status_kib(rest, "\nVmPTE:");
        u->shared += status_kib(rest, "\nRssShmem:");
        return true;
}

/* procs_survivor(dir_fd, u): the directory of a thread that has memory, counted; or -1. Threads of a
 * process share memory and descriptors: the filter lets no other kind be made. */
static int procs_survivor(int dir_fd, struct usage *u)
{
        _cleanup_close_ int tasks = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = tasks < 0 ? NULL : fdio_opendir(tasks);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                _cleanup_close_ int task =
                        openat(tasks, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (task >= 0 && procs_memory(task, u))
                        return take_fd(&task);
        }
        return -1;
}

/* procs_flying(dir_fd, name): descriptors in the queue of a Unix socket. */
static uint64_t procs_flying(int dir_fd, const char *name)
{
        char path[64], text[512];
        snprintf(path, sizeof path, "fdinfo/%.20s", name);
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
                return 0;
        text[n] = 0;
        const char *at = strstr(text, "scm_fds:");
        return at ? strtoull(at + 8, NULL, 10) : 0;
}

/* procs_file(w, fds_fd, name): a file without a name: a memfd, or one that was deleted. */
static void procs_file(struct usage_walk *w, int fds_fd, const char *name, bool is_memfd)
{
        struct stat st;
        if (fstatat(fds_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 0 ||
            !seen_add(&w->seen, ((uint64_t)st.st_dev << 40 ^ st.st_ino) << 2 | 1))
                return;
        *(is_memfd ? &w->u->memfds : &w->u->deleted) += (uint64_t)st.st_blocks * 512;
}

/* procs_fifo(w, fds_fd, name): a pipe by another name has the same pages. */
static void procs_fifo(struct usage_walk *w, int fds_fd, const char *name)
{
        struct stat st;
        if (fstatat(fds_fd, name, &st, 0) == 0 && S_ISFIFO(st.st_mode))
                w->u->pipes_n +=
                        seen_add(&w->seen, ((uint64_t)st.st_dev << 40 ^ st.st_ino) << 2 | 2);
}

static void procs_fd(struct usage_walk *w, int dir_fd, int fds_fd, const char *name)
{
        char to[256];
        ssize_t n = readlinkat(fds_fd, name, to, sizeof to - 1);
        if (n <= 0)
                return;
        to[n] = 0;
        w->fds_n++;
        if (w->wants & USAGE_FIFOS && to[0] == '/')
                procs_fifo(w, fds_fd, name);
        if (str_starts(to, "pipe:["))
                w->u->pipes_n += seen_add(&w->seen, strtoull(to + 6, NULL, 10) << 2 | 2);
        else if (str_starts(to, "socket:[")) {
                if (w->wants & USAGE_FLYING &&
                    seen_add(&w->seen, strtoull(to + 8, NULL, 10) << 2 | 3))
                        w->u->flying_n += procs_flying(dir_fd, name);
        } else if (strcmp(to, "anon_inode:[eventpoll]") == 0)
                w->epolls_n++;
        else if (str_starts(to, "/memfd:"))
                procs_file(w, fds_fd, name, true);
        else if (n >= 10 && strcmp(to + n - 10, " (deleted)") == 0)
                procs_file(w, fds_fd, name, false);
        else if (n == (ssize_t)sizeof to - 1)
                procs_file(w, fds_fd, name, false); /* too long to see its end */
}

/* procs_map(w, line): "from-to rwxs offset dev inode   path (deleted)". What has a length here may have
 * no page in memory that the process has touched. */
static void procs_map(struct usage_walk *w, const char *line)
{
        uint64_t from, to, inode;
        unsigned major, minor;
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64 " %n", &from, &to, &major,
                   &minor, &inode, &at) != 5 ||
            !at || !strstr(line + at, " (deleted)") || inode == 0)
                return;
        bool is_memory = str_starts(line + at, "/memfd:") || str_starts(line + at, "/dev/zero") ||
                         str_starts(line + at, "/SYSV");
        uint64_t dev = (uint64_t)major << 8 ^ minor;
        if (to > from && seen_add(&w->seen, (from ^ dev << 40 ^ inode << 8) << 2 | 1))
                *(is_memory ? &w->u->mapped : &w->u->mapped_deleted) += to - from;
}

static void procs_maps(struct usage_walk *w, int dir_fd)
{
        int fd = openat(dir_fd, "maps", O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
        char line[512];
        while (f && fgets(line, sizeof line, f)) {
                procs_map(w, line);
                if (cpu_ms() > w->until_ms)
                        return;
        }
}

/* procs_count(fds_fd): how many are open, which the directory's size says since Linux 6.2; or 0. */
static uint64_t procs_count(int fds_fd)
{
        struct stat st;
        return fstat(fds_fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* procs_fds(w, dir_fd): their number is known of everybody, what they are as far as the time goes. */
static void procs_fds(struct usage_walk *w, int dir_fd)
{
        _cleanup_close_ int fds = openat(dir_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fds < 0 || !w->u->is_whole ? NULL : fdio_opendir(fds);
        uint64_t known = fds < 0 ? 0 : procs_count(fds);
        w->epolls_n = w->fds_n = 0;
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                if (w->fds_n % 256 == 255 && cpu_ms() > w->until_ms) {
                        w->u->is_whole = false;
                        break;
                }
                procs_fd(w, dir_fd, fds, e->d_name);
        }
        w->u->fds_n += known > w->fds_n ? known : w->fds_n;
        w->u->epolls += w->epolls_n * w->fds_n;
}

void usage_procs(int proc_fd, unsigned wants, struct usage *u)
{
        struct usage_walk w = {.u = u, .wants = wants, .until_ms = cpu_ms() + LOOK_MS};
        _cleanup_closedir_ DIR *d = proc_fd < 0 ? NULL : fdio_opendir(proc_fd);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] < '0' || e->d_name[0] > '9')
                        continue;
                _cleanup_close_ int dir =
                        openat(proc_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (dir < 0)
                        continue;
                u->procs_n++;
                _cleanup_close_ int other = procs_memory(dir, u) ? -1 : procs_survivor(dir, u);
                procs_fds(&w, other >= 0 ? other : dir);
                if (wants & USAGE_MAPS)
                        procs_maps(&w, other >= 0 ? other : dir);
        }
        free(w.seen.v);
}
