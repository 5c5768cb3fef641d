/* source_test.c - asking sources for values: files in formats of others with everything that can be
 * wrong in them, pipes that somebody holds open, commands that fail half-way, and processes that
 * read for us. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/source.h"
#include "unit/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* HOLDS(condition, "name => %s", ...): what stands before the arrow is the name, the rest the why.
 */
#define HOLDS(condition, ...) holds((condition), __VA_ARGS__)
__attribute__((format(printf, 2, 3))) static void holds(bool good, const char *fmt, ...)
{
        char text[2048];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        char *arrow = strstr(text, " => ");
        if (arrow)
                *arrow = 0;
        check(good, text, "%s", arrow ? arrow + 4 : "");
}

static char dir[] = "/tmp/ostiary-source.XXXXXX";

static char *put(const char *name, const char *text)
{
        char *path = str_fmt("%s/%s", dir, name);
        fdio_write_file(AT_FDCWD, path, text, 0600, NULL);
        return path;
}

/* content(fd): what a value's descriptor holds, to its end; it is closed. */
static char *content(int fd)
{
        struct buf b = {0};
        if (fd < 0)
                return str_dup("(none)");
        fdio_read_all(fd, &b, 1 << 20);
        close(fd);
        char *s = str_dup(buf_cstr(&b));
        buf_free(&b);
        return s;
}

/* --- AWS ---------------------------------------------------------------------------------------
 */

static void aws(void)
{
        static const struct {
                const char *name, *keys, *config, *profile;
                const char *want;  /* what the keeper gets, or the command with "!" before it */
                const char *fault; /* part of the sentence */
        } cases[] = {
                {"plain", "[default]\naws_access_key_id=ID\naws_secret_access_key=KEY\n", "",
                 "default", "ID\nKEY\n", NULL},
                {"blanks and comments",
                 "# mine\n\n  [ work ]  \n; more\naws_access_key_id  =  ID \r\n"
                 "aws_secret_access_key=KE=Y/+\n",
                 "", "work", "ID\nKE=Y/+\n", NULL},
                {"a token",
                 "[a]\naws_access_key_id=I\naws_secret_access_key=K\n"
                 "aws_session_token=T==\n",
                 "", "a", "I\nK\nT==\n", NULL},
                {"the right section",
                 "[a]\naws_access_key_id=1\n[b]\naws_access_key_id=2\n"
                 "aws_secret_access_key=K\n",
                 "", "b", "2\nK\n", NULL},
                {"keys in config", "",
                 "[profile a]\naws_access_key_id=1\naws_secret_access_key=2\n", "a", "1\n2\n",
                 NULL},
                {"default in config", "",
                 "[default]\naws_access_key_id=1\naws_secret_access_key=2\n", "default", "1\n2\n",
                 NULL},
                {"an indented line is no key",
                 "[a]\naws_access_key_id=1\n"
                 "s3 =\n  aws_secret_access_key = no\n",
                 "", "a", NULL, "neither aws_access_key_id"},
                {"a command", "", "[profile a]\ncredential_process = /opt/x --flag \"b c\"\n", "a",
                 "!/opt/x --flag \"b c\"", NULL},
                {"keys win over a command", "[a]\naws_access_key_id=1\naws_secret_access_key=2\n",
                 "[profile a]\ncredential_process = x\n", "a", "1\n2\n", NULL},
                {"no such profile", "[a]\n", "", "b", NULL, "there is no profile \"b\""},
                {"half of a name", "[ab]\naws_access_key_id=1\naws_secret_access_key=2\n", "", "a",
                 NULL, "there is no profile"},
                {"sso", "", "[profile a]\nsso_start_url = x\n", "a", NULL, "signs in elsewhere"},
                {"nothing in it", "[a]\n", "", "a", NULL, "neither"},
                {"an empty key", "[a]\naws_access_key_id=\naws_secret_access_key=2\n", "", "a",
                 NULL, "neither"},
                {"garbage", "]]]]\n[\n=\n[a\naws_access_key_id=1\n", "", "zz", NULL,
                 "there is no profile"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct err err = {0};
                _cleanup_source_aws_ struct source_aws a = {0};
                _cleanup_buf_ struct buf b = {0};
                _cleanup_free_ char *keys = put("keys", cases[i].keys),
                                    *config = put("config", cases[i].config);
                int r = source_aws_read(keys, config, cases[i].profile, &a, &err);
                if (r == 0 && a.process)
                        buf_put_fmt(&b, "!%s", a.process);
                else if (r == 0)
                        source_aws_put(&a, &b);
                bool is_right = cases[i].want ? r == 0 && strcmp(buf_cstr(&b), cases[i].want) == 0
                                              : r < 0 && strstr(err.text, cases[i].fault);
                HOLDS(is_right, "aws: %s => \"%s\" %s", cases[i].name, buf_cstr(&b), err.text);
        }
        struct err err = {0};
        struct source_aws a = {0};
        HOLDS(source_aws_read("/nonexistent/a", "/nonexistent/b", "a", &a, &err) < 0 &&
                      strstr(err.text, "cannot be read"),
              "aws: no files => %s", err.text);
}

static void process(void)
{
        static const struct {
                const char *text, *want;
                uint64_t expires;
                const char *fault;
        } cases[] = {
                {"{\"Version\":1,\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"K\"}", "I\nK\n", 0,
                 NULL},
                {"{\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"K\",\"SessionToken\":\"T\","
                 "\"Expiration\":\"2030-01-01T00:00:00Z\"}\n",
                 "I\nK\nT\n", 1893456000, NULL},
                {"{\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"K\",\"Expiration\":\"soon\"}",
                 "I\nK\n", 0, NULL},
                {"{\"AccessKeyId\":\"I\"}", NULL, 0, "has no AccessKeyId and SecretAccessKey"},
                {"{\"AccessKeyId\":1,\"SecretAccessKey\":2}", NULL, 0, "has no AccessKeyId"},
                {"[1]", NULL, 0, "is not a JSON object"},
                {"sk-fake-do-not-show", NULL, 0, "is not a JSON object"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct err err = {0};
                _cleanup_buf_ struct buf b = {0};
                uint64_t expires = 0;
                _cleanup_free_ char *path = put("json", cases[i].text);
                _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
                int r = source_aws_of_process(fd, &b, &expires, &err);
                bool is_right = cases[i].want
                                        ? r == 0 && strcmp(buf_cstr(&b), cases[i].want) == 0 &&
                                                  expires == cases[i].expires
                                        : r < 0 && strstr(err.text, cases[i].fault);
                HOLDS(is_right, "credential_process %zu => \"%s\" %s", i, buf_cstr(&b), err.text);
                HOLDS(!strstr(err.text, "sk-fake"), "what was printed is not shown => %s",
                      err.text);
        }
}

/* --- logins ------------------------------------------------------------------------------------
 */

static void login(void)
{
        static const struct {
                const char *agent, *file, *text, *want, *fault;
        } cases[] = {
                {"claude", ".claude/.credentials.json",
                 "{\"claudeAiOauth\":{\"accessToken\":\"A\",\"refreshToken\":\"R\","
                 "\"expiresAt\":1893456000123}}",
                 "{\"access\":\"A\",\"refresh\":\"R\",\"expires\":1893456000}", NULL},
                {"claude", ".claude/.credentials.json",
                 "{\"claudeAiOauth\":{\"accessToken\":\"A\"}}",
                 "{\"access\":\"A\",\"refresh\":\"\",\"expires\":0}", NULL},
                {"claude", ".claude/.credentials.json", "{\"claudeAiOauth\":[]}", NULL,
                 "holds no login"},
                {"claude", ".claude/.credentials.json", "not json", NULL, "is not a JSON object"},
                {"codex", ".codex/auth.json",
                 "{\"tokens\":{\"access_token\":\"A\","
                 "\"refresh_token\":\"R\",\"id_token\":\"I\"}}",
                 "{\"access\":\"A\",\"refresh\":\"R\",\"expires\":0}", NULL},
                {"codex", ".codex/auth.json", "{\"OPENAI_API_KEY\":\"x\",\"tokens\":null}", NULL,
                 "holds no login"},
        };
        _cleanup_free_ char *claude = str_fmt("%s/.claude", dir),
                            *codex = str_fmt("%s/.codex", dir);
        mkdir(claude, 0700);
        mkdir(codex, 0700);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct err err = {0};
                _cleanup_buf_ struct buf b = {0};
                free(put(cases[i].file, cases[i].text));
                int r = source_login_read(cases[i].agent, dir, &b, &err);
                HOLDS(cases[i].want ? r == 0 && str_starts(buf_cstr(&b), "{\"access\"")
                                    : r < 0 && strstr(err.text, cases[i].fault),
                      "login %zu => \"%s\" %s", i, buf_cstr(&b), err.text);
                if (cases[i].want)
                        HOLDS(strcmp(buf_cstr(&b), cases[i].want) == 0, "login %zu: its text => %s",
                              i, buf_cstr(&b));
        }
        HOLDS(!source_login_path("nobody", dir), "there is no login of nobody");
}

/* --- pipes -------------------------------------------------------------------------------------
 */

static void pipes(void)
{
        struct err err = {0};
        int p[2];
        if (pipe2(p, O_CLOEXEC) < 0)
                abort();
        fdio_write_all(p[1], "value", 5);
        _cleanup_free_ char *got = content(source_pipe(p[0], 100, &err));
        HOLDS(strcmp(got, "value") == 0, "a pipe that is still open for writing has an end => %s",
              got);
        HOLDS(source_pipe(p[0], 100, &err) < 0 && strstr(err.text, "it is empty"),
              "an empty pipe => %s", err.text);
        fdio_write_all(p[1], "0123456789", 10);
        HOLDS(source_pipe(p[0], 9, &err) < 0 && strstr(err.text, "longer"),
              "a value that is too long => %s", err.text);
        close(p[0]);
        close(p[1]);
        _cleanup_free_ char *path = put("value", "of a file\n");
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        _cleanup_free_ char *text = content(source_pipe(fd, 10, &err));
        HOLDS(strcmp(text, "of a file\n") == 0, "a file, to its last byte => %s", text);
        _cleanup_close_ int proc = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
        _cleanup_free_ char *odd = content(source_pipe(proc, 100, &err));
        HOLDS(strlen(odd) > 1, "a file that says it has no size => %s", odd);
        struct buf b = {0};
        buf_put_str(&b, "of memory");
        _cleanup_free_ char *mem = content(source_pipe_of(&b, &err));
        HOLDS(strcmp(mem, "of memory") == 0 && !b.data, "bytes of memory => %s", mem);
}

/* --- commands ----------------------------------------------------------------------------------
 */

struct heard {
        struct loop *loop;
        int times;
        char *value, words[1024];
};

static void on_done(void *ctx, int fd, struct err *err)
{
        struct heard *h = ctx;
        h->times++;
        h->value = content(fd);
        snprintf(h->words, sizeof h->words, "%s", err->text);
        loop_stop(h->loop);
}

static struct heard ask(const char *command)
{
        struct heard h = {.loop = loop_new()};
        struct err err = {0};
        _cleanup_strs_ struct strs env = {0};
        strs_add(&env, "PATH=/usr/bin:/bin");
        strs_add(&env, "GIVEN=yes");
        struct source_run r = {.what = "the command", .done = on_done, .ctx = &h};
        char *const argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL};
        if (source_run_begin(&r, h.loop, argv, -1, &env, dir, &err) < 0)
                snprintf(h.words, sizeof h.words, "%s", err.text);
        else
                loop_run(h.loop);
        loop_free(h.loop);
        return h;
}

static void commands(void)
{
        static const struct {
                const char *command, *value, *words;
        } cases[] = {
                {"printf value", "value", ""},
                {"printf value; exit 1", "(none)", "exit status 1"},
                {"echo one >&2; echo two >&2; exit 2", "(none)", "exit status 2: two"},
                {"true", "(none)", "printed nothing"},
                {"kill -9 $$", "(none)", "killed by signal 9"},
                {"sleep 30 & printf value", "value", ""},
                {"head -c 70 /dev/zero | tr '\\0' x >&2; printf value", "value", ""},
                {"head -c 200000 /dev/zero | tr '\\0' x >&2; exit 3", "(none)", "exit status 3"},
                {"head -c 20000 /dev/zero | tr '\\0' x", "(none)", "longer than"},
                {"pwd", NULL, ""},
                {"printf %s \"$GIVEN$HOME\"", "yes", ""},
                {"cat; printf value", "value", ""},
                {"ls /proc/self/fd | wc -l", NULL, ""},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct heard h = ask(cases[i].command);
                HOLDS(h.times == 1, "command %zu ends once", i);
                if (cases[i].value)
                        HOLDS(h.value && strcmp(h.value, cases[i].value) == 0,
                              "command %zu: its value => \"%s\", wanted \"%s\" (%s)", i,
                              h.value ? h.value : "", cases[i].value, h.words);
                HOLDS(strstr(h.words, cases[i].words), "command %zu: its words => %s", i, h.words);
                free(h.value);
        }
        struct heard h = ask("ls /proc/self/fd | tr '\\n' ' '");
        HOLDS(h.value && strcmp(h.value, "0 1 2 3 ") == 0, "a command has three descriptors => %s",
              h.value ? h.value : ""); /* and the directory that ls looks at */
        free(h.value);
}

static int say(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        (void)keep_fd;
        buf_put_str(value, ctx);
        err_set(err, E_NONE, "beside it");
        return 0;
}

static int fail_inside(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        (void)ctx, (void)keep_fd, (void)value;
        return err_set(err, E_INPUT, "there is a reason");
}

static int copy(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        (void)ctx, (void)err;
        return fdio_read_all(keep_fd, value, 100);
}

static int die(void *ctx, int keep_fd, struct buf *value, struct err *err)
{
        (void)ctx, (void)keep_fd, (void)value, (void)err;
        raise(SIGKILL);
        return 0;
}

static void inside(void)
{
        static const struct {
                source_inside *fn;
                const char *value, *words, *beside;
        } cases[] = {
                {say, "text", "", "beside it"},
                {fail_inside, "(none)", "there is a reason", NULL},
                {copy, "of a file\n", "", ""},
                {die, "(none)", "could not be read", NULL},
        };
        _cleanup_free_ char *path = put("value", "of a file\n");
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct heard h = {.loop = loop_new()};
                struct err err = {0};
                struct source_run r = {.done = on_done, .ctx = &h};
                _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
                if (source_run_inside(&r, h.loop, cases[i].fn, (void *)(uintptr_t) "text", fd,
                                      &err) == 0)
                        loop_run(h.loop);
                HOLDS(h.value && strcmp(h.value, cases[i].value) == 0 &&
                              strstr(h.words, cases[i].words),
                      "inside %zu => \"%s\" %s", i, h.value ? h.value : "", h.words);
                if (cases[i].beside)
                        HOLDS(strcmp(r.words, cases[i].beside) == 0, "inside %zu: beside it => %s",
                              i, r.words);
                free(h.value);
                loop_free(h.loop);
        }
}

static void cancel(void)
{
        struct heard h = {.loop = loop_new()};
        struct err err = {0};
        struct strs env = {0};
        struct source_run r = {.what = "the command", .done = on_done, .ctx = &h};
        char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 100 & wait", NULL};
        int began = source_run_begin(&r, h.loop, argv, -1, &env, dir, &err);
        pid_t pid = r.pid;
        source_run_cancel(&r);
        HOLDS(began == 0 && kill(pid, 0) < 0 && h.times == 0, "a cancelled command is gone => %s",
              err.text);
        source_run_cancel(&r);
        HOLDS(r.pid == 0, "and once more is nothing");
        loop_free(h.loop);
}

static int at(const char *text, time_t now, struct err *err)
{
        struct rule_line line = {0};
        size_t column;
        *err = (struct err){0};
        int r = rule_line_parse(text, strlen(text), &line, &column, err) == 1
                        ? source_clock(line.secret, now, err)
                        : -2;
        rule_line_free(&line);
        return r;
}

static void clocks(void)
{
        static const char aws[] = "secret A from aws at s3.eu-west-1.amazonaws.com as sigv4";
        static const char plain[] = "secret A from env at x.example.org as bearer";
        struct err err;
        CHECK("a clock that stands in 1970 is told before anything is signed",
              at(aws, 86400, &err) == -1);
        CHECK("with what it says", strstr(err.text, "1970-01-02") != NULL);
        CHECK("a clock of today is fine", at(aws, 1794000000, &err) == 0);
        CHECK("a key that is only shown needs no clock", at(plain, 0, &err) == 0);
}

/* A command may leave a process behind, as one of the cases does: it became ours. */
static void end_orphans(void)
{
        FILE *f = fopen("/proc/thread-self/children", "re");
        for (int pid; f && fscanf(f, "%d", &pid) == 1;)
                kill(pid, SIGKILL);
        if (f)
                fclose(f);
}

int main(void)
{
        if (!mkdtemp(dir) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
                return 1;
        clocks();
        aws();
        process();
        login();
        pipes();
        commands();
        inside();
        cancel();
        end_orphans();
        beneath_remove_tree(AT_FDCWD, dir, NULL);
        return check_end();
}
