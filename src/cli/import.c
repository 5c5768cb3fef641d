/* import.c - see import.h. Pure: text in, lines out; writes no file. */
#include "cli/import.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/policy.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 256, ROWS_MAX = 160 };

void import_free(struct import *im)
{
        free(im->about);
        strs_free(&im->denies);
        strs_free(&im->rules);
        strs_free(&im->profile);
        strs_free(&im->held);
        strs_free(&im->left);
        *im = (struct import){0};
}

/* note(im, list, fmt, ap): "KEY: words", once. */
static void note(const struct import *im, struct strs *list, const char *fmt, va_list ap)
{
        _cleanup_free_ char *words = str_vfmt(fmt, ap);
        _cleanup_free_ char *line = str_fmt("%s: %s", im->key, words);
        _cleanup_free_ char *shown = str_quote(line);
        if (!strs_has(list, shown))
                strs_add(list, shown);
}

void import_left(struct import *im, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        note(im, &im->left, fmt, ap);
        va_end(ap);
}

void import_held(struct import *im, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        note(im, &im->held, fmt, ap);
        va_end(ap);
}

void import_rule(struct import *im, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *line = str_vfmt(fmt, ap);
        va_end(ap);
        struct err err = {0};
        _cleanup_policy_layer_ struct policy_layer layer = {.rank = POLICY_USER,
                                                            .name = str_dup("line")};
        if (policy_layer_add(&layer, line, &err) < 0) {
                import_left(im, "\"%s\" is no line here: %s", line, err.text);
                return;
        }
        struct strs *to = str_starts(line, "deny") ? &im->denies : &im->rules;
        if (!strs_has(to, line))
                strs_add(to, line);
}

char *import_word(const char *text)
{
        if (*text && !strpbrk(text, " \t\n\\\"'#"))
                return str_dup(text);
        struct buf b = {0};
        buf_put_u8(&b, '"');
        for (const char *p = text; *p; p++) {
                if (*p == '"' || *p == '\\')
                        buf_put_u8(&b, '\\');
                if (*p == '\n')
                        buf_put_str(&b, "\\n");
                else
                        buf_put(&b, p, 1);
        }
        buf_put_u8(&b, '"');
        char *word = str_dup(buf_cstr(&b));
        buf_free(&b);
        return word;
}

/* home_path(path): "~/x" for what others write as $HOME/x; the caller frees. */
static char *home_path(const char *path)
{
        static const char *const homes[] = {"$HOME/", "${HOME}/", "~/"};
        for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
                if (str_starts(path, homes[i]))
                        return str_fmt("~/%s", path + strlen(homes[i]));
        return str_dup(path);
}

static bool is_workspace(const char *path)
{
        return !*path || strcmp(path, ".") == 0 || strcmp(path, "./") == 0 ||
               str_starts(path, "$WORKDIR") || str_starts(path, "${WORKDIR}") ||
               str_starts(path, "./");
}

void import_bind(struct import *im, const char *path, const char *mode)
{
        _cleanup_free_ char *p = home_path(path);
        if (is_workspace(p)) {
                import_held(im, "the workspace can be read and written, as a copy that you review");
                return;
        }
        if (str_is_beneath(p, "/tmp") || str_starts(p, "$TMPDIR") || str_is_beneath(p, "/dev")) {
                import_held(im, "%s is the box's own", p);
                return;
        }
        if ((p[0] != '/' && !str_starts(p, "~/")) || strpbrk(p, "*?[$")) {
                import_left(im, "%s is no plain path; show it with --bind PATH:%s", path, mode);
                return;
        }
        _cleanup_free_ char *word = import_word(p);
        _cleanup_free_ char *line = str_fmt("bind    %s %s", word, mode);
        if (!strs_has(&im->profile, line))
                strs_add(&im->profile, line);
}

int import_wrong(struct import *im, const char *wanted, struct err *err)
{
        return err_set(err, E_INPUT, "%s wants %s", im->key, wanted);
}

int import_strings(struct import *im, json_t *value,
                   int (*each)(struct import *, const char *, struct err *), struct err *err)
{
        size_t i;
        json_t *one;
        if (!json_is_array(value))
                return import_wrong(im, "a list of strings", err);
        json_array_foreach(value, i, one)
        {
                if (!json_is_string(one))
                        return import_wrong(im, "a list of strings", err);
                if (each(im, json_string_value(one), err) < 0)
                        return -1;
        }
        return 0;
}

/* says_nothing(value): false, null and empty are what a key means when it is not there. */
static bool says_nothing(const json_t *v)
{
        return json_is_null(v) || json_is_false(v) || (json_is_array(v) && !json_array_size(v)) ||
               (json_is_object(v) && !json_object_size(v));
}

static const struct import_row *find(const struct import_row *rows, const char *key)
{
        for (; rows->key; rows++)
                if (strcmp(rows->key, key) == 0)
                        return rows;
        return NULL;
}

static int unknown(const struct import_format *f, const char *key, struct err *err)
{
        const char *names[ROWS_MAX];
        size_t n = 0;
        for (const struct import_row *r = f->rows; r->key && n < ROWS_MAX; r++)
                names[n++] = r->key;
        const char *near = str_suggest(key, names, n);
        _cleanup_free_ char *shown = str_quote(key);
        err_set(err, E_INPUT, "the key \"%s\" is none of %s, so nothing was written", shown,
                f->what);
        return near ? err_hint(err, "did you mean \"%s\"?", near)
                    : err_hint(err, "take it out, or carry it over by hand");
}

/* walk(f, im, object, prefix, err): every key of an object, and of those below it. */
static int walk(const struct import_format *f, struct import *im, json_t *object,
                const char *prefix, struct err *err)
{
        const char *name;
        json_t *value;
        json_object_foreach(object, name, value)
        {
                char key[KEY_MAX];
                snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? "." : "", name);
                const struct import_row *row = find(f->rows, key);
                if (!row)
                        return unknown(f, key, err);
                im->key = row->key;
                if (says_nothing(value))
                        continue;
                if (row->why)
                        import_left(im, "%s", row->why);
                else if (row->held)
                        import_held(im, "%s", row->held);
                else if (row->take && row->take(im, value, err) < 0)
                        return -1;
                else if (!row->take && !json_is_object(value))
                        return import_wrong(im, "an object", err);
                else if (!row->take && walk(f, im, value, key, err) < 0)
                        return -1;
        }
        return 0;
}

int import_read(const struct import_format *f, const char *text, struct import *im, struct err *err)
{
        json_error_t where;
        *im = (struct import){0};
        json_t *top = json_loads(text, JSON_REJECT_DUPLICATES, &where);
        if (!top) {
                _cleanup_free_ char *said = str_quote(where.text);
                return err_set(err, E_INPUT, "it is no JSON: line %d, column %d: %s", where.line,
                               where.column, said);
        }
        im->top = top;
        int got = json_is_object(top) ? walk(f, im, top, "", err)
                                      : err_set(err, E_INPUT, "it is no JSON object");
        json_decref(top);
        im->top = NULL;
        if (got < 0)
                import_free(im);
        return got;
}
