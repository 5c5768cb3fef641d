/* call.c - see call.h: the host's git, with a small environment of ours. The repository that it
 * runs over is the user's own, or a directory of ours; never one that a box wrote. */
#include "git/call.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* call_program(): the git of the caller's PATH. Relative places do not count: they would be the
 * workspace's. NULL when there is none; the caller frees. */
static char *call_program(void)
{
        const char *path = getenv("PATH");
        for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *full = str_fmt("%.*s/git", (int)n, p);
                struct stat st;
                if (n && *p == '/' && stat(full, &st) == 0 && S_ISREG(st.st_mode) &&
                    access(full, X_OK) == 0)
                        return take_ptr(&full);
                p += n + (p[n] == ':');
        }
        return NULL;
}

int git_call_is_there(void)
{
        _cleanup_free_ char *program = call_program();
        return program != NULL;
}

/* Settings of git's own that no configuration file takes back. */
static const char *const call_settings[][2] = {
        {"core.hooksPath", "/dev/null"},
        {"core.fsmonitor", "false"},
        {"core.pager", "cat"},
        {"core.bigFileThreshold", "32m"},
        {"gc.auto", "0"},
        {"maintenance.auto", "false"},
        {"submodule.recurse", "false"},
        {"protocol.allow", "never"}, /* nothing is fetched from elsewhere on the way */
        {"protocol.file.allow", "always"},
};

static void call_env(struct strs *env, const struct strs *more)
{
        static const char *const kept[] = {"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"};
        static const char *const fixed[] = {"LC_ALL=C",
                                            "GIT_TERMINAL_PROMPT=0",
                                            "GIT_OPTIONAL_LOCKS=0",
                                            "GIT_PAGER=cat",
                                            "GIT_NO_REPLACE_OBJECTS=1",
                                            "GIT_GRAFT_FILE=/dev/null",
                                            "GIT_EDITOR=:",
                                            "GIT_ADVICE=0",
                                            "GIT_NO_LAZY_FETCH=1",
                                            "GIT_ASKPASS=/bin/false",
                                            "SSH_ASKPASS=/bin/false"};
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
                if (getenv(kept[i]))
                        strs_set_env(env, kept[i], getenv(kept[i]));
        for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
                strs_add(env, fixed[i]);
        size_t n = sizeof call_settings / sizeof *call_settings;
        strs_addf(env, "GIT_CONFIG_COUNT=%zu", n);
        for (size_t i = 0; i < n; i++) {
                strs_addf(env, "GIT_CONFIG_KEY_%zu=%s", i, call_settings[i][0]);
                strs_addf(env, "GIT_CONFIG_VALUE_%zu=%s", i, call_settings[i][1]);
        }
        for (size_t i = 0; more && i < more->n; i++)
                strs_add(env, more->v[i]);
}

/* call_above(fd): the same descriptor at a number that no file action uses as a target. */
static int call_above(int fd)
{
        int up = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        close(fd);
        return up;
}

/* call_spawn(call, program, env, fds, &pid): 0, or an errno. */
static int call_spawn(const struct git_call *call, const char *program, const struct strs *env,
                      const int fds[3], pid_t *pid)
{
        _cleanup_strs_ struct strs argv = {0};
        strs_add(&argv, "git");
        for (size_t i = 0; call->argv[i]; i++)
                strs_add(&argv, call->argv[i]);
        posix_spawn_file_actions_t acts;
        posix_spawnattr_t attr;
        sigset_t none, usual;
        posix_spawn_file_actions_init(&acts);
        posix_spawnattr_init(&attr);
        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setsigdefault(&attr, &usual);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        for (int i = 0; i < 3; i++)
                posix_spawn_file_actions_adddup2(&acts, fds[i], i);
        posix_spawn_file_actions_addclosefrom_np(&acts, 3);
        posix_spawn_file_actions_addchdir_np(&acts, call->dir);
        int e = posix_spawn(pid, program, &acts, &attr, argv.v, env->v);
        posix_spawnattr_destroy(&attr);
        posix_spawn_file_actions_destroy(&acts);
        return e;
}

static uint64_t call_ms(const struct timeval *t)
{
        return (uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_usec / 1000;
}

/* call_finish(p, pid, err): its exit status, or -1; it is gone afterwards in any case. */
static int call_finish(struct git_pump *p, pid_t pid, struct err *err)
{
        _cleanup_close_ int pidfd = pidfd_open(pid, 0);
        int r = pidfd < 0 ? err_sys(err, "watch git") : git_pump_wait(p, pidfd, err);
        int status = 0;
        struct rusage used = {0};
        const struct git_call *call = p->call;
        if (r < 0)
                kill(pid, SIGKILL);
        while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
                ;
        uint64_t cpu_ms = call_ms(&used.ru_utime) + call_ms(&used.ru_stime);
        if (call->cpu_ms)
                *call->cpu_ms += cpu_ms;
        if (r < 0 || git_pump_rest(p, err) < 0)
                return -1;
        bool is_cpu =
                WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
        if (is_cpu && call->cpu_s)
                return err_set(err, E_INPUT, "git %s took more than %u s of processor time",
                               call->argv[0], call->cpu_s);
        if (!WIFEXITED(status))
                return err_set(err, E_INPUT, "git %s was killed by signal %d", p->call->argv[0],
                               WTERMSIG(status));
        if (WEXITSTATUS(status))
                git_pump_words(p, err);
        char words[16];
        if (WEXITSTATUS(status) && strstr(err->text, "Out of memory"))
                err_set(err, E_INPUT, "git %s needs more than %s of memory", call->argv[0],
                        str_size_words(call->memory ? call->memory : GIT_MEMORY_MAX, words));
        return WEXITSTATUS(status);
}

/* call_bound(call, pid): bounds, not walls: it is git, and runs already. Memory is what is its own
 * and written to; packs that are mapped to be read do not count. */
static void call_bound(const struct git_call *call, pid_t pid)
{
        rlim_t memory = call->memory ? call->memory : GIT_MEMORY_MAX;
        struct rlimit most = {.rlim_cur = memory, .rlim_max = memory};
        struct rlimit cpu = {.rlim_cur = call->cpu_s, .rlim_max = (rlim_t)call->cpu_s + 1};
        prlimit(pid, RLIMIT_DATA, &most, NULL);
        if (call->cpu_s)
                prlimit(pid, RLIMIT_CPU, &cpu, NULL);
}

int git_call_host(const struct git_call *call, const struct strs *more, struct err *err)
{
        _cleanup_free_ char *program = call_program();
        if (!program)
                return err_set(err, E_ABSENT, "there is no git on this machine");
        _cleanup_strs_ struct strs env = {0};
        call_env(&env, more);
        struct git_pump p;
        int theirs[3];
        pid_t pid = -1;
        if (git_pump_open(&p, call, theirs, err) < 0)
                return -1;
        for (int i = 0; i < 3; i++)
                theirs[i] = call_above(theirs[i]);
        int e = theirs[0] < 0 || theirs[1] < 0 || theirs[2] < 0
                        ? errno
                        : call_spawn(call, program, &env, theirs, &pid);
        for (int i = 0; i < 3; i++)
                close_fd(&theirs[i]);
        int r = -1;
        if (e) {
                errno = e;
                err_sys(err, "start git in %s", call->dir);
        } else {
                call_bound(call, pid);
                r = call_finish(&p, pid, err);
        }
        git_pump_close(&p);
        return r;
}
