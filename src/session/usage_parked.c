/* usage_parked.c - descriptors that the /proc of a box does not show: those under way on its Unix
 * sockets, however deep one socket lies in another's queue, and those of a process that /proc hides
 * because its program cannot be read (mode 0111).
 *
 * Called by usage_procs.c, in a process that may be killed (usage_apart.c): to close a copy can take as
 * long as the box likes. A descriptor is copied out of the process (pidfd_getfd), and a message
 * is looked at without being received (MSG_PEEK), which copies what is attached to it. The copies
 * are asked what they are and closed. What cannot be seen in this way is counted (unseen_n):
 * connections that nobody has accepted, queues that change meanwhile, processes of other users. */
#include "session/usage_int.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
        NEST_MAX = 64,         /* sockets in the queues of sockets */
        MESSAGE_MAX = 8 << 20, /* the longest message: a part of one would be seen as two */
        MESSAGES_MAX = 4096,   /* of one socket */
        AGAIN_MAX = 16,        /* readings of the machine's processes in one look */
        CONTROL_MAX = 4096,    /* 253 descriptors, and what else the socket is set to tell */
};

/* --- which process is it here? -------------------------------------------------------------------- */

/* parked_ids(pid): its parent, and its number in its innermost namespace, or 0 for one that is in
 * ours. */
static struct usage_pid parked_ids(pid_t pid)
{
        struct usage_pid of = {.here = pid};
        char path[64], text[8192];
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        char *rest = strchr(text, '\n'); /* after the name, which is its own choice */
        char *parent = rest ? strstr(rest, "\nPPid:") : NULL;
        char *numbers = rest ? strstr(rest, "\nNSpid:") : NULL;
        if (!parent || !numbers)
                return of;
        of.parent = (pid_t)strtol(parent + 6, NULL, 10);
        numbers += 7;
        numbers[strcspn(numbers, "\n")] = 0;
        const char *last = strrchr(numbers, '\t');
        if (last && last != numbers)
                of.in_box = (pid_t)strtol(last + 1, NULL, 10);
        return of;
}

static int parked_by_pid(const void *a, const void *b)
{
        pid_t x = ((const struct usage_pid *)a)->here, y = ((const struct usage_pid *)b)->here;
        return x < y ? -1 : x > y;
}

/* parked_pids(w): every process of the machine that is in another namespace, by both numbers. */
static void parked_pids(struct usage_walk *w)
{
        _cleanup_closedir_ DIR *d = w->eyes->init_pid > 0 ? opendir("/proc") : NULL;
        w->has_pids = true;
        w->pids_n = 0;
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] < '0' || e->d_name[0] > '9')
                        continue;
                struct usage_pid of = parked_ids((pid_t)strtol(e->d_name, NULL, 10));
                if (!of.in_box)
                        continue;
                if (w->pids_n == w->pids_cap) {
                        w->pids_cap = w->pids_cap ? w->pids_cap * 2 : 64;
                        w->pids = reallocarray(w->pids, w->pids_cap, sizeof *w->pids);
                        if (!w->pids)
                                str_no_memory();
                }
                w->pids[w->pids_n++] = of;
        }
        if (w->pids_n)
                qsort(w->pids, w->pids_n, sizeof *w->pids, parked_by_pid);
}

/* parked_is_ours(w, of): does it descend from the box's first process? */
static bool parked_is_ours(const struct usage_walk *w, const struct usage_pid *of)
{
        for (size_t i = 0; of && i <= w->pids_n; i++) {
                if (of->parent == w->eyes->init_pid)
                        return true;
                struct usage_pid up = {.here = of->parent};
                of = bsearch(&up, w->pids, w->pids_n, sizeof up, parked_by_pid);
        }
        return false;
}

/* parked_pidfd(w, pid): the process with that number in the box, or -1. Its numbers are read again
 * once it is held: the first reading may have been of another. */
static int parked_pidfd(struct usage_walk *w, pid_t pid)
{
        if (!w->has_pids)
                parked_pids(w);
        for (size_t i = 0; i < w->pids_n; i++) {
                const struct usage_pid *of = &w->pids[i];
                if (of->in_box != pid || !parked_is_ours(w, of))
                        continue;
                _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, of->here, 0);
                struct usage_pid now = parked_ids(of->here);
                if (fd >= 0 && now.in_box == pid &&
                    (now.parent == of->parent || now.parent == w->eyes->init_pid) &&
                    syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0)
                        return take_fd(&fd);
        }
        return -1;
}

/* parked_here(w, pid): the number here of the process with that number in the box, or 0. Others may have
 * begun since the numbers were read. */
static pid_t parked_here(struct usage_walk *w, pid_t pid)
{
        if (!w->has_pids)
                parked_pids(w);
        for (;;) {
                for (size_t i = 0; i < w->pids_n; i++)
                        if (w->pids[i].in_box == pid && parked_is_ours(w, &w->pids[i]))
                                return w->pids[i].here;
                if (w->pids_again++ >= AGAIN_MAX)
                        return 0;
                parked_pids(w);
        }
}

bool usage_is_same(struct usage_walk *w, pid_t a, pid_t b)
{
        pid_t here = parked_here(w, a), other = here ? parked_here(w, b) : 0;
        return here && other && syscall(SYS_kcmp, here, other, KCMP_VM, 0, 0) == 0;
}

/* --- one descriptor, copied ------------------------------------------------------------------------- */

static void parked_fd(struct usage_walk *w, int fd, unsigned depth);

/* parked_n(fd): how many are in the queue of this socket; of one that listens, in the queues of the
 * connections that wait. */
static uint64_t parked_n(int fd)
{
        char path[64], text[512];
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
        _cleanup_close_ int info = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = info < 0 ? -1 : read(info, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        const char *at = strstr(text, "scm_fds:");
        return at ? strtoull(at + 8, NULL, 10) : 0;
}

/* parked_message(w, fd, room, depth, &n): look at the next message; false when there is no more. */
static bool parked_message(struct usage_walk *w, int fd, void *room, unsigned depth, uint64_t *n)
{
        _Alignas(struct cmsghdr) char control[CONTROL_MAX];
        struct iovec data = {.iov_base = room, .iov_len = MESSAGE_MAX};
        struct msghdr m = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        ssize_t len = recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        bool has_any = false;
        for (struct cmsghdr *c = len < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_len < CMSG_LEN(sizeof(int)))
                        continue;
                bool is_rights = c->cmsg_type == SCM_RIGHTS;
                if (!is_rights && c->cmsg_type != 0x04 /* SCM_PIDFD */)
                        continue;
                size_t fds_n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < fds_n; i++) {
                        int got;
                        memcpy(&got, CMSG_DATA(c) + i * sizeof got, sizeof got);
                        if (is_rights)
                                parked_fd(w, got, depth + 1);
                        if (got >= 0)
                                close(got);
                }
                *n += is_rights ? fds_n : 0;
                has_any |= is_rights;
        }
        return len > 0 || has_any;
}

/* parked_queue(w, fd, depth): everything in the queue. The socket is the box's: where it looks next
 * (SO_PEEK_OFF) is put back. */
static void parked_queue(struct usage_walk *w, int fd, unsigned depth)
{
        uint64_t all = parked_n(fd), n = 0;
        int was = -1, from = 0;
        socklen_t len = sizeof was;
        w->u->flying_n += all;
        if (!all)
                return;
        void *room = mmap(NULL, MESSAGE_MAX, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room != MAP_FAILED && depth < NEST_MAX && !usage_is_late(w) &&
            getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &was, &len) == 0 &&
            setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &from, sizeof from) == 0) {
                for (int i = 0; i < MESSAGES_MAX && parked_message(w, fd, room, depth, &n); i++)
                        if (usage_is_late(w))
                                break;
                setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &was, sizeof was);
        }
        if (room != MAP_FAILED)
                munmap(room, MESSAGE_MAX);
        w->u->unseen_n += all > n ? all - n : 0;
}

static bool parked_is_epoll(int fd)
{
        char path[64], to[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        return strcmp(to, "anon_inode:[eventpoll]") == 0;
}

static void parked_fd(struct usage_walk *w, int fd, unsigned depth)
{
        struct stat st;
        struct statfs fs;
        if (fd < 0 || fstat(fd, &st) < 0) {
                w->u->unseen_n++;
                return;
        }
        if (S_ISREG(st.st_mode) && st.st_nlink == 0)
                usage_file(w, &st, fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC);
        else if (S_ISFIFO(st.st_mode))
                w->u->pipes_n += usage_is_new(w, usage_key(st.st_dev, st.st_ino, USAGE_PIPE));
        else if (S_ISSOCK(st.st_mode)) {
                if (w->wants & USAGE_FLYING &&
                    usage_is_new(w, usage_key(st.st_dev, st.st_ino, USAGE_SOCKET)))
                        parked_queue(w, fd, depth);
        } else if ((st.st_mode & S_IFMT) == 0)
                w->epolls_n += parked_is_epoll(fd);
}

void usage_parked(struct usage_walk *w, pid_t pid, const char *name, uint64_t n)
{
        _cleanup_close_ int pidfd = parked_pidfd(w, pid);
        _cleanup_close_ int fd =
                pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, atoi(name), 0);
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
                parked_queue(w, fd, 0);
        else if (fd < 0 && (pidfd < 0 || (errno != EBADF && errno != ESRCH))) {
                w->u->flying_n += n;
                w->u->unseen_n += n;
        }
}

void usage_shut(struct usage_walk *w, pid_t pid, uint64_t room)
{
        if (!(w->wants & USAGE_APART)) {
                w->u->shut_n++;
                return;
        }
        _cleanup_close_ int pidfd = parked_pidfd(w, pid);
        for (uint64_t i = 0; i < room; i++) {
                _cleanup_close_ int fd =
                        pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, (int)i, 0);
                if (fd < 0 && pidfd >= 0 && errno == EBADF)
                        continue;
                if (fd < 0 && pidfd >= 0 && errno == ESRCH)
                        return; /* it has ended */
                if (fd < 0 || usage_is_late(w)) {
                        w->fds_n += room - i; /* at most */
                        w->u->unseen_n += room - i;
                        return;
                }
                w->fds_n++;
                parked_fd(w, fd, 0);
        }
}
