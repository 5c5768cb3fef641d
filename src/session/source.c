/* source.c - one secret's source: whether it is there, and asking it. See source.h. Called by the
 * supervisor before the box exists, and whenever a fresh value is wanted. */
#include "session/source.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/dbus.h"
#include "session/door_program.h"
#include "session/keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- is it there? ------------------------------------------------------------------------------
 */

static char *full_path(const char *path, const char *home)
{
        return str_starts(path, "~/") ? str_fmt("%s%s", home, path + 1) : str_dup(path);
}

static int file_is_there(const char *path, struct err *err)
{
        if (access(path, R_OK) == 0)
                return 0;
        err_sys(err, "the file %s cannot be read", path);
        if (err)
                err->code = E_INPUT;
        return -1;
}

/* command_is_there(s): the first word of a command, as far as it is one; the shell knows better, so
 * only a profile's is judged by it. */
static int command_is_there(const struct session_secret *s, struct err *err)
{
        const char *line = s->line.secret->source_arg, *path = getenv("PATH");
        size_t len = strcspn(line, " \t");
        _cleanup_free_ char *word = str_fmt("%.*s", (int)len, line);
        if (!s->is_optional || strpbrk(word, "$`'\"\\(){};|&<>=/"))
                return 0;
        for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *full = str_fmt("%.*s/%s", (int)n, p, word);
                if (n && access(full, X_OK) == 0)
                        return 0;
                p += n + (p[n] == ':');
        }
        return err_set(err, E_INPUT, "the command %s is not installed", word);
}

int source_clock(const struct rule_secret *r, time_t now, struct err *err)
{
        enum { WRITTEN_S = 1793491200 }; /* 2026-11-01 */
        bool is_timed = r->source == RULE_FROM_LOGIN;
        for (size_t i = 0; i < r->forms_n; i++) {
                enum rule_form f = r->forms[i].form;
                is_timed |= f == RULE_AS_SIGV4 || f == RULE_AS_HMAC || f == RULE_AS_GCP ||
                            f == RULE_AS_GITHUB_APP || f == RULE_AS_OAUTH;
        }
        if (!is_timed || now >= WRITTEN_S)
                return 0;
        struct tm tm;
        char text[32] = "";
        if (gmtime_r(&now, &tm))
                strftime(text, sizeof text, "%Y-%m-%d", &tm);
        return err_set(
                err, E_INPUT,
                "the clock of this machine says %s, which is before this program was written, and "
                "what is signed at a wrong time is refused; set the clock (timedatectl set-ntp "
                "true)",
                text);
}

int source_is_there(const struct session_secret *s, const char *home, struct err *err)
{
        const struct rule_secret *r = s->line.secret;
        const char *name = session_secret_asked(s), *value;
        _cleanup_free_ char *path = NULL;
        switch (r->source) {
        case RULE_FROM_ENV:
                value = getenv(name);
                if (value && *value)
                        return 0;
                return err_set(err, E_INPUT, "the variable %s is %s here", name,
                               value ? "empty" : "not set");
        case RULE_FROM_FILE:
                path = full_path(r->source_arg, home);
                return file_is_there(path, err);
        case RULE_FROM_CMD:
                return command_is_there(s, err);
        case RULE_FROM_LOGIN:
                path = source_login_path(r->source_arg, home);
                if (!path)
                        return err_set(err, E_INPUT,
                                       "there is no login named \"%s\" (claude or codex)",
                                       r->source_arg);
                return file_is_there(path, err);
        case RULE_FROM_ANY: /* resolved before */
        case RULE_FROM_KEYRING:
        case RULE_FROM_AWS:
        case RULE_FROM_VAULT:
                return 0;
        }
        return 0;
}

/* --- values on their way -----------------------------------------------------------------------
 */

/* copy_rest(from, to, room): for a file that cannot be spliced. Bytes, or -1. */
static ssize_t copy_some(int from, int to, size_t room)
{
        char some[4096];
        ssize_t n = read(from, some, room < sizeof some ? room : sizeof some);
        if (n > 0 && fdio_write_all(to, some, (size_t)n) < 0)
                n = -1;
        explicit_bzero(some, sizeof some);
        return n;
}

int source_pipe(int fd, size_t max, struct err *err)
{
        int pair[2], there = 0;
        size_t sum = 0;
        struct stat st;
        if (fstat(fd, &st) < 0 || pipe2(pair, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        _cleanup_close_ int in = pair[0];
        _cleanup_close_ int out = pair[1];
        /* A pipe may be held open by somebody who will write nothing more. */
        if (S_ISFIFO(st.st_mode) && ioctl(fd, FIONREAD, &there) < 0)
                return err_sys(err, "look into a pipe");
        size_t want = S_ISFIFO(st.st_mode) && (size_t)there < max + 1 ? (size_t)there : max + 1;
        while (sum < want) {
                ssize_t n = splice(fd, NULL, out, NULL, want - sum, SPLICE_F_NONBLOCK);
                if (n < 0 && errno == EINVAL)
                        n = copy_some(fd, out, want - sum);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_sys(err, "read it");
                if (n == 0)
                        break;
                sum += (size_t)n;
        }
        if (sum == 0)
                return err_set(err, E_INPUT, "it is empty");
        if (sum > max)
                return err_set(err, E_INPUT, "it is longer than %zu KiB, and no key is", max >> 10);
        return take_fd(&in);
}

int source_pipe_of(struct buf *b, struct err *err)
{
        int pair[2] = {-1, -1};
        int r = b->is_broken || b->len > DOOR_SECRET_MAX
                        ? err_set(err, E_INPUT, "it is longer than %d KiB", DOOR_SECRET_MAX >> 10)
                        : 0;
        if (r == 0 && pipe2(pair, O_CLOEXEC) < 0)
                r = err_sys(err, "make a pipe");
        if (r == 0 && fdio_write_all(pair[1], b->data, b->len) < 0)
                r = err_sys(err, "write into a pipe");
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
        close_fd(&pair[1]);
        if (r < 0)
                close_fd(&pair[0]);
        return r < 0 ? -1 : pair[0];
}

/* --- commands and files ------------------------------------------------------------------------
 */

static void finish(struct source *s, int fd, struct err *err)
{
        s->is_asking = false;
        s->done(s->ctx, fd, err);
}

static void on_run(void *ctx, int fd, struct err *err)
{
        finish(ctx, fd, err);
}

static int run(struct source *s, const char *what, char *const argv[], int program_fd,
               void (*done)(void *, int, struct err *), struct err *err)
{
        s->run = (struct source_run){
                .what = what, .done = done, .ctx = s, .pidfd = -1, .out_fd = -1, .words_fd = -1};
        return source_run_begin(&s->run, s->loop, argv, program_fd, s->env, s->home, err);
}

static int run_shell(struct source *s, const char *what, const char *line,
                     void (*done)(void *, int, struct err *), struct err *err)
{
        char *const argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)line, NULL};
        return run(s, what, argv, -1, done, err);
}

static int run_vault(struct source *s, struct err *err)
{
        _cleanup_close_ int program = door_program_open(err);
        char *const argv[] = {(char *)"ostiary-door",
                              (char *)"vault",
                              (char *)"--dir",
                              (char *)(uintptr_t)s->data_dir,
                              (char *)"get",
                              (char *)(uintptr_t)session_secret_asked(s->secret),
                              NULL};
        if (program < 0)
                return -1;
        int up = fcntl(program, F_DUPFD_CLOEXEC, 10);
        int r = up < 0 ? err_sys(err, "start the vault")
                       : run(s, "the vault", argv, up, on_run, err);
        close_fd(&up);
        return r;
}

static int read_file(struct source *s, struct err *err)
{
        const char *name = s->secret->line.secret->source_arg;
        _cleanup_free_ char *path = full_path(name, s->home);
        struct stat st;
        /* Not blocking: the path may have become a pipe. */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0) {
                err_sys(err, "the file %s cannot be read", name);
                err->code = E_INPUT;
                return -1;
        }
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "%s is not a file", name);
        if (st.st_mode & S_IROTH)
                s->warning = str_fmt("%s can be read by every user of this machine: chmod 600 %s",
                                     name, name);
        int value = source_pipe(fd, DOOR_SECRET_MAX, err);
        return value < 0 ? err_add(err, "the file %s cannot be used", name) : value;
}

/* --- what has to be read -----------------------------------------------------------------------
 */

static int read_inside(struct source *s, source_inside *fn, int keep_fd,
                       void (*done)(void *, int, struct err *), struct err *err)
{
        s->run = (struct source_run){
                .done = done, .ctx = s, .pidfd = -1, .out_fd = -1, .words_fd = -1};
        return source_run_inside(&s->run, s->loop, fn, s, keep_fd, err);
}

static int login_inside(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        const struct source *s = ctx;
        (void)keep_fd;
        return source_login_read(s->secret->line.secret->source_arg, s->home, value, err);
}

static int keyring_inside(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        const struct source *s = ctx;
        (void)keep_fd;
        return keyring_read(s->bus, session_secret_asked(s->secret), value, err);
}

static char *aws_file(const struct source *s, const char *variable, const char *name)
{
        const char *set = strs_get_env(s->env, variable);
        return set && *set ? str_dup(set) : str_fmt("%s/.aws/%s", s->home, name);
}

static const char by_process[] = "it is printed by a command";

/* aws_inside: the keys of a profile; or, with the word that it is one, the command that prints
 * them.
 */
static int aws_inside(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        const struct source *s = ctx;
        const char *arg = s->secret->line.secret->source_arg;
        _cleanup_source_aws_ struct source_aws aws = {0};
        (void)keep_fd;
        if (source_aws_read(s->aws_keys, s->aws_config, arg ? arg : "default", &aws, err) < 0)
                return -1;
        if (aws.process) {
                buf_put_str(value, aws.process);
                err_set(err, E_NONE, by_process);
                return 0;
        }
        source_aws_put(&aws, value);
        return 0;
}

/* convert_inside: the command printed JSON; the keeper wants lines. When they expire is no secret.
 */
static int convert_inside(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        uint64_t expires_s = 0;
        (void)ctx;
        if (source_aws_of_process(keep_fd, value, &expires_s, err) < 0)
                return -1;
        err_set(err, E_NONE, "%llu", (unsigned long long)expires_s);
        return 0;
}

static void on_converted(void *ctx, int fd, struct err *err)
{
        struct source *s = ctx;
        if (fd >= 0 && str_u64(s->run.words, &s->expires_s) < 0)
                s->expires_s = 0;
        finish(s, fd, err);
}

static void on_printed(void *ctx, int fd, struct err *err)
{
        struct source *s = ctx;
        _cleanup_close_ int printed = fd;
        if (printed < 0 || read_inside(s, convert_inside, printed, on_converted, err) < 0)
                finish(s, -1, err);
}

static void on_aws(void *ctx, int fd, struct err *err)
{
        struct source *s = ctx;
        char line[4096];
        if (fd < 0 || strcmp(s->run.words, by_process) != 0) {
                finish(s, fd, err);
                return;
        }
        ssize_t n = read(fd, line, sizeof line - 1);
        close(fd);
        line[n > 0 ? n : 0] = 0;
        if (run_shell(s, "the profile's credential_process", line, on_printed, err) < 0)
                finish(s, -1, err);
}

static int read_aws(struct source *s, struct err *err)
{
        free(s->aws_keys);
        free(s->aws_config);
        s->aws_keys = aws_file(s, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
        s->aws_config = aws_file(s, "AWS_CONFIG_FILE", "config");
        return read_inside(s, aws_inside, -1, on_aws, err);
}

/* --- asking ------------------------------------------------------------------------------------
 */

void source_ask(struct source *s)
{
        struct err err = {0};
        const struct rule_secret *line = s->secret->line.secret;
        int fd = -1, r = 0;
        s->is_asking = true;
        s->expires_s = 0;
        free(s->warning);
        s->warning = NULL;
        if (s->secret->value_fd >= 0) { /* captured before we left the caller */
                fd = take_fd(&s->secret->value_fd);
                finish(s, fd, &err);
                return;
        }
        switch (line->source) {
        case RULE_FROM_ENV:
                r = err_set(&err, E_REFUSED,
                            "it came from a variable of the shell that started the box, which "
                            "cannot be asked again; give the new value with: ostiary rotate BOX "
                            "%s -",
                            line->name);
                break;
        case RULE_FROM_CMD:
                r = run_shell(s, "the command", line->source_arg, on_run, &err);
                break;
        case RULE_FROM_FILE:
                r = fd = read_file(s, &err);
                break;
        case RULE_FROM_AWS:
                r = read_aws(s, &err);
                break;
        case RULE_FROM_VAULT:
                r = run_vault(s, &err);
                break;
        case RULE_FROM_KEYRING:
                free(s->bus);
                s->bus = dbus_address(s->env); /* which no child of ours sees */
                r = read_inside(s, keyring_inside, -1, on_run, &err);
                break;
        case RULE_FROM_ANY:
                r = err_set(&err, E_SYSTEM, "it was not looked for");
                break;
        case RULE_FROM_LOGIN:
                r = read_inside(s, login_inside, -1, on_run, &err);
                break;
        }
        if (r < 0 || fd >= 0)
                finish(s, r < 0 ? -1 : fd, &err);
}

void source_cancel(struct source *s)
{
        source_run_cancel(&s->run);
        s->is_asking = false;
        free(s->warning);
        s->warning = NULL;
}
