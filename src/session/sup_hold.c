/* sup_hold.c - see sup_hold.h. The holder is a child of the supervisor that attaches to each thread
 * (PTRACE_SEIZE) and interrupts it. No signal but SIGKILL wakes a thread that is held. When the holder
 * dies the kernel lets go of all of them, so to release is to kill it.
 *
 * Who is to be attached to is found among the processes of the machine, by the namespace of the box's
 * processes; whether all stand still is seen in the box's own /proc, where nobody is missing. As long as
 * somebody does not, pid 1 stops all of them in one moment (SIGSTOP), which no fork escapes, and there is
 * another round.
 *
 * A thread that cannot be attached to (its program may not be read, a debugger in the box has it, it waits
 * in an execve for one that a debugger has, the machine forbids ptrace) is stopped by SIGSTOP, and again
 * each time that it wakes. One that wakes too often ends the box: a paused box must not work on. */
#include "session/sup_hold.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/title.h"
#include "session/sup.h"
#include "session/sup_procs.h"
#include "session/sup_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        ROUNDS = 50,       /* over all processes, and at least */
        ROUNDS_MS = 10000, /* so long, until some find that all stand still */
        QUICK = 20,        /* of them without a pause: who wakes soon is met while it is stopped */
        CALM = 3,          /* in a row that find nobody awake */
        ROUND_MS = 5,      /* between rounds */
        STOP_MS = 1000,    /* for the word that pid 1 has stopped them */
        TICK_MS = 50,      /* an attach that lasts so long */
        TICKS = 4,         /* so often is given up for this round, */
        HANGS_MAX = 4,     /* and after so many of these the rest of it */
        LOOSE_MS = 20,     /* between looks at those that are only stopped */
        WAKES_MAX = 50,    /* how often they may be found awake */
        LIVES = 5,         /* holders that may die before the box is ended for it */
        ALIVE_EACH = 50,   /* attaches: a thread that is stopped has to run for a moment for it */
        LATE_MS = 60000,   /* for a word of the holder, on a machine that is busy */
        GONE_MS = 5000,    /* for the end of one that is killed */
};

/* What the holder says: ALIVE: it goes on; ROUND: somebody is awake. And what it is told: all were stopped;
 * there is more to hold. */
enum { HELD = '+', NOT_HELD = '-', ALIVE = '~', ROUND = '.', STOPPED = 's', MORE = 'm' };

struct sup_hold {
        pid_t pid;
        int fd;
        struct loop_src *src;
        struct loop_timer late;
        unsigned asked_n, deaths;
        bool is_round; /* it waits for STOPPED */
};

/* --- the holder ----------------------------------------------------------------------------------- */

struct hold {
        int fd, proc_fd;
        struct stat ns; /* of the box's processes */
        pid_t box;
        bool is_calm;
        unsigned seized; /* attaches, also in vain */
        int hangs;       /* those that were given up in this round */
        unsigned more_n; /* how often it was told MORE, beside its beginning */
        int *loose;      /* directories in /proc of those that are not held */
        size_t loose_n;
};

/* An attach waits for an execve of the process, which may wait for ever: its ticks, or -1. */
static volatile sig_atomic_t hold_ticks = -1;
static sigjmp_buf hold_late;

static void on_tick(int sig)
{
        (void)sig;
        if (hold_ticks >= 0 && ++hold_ticks > TICKS)
                siglongjmp(hold_late, 1);
}

static void hold_tick(long ms)
{
        struct itimerval each = {{0, ms * 1000}, {0, ms * 1000}};
        setitimer(ITIMER_REAL, &each, NULL);
}

static void hold_say(int fd, char word)
{
        if (write(fd, &word, 1) != 1 || word == NOT_HELD)
                _exit(0);
}

/* hold_seize(h, tid): attach, or give up after a moment. A child that it makes before it is interrupted is
 * attached to as well. */
static bool hold_seize(struct hold *h, pid_t tid)
{
        if (h->hangs >= HANGS_MAX)
                return false;
        if (sigsetjmp(hold_late, 1)) {
                hold_ticks = -1;
                h->hangs++;
                return false;
        }
        if (h->seized++ % ALIVE_EACH == 0)
                hold_say(h->fd, ALIVE);
        hold_ticks = 0;
        long r = ptrace(PTRACE_SEIZE, tid, NULL,
                        PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE);
        hold_ticks = -1;
        return r == 0;
}

static bool hold_is_same(const struct stat *a, const struct stat *b)
{
        return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* hold_is_inside(h, pid): by the namespace, which only those can be asked for that can be attached to. A
 * box cannot make another one below its own (tests/limits_box.sh). */
static bool hold_is_inside(const struct hold *h, pid_t pid)
{
        char path[48];
        struct stat st;
        snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
        return stat(path, &st) == 0 && hold_is_same(&st, &h->ns);
}

/* hold_let_go(tid): it has the number that somebody in the box had, and is not in it. */
static void hold_let_go(pid_t tid)
{
        for (int i = 0; i < 1000 && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0; i++) {
                if (ptrace(PTRACE_DETACH, tid, NULL, NULL) == 0)
                        return;
                poll(NULL, 0, 1); /* it has not stopped yet */
        }
}

/* hold_thread(h, tid): one that is ours already is interrupted again: attached to is not held. */
static void hold_thread(struct hold *h, pid_t tid)
{
        if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 || !hold_seize(h, tid))
                return;
        if (hold_is_inside(h, tid)) /* who is attached to keeps its number */
                ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
        else
                hold_let_go(tid);
}

static void hold_process(struct hold *h, pid_t pid)
{
        char path[48];
        if (pid == h->box || !hold_is_inside(h, pid))
                return;
        hold_thread(h, pid);
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        _cleanup_closedir_ DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));) {
                pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
                if (tid > 0 && tid != pid)
                        hold_thread(h, tid);
        }
}

/* hold_next(fd): the next process of the machine; 0 for something else in /proc, -1 at the end. One at a
 * time: who forks and ends all the time is gone when a long list has been gone through. */
static pid_t hold_next(int fd)
{
        struct {
                uint64_t ino, off;
                unsigned short len;
                unsigned char type;
                char name[301];
        } one;
        long n = syscall(SYS_getdents64, fd, &one, 40); /* one number fits, two do not */
        if (n < 0 && errno == EINVAL)
                n = syscall(SYS_getdents64, fd, &one, sizeof one);
        return n <= 0 ? -1 : (pid_t)strtol(one.name, NULL, 10);
}

static void hold_attach(struct hold *h)
{
        h->hangs = 0;
        _cleanup_close_ int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (pid_t pid; fd >= 0 && (pid = hold_next(fd)) >= 0;)
                if (pid > 0)
                        hold_process(h, pid);
}

/* hold_look(ctx, pid, dir_fd): is it held? If not it is kept in sight. */
static void hold_look(void *ctx, pid_t pid, int *dir_fd)
{
        struct hold *h = ctx;
        enum sup_rest rest = sup_procs_rest(*dir_fd);
        (void)pid;
        h->is_calm &= rest > SUP_AWAKE;
        if (rest == SUP_HELD || rest == SUP_GONE)
                return;
        int *v = reallocarray(h->loose, h->loose_n + 1, sizeof *v);
        if (!v)
                _exit(125);
        h->loose = v;
        v[h->loose_n++] = take_fd(dir_fd);
}

/* hold_round(h): attach to whoever is not held. True when nobody was awake afterwards. */
static bool hold_round(struct hold *h)
{
        for (; h->loose_n; h->loose_n--)
                close(h->loose[h->loose_n - 1]);
        hold_attach(h);
        h->is_calm = true;
        return sup_procs(h->proc_fd, hold_look, h) && h->is_calm;
}

/* hold_hear(h, ms): one word, or 0 when there is none in time. */
static char hold_hear(struct hold *h, int ms)
{
        struct pollfd p = {.fd = h->fd, .events = POLLIN};
        char word = 0;
        if (poll(&p, 1, ms) != 1)
                return 0;
        if (read(h->fd, &word, 1) != 1)
                _exit(0); /* the supervisor is gone */
        h->more_n += word == MORE;
        return word;
}

/* hold_stop(h): have all of them stopped in one moment. Their forks wait for nothing, we do. */
static void hold_stop(struct hold *h)
{
        uint64_t until = watch_now() + STOP_MS;
        hold_say(h->fd, ROUND);
        while (watch_now() < until && hold_hear(h, STOP_MS) != STOPPED)
                ;
}

/* hold_all(h): a round can miss somebody who is born meanwhile; so some in a row. */
static bool hold_all(struct hold *h)
{
        uint64_t until = watch_now() + ROUNDS_MS;
        bool is_done = false;
        hold_tick(TICK_MS);
        for (int i = 0, calm = 0; !is_done && (i < ROUNDS || watch_now() < until); i++) {
                calm = hold_round(h) ? calm + 1 : 0;
                is_done = calm == CALM;
                if (calm == 0)
                        hold_stop(h);
                if (!is_done)
                        poll(NULL, 0, i < QUICK ? 0 : ROUND_MS);
        }
        hold_tick(0);
        return is_done;
}

/* on_tracee(sig): who was held and is killed stays until we have heard of it. Done here, because to
 * attach to a thread in execve waits for the end of its siblings, which may be held already. */
static void on_tracee(int sig)
{
        int was = errno;
        (void)sig;
        while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
                ;
        errno = was;
}

/* hold_loose_stop(h): stop those again that are awake. True when none was. */
static bool hold_loose_stop(struct hold *h)
{
        bool are_still = true;
        for (size_t i = 0; i < h->loose_n; i++) {
                if (sup_procs_rest(h->loose[i]) != SUP_AWAKE)
                        continue;
                are_still = false;
                (void)sup_procs_signal(h->loose[i], SIGSTOP); /* looked at again soon */
        }
        return are_still;
}

/* hold_wait(h): until there is more to hold, or the supervisor is gone. */
static void hold_wait(struct hold *h)
{
        for (int wakes = 0; h->more_n == 0;) {
                if (hold_hear(h, h->loose_n ? LOOSE_MS : -1) != 0)
                        continue;
                /* Not another round: what `exec` runs beside is let be. */
                if (h->loose_n && !hold_loose_stop(h) && ++wakes > WAKES_MAX)
                        hold_say(h->fd, NOT_HELD);
        }
        h->more_n--;
}

/* hold_may(h): the test build has boxes without a namespace for their processes: all are the user's. */
static bool hold_may(const struct hold *h)
{
        struct stat own;
        return stat("/proc/self/ns/pid", &own) == 0 && !hold_is_same(&own, &h->ns);
}

static _Noreturn void holder(struct hold h)
{
        struct sigaction tracee = {.sa_handler = on_tracee}, tick = {.sa_handler = on_tick};
        sigset_t none;
        int keep[] = {h.fd, h.proc_fd};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fdio_close_except(keep, 2);
        title_set("ostiary-hold");
        prctl(PR_SET_NAME, "ostiary-hold", 0, 0, 0);
        sigaction(SIGCHLD, &tracee, NULL);
        sigaction(SIGALRM, &tick, NULL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (;;) {
                hold_say(h.fd, hold_may(&h) && hold_all(&h) ? HELD : NOT_HELD);
                hold_wait(&h);
        }
}

/* --- its supervisor ------------------------------------------------------------------------------- */

static void hold_failed(struct sup *s)
{
        sup_end(s, MSG_END_FAULT, 0,
                "it was paused and did not stand still; the box was ended, because a paused box must "
                "not work on");
}

bool sup_hold_is_busy(const struct sup *s)
{
        return s->hold && (s->hold->asked_n > 0 || s->stops_n > 0);
}

/* hold_tell(s, word): one that is gone is noticed by its end. */
static void hold_tell(struct sup *s, char word)
{
        if (send(s->hold->fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE)
                hold_failed(s);
}

/* hold_await(s): the next word of the holder is to come in time. */
static void hold_await(struct sup *s)
{
        if (s->hold->asked_n > 0)
                loop_timer_set(s->loop, &s->hold->late, LATE_MS);
        else
                loop_timer_stop(&s->hold->late);
}

/* on_late(ctx): it ends its rounds by itself. Whatever a box does to keep it waiting in the kernel, this
 * is the end of that. */
static void on_late(void *ctx)
{
        struct sup *s = ctx;
        struct pollfd p = {.fd = s->hold->fd, .events = POLLIN};
        if (poll(&p, 1, 0) > 0) { /* we were the late ones */
                hold_await(s);
                return;
        }
        sup_release(s);
        hold_failed(s);
}

/* on_holder(ctx, events): all are held, or not yet, or it has failed or died. */
static void on_holder(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        char word = NOT_HELD;
        (void)events;
        ssize_t n = read(s->hold->fd, &word, 1);
        if (n == 1 && word == ALIVE) {
                hold_await(s);
                return;
        }
        if (n == 1 && word == ROUND) {
                s->hold->is_round = true;
                hold_await(s);
                sup_pause_stop(s);
                return;
        }
        if (n == 1 && word == HELD) {
                s->hold->asked_n -= s->hold->asked_n > 0;
                hold_await(s);
                sup_pause_settle(s);
                return;
        }
        unsigned deaths = s->hold->deaths + 1;
        sup_release(s);
        if (n == 1 || deaths >= LIVES) {
                hold_failed(s);
                return;
        }
        /* It let all of them go when it died. */
        sup_pause_stop(s);
        sup_hold(s);
        if (s->hold)
                s->hold->deaths = deaths;
}

static struct sup_hold *hold_start(struct sup *s)
{
        struct sup_hold *h = calloc(1, sizeof *h);
        struct hold its = {.box = s->box.pid, .proc_fd = sup_procs_fd(s)};
        int pair[2];
        if (!h || fstat(s->watch->eyes.fd[MSG_WATCHED_PIDNS], &its.ns) < 0 ||
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
                free(h);
                return NULL;
        }
        its.fd = pair[1];
        pid_t pid = fork();
        if (pid == 0)
                holder(its);
        close(pair[1]);
        *h = (struct sup_hold){.pid = pid, .fd = pair[0], .late = {.fn = on_late, .ctx = s}};
        h->src = pid < 0 ? NULL : loop_add(s->loop, h->fd, EPOLLIN, on_holder, s);
        return h;
}

/* hold_asked(s): one answer more is to come. */
static void hold_asked(struct sup *s)
{
        s->hold->asked_n++;
        hold_await(s);
}

void sup_hold(struct sup *s)
{
        if (s->hold) {
                hold_asked(s);
                hold_tell(s, MORE);
                return;
        }
        s->hold = hold_start(s);
        if (s->hold && s->hold->src) {
                hold_asked(s);
                return;
        }
        sup_release(s);
        hold_failed(s);
}

void sup_hold_stopped(struct sup *s)
{
        if (!s->hold || !s->hold->is_round)
                return;
        s->hold->is_round = false;
        hold_tell(s, STOPPED);
}

void sup_release(struct sup *s)
{
        struct sup_hold *h = s->hold;
        if (!h)
                return;
        s->hold = NULL;
        loop_timer_stop(&h->late);
        loop_del(&h->src);
        close_fd(&h->fd);
        /* Not for ever: it attaches to processes of the box, and sleeps in the kernel meanwhile. */
        if (h->pid > 0 && kill(h->pid, SIGKILL) == 0)
                for (int i = 0; i < GONE_MS && waitpid(h->pid, NULL, WNOHANG) == 0; i++)
                        poll(NULL, 0, 1);
        free(h);
}
