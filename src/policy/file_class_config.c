/* file_class_config.c - two texts of one git configuration, or of one attributes file, compared by
 * what they make git do (cases 61, 63). Part of file_class.h; called by workspace/classify.c.
 *
 * Any difference among the entries that are not plain counts, a removal too: without its
 * core.hooksPath a repository runs .git/hooks again. */
#include "policy/file_class.h"

#include "base/str.h"
#include "policy/git_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(struct file_class_verdict *v, const char *why)
{
        v->class = FILE_RUNS_ON_COMMIT;
        v->is_odd = false;
        char *quoted = str_quote(why);
        snprintf(v->why, sizeof v->why, "%s", quoted);
        free(quoted);
}

static void say_key(struct file_class_verdict *v, const struct git_config_entry *e)
{
        const char *known = git_config_known(e);
        say(v, !known || strchr(known, '*') ? e->key : known);
        size_t len = strlen(v->why);
        if (!known && len < 70)
                snprintf(v->why + len, sizeof v->why - len, " (not a known key)");
}

/* The next entry that is not plain, from ${at} on. */
static const struct git_config_entry *risky(const struct git_config *c, size_t *at)
{
        while (*at < c->n && git_config_is_plain(&c->v[*at]))
                ++*at;
        return *at < c->n ? &c->v[(*at)++] : NULL;
}

static bool same(const struct git_config_entry *a, const struct git_config_entry *b)
{
        if (strcmp(a->key, b->key) != 0 || !a->value != !b->value)
                return false;
        return !a->value || strcmp(a->value, b->value) == 0;
}

void file_class_git_config(const char *before, size_t before_len, const char *after,
                           size_t after_len, struct file_class_verdict *v)
{
        _cleanup_git_config_ struct git_config was = {0}, is = {0};
        *v = (struct file_class_verdict){.class = FILE_PLAIN};
        bool was_read = !before || git_config_parse(before, before_len, &was) == 0;
        bool is_read = !after || git_config_parse(after, after_len, &is) == 0;

        size_t i = 0, k = 0;
        for (;;) {
                const struct git_config_entry *a = risky(&was, &i), *b = risky(&is, &k);
                if (!a && !b)
                        break;
                if (a && b && same(a, b))
                        continue;
                /* What is there now says more than what is gone. */
                say_key(v, b ? b : a);
                return;
        }
        if (!is_read)
                say(v, "a git config that cannot be read");
        else if (!was_read)
                say(v, "a git config that could not be read before");
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Attributes that have no driver behind them. */
static const char *const plain_attributes[] = {
        "text",
        "eol",
        "crlf",
        "binary",
        "whitespace",
        "export-ignore",
        "export-subst",
        "ident",
        "delta",
        "encoding",
        "working-tree-encoding",
        "conflict-marker-size",
        "merge=union",
        "merge=text",
        "merge=binary",
        "merge=ours",
        "diff",
        "merge",
        "lockable",
};
/* diff=NAME whose patterns are built into git; a driver of that name would be the user's own. */
static const char *const plain_diffs[] = {
        "ada",    "astextplain", "bash",    "bibtex",   "cpp",    "csharp", "css",
        "dts",    "elixir",      "fortran", "fountain", "golang", "html",   "java",
        "kotlin", "markdown",    "matlab",  "objc",     "pascal", "perl",   "php",
        "python", "ruby",        "rust",    "scheme",   "tex",
};

static bool is_one_of(const char *s, size_t len, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strlen(list[i]) == len && memcmp(list[i], s, len) == 0)
                        return true;
        return false;
}

static bool is_plain_attribute(const char *s, size_t len)
{
        size_t sign = len > 0 && (*s == '-' || *s == '!');
        const char *value = memchr(s, '=', len);
        size_t name = value ? (size_t)(value - s) : len;
        const size_t n = sizeof plain_attributes / sizeof plain_attributes[0];
        if ((len > 9 && memcmp(s, "linguist-", 9) == 0) ||
            (len > 7 && memcmp(s, "gitlab-", 7) == 0))
                return true;
        /* Taking filter, diff or merge away runs nothing. */
        if (sign && (is_one_of(s + 1, len - 1, plain_attributes, n) ||
                     (len == 7 && memcmp(s + 1, "filter", 6) == 0)))
                return true;
        if (sign)
                return false;
        if (value && name == 4 && memcmp(s, "diff", 4) == 0)
                return is_one_of(value + 1, len - 5, plain_diffs,
                                 sizeof plain_diffs / sizeof plain_diffs[0]);
        if (value && name == 5 && memcmp(s, "merge", 5) == 0)
                return is_one_of(s, len, plain_attributes, n);
        return is_one_of(s, name, plain_attributes, n);
}

struct lines {
        const char *s;
        size_t len, at;
};

/* The next line that has an attribute of interest; ${what} is that attribute. */
static bool risky_line(struct lines *l, const char **line, size_t *line_len, const char **what,
                       size_t *what_len)
{
        while (l->at < l->len) {
                const char *s = l->s + l->at;
                const char *end = memchr(s, '\n', l->len - l->at);
                size_t n = end ? (size_t)(end - s) : l->len - l->at;
                l->at += n + (end != NULL);
                size_t i = 0;
                while (i < n && strchr(" \t\r", s[i]) && s[i])
                        i++;
                if (i == n || s[i] == '#')
                        continue;
                *line = s;
                *line_len = n;
                *what = s + i;
                *what_len = n - i;
                /* A quoted pattern or a macro is read by few people: it is shown. */
                if (s[i] == '"' || s[i] == '[' || memchr(s, '\0', n))
                        return true;
                bool is_pattern = true;
                while (i < n) {
                        size_t from = i;
                        while (i < n && !strchr(" \t\r", s[i]))
                                i++;
                        if (!is_pattern && !is_plain_attribute(s + from, i - from)) {
                                *what = s + from;
                                *what_len = i - from;
                                return true;
                        }
                        is_pattern = false;
                        while (i < n && strchr(" \t\r", s[i]))
                                i++;
                }
        }
        return false;
}

void file_class_attributes(const char *before, size_t before_len, const char *after,
                           size_t after_len, struct file_class_verdict *v)
{
        struct lines was = {before, before ? before_len : 0, 0};
        struct lines is = {after, after ? after_len : 0, 0};
        *v = (struct file_class_verdict){.class = FILE_PLAIN};
        for (;;) {
                const char *a = NULL, *b = NULL, *what = NULL, *gone = NULL;
                size_t a_len = 0, b_len = 0, what_len = 0, gone_len = 0;
                bool has_a = risky_line(&was, &a, &a_len, &gone, &gone_len);
                bool has_b = risky_line(&is, &b, &b_len, &what, &what_len);
                if (!has_a && !has_b)
                        return;
                if (has_a && has_b && a_len == b_len && memcmp(a, b, a_len) == 0)
                        continue;
                char word[64];
                size_t n = has_b ? what_len : gone_len;
                snprintf(word, sizeof word, "%.*s", n < 60 ? (int)n : 60, has_b ? what : gone);
                say(v, word);
                return;
        }
}
