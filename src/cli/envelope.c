/* envelope.c - see envelope.h. Keeps what was said until the end, because faults may come after the
 * data; prints once. */
#include "cli/envelope.h"

#include "base/buf.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/exitcodes.h"
#include "session/story_time.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 1 << 30 };

static struct {
        bool is_on;
        bool is_begun, is_whole; /* the data is written by the command itself, and to its end */
        char *kind;              /* of the data; NULL while there is none */
        struct buf body;         /* the data */
        struct buf errors;       /* objects with commas between them */
        char *said;              /* the last sentence on stderr */
} env;

void envelope_on(void)
{
        env.is_on = true;
}

bool envelope_is_on(void)
{
        return env.is_on;
}

void envelope_said(const char *sentence)
{
        if (!env.is_on)
                return;
        free(env.said);
        env.said = str_dup(sentence);
}

/* hint_of(s): what to do, where the sentence says so: the words in brackets at its end, or what
 * follows the last semicolon; NULL without either. The caller frees. */
static char *hint_of(const char *s)
{
        size_t n = strlen(s);
        if (n && s[n - 1] == ')') {
                int depth = 0;
                for (size_t i = n; i-- > 0;) {
                        depth += s[i] == ')';
                        depth -= s[i] == '(';
                        if (depth == 0)
                                return i ? str_fmt("%.*s", (int)(n - i - 2), s + i + 1) : NULL;
                }
        }
        const char *semi = strrchr(s, ';');
        return semi && semi[1] == ' ' ? str_dup(semi + 2) : NULL;
}

void envelope_error(int exit_code, const char *sentence)
{
        if (!env.is_on)
                return;
        struct json j = json_of(&env.errors);
        char *hint = hint_of(sentence);
        if (env.errors.len)
                buf_put_u8(&env.errors, ',');
        json_open(&j, NULL, '{');
        json_str(&j, "kind", exitcodes_kind(exit_code));
        json_str(&j, "message", sentence);
        json_str(&j, "hint", hint);
        json_i64(&j, "exit_code", exit_code);
        json_close(&j, '}');
        free(hint);
}

static int print(struct buf *b)
{
        buf_put_u8(b, '\n');
        if (b->is_broken || fdio_write_all(STDOUT_FILENO, b->data, b->len) < 0)
                return EXIT_OURS;
        return EXIT_OK;
}

int envelope_data(const char *kind, struct buf *b)
{
        if (!env.is_on || b->is_broken)
                return print(b);
        free(env.kind);
        env.kind = str_dup(kind);
        env.body.len = 0;
        env.body.max = BODY_MAX;
        buf_put(&env.body, b->data, b->len);
        return EXIT_OK;
}

int envelope_words(const char *kind, ...)
{
        struct buf b = {0};
        struct json j = json_of(&b);
        va_list ap;
        va_start(ap, kind);
        json_open(&j, NULL, '{');
        for (const char *key; (key = va_arg(ap, const char *));)
                json_str(&j, key, va_arg(ap, const char *));
        json_close(&j, '}');
        va_end(ap);
        int code = envelope_data(kind, &b);
        buf_free(&b);
        return code;
}

static void put_head(struct buf *out, const char *kind)
{
        buf_put_fmt(out, "{\"ostiary\":%d,\"kind\":", ENVELOPE_VERSION);
        json_quote(out, kind);
        buf_put_str(out, ",\"data\":");
}

void envelope_head(const char *kind, struct buf *b)
{
        env.is_begun = true;
        put_head(b, kind);
}

void envelope_tail(void)
{
        env.is_whole = true;
}

/* write_out(): the document, from what was kept. */
static int write_out(void)
{
        struct buf out = {.max = BODY_MAX};
        if (!env.is_begun)
                put_head(&out, env.kind ? env.kind : "error");
        if (!env.is_begun && !env.kind)
                buf_put_str(&out, "null");
        if (env.kind)
                buf_put(&out, env.body.data, env.body.len);
        buf_put_str(&out, ",\"errors\":[");
        buf_put(&out, env.errors.data, env.errors.len);
        buf_put_str(&out, "]}");
        int printed = print(&out);
        buf_free(&out);
        return printed;
}

int envelope_close(int code)
{
        if (!env.is_on)
                return code;
        bool is_failed = code != EXIT_OK && code != EXIT_NEGATIVE;
        bool has_data = env.kind || env.is_begun;
        if (env.is_begun && !env.is_whole)
                return code;
        if (!env.errors.len && (is_failed || (code == EXIT_NEGATIVE && !has_data)))
                envelope_error(code, env.said ? env.said : "it failed without a word");
        /* Help was asked for, or every object was printed on its own line. */
        if (!has_data && !env.errors.len)
                return code;
        fflush(stdout);
        int printed = write_out();
        return printed != EXIT_OK ? printed : code;
}

void envelope_time(struct json *j, const char *key, int64_t us)
{
        char t[STORY_TIME_LEN];
        json_str(j, key, us > 0 ? story_time_utc(us, t) : NULL);
}
