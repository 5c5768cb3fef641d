/* sup_hold.c - see sup_hold.h. The holder is a child of the supervisor that attaches to each thread
 * (PTRACE_SEIZE) and interrupts it. No signal but SIGKILL wakes a thread that is held. When the holder
 * dies the kernel lets go of all of them, so to release is to kill it.
 *
 * A thread that cannot be attached to (its program may not be read, a debugger in the box has it, the
 * machine forbids ptrace) is stopped by SIGSTOP, and again each time that it wakes. One that wakes too
 * often ends the box: a paused box must not work on. */
#include "session/sup_hold.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/title.h"
#include "session/sup.h"
#include "session/sup_freeze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        ROUNDS = 400,   /* over all processes, until one finds nobody new */
        CALM = 3,       /* in a row that find nobody */
        ROUND_MS = 5,   /* between them, after the first few */
        LOOSE_MS = 20,  /* between looks at those that are only stopped */
        WAKES_MAX = 50, /* how often they may be found awake */
        LIVES = 5,      /* holders that may die before the box is ended for it */
};

/* What the holder says. */
enum { HELD = '+', NOT_HELD = '-' };

struct sup_hold {
        pid_t pid;
        int fd;
        struct loop_src *src;
        unsigned deaths;
};

/* --- the holder ----------------------------------------------------------------------------------- */

/* A process that can only be stopped. */
struct hold_loose {
        pid_t pid;
        int pidfd;
};

struct hold {
        pid_t box, own;
        bool is_new; /* this round attached to somebody */
        struct hold_loose *loose;
        size_t loose_n;
};

/* hold_tracer(pid, tid): which process has attached to this thread; 0 for none. */
static pid_t hold_tracer(pid_t pid, const char *tid)
{
        char path[96], text[4096];
        snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, tid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        const char *rest = strchr(text, '\n'); /* after the name, which is its own choice */
        const char *at = rest ? strstr(rest, "\nTracerPid:") : NULL;
        return at ? (pid_t)strtol(at + 11, NULL, 10) : 0;
}

/* hold_is_inside(h, pid, tid, parent): a number may belong to somebody else by now. Who is the child of a
 * process in the box, or was left to its first, is in the box. */
static bool hold_is_inside(const struct hold *h, pid_t pid, const char *tid, pid_t parent)
{
        pid_t now = 0;
        return sup_look_at(pid, tid, &now) && (now == parent || now == h->box);
}

/* hold_loosely(h, pid, parent): remember a process with a thread that cannot be held, if it still is
 * the one that was listed. */
static void hold_loosely(struct hold *h, pid_t pid, pid_t parent)
{
        char tid[16];
        if (h->loose_n && h->loose[h->loose_n - 1].pid == pid)
                return;
        snprintf(tid, sizeof tid, "%d", (int)pid);
        _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0 || !hold_is_inside(h, pid, tid, parent))
                return;
        struct hold_loose *v = reallocarray(h->loose, h->loose_n + 1, sizeof *v);
        if (!v)
                _exit(125);
        h->loose = v;
        v[h->loose_n++] = (struct hold_loose){.pid = pid, .pidfd = take_fd(&fd)};
}

/* hold_thread(h, pid, tid, parent): one thread of a process in the box. */
static void hold_thread(struct hold *h, pid_t pid, const char *tid, pid_t parent)
{
        pid_t number = (pid_t)strtol(tid, NULL, 10), ignored;
        char state = sup_look_at(pid, tid, &ignored);
        if (!state || strchr("ZXx", state) || hold_tracer(pid, tid) == h->own)
                return;
        if (ptrace(PTRACE_SEIZE, number, NULL, NULL) < 0) {
                hold_loosely(h, pid, parent);
                return;
        }
        h->is_new = true;
        if (hold_is_inside(h, pid, tid, parent)) /* who is attached to keeps its number */
                ptrace(PTRACE_INTERRUPT, number, NULL, NULL);
}

static void hold_process(void *ctx, pid_t pid, pid_t parent)
{
        char path[48];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        _cleanup_closedir_ DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));)
                if (e->d_name[0] != '.' && strlen(e->d_name) <= 15)
                        hold_thread(ctx, pid, e->d_name, parent);
}

/* hold_loose_stop(h): stop those again that are awake. True when none was. */
static bool hold_loose_stop(struct hold *h)
{
        bool are_still = true;
        for (size_t i = 0; i < h->loose_n; i++) {
                if (sup_is_still(h->loose[i].pid, true))
                        continue;
                are_still = false;
                syscall(SYS_pidfd_send_signal, h->loose[i].pidfd, SIGSTOP, NULL, 0);
        }
        return are_still;
}

/* hold_round(h): attach to whoever is not held. True when nobody was found running. */
static bool hold_round(struct hold *h)
{
        for (; h->loose_n; h->loose_n--)
                close(h->loose[h->loose_n - 1].pidfd);
        h->is_new = false;
        sup_below(h->box, hold_process, h);
        return hold_loose_stop(h) && !h->is_new;
}

/* hold_all(h): a round can miss a process whose parent ends meanwhile, and nobody ends who is held: so
 * some in a row. */
static bool hold_all(struct hold *h)
{
        for (int i = 0, calm = 0; i < ROUNDS; i++) {
                calm = hold_round(h) ? calm + 1 : 0;
                if (calm == CALM)
                        return true;
                poll(NULL, 0, i < 5 ? 0 : ROUND_MS);
        }
        return false;
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

static void hold_say(int fd, char word)
{
        if (write(fd, &word, 1) != 1 || word == NOT_HELD)
                _exit(0);
}

/* hold_wait(h, fd): until there is more to hold, or the supervisor is gone. */
static void hold_wait(struct hold *h, int fd)
{
        char word;
        for (int wakes = 0;;) {
                struct pollfd p = {.fd = fd, .events = POLLIN};
                int n = poll(&p, 1, h->loose_n ? LOOSE_MS : -1);
                if (n == 1 && read(fd, &word, 1) == 1)
                        return;
                if (n == 1)
                        _exit(0);
                /* Not another round: what `exec` runs beside is let be. */
                if (n == 0 && !hold_loose_stop(h) && ++wakes > WAKES_MAX)
                        hold_say(fd, NOT_HELD);
        }
}

static _Noreturn void holder(pid_t box, int fd)
{
        struct sigaction a = {.sa_handler = on_tracee};
        struct hold h = {.box = box, .own = getpid()};
        sigset_t none;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fdio_close_except(&fd, 1);
        title_set("ostiary-hold");
        prctl(PR_SET_NAME, "ostiary-hold", 0, 0, 0);
        sigaction(SIGCHLD, &a, NULL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (;;) {
                hold_say(fd, hold_all(&h) ? HELD : NOT_HELD);
                hold_wait(&h, fd);
        }
}

/* --- its supervisor ------------------------------------------------------------------------------- */

static void hold_failed(struct sup *s)
{
        sup_end(s, MSG_END_FAULT, 0,
                "it was paused and did not stand still; the box was ended, because a paused box must "
                "not work on");
}

/* on_holder(ctx, events): all are held, or it has failed or died. */
static void on_holder(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        char word = NOT_HELD;
        (void)events;
        ssize_t n = read(s->hold->fd, &word, 1);
        if (n == 1 && word == HELD)
                return;
        unsigned deaths = s->hold->deaths + 1;
        sup_release(s);
        if (n == 1 || deaths >= LIVES) {
                hold_failed(s);
                return;
        }
        /* It let all of them go when it died. */
        sup_signal_all(s, SIGSTOP);
        sup_hold(s);
        if (s->hold)
                s->hold->deaths = deaths;
}

static struct sup_hold *hold_start(struct sup *s)
{
        struct sup_hold *h = calloc(1, sizeof *h);
        int pair[2];
        if (!h || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
                free(h);
                return NULL;
        }
        pid_t pid = fork();
        if (pid == 0)
                holder(s->box.pid, pair[1]);
        close(pair[1]);
        *h = (struct sup_hold){.pid = pid, .fd = pair[0]};
        h->src = pid < 0 ? NULL : loop_add(s->loop, h->fd, EPOLLIN, on_holder, s);
        return h;
}

void sup_hold(struct sup *s)
{
        if (s->hold) {
                /* One that is gone is noticed by its end. */
                if (send(s->hold->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE)
                        hold_failed(s);
                return;
        }
        s->hold = hold_start(s);
        if (s->hold && s->hold->src)
                return;
        sup_release(s);
        hold_failed(s);
}

void sup_release(struct sup *s)
{
        struct sup_hold *h = s->hold;
        if (!h)
                return;
        s->hold = NULL;
        loop_del(&h->src);
        close_fd(&h->fd);
        if (h->pid > 0) {
                kill(h->pid, SIGKILL);
                waitpid(h->pid, NULL, 0);
        }
        free(h);
}
