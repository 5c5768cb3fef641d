/* source_run.c - a command whose output is a value: its own process group, no terminal, a time
 * limit, and its last complaint for the sentence. See source.h.
 *
 * Its output waits unread in a pipe until the command has ended well; then it is moved on. So a
 * command that fails half-way gives nothing, one that leaves a daemon behind with the pipe open
 * holds nobody up, and the value is never in our memory. */
#include "session/source.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/scale.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_SHOWN = 200 };

static void release(struct source_run *r)
{
        loop_timer_stop(&r->patience);
        loop_del(&r->end_src);
        loop_del(&r->words_src);
        close_fd(&r->pidfd);
        close_fd(&r->out_fd);
        close_fd(&r->words_fd);
        r->pid = 0;
}

void source_run_cancel(struct source_run *r)
{
        if (r->pid == 0)
                return;
        /* Not reaped yet, so neither number can be anybody else's. */
        kill(-r->pid, SIGKILL);
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
        release(r);
}

/* on_words(ctx, events): what it complains; only the end is kept. */
static void on_words(void *ctx, uint32_t events)
{
        struct source_run *r = ctx;
        char more[256];
        (void)events;
        ssize_t n = read(r->words_fd, more, sizeof more);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                loop_del(&r->words_src);
                return;
        }
        size_t room = sizeof r->words - 1, len = r->words_len + (size_t)n;
        if (len > room) {
                size_t gone = len - room;
                memmove(r->words, r->words + gone, r->words_len - gone);
                r->words_len -= gone;
        }
        memcpy(r->words + r->words_len, more, (size_t)n);
        r->words_len += (size_t)n;
        r->words[r->words_len] = 0;
}

/* last_line(r): of its complaints; "" when there was none. */
static const char *last_line(struct source_run *r)
{
        size_t n = r->words_len;
        while (n && (r->words[n - 1] == '\n' || r->words[n - 1] == '\r' || r->words[n - 1] == ' '))
                n--;
        r->words[n] = 0;
        for (size_t i = 0; i < n; i++) /* what follows a NUL would be lost */
                if (r->words[i] == 0)
                        r->words[i] = ' ';
        char *line = strrchr(r->words, '\n');
        line = line ? line + 1 : r->words;
        if (strlen(line) > LINE_MAX_SHOWN)
                line[LINE_MAX_SHOWN] = 0;
        return str_starts(line, "ostiary: ") ? line + 9 : line;
}

/* judge(r, status, err): the value's descriptor, or why there is none. */
static int judge(struct source_run *r, int status, struct err *err)
{
        const char *line = last_line(r);
        const char *colon = *line ? ": " : "";
        int n = 0;
        if (!r->what && WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return source_pipe(r->out_fd, DOOR_SECRET_MAX, err);
        if (!r->what)
                return err_set(err, E_INPUT, "%s", *line ? line : "it could not be read");
        if (WIFSIGNALED(status))
                return err_set(err, E_INPUT, "%s was killed by signal %d%s%s", r->what,
                               WTERMSIG(status), colon, line);
        if (WEXITSTATUS(status) == 127 && !*line)
                return err_set(err, E_INPUT, "%s was not found", r->what);
        if (WEXITSTATUS(status) != 0)
                return err_set(err, E_INPUT, "%s failed with exit status %d%s%s", r->what,
                               WEXITSTATUS(status), colon, line);
        if (ioctl(r->out_fd, FIONREAD, &n) < 0 || n == 0)
                return err_set(err, E_INPUT, "%s printed nothing%s%s", r->what, colon, line);
        int fd = source_pipe(r->out_fd, DOOR_SECRET_MAX, err);
        return fd < 0 ? err_add(err, "what %s printed cannot be used", r->what) : fd;
}

static void on_end(void *ctx, uint32_t events)
{
        struct source_run *r = ctx;
        struct err err = {0};
        int status = 0;
        (void)events;
        if (waitpid(r->pid, &status, WNOHANG) != r->pid)
                return;
        while (r->words_src) { /* what it said last */
                size_t had = r->words_len;
                on_words(r, 0);
                if (r->words_len == had || r->words_len == sizeof r->words - 1)
                        break;
        }
        int fd = judge(r, status, &err);
        release(r);
        r->done(r->ctx, fd, &err);
}

static void on_patience_over(void *ctx)
{
        struct source_run *r = ctx;
        struct err err = {0};
        int n = 0;
        bool is_full = ioctl(r->out_fd, FIONREAD, &n) == 0 && n > DOOR_SECRET_MAX;
        source_run_cancel(r);
        if (!r->what)
                err_set(&err, E_INPUT, "it could not be read within %d seconds", SOURCE_MS / 1000);
        else if (is_full)
                err_set(&err, E_INPUT, "%s printed more than %d KiB", r->what,
                        DOOR_SECRET_MAX >> 10);
        else
                err_set(&err, E_INPUT, "%s did not finish within %d seconds", r->what,
                        SOURCE_MS / 1000);
        r->done(r->ctx, -1, &err);
}

/* spawn(r, argv, program_fd, env, home, out, words): 0, or an errno. */
static int spawn(struct source_run *r, char *const argv[], int program_fd, const struct strs *env,
                 const char *home, int out, int words)
{
        posix_spawn_file_actions_t acts;
        posix_spawnattr_t attr;
        sigset_t none, usual;
        char *const nothing[] = {NULL};
        char path[32] = "/bin/sh";
        posix_spawn_file_actions_init(&acts);
        posix_spawnattr_init(&attr);
        sigemptyset(&none);
        sigemptyset(&usual);
        for (int sig = 1; sig < 32; sig++)
                if (sig != SIGKILL && sig != SIGSTOP)
                        sigaddset(&usual, sig);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setsigdefault(&attr, &usual);
        posix_spawnattr_setpgroup(&attr, 0);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF);
        posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&acts, out, 1);
        posix_spawn_file_actions_adddup2(&acts, words, 2);
        if (program_fd >= 0) {
                posix_spawn_file_actions_adddup2(&acts, program_fd, 3);
                snprintf(path, sizeof path, "/proc/self/fd/3");
        }
        posix_spawn_file_actions_addclosefrom_np(&acts, program_fd >= 0 ? 4 : 3);
        posix_spawn_file_actions_addchdir_np(&acts, home);
        int e = posix_spawn(&r->pid, path, &acts, &attr, argv,
                            env->n ? env->v : (char *const *)nothing);
        posix_spawnattr_destroy(&attr);
        posix_spawn_file_actions_destroy(&acts);
        if (e)
                r->pid = 0;
        return e;
}

/* above(fd): the same descriptor at a number that no file action uses as a target. */
static int above(int fd)
{
        int up = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        close(fd);
        return up;
}

/* The pipes of a child; ours stay with the run. */
struct ends {
        int out, words; /* the child's */
};

static int make_ends(struct source_run *r, struct ends *e, struct err *err)
{
        int out[2], words[2];
        r->pid = 0;
        r->pidfd = r->out_fd = r->words_fd = -1;
        r->words_len = 0;
        r->words[0] = 0;
        *e = (struct ends){.out = -1, .words = -1};
        if (pipe2(out, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        r->out_fd = out[0];
        e->out = above(out[1]);
        if (pipe2(words, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        r->words_fd = words[0];
        e->words = above(words[1]);
        fcntl(r->words_fd, F_SETFL, O_NONBLOCK);
        return e->out < 0 || e->words < 0 ? err_sys(err, "make a pipe") : 0;
}

/* watch(r, loop, e, err): the child lives; or there is none, and ${err} says why. */
static int watch(struct source_run *r, struct loop *loop, struct ends *e, struct err *err)
{
        close_fd(&e->out);
        close_fd(&e->words);
        if (r->pid == 0) {
                release(r);
                return -1;
        }
        r->pidfd = pidfd_open(r->pid, 0);
        r->end_src = r->pidfd < 0 ? NULL : loop_add(loop, r->pidfd, EPOLLIN, on_end, r);
        r->words_src = loop_add(loop, r->words_fd, EPOLLIN, on_words, r);
        if (!r->end_src || !r->words_src) {
                err_sys(err, "watch where a secret comes from");
                source_run_cancel(r);
                return -1;
        }
        r->patience.fn = on_patience_over;
        r->patience.ctx = r;
        loop_timer_set(loop, &r->patience, scale_ms(SOURCE_MS));
        return 0;
}

int source_run_begin(struct source_run *r, struct loop *loop, char *const argv[], int program_fd,
                     const struct strs *env, const char *home, struct err *err)
{
        struct ends e;
        int failed = make_ends(r, &e, err) < 0
                             ? 0
                             : spawn(r, argv, program_fd, env, home, e.out, e.words);
        if (failed) {
                errno = failed;
                err_sys(err, "start %s", r->what);
        }
        return watch(r, loop, &e, err);
}

/* inside(...): in the child. It ends without a word to anybody but its pipes. */
static _Noreturn void inside(const struct ends *e, source_inside *fn, void *ctx, int keep_fd)
{
        const int keep[] = {e->out, e->words, keep_fd};
        struct err err = {0};
        struct buf value = {0};
        setpgid(0, 0);
        if (fdio_close_except(keep, 3) < 0)
                _exit(125);
        int r = fn(ctx, keep_fd, &value, &err);
        if (*err.text)
                fdio_write_all(e->words, err.text, strlen(err.text));
        if (r == 0)
                r = fdio_write_all(e->out, value.data, value.len);
        _exit(r == 0 ? 0 : 1);
}

int source_run_inside(struct source_run *r, struct loop *loop, source_inside *fn, void *ctx,
                      int keep_fd, struct err *err)
{
        struct ends e;
        if (make_ends(r, &e, err) == 0) {
                pid_t pid = fork();
                if (pid == 0)
                        inside(&e, fn, ctx, keep_fd);
                if (pid < 0)
                        err_sys(err, "start a process that reads a secret");
                r->pid = pid > 0 ? pid : 0;
        }
        return watch(r, loop, &e, err);
}
