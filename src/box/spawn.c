/* spawn.c - see spawn.h. Runs in pid 1, under the box's own filter and Landlock domain, so nothing
 * here can do more than the command it starts. */
#include "box/spawn.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* What the child leaves behind when it did not get to its exec. It runs in our memory (vfork), so
 * this is all it takes. */
struct attempt {
        const struct msg_spawn *spawn;
        uint32_t id;
        const int *fds;
        int slave;
        uint64_t files; /* how many it may have open; 0: as many as pid 1 */
        const char *cwd, *path;
        char **env;
        /* Written by the child in our memory. Volatile, because a compiler that sees the child
         * never return may conclude that nobody reads what it wrote. */
        volatile enum err_code code;
        volatile int sys;
        volatile bool is_cwd;
};

/* run(a, file): execve, with the command's number in a register that the kernel does not look at.
 * The witness cannot read the memory of pid 1, in which we live, but it sees the registers, and
 * knows the command of that number from the supervisor. */
static void run(const struct attempt *a, const char *file)
{
        syscall(SYS_execve, file, a->spawn->argv.v, a->env, (unsigned long)a->id);
}

/* exec_on_path: execvpe, but with the box's PATH and a truthful errno. */
static void exec_on_path(const struct attempt *a)
{
        const char *file = a->spawn->argv.v[0], *path = a->path;
        if (strchr(file, '/')) {
                run(a, file);
                return;
        }
        int seen = ENOENT;
        for (const char *p = path; p; p = *p ? p + 1 : NULL) {
                size_t n = strcspn(p, ":");
                char full[4096];
                if (n &&
                    (size_t)snprintf(full, sizeof full, "%.*s/%s", (int)n, p, file) < sizeof full) {
                        /* Asked first, because an attempt is something that is recorded. */
                        if (access(full, F_OK) == 0)
                                run(a, full);
                        if (errno != ENOENT && errno != ENOTDIR)
                                seen = errno;
                }
                p += n;
                if (!*p)
                        break;
        }
        errno = seen;
}

/* pid 1 blocks SIGCHLD for its signalfd; a blocked signal would stay so through exec. */
static void unblock_signals(void)
{
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

/* bound_files(most): for good, and never more than the caller of the box may have. */
static int bound_files(uint64_t most)
{
        struct rlimit l;
        if (most == 0 || box_weak(WEAK_RLIMITS))
                return 0;
        if (getrlimit(RLIMIT_NOFILE, &l) < 0)
                return -1;
        if (most < l.rlim_max)
                l.rlim_max = most;
        l.rlim_cur = l.rlim_max;
        return setrlimit(RLIMIT_NOFILE, &l);
}

static _Noreturn void give_up(struct attempt *a, enum err_code code)
{
        a->code = code;
        a->sys = errno;
        _exit(127);
}

/* child(a): between vfork and exec: only system calls, nothing allocated, nothing kept. */
static _Noreturn __attribute__((noinline)) void child(struct attempt *a)
{
        /* When memory runs out, the machine's or the box's, commands go first and pid 1 goes last:
         * with it goes everything. Who is born by vfork has a value of its own. */
        fdio_put(AT_FDCWD, "/proc/self/oom_score_adj", "300");
        if (!box_weak(WEAK_PTY))
                setsid();
        unblock_signals();
        for (int i = 0; i < 3; i++)
                if (dup2(a->slave >= 0 ? a->slave : a->fds[i], i) < 0)
                        give_up(a, E_SYSTEM);
        if (a->slave >= 0 && ioctl(0, TIOCSCTTY, 0) < 0)
                give_up(a, E_SYSTEM);
        if (!box_weak(WEAK_FDS))
                close_range(3, ~0u, 0);
        if (bound_files(a->files) < 0)
                give_up(a, E_SYSTEM);
        if (!box_weak(WEAK_CWD) && chdir(a->cwd) < 0) {
                a->is_cwd = true;
                give_up(a, E_INPUT);
        }
        exec_on_path(a);
        give_up(a, errno == ENOENT || errno == ENOTDIR ? E_NOCMD : E_NOEXEC);
}

/* launch(a): by itself, because what a function holds in registers does not survive a vfork. */
static __attribute__((noinline)) pid_t launch(struct attempt *a)
{
        pid_t pid = vfork();
        if (pid == 0)
                child(a);
        return pid;
}

static int tell(const struct attempt *a, struct err *err)
{
        const char *file = a->spawn->argv.v[0];
        errno = a->sys;
        if (a->is_cwd)
                return err_sys(err, "enter %s in the box", a->cwd);
        err_set(err, a->code, "execute %s in the box: %s", file, strerror(a->sys));
        if (a->code == E_NOCMD && strchr(file, '/'))
                return err_hint(err, "the file or its interpreter is not visible in the box");
        if (a->code == E_NOCMD)
                return err_hint(err, "it is not on the box's PATH");
        return -1;
}

/* environment(plan, spawn, env, cwd): the box's, with what this command adds or replaces. */
static void environment(const struct box_plan *plan, const struct msg_spawn *s, struct strs *env,
                        const char *cwd)
{
        for (size_t i = 0; i < plan->env.n; i++)
                strs_add(env, plan->env.v[i]);
        for (size_t i = 0; i < s->env.n; i++) {
                const char *eq = strchr(s->env.v[i], '=');
                if (!eq)
                        continue;
                _cleanup_free_ char *name = str_fmt("%.*s", (int)(eq - s->env.v[i]), s->env.v[i]);
                strs_set_env(env, name, eq + 1);
        }
        strs_set_env(env, "PWD", cwd);
}

int spawn_command(const struct box_plan *plan, const struct msg_spawn *s, uint32_t id,
                  const int fds[3], pid_t *pid, int *master_fd, struct err *err)
{
        _cleanup_close_ int master = -1;
        _cleanup_close_ int slave = -1;
        if (s->is_tty && (master = open_pty(s, &slave, err)) < 0)
                return -1;
        _cleanup_strs_ struct strs env = {0};
        const char *cwd = s->cwd && s->cwd[0] ? s->cwd : plan->cwd;
        environment(plan, s, &env, cwd);
        const char *path = strs_get_env(&env, "PATH");
        struct attempt a = {.spawn = s,
                            .id = id,
                            .fds = fds,
                            .slave = slave,
                            .files = plan->limits.files,
                            .cwd = cwd,
                            .env = env.v,
                            .path = path ? path : "/usr/bin:/bin"};

        pid_t got = launch(&a);
        if (got < 0) {
                err_sys(err, "start %s", s->argv.v[0]);
                return errno == EAGAIN ? err_hint(err, "the box's limit of processes is reached")
                                       : -1;
        }
        *pid = got;
        if (a.code) {
                waitpid(got, NULL, 0);
                return tell(&a, err);
        }
        *master_fd = take_fd(&master);
        return 0;
}

int spawn_task(int (*fn)(void *), void *ctx, int keep_fd, pid_t *pid, struct err *err)
{
        *pid = fork();
        if (*pid < 0)
                return err_sys(err, "start a task in the box");
        if (*pid == 0) {
                setsid();
                unblock_signals();
                /* Whoever holds the control socket speaks for pid 1. */
                if (!box_weak(WEAK_FDS) && fdio_close_except(&keep_fd, 1) < 0)
                        _exit(125);
                _exit(fn(ctx) & 0xff);
        }
        return 0;
}
