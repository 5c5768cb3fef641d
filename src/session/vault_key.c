/* vault_key.c - see vault_key.h. Called by whoever collects a box's secrets and by `ostiary
 * secret`. No value ever passes through this process: it holds ends of pipes and reads complaints.
 */
#include "session/vault_key.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/strs.h"
#include "session/door_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUE_ROOM = 64 << 10 };

extern char **environ;

/* become(program, args, in, out, words): in the child; -1 leaves a descriptor as it is. */
static _Noreturn void become(int program, const struct strs *args, int in, int out, int words)
{
        const int want[3] = {in, out, words};
        int have[3];
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        for (int i = 0; i < 3; i++)
                have[i] = want[i] < 0 ? -1 : fcntl(want[i], F_DUPFD_CLOEXEC, 3);
        program = fcntl(program, F_DUPFD_CLOEXEC, 3);
        for (int i = 0; i < 3; i++)
                if (want[i] >= 0 && (have[i] < 0 || dup2(have[i], i) < 0))
                        _exit(125);
        static char *const nothing[] = {NULL}; /* a supervisor has dropped its environment */
        if (program >= 0)
                fexecve(program, args->v, environ ? environ : nothing);
        _exit(125);
}

static pid_t begin(const char *data_dir, char *const argv[], int in, int out, int words,
                   struct err *err)
{
        _cleanup_strs_ struct strs args = {0};
        _cleanup_close_ int program = door_program_open(err);
        if (program < 0)
                return -1;
        strs_add(&args, "ostiary-door");
        strs_add(&args, "vault");
        strs_add(&args, "--dir");
        strs_add(&args, data_dir);
        for (size_t i = 0; argv[i]; i++)
                strs_add(&args, argv[i]);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
                become(program, &args, in, out, words);
        if (pid < 0)
                err_sys(err, "start ostiary-door");
        return pid;
}

static int await(pid_t pid)
{
        int status = 0;
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return 125;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int vault_key_program(const char *data_dir, char *const argv[], int out_fd, struct err *err)
{
        /* ^C at a question ends the program that asks; how it ended is then passed on. */
        struct sigaction ignore = {.sa_handler = SIG_IGN}, was;
        pid_t pid = begin(data_dir, argv, -1, out_fd, -1, err);
        if (pid < 0)
                return -1;
        sigaction(SIGINT, &ignore, &was);
        int code = await(pid);
        sigaction(SIGINT, &was, NULL);
        return code;
}

/* hear(fd, words, n): everything that is said there until its end, the first ${n} - 1 bytes kept.
 */
static void hear(int fd, char *words, size_t n)
{
        size_t len = 0;
        char rest[256] = "";
        for (;;) {
                bool fits = len + 1 < n;
                ssize_t got = read(fd, fits ? words + len : rest, fits ? n - 1 - len : sizeof rest);
                if (got == 0 || (got < 0 && errno != EINTR))
                        break;
                if (got > 0 && fits)
                        len += (size_t)got;
        }
        words[len] = 0;
        words[strcspn(words, "\n")] = 0;
}

/* finish(pid, said_in, err): wait for its end; what it complained of is the sentence. */
static int finish(pid_t pid, int said_in, struct err *err)
{
        char words[768];
        hear(said_in, words, sizeof words);
        int code = await(pid);
        if (code == 0)
                return 0;
        const char *sentence = strncmp(words, "ostiary: ", 9) == 0 ? words + 9 : words;
        return err_set(err, code == EXIT_ABSENT ? E_ABSENT : E_INPUT, "%s",
                       *sentence ? sentence : "the vault gave no answer");
}

/* The two pipes of an errand: the value, and complaints. */
struct errand_pipes {
        int value[2], said[2]; /* read from the first, write to the second */
};

static void pipes_close(struct errand_pipes *p)
{
        for (int i = 0; i < 2; i++) {
                close_fd(&p->value[i]);
                close_fd(&p->said[i]);
        }
}
#define _cleanup_pipes_ __attribute__((cleanup(pipes_close)))

static int pipes_make(struct errand_pipes *p, struct err *err)
{
        if (pipe2(p->value, O_CLOEXEC) < 0 || pipe2(p->said, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        fcntl(p->value[1], F_SETPIPE_SZ, VALUE_ROOM);
        return 0;
}

/* errand(data_dir, argv, p, in, out, err): run the vault to its end. */
static int errand(const char *data_dir, char *const argv[], struct errand_pipes *p, int in, int out,
                  struct err *err)
{
        pid_t pid = begin(data_dir, argv, in, out, p->said[1], err);
        if (pid < 0)
                return -1;
        close_fd(&p->value[1]);
        close_fd(&p->said[1]);
        return finish(pid, p->said[0], err);
}

int vault_key_get(const char *data_dir, const char *name, struct err *err)
{
        char *const argv[] = {(char *)"get", (char *)name, NULL};
        _cleanup_pipes_ struct errand_pipes p = {{-1, -1}, {-1, -1}};
        _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (pipes_make(&p, err) < 0)
                return -1;
        /* Nobody reads until the keeper does: what does not fit must fail and not wait. */
        fcntl(p.value[1], F_SETFL, O_NONBLOCK);
        return errand(data_dir, argv, &p, null, p.value[1], err) == 0 ? take_fd(&p.value[0]) : -1;
}

int vault_key_put(const char *data_dir, const char *name, const void *bytes, size_t n,
                  struct err *err)
{
        char *const argv[] = {(char *)"rotate", (char *)name, NULL};
        _cleanup_pipes_ struct errand_pipes p = {{-1, -1}, {-1, -1}};
        _cleanup_close_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (pipes_make(&p, err) < 0)
                return -1;
        /* Nobody reads yet: what does not fit must fail and not wait. */
        if (fcntl(p.value[1], F_SETFL, O_NONBLOCK) < 0 || n > VALUE_ROOM ||
            fdio_write_all(p.value[1], bytes, n) < 0)
                return err_set(err, E_INPUT, "the value is too long for the vault");
        return errand(data_dir, argv, &p, p.value[0], null, err);
}
