/* usage_procs.c - the processes of a box and what they hold open, by its own /proc: every process
 * is listed there, so it does not matter who forked whom. What several processes hold is counted
 * once. */
#include "session/usage_int.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* Of processor time. The supervisor's own looks are short; one in a process of its own has time for more
 * descriptors than any box may have. */
enum { LOOK_MS = 40, APART_MS = 4000 };

/* seen_at(s, key): its place, made when there was none. ${key} is not 0. */
static struct usage_seen_one *seen_at(struct usage_seen *s, uint64_t key)
{
        if (s->n * 2 >= s->cap) {
                struct usage_seen old = *s;
                s->cap = old.cap ? old.cap * 2 : 256;
                s->n = 0;
                s->v = calloc(s->cap, sizeof *s->v);
                if (!s->v)
                        str_no_memory();
                for (size_t i = 0; i < old.cap; i++)
                        if (old.v[i].key)
                                *seen_at(s, old.v[i].key) = old.v[i];
                free(old.v);
        }
        size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull) & (s->cap - 1);
        while (s->v[at].key && s->v[at].key != key)
                at = (at + 1) & (s->cap - 1);
        s->n += !s->v[at].key;
        s->v[at].key = key;
        return &s->v[at];
}

uint64_t usage_raise(struct usage_walk *w, uint64_t key, uint64_t n)
{
        struct usage_seen_one *one = seen_at(&w->seen, key);
        uint64_t more = n > one->n ? n - one->n : 0;
        one->n += more;
        return more;
}

bool usage_is_new(struct usage_walk *w, uint64_t key)
{
        return usage_raise(w, key, 1) > 0;
}

uint64_t usage_key(uint64_t dev, uint64_t ino, enum usage_kind kind)
{
        return (dev << 40 ^ ino) << 2 | (uint64_t)kind;
}

static uint64_t cpu_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool usage_is_late(struct usage_walk *w)
{
        if (cpu_ms() > w->until_ms)
                w->u->is_whole = false;
        return !w->u->is_whole;
}

/* status_kib(text, name): "RssAnon:     123 kB", in bytes. */
static uint64_t status_kib(const char *text, const char *name)
{
        const char *at = strstr(text, name);
        return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static void usage_motion(struct usage *u, const char *text)
{
        for (; *text; text++)
                u->motion = u->motion * 31 + (unsigned char)*text;
}

/* procs_fair(dir_fd, &own, &shared): each page divided by how many processes have it, so that the sum
 * over all is what there is. Where the kernel does not say (before 5.4, or not to us) both stay. A process
 * that has ended meanwhile has nothing. */
static void procs_fair(int dir_fd, uint64_t *own, uint64_t *shared)
{
        char text[4096];
        _cleanup_close_ int fd = openat(dir_fd, "smaps_rollup", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        bool is_gone = n < 0 && (errno == ESRCH || faccessat(dir_fd, "status", F_OK, 0) < 0);
        text[n > 0 ? n : 0] = 0;
        if (is_gone)
                *own = *shared = 0;
        if (!strstr(text, "\nPss_Anon:") || !strstr(text, "\nSwapPss:"))
                return;
        *own = status_kib(text, "\nPss_Anon:") + status_kib(text, "\nSwapPss:");
        *shared = status_kib(text, "\nPss_Shmem:");
}

/* procs_memory(dir_fd, wants, u): false when it has none: a zombie, or the first thread of a process
 * whose others live on. */
static bool procs_memory(int dir_fd, unsigned wants, struct usage *u)
{
        char text[65536], more[1024];
        _cleanup_close_ int fd = openat(dir_fd, "status", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
                return false;
        text[n] = 0;
        /* The name of the process, which it chooses itself, ends with the first line. */
        const char *rest = strchr(text, '\n');
        if (!rest || !strstr(rest, "\nRssAnon:"))
                return false;
        uint64_t own = status_kib(rest, "\nRssAnon:") + status_kib(rest, "\nVmSwap:");
        uint64_t tables = status_kib(rest, "\nVmPTE:");
        uint64_t shared = status_kib(rest, "\nRssShmem:");
        u->largest = own > u->largest ? own : u->largest;
        if (wants & USAGE_FAIR)
                procs_fair(dir_fd, &own, &shared);
        u->private += own + tables;
        u->shared += shared;
        /* A process that ran since the last look has other counters. */
        const char *switches = strstr(rest, "\nvoluntary_ctxt_switches:");
        usage_motion(u, switches ? switches : "");
        _cleanup_close_ int stat_fd = openat(dir_fd, "stat", O_RDONLY | O_CLOEXEC);
        n = stat_fd < 0 ? -1 : read(stat_fd, more, sizeof more - 1);
        more[n > 0 ? n : 0] = 0;
        usage_motion(u, more);
        const char *room = strstr(rest, "\nFDSize:");
        u->room = room ? strtoull(room + 8, NULL, 10) : 0;
        return true;
}

/* procs_survivor(dir_fd, wants, u): the directory of a thread that has memory, counted; or -1. Threads of a
 * process share memory and descriptors: the filter lets no other kind be made. */
static int procs_survivor(int dir_fd, unsigned wants, struct usage *u)
{
        _cleanup_close_ int tasks = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = tasks < 0 ? NULL : fdio_opendir(tasks);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                _cleanup_close_ int task =
                        openat(tasks, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (task >= 0 && procs_memory(task, wants, u))
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

void usage_file(struct usage_walk *w, const struct stat *st, bool is_memory)
{
        /* The box's own tmpfs says by itself how full it is, with names and without. */
        if (!S_ISREG(st->st_mode) || st->st_nlink > 0 || st->st_dev == w->tmp_dev)
                return;
        *(is_memory ? &w->u->memfds : &w->u->deleted) += usage_raise(
                w, usage_key(st->st_dev, st->st_ino, USAGE_FILE), (uint64_t)st->st_blocks * 512);
        /* Known from here on, also when it is empty: what is mapped of it is no more than it has. */
        usage_is_new(w, usage_key(st->st_dev, st->st_ino, USAGE_FILE));
}

/* procs_file(w, dir_fd, name): a file without a name: a memfd, or one that was deleted. */
static bool procs_file(struct usage_walk *w, int dir_fd, const char *name, bool is_memfd)
{
        struct stat st;
        if (fstatat(dir_fd, name, &st, 0) < 0)
                return false;
        usage_file(w, &st, is_memfd);
        return true;
}

/* procs_fifo(w, fds_fd, name): a pipe by another name has the same pages. */
static void procs_fifo(struct usage_walk *w, int fds_fd, const char *name)
{
        struct stat st;
        if (fstatat(fds_fd, name, &st, 0) == 0 && S_ISFIFO(st.st_mode))
                w->u->pipes_n += usage_is_new(w, usage_key(st.st_dev, st.st_ino, USAGE_PIPE));
}

/* procs_ino(to): "pipe:[123]", as a key. What has no device here has its own. */
static uint64_t procs_ino(const char *to, dev_t dev, enum usage_kind kind)
{
        return usage_key(dev, strtoull(strchr(to, '[') + 1, NULL, 10), kind);
}

static void procs_socket(struct usage_walk *w, int dir_fd, pid_t pid, const char *name,
                         const char *to)
{
        bool is_new = w->wants & USAGE_FLYING && w->wants & USAGE_APART &&
                      usage_is_new(w, procs_ino(to, w->socket_dev, USAGE_SOCKET));
        uint64_t n = is_new ? procs_flying(dir_fd, name) : 0;
        if (n)
                usage_parked(w, pid, name, n);
}

static void procs_fd(struct usage_walk *w, int dir_fd, int fds_fd, pid_t pid, const char *name)
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
                w->u->pipes_n += usage_is_new(w, procs_ino(to, w->pipe_dev, USAGE_PIPE));
        else if (str_starts(to, "socket:["))
                procs_socket(w, dir_fd, pid, name, to);
        else if (strcmp(to, "anon_inode:[eventpoll]") == 0)
                w->epolls_n++;
        else if (str_starts(to, "/memfd:"))
                procs_file(w, fds_fd, name, true);
        else if (n >= 10 && strcmp(to + n - 10, " (deleted)") == 0)
                procs_file(w, fds_fd, name, false);
        else if (n == (ssize_t)sizeof to - 1)
                procs_file(w, fds_fd, name, false); /* too long to see its end */
}

/* procs_map(w, dir_fd, line): "from-to rwxs offset dev inode   path (deleted)". Whoever may follow the
 * map to its file (root) knows how large that is. Otherwise it is at least as long as what is mapped
 * of it. A file that is open too was counted by that. */
static void procs_map(struct usage_walk *w, int dir_fd, const char *line)
{
        uint64_t from, to, offset, inode;
        unsigned major, minor;
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %n", &from, &to,
                   &offset, &major, &minor, &inode, &at) != 6 ||
            !at || !strstr(line + at, " (deleted)") || inode == 0 || to <= from)
                return;
        bool is_memory = str_starts(line + at, "/memfd:") || str_starts(line + at, "/dev/zero") ||
                         str_starts(line + at, "/SYSV");
        if (makedev(major, minor) == w->tmp_dev || str_starts(line + at, "/SYSV"))
                return; /* counted by their own tables */
        char path[64];
        snprintf(path, sizeof path, "map_files/%" PRIx64 "-%" PRIx64, from, to);
        if (procs_file(w, dir_fd, path, is_memory))
                return;
        uint64_t key = usage_key(makedev(major, minor), inode, USAGE_FILE);
        if (seen_at(&w->seen, key)->n && !seen_at(&w->seen, ~key)->n)
                return;
        usage_is_new(w, key);
        *(is_memory ? &w->u->mapped : &w->u->mapped_deleted) +=
                usage_raise(w, ~key, offset + (to - from));
}

static void procs_maps(struct usage_walk *w, int dir_fd)
{
        int fd = openat(dir_fd, "maps", O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
        char line[512];
        if (fd < 0 && errno == EACCES)
                w->u->unseen_n++;
        while (f && fgets(line, sizeof line, f)) {
                procs_map(w, dir_fd, line);
                if (cpu_ms() > w->until_ms) {
                        w->u->unseen_n++;
                        return;
                }
        }
}

/* procs_is_counted(w, line): is it shared memory that was counted by itself: in /tmp, a System V segment,
 * or a memfd that somebody has open? */
static bool procs_is_counted(struct usage_walk *w, const char *line)
{
        uint64_t inode;
        unsigned major, minor;
        char kind[8];
        int at = 0;
        if (sscanf(line, "%*x-%*x %7s %*x %x:%x %" SCNu64 " %n", kind, &major, &minor, &inode,
                   &at) != 4 ||
            !at || kind[3] != 's')
                return false;
        if (makedev(major, minor) == w->tmp_dev || str_starts(line + at, "/SYSV"))
                return true;
        uint64_t key = usage_key(makedev(major, minor), inode, USAGE_FILE);
        return str_starts(line + at, "/memfd:") && seen_at(&w->seen, key)->n &&
               !seen_at(&w->seen, ~key)->n;
}

/* procs_twice(w, dir_fd): how much of a process's shared memory is in another sum too. */
static void procs_twice(struct usage_walk *w, int dir_fd)
{
        int fd = openat(dir_fd, "smaps", O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
        char line[512];
        bool is_counted = false;
        while (f && fgets(line, sizeof line, f)) {
                bool is_head = line[0] >= 'a' || (line[0] >= '0' && line[0] <= '9');
                if (is_head)
                        is_counted = procs_is_counted(w, line);
                else if (is_counted && str_starts(line, "Pss:"))
                        w->twice += strtoull(line + 4, NULL, 10) * 1024;
                if (is_head && cpu_ms() > w->until_ms)
                        return;
        }
}

/* procs_count(fds_fd): how many are open, which the directory's size says since Linux 6.2; or 0. */
static uint64_t procs_count(int fds_fd)
{
        struct stat st;
        return fstat(fds_fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* procs_fds(w, dir_fd, pid, room): their number is known of everybody, what they are as far as the
 * time goes. */
static void procs_fds(struct usage_walk *w, int dir_fd, pid_t pid, uint64_t room)
{
        _cleanup_close_ int fds = openat(dir_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        bool is_shut = fds < 0 && errno == EACCES;
        _cleanup_closedir_ DIR *d = fds < 0 || !w->u->is_whole ? NULL : fdio_opendir(fds);
        uint64_t known = fds < 0 ? 0 : procs_count(fds);
        w->epolls_n = w->fds_n = 0;
        if (is_shut)
                usage_shut(w, pid, room);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                if (w->fds_n % 256 == 255 && usage_is_late(w))
                        break;
                procs_fd(w, dir_fd, fds, pid, e->d_name);
        }
        w->u->fds_n += known > w->fds_n ? known : w->fds_n;
        w->u->epolls += w->epolls_n * w->fds_n;
}

/* procs_is_again(w, dir_fd, pid): has its parent the very same memory, so that it was counted? Asked
 * before anything else is read: one memory becomes two, and never the other way round. */
static bool procs_is_again(struct usage_walk *w, int dir_fd, pid_t pid)
{
        enum { SMALL = 1 << 20 }; /* does not matter */
        char text[65536];
        if (!(w->wants & USAGE_FAIR) || !(w->wants & USAGE_APART))
                return false;
        _cleanup_close_ int fd = openat(dir_fd, "status", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        const char *rest = strchr(text, '\n'), *parent = rest ? strstr(rest, "\nPPid:") : NULL;
        if (!parent || status_kib(rest, "\nVmRSS:") + status_kib(rest, "\nVmSwap:") < SMALL)
                return false;
        pid_t of = (pid_t)strtol(parent + 6, NULL, 10);
        return of > 1 && usage_is_same(w, pid, of);
}

/* procs_is_stuck(tasks_fd, tid, dir_fd): does the thread wait in a call that holds files by itself? What is
 * sent along with a message is the call's until there is room; the source of a copy is open as long as it
 * is in the table too. */
static bool procs_is_stuck(int tasks_fd, const char *tid, int dir_fd)
{
        char path[64], text[256];
        long call;
        unsigned long first, second;
        struct stat st;
        snprintf(path, sizeof path, "%.20s/syscall", tid);
        _cleanup_close_ int fd = openat(tasks_fd, path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        if (sscanf(text, "%ld %lx %lx", &call, &first, &second) != 3)
                return false; /* it runs */
        if (call == SYS_sendmsg || call == SYS_sendmmsg)
                return true;
        if (call != SYS_sendfile && call != SYS_splice)
                return false;
        snprintf(path, sizeof path, "fd/%d", (int)(call == SYS_splice ? first : second));
        return fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0;
}

static void procs_stuck(struct usage_walk *w, int dir_fd)
{
        _cleanup_close_ int tasks = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = tasks < 0 ? NULL : fdio_opendir(tasks);
        for (struct dirent *e; d && (e = readdir(d)) && !usage_is_late(w);)
                if (e->d_name[0] != '.')
                        w->u->unseen_n += procs_is_stuck(tasks, e->d_name, dir_fd);
}

/* procs_each(w, is_maps): one round over all processes: first what is open, then what is only mapped. */
static void procs_each(struct usage_walk *w, bool is_maps)
{
        struct usage *u = w->u, apart;
        int proc_fd = w->eyes->fd[MSG_WATCHED_PROC];
        _cleanup_closedir_ DIR *d = proc_fd < 0 ? NULL : fdio_opendir(proc_fd);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] < '0' || e->d_name[0] > '9')
                        continue;
                _cleanup_close_ int dir =
                        openat(proc_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
                if (dir < 0)
                        continue;
                bool is_again = procs_is_again(w, dir, pid);
                /* In the second round its memory has been counted. */
                struct usage *sum = is_maps || is_again ? &apart : u;
                apart = (struct usage){0};
                sum->procs_n++;
                sum->room = 0;
                unsigned how = is_maps || is_again ? 0 : w->wants; /* the pages are walked once */
                bool has_memory = procs_memory(dir, how, sum);
                _cleanup_close_ int other = has_memory ? -1 : procs_survivor(dir, how, sum);
                int from = other >= 0 ? other : dir;
                /* Who has no memory has ended. The first process is ours, and shows itself to nobody. */
                if ((!has_memory && other < 0) || pid == 1)
                        continue;
                if (is_maps && w->wants & USAGE_MAPS)
                        procs_maps(w, from);
                if (is_maps && w->wants & USAGE_FAIR && !is_again)
                        procs_twice(w, from);
                if (!is_maps)
                        procs_fds(w, from, pid, sum->room);
                if (!is_maps && w->wants & USAGE_FLYING)
                        procs_stuck(w, dir);
        }
}

/* procs_dev(fd): the device of an object of the kernel's own, and the descriptor closed. */
static uint64_t procs_dev(int fd)
{
        struct stat st = {0};
        if (fd >= 0 && fstat(fd, &st) < 0)
                st.st_dev = 0;
        if (fd >= 0)
                close(fd);
        return st.st_dev;
}

void usage_procs(const struct usage_eyes *eyes, unsigned wants, struct usage *u)
{
        struct usage_walk w = {.u = u,
                               .eyes = eyes,
                               .wants = wants,
                               .until_ms = cpu_ms() + (wants & USAGE_APART ? APART_MS : LOOK_MS)};
        struct stat st;
        int p[2] = {-1, -1};
        if (eyes->fd[MSG_WATCHED_TMP] >= 0 && fstat(eyes->fd[MSG_WATCHED_TMP], &st) == 0)
                w.tmp_dev = st.st_dev;
        if (wants && pipe2(p, O_CLOEXEC) == 0) {
                w.pipe_dev = procs_dev(p[0]);
                close(p[1]);
                w.socket_dev = procs_dev(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        }
        procs_each(&w, false);
        if (wants & (USAGE_MAPS | USAGE_FAIR))
                procs_each(&w, true);
        u->shared -= w.twice < u->shared ? w.twice : u->shared;
        free(w.seen.v);
        free(w.pids);
}
