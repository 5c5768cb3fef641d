/* spawn.c - see spawn.h. Runs in pid 1, under the box's own filter and Landlock domain, so nothing
 * here can do more than the command it starts. */
#include "box/spawn.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/strs.h"
#include "box/plan.h"
#include "box/weak.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* open_pty(spawn, &slave, err): a pty of the box's own instance; the master is returned. */
static int open_pty(const struct msg_spawn *s, int *slave, struct err *err)
{
        _cleanup_close_ int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
        int unlock = 0;
        if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
                return err_sys(err, "open a terminal in the box");
        *slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (*slave < 0)
                return err_sys(err, "open the terminal's other end");
        struct winsize w = {.ws_col = (unsigned short)s->cols, .ws_row = (unsigned short)s->rows};
        if (w.ws_col && w.ws_row)
                ioctl(master, TIOCSWINSZ, &w);
        return take_fd(&master);
}

static void default_signals(void)
{
        struct sigaction dfl = {.sa_handler = SIG_DFL};
        for (int s = 1; s < NSIG; s++)
                sigaction(s, &dfl, NULL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What the child tells pid 1 through a close-on-exec pipe when it did not get to its exec. */
struct failure {
        int code, sys;
        int is_cwd;
};

static _Noreturn void give_up(int report_fd, int code, int is_cwd)
{
        struct failure f = {.code = code, .sys = errno, .is_cwd = is_cwd};
        fdio_write_all(report_fd, &f, sizeof f);
        _exit(127);
}

/* exec_on_path: execvpe, but with the box's PATH and a truthful errno. */
static void exec_on_path(const struct strs *argv, char **envp, const char *path)
{
        const char *file = argv->v[0];
        if (strchr(file, '/')) {
                execve(file, argv->v, envp);
                return;
        }
        int seen = ENOENT;
        for (const char *p = path; p; p = *p ? p + 1 : NULL) {
                size_t n = strcspn(p, ":");
                char full[4096];
                if (n &&
                    (size_t)snprintf(full, sizeof full, "%.*s/%s", (int)n, p, file) < sizeof full) {
                        execve(full, argv->v, envp);
                        if (errno != ENOENT && errno != ENOTDIR)
                                seen = errno;
                }
                p += n;
                if (!*p)
                        break;
        }
        errno = seen;
}

static _Noreturn void child(const struct box_plan *plan, const struct msg_spawn *s, int slave,
                            const int fds[3], int report_fd)
{
        setsid();
        for (int i = 0; i < 3; i++)
                if (dup2(slave >= 0 ? slave : fds[i], i) < 0)
                        give_up(report_fd, E_SYSTEM, 0);
        if (slave >= 0 && ioctl(0, TIOCSCTTY, 0) < 0)
                give_up(report_fd, E_SYSTEM, 0);
        /* Only 0-2 and the report pipe, which closes itself. */
        if (!box_weak(WEAK_FDS) && report_fd != 3) {
                dup3(report_fd, 3, O_CLOEXEC);
                report_fd = 3;
        }
        if (!box_weak(WEAK_FDS))
                close_range(4, ~0u, 0);

        struct strs env = {0};
        for (size_t i = 0; i < plan->env.n; i++)
                strs_add(&env, plan->env.v[i]);
        for (size_t i = 0; i < s->env.n; i++) {
                char *eq = strchr(s->env.v[i], '=');
                if (!eq)
                        continue;
                *eq = 0;
                strs_set_env(&env, s->env.v[i], eq + 1);
        }
        const char *cwd = s->cwd && s->cwd[0] ? s->cwd : plan->cwd;
        if (chdir(cwd) < 0)
                give_up(report_fd, E_INPUT, 1);
        strs_set_env(&env, "PWD", cwd);
        /* When the host runs out of memory the box goes first. */
        fdio_put(AT_FDCWD, "/proc/self/oom_score_adj", "300");
        umask(022);
        default_signals();
        const char *path = strs_get_env(&env, "PATH");
        exec_on_path(&s->argv, env.v, path ? path : "/usr/bin:/bin");
        give_up(report_fd, errno == ENOENT || errno == ENOTDIR ? E_NOCMD : E_NOEXEC, 0);
}

static int tell(const struct failure *f, const struct msg_spawn *s, const struct box_plan *plan,
                struct err *err)
{
        errno = f->sys;
        if (f->is_cwd)
                return err_sys(err, "enter %s in the box",
                               s->cwd && s->cwd[0] ? s->cwd : plan->cwd);
        err_set(err, (enum err_code)f->code, "execute %s in the box: %s", s->argv.v[0],
                strerror(f->sys));
        if (f->code == E_NOCMD && strchr(s->argv.v[0], '/'))
                return err_hint(err, "the file or its interpreter is not visible in the box");
        if (f->code == E_NOCMD)
                return err_hint(err, "it is not on the box's PATH");
        return -1;
}

int spawn_command(const struct box_plan *plan, const struct msg_spawn *s, const int fds[3],
                  pid_t *pid, int *master_fd, struct err *err)
{
        _cleanup_close_ int master = -1;
        _cleanup_close_ int slave = -1;
        if (s->is_tty && (master = open_pty(s, &slave, err)) < 0)
                return -1;
        int report[2];
        if (pipe2(report, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        _cleanup_close_ int read_fd = report[0];
        _cleanup_close_ int write_fd = report[1];

        *pid = fork();
        if (*pid < 0) {
                err_sys(err, "start %s", s->argv.v[0]);
                return errno == EAGAIN ? err_hint(err, "the box's limit of processes is reached")
                                       : -1;
        }
        if (*pid == 0)
                child(plan, s, slave, fds, write_fd);

        close_fd(&write_fd);
        struct failure f;
        ssize_t n;
        do
                n = read(read_fd, &f, sizeof f);
        while (n < 0 && errno == EINTR);
        if (n == (ssize_t)sizeof f) {
                waitpid(*pid, NULL, 0);
                return tell(&f, s, plan, err);
        }
        *master_fd = take_fd(&master);
        return 0;
}

int spawn_task(int (*fn)(void *), void *ctx, pid_t *pid, struct err *err)
{
        *pid = fork();
        if (*pid < 0)
                return err_sys(err, "start a task in the box");
        if (*pid == 0) {
                setsid();
                default_signals();
                _exit(fn(ctx) & 0xff);
        }
        return 0;
}
