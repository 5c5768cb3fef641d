/* no_memory_test.c - what reads bytes of others, with one allocation that fails: for each of them,
 * and for all from there on. A reader refuses, or the program ends with a sentence; what it accepts
 * is what it accepts with memory.
 *
 * The allocating functions are wrapped by the linker (see Makefile), in our own code: the C
 * library's own allocations are not ours to handle. */
#include "unit/check.h"

#include "audit/audit_query.h"
#include "audit/chain.h"
#include "audit/refused.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/kv.h"
#include "policy/git_config.h"
#include "policy/host_name.h"
#include "policy/path_canon.h"
#include "policy/policy.h"
#include "policy/policy_layers.h"
#include "policy/profile.h"
#include "policy/secret_spec.h"
#include "wire/door.h"
#include "wire/frame.h"
#include "wire/msg.h"

#ifdef OSTIARY_ASAN
#include <sanitizer/lsan_interface.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
        bool is_on, is_all;
        long n, fail_at; /* how many there were; which one fails */
} memory;

/* is_gone(): is this the one? */
static bool is_gone(void)
{
        if (!memory.is_on)
                return false;
        long at = memory.n++;
        bool fails = at == memory.fail_at || (memory.is_all && at > memory.fail_at);
        if (memory.fail_at >= 0 && fails)
                errno = ENOMEM;
        return memory.fail_at >= 0 && fails;
}

#define WRAP(type, name, list, args)                                                               \
        type __real_##name list;                                                                   \
        type __wrap_##name list;                                                                   \
        type __wrap_##name list                                                                    \
        {                                                                                          \
                return is_gone() ? NULL : __real_##name args;                                      \
        }
#define WRAP_PRINT(name, list, args)                                                               \
        int __real_##name list;                                                                    \
        int __wrap_##name list;                                                                    \
        int __wrap_##name list                                                                     \
        {                                                                                          \
                return is_gone() ? -1 : __real_##name args;                                        \
        }

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))
WRAP_PRINT(vasprintf, (char **s, const char *fmt, va_list ap), (s, fmt, ap))
WRAP_PRINT(__vasprintf_chk, (char **s, int flag, const char *fmt, va_list ap), (s, flag, fmt, ap))

/* Every case reads ${in} between these two, and writes what it got to ${out} afterwards: nothing
 * when it was refused. */
static void on(void)
{
        memory.is_on = true;
}

static void off(void)
{
        memory.is_on = false;
}

/* --- the readers ------------------------------------------------------------------------------ */

static void a_frame(const char *in, struct buf *out)
{
        static struct frame f;
        _cleanup_buf_ struct buf body = {0};
        int s[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                _exit(2);
        while (body.len < FRAME_INLINE_MAX + 5000)
                buf_put_str(&body, in);
        if (frame_send(s[0], 7, &body, NULL, 0) < 0)
                _exit(2);
        on();
        int got = frame_recv(s[1], &f, true);
        off();
        if (got == 1 && f.type == 7)
                buf_put(out, f.body.p, f.body.left);
        if (got == 1)
                frame_release(&f);
        close(s[0]);
        close(s[1]);
}

static void a_spawn(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct msg_spawn s = {.cwd = (char *)(uintptr_t)in}, back;
        strs_add(&s.argv, in);
        strs_add(&s.argv, "");
        for (int i = 0; i < 40; i++)
                strs_addf(&s.env, "N%d=%s", i, in);
        msg_spawn_put(&b, &s);
        struct cur c = cur_of(b.data, b.len);
        on();
        int got = msg_spawn_get(&c, &back);
        off();
        if (got == 0)
                msg_spawn_put(out, &back);
}

static void an_end(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct msg_ended e = {.words = (char *)(uintptr_t)in}, end;
        struct msg_info i = {.limits_words = (char *)(uintptr_t)in}, info;
        msg_ended_put(&b, &e);
        size_t at = b.len;
        msg_info_put(&b, &i);
        struct cur first = cur_of(b.data, at), second = cur_of(b.data + at, b.len - at);
        on();
        int got = msg_ended_get(&first, &end) < 0 || msg_info_get(&second, &info) < 0 ? -1 : 0;
        off();
        if (got == 0) {
                msg_ended_put(out, &end);
                msg_info_put(out, &info);
        }
}

static void what_was_refused(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct refused r = {.more = 3}, back;
        refused_add(&r, in, 443, "allow * a");
        refused_add(&r, "b.example.org", 80, "");
        refused_put(&b, &r);
        struct cur c = cur_of(b.data, b.len);
        on();
        int got = refused_get(&c, &back);
        off();
        if (got == 0)
                refused_put(out, &back);
}

/* a_record(): as egress tells it, then as a line of the log, then read from there. */
static void a_record(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0}, strings = {0}, line = {0}, words = {0};
        struct door_record r = {.time_us = 1, .kind = "http", .host = in, .note = in}, back;
        struct audit_record read;
        struct chain chain;
        door_record_put(&b, &r);
        struct cur c = cur_of(b.data, b.len);
        chain_begin(&chain);
        on();
        int got = door_record_get(&c, &back, &strings);
        if (got == 0)
                chain_put(&chain, "box", &back, NULL, &line);
        if (got == 0)
                got = audit_record_parse((const char *)line.data, line.len - 1, &read, &words);
        off();
        if (got == 0) {
                buf_put(out, line.data, line.len);
                buf_put_str(out, read.host);
                buf_put_str(out, read.note);
        }
}

static void a_rule(const char *in, struct buf *out)
{
        struct rule_line l;
        struct err err = {0};
        size_t column;
        on();
        int got = rule_line_parse(in, strlen(in), &l, &column, &err);
        off();
        if (got == 1)
                rule_line_print(&l, out);
}

static void a_spec(const char *in, struct buf *out)
{
        struct err err = {0};
        on();
        char *line = secret_spec_line(in, &err);
        off();
        if (line)
                buf_put_str(out, line);
}

static void a_profile(const char *in, struct buf *out)
{
        struct profile p;
        struct err err = {0};
        on();
        int got = profile_parse("name", in, &p, &err);
        off();
        if (got < 0)
                return;
        const struct strs *lists[] = {&p.args, &p.env, &p.limits, &p.persist, &p.rules};
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
                msg_list_put(out, lists[i]);
        for (size_t i = 0; i < p.seeds_n; i++) {
                buf_put_str(out, p.seeds[i].path);
                msg_list_put(out, &p.seeds[i].drop);
        }
}

/* a_decision(): of a policy of several layers; ${in} is the path that is asked about. Denied is as
 * good as refused. */
static void a_decision(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf layers = {0};
        static const char host[] = "api.example.org", query[] = "q=a%20b&r=1";
        struct policy p;
        struct host_name name;
        struct path_canon path;
        struct policy_decision d = {0};
        struct err err = {0};
        door_layers_put(&layers, POLICY_SYSTEM, "system", true, "deny! * evil.example.org\n");
        door_layers_put(&layers, POLICY_USER, "user", true,
                        "deny DELETE *.example.org\ndeny! POST api.example.org/v1/private/**\n"
                        "deny! POST api.example.org/v1/** q:q=secret*\n");
        door_layers_put(&layers, POLICY_RUN_TIME, "run", false, "allow GET,POST api.example.org");
        on();
        int got = policy_layers_parse(layers.data, layers.len, &p, &err);
        if (got == 0)
                got = host_name_parse(host, strlen(host), &name, &err);
        if (got == 0)
                got = path_canon_parse(in, strlen(in), &path, &err);
        if (got == 0) {
                struct request q = {.kind = REQUEST_HTTP,
                                    .host = &name,
                                    .port = 443,
                                    .method = "POST",
                                    .path = &path,
                                    .query = query,
                                    .query_len = strlen(query)};
                policy_decide(&p, &q, &d);
        }
        off();
        if (got == 0 && d.verdict != POLICY_DENY)
                buf_put_fmt(out, "verdict %d", (int)d.verdict);
}

static void git_settings(const char *in, struct buf *out)
{
        struct git_config c;
        on();
        int got = git_config_parse(in, strlen(in), &c);
        off();
        for (size_t i = 0; got == 0 && i < c.n; i++)
                buf_put_fmt(out, "%s=%s\n", c.v[i].key, c.v[i].value ? c.v[i].value : "");
}

/* lines(): written, kept in a file, and read. */
static void lines(const char *in, struct buf *out)
{
        _cleanup_close_ int fd = memfd_create("opts", MFD_CLOEXEC);
        _cleanup_buf_ struct buf b = {0};
        on();
        kv_put(&b, "workspace", in);
        kv_put(&b, "arg", in);
        kv_put_u64(&b, "cols", 80);
        off();
        if (b.is_broken || fdio_write_all(fd, b.data, b.len) < 0)
                return;
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        on();
        char *text = fdio_read_file(AT_FDCWD, path, 1 << 20, NULL);
        off();
        char *at = text, *key, *value;
        while (at && kv_next(&at, &key, &value))
                buf_put_fmt(out, "%s=%s\n", key, value);
}

static void some_json(const char *in, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        on();
        json_open(&j, NULL, '{');
        for (int i = 0; i < 50; i++)
                json_str(&j, "key", in);
        json_close(&j, '}');
        off();
        if (!b.is_broken)
                buf_put(out, b.data, b.len);
}

/* --- running them ----------------------------------------------------------------------------- */

static const struct {
        const char *name;
        void (*run)(const char *in, struct buf *out);
        const char *in;
} cases[] = {
        {"a frame with a large body", a_frame, "0123456789abcdef"},
        {"what to run", a_spawn, "/usr/bin/env"},
        {"how it ended, and what a box says of itself", an_end, "a sentence"},
        {"hosts that were refused", what_was_refused, "a.example.org"},
        {"a record of the log", a_record, "quotes \" and \x01 and \xc3\xa4"},
        {"a rule", a_rule,
         "allow GET,POST *.example.org:8443/v1/** q:a=\"b*\" rate=5/m reason=\"a word\""},
        {"a rule that forbids", a_rule, "deny! * evil.example.org"},
        {"a secret's line", a_rule,
         "secret BUILDS from vault at github.com,api.github.com:443/a/** as github-app,basic "
         "app=Iv1.0123 installation=77 repos=site inject ttl=1h leak=kill"},
        {"a secret's line with a template", a_rule,
         "secret PARTNER from cmd 'pass x' at api.example.org/v1/** as hmac X-Signature "
         "message=\"{time}\\n{method}\\n{target}\\n{body}\" time-header=X-Time"},
        {"a secret in one word", a_spec, "GITHUB_TOKEN@github.com,a.org:8443/x:basic,header:x-y"},
        {"a profile", a_profile,
         "about An agent\ncommand agent\nargs --yes\nenv A=b C=d\nlimit memory=8G\n"
         "persist ~/.agent/a ~/.agent/b\nseed json ~/.agent.json keep=a,b drop=/c set=/d=true\n"
         "bind ~/x ro\nallow * a.example.org\n"},
        {"a decision", a_decision, "/v1/things"},
        {"a decision that is no", a_decision, "/v1/private/x"},
        {"a decision about a path of several readings", a_decision, "/v1/a%2Fb//c;d%2525"},
        {"git's settings", git_settings,
         "[core]\n\tfsmonitor = \"a b\" ; c\n[remote \"x y\"]\n\turl = https://a\n[a]b\n"},
        {"lines of a box's file", lines, "two\nlines \\ and more"},
        {"written JSON", some_json, "text \x01"},
};

/* result(i, out): with memory, or until it fails. */
static void result(size_t i, struct buf *out)
{
        memory.n = 0;
        cases[i].run(cases[i].in, out);
        off();
}

/* try(i, want, words): in a process of its own. What went wrong, or NULL. */
static const char *try(size_t i, const struct buf *want)
{
        static char said[256], why[320];
        int status, words = memfd_create("words", 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
                struct buf out = {0};
                dup2(words, 2);
                result(i, &out);
                bool is_same = out.len == want->len &&
                               (!out.len || !memcmp(out.data, want->data, out.len));
                _exit(out.len == 0 || is_same ? 0 : 1);
        }
        waitpid(pid, &status, 0);
        ssize_t n = pread(words, said, sizeof said - 1, 0);
        said[n > 0 ? n : 0] = 0;
        close(words);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !*said)
                return NULL;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 125 &&
            strcmp(said, "ostiary: out of memory\n") == 0)
                return NULL;
        snprintf(why, sizeof why, "allocation %ld%s: %s %d %s", memory.fail_at,
                 memory.is_all ? " and all after it" : "",
                 WIFSIGNALED(status) ? "killed by" : "ended with",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), said);
        return why;
}

int main(void)
{
#ifdef OSTIARY_ASAN
        __lsan_disable(); /* cases keep what they read: a failed allocation ends the process */
#endif
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                _cleanup_buf_ struct buf want = {0};
                const char *why = NULL;
                memory.fail_at = -1;
                result(i, &want);
                long n = memory.n;
                bool is_no = strstr(cases[i].name, "that is no") != NULL;
                for (long at = 0; at < 2 * n && !why; at++) {
                        memory.fail_at = at / 2;
                        memory.is_all = at % 2;
                        why = try(i, &want);
                }
                check(!why && n > 0 && (want.len > 0) == !is_no, cases[i].name,
                      "%s (%ld allocations, %zu bytes)", why ? why : "nothing was tried", n,
                      want.len);
        }
        return check_end();
}
