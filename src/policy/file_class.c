/* file_class.c - see file_class.h: a path against the tables. Called for every change of a box, for
 * every file of a live workspace, and by the commands that print the tables. It opens nothing: what
 * the content says is asked by workspace/classify.c. */
#include "policy/file_class.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/file_class_fold.h"
#include "policy/file_class_pattern.h"
#include "policy/file_class_table.h"
#include "policy/file_class_trail.h"

#include <stdlib.h>
#include <string.h>

enum { USER_ROWS_MAX = 1000 };

struct user_row {
        enum file_class class;
        char *pattern;
        char *whose;
};
struct file_classes {
        struct user_row *v;
        size_t n;
};

static const struct {
        const char *name, *words;
} classes[FILE_CLASS_COUNT] = {
        [FILE_PLAIN] = {"plain", "plain"},
        [FILE_RUNS_ON_COMMIT] = {"runs-on-commit", "runs on commit"},
        [FILE_RUNS_ON_OPEN] = {"runs-on-open", "runs on open"},
        [FILE_RUNS_ON_BUILD] = {"runs-on-build", "runs on build"},
        [FILE_RUNS_IN_CI] = {"runs-in-ci", "runs in CI"},
        [FILE_STEERS_AGENT] = {"steers-agent", "steers an agent"},
        [FILE_CONFIGURES_OSTIARY] = {"configures-ostiary", "configures ostiary"},
};

const char *file_class_name(enum file_class c)
{
        return c < FILE_CLASS_COUNT ? classes[c].name : "unknown";
}

const char *file_class_words(enum file_class c)
{
        return c < FILE_CLASS_COUNT ? classes[c].words : "unknown";
}

enum file_class file_class_by_name(const char *name)
{
        int i = 0;
        while (i < FILE_CLASS_COUNT && strcmp(classes[i].name, name) != 0)
                i++;
        return (enum file_class)i;
}

const struct file_class_row *file_class_row_at(size_t i)
{
        return i < file_class_rows_n ? &file_class_rows[i] : NULL;
}

/* --- a path ----------------------------------------------------------------------------------- */

void file_class_of(const struct file_classes *t, const char *path, struct file_class_verdict *v)
{
        struct file_trail *f = file_trail_new(t);
        file_trail_judge(f, path, v);
        file_trail_free(f);
}

void file_class_in_git(const char *path, struct file_class_verdict *v)
{
        struct file_trail *f = file_trail_new(NULL);
        file_trail_judge_git(f, path, v);
        file_trail_free(f);
}

/* By the words of the row, so that there is one list of such files. */
static bool why_says(const struct file_class_verdict *v, const char *word)
{
        return v->class == FILE_RUNS_ON_COMMIT && str_starts(v->why, word);
}

bool file_class_is_git_config(const struct file_class_verdict *v)
{
        return !v->is_odd && (why_says(v, "git config") || why_says(v, "submodules"));
}

bool file_class_is_attributes(const struct file_class_verdict *v)
{
        return !v->is_odd && why_says(v, "git attributes");
}

bool file_class_is_ignored_name(const char *component)
{
        for (size_t i = 0; i < file_class_ignored_n; i++)
                if (file_part_is_exactly(file_class_ignored[i], strlen(file_class_ignored[i]),
                                         component))
                        return true;
        return false;
}

/* --- a user's rows ---------------------------------------------------------------------------- */

struct file_classes *file_classes_new(void)
{
        struct file_classes *t = calloc(1, sizeof *t);
        if (!t)
                str_no_memory();
        return t;
}

void file_classes_free(struct file_classes *t)
{
        for (size_t i = 0; t && i < t->n; i++) {
                free(t->v[i].pattern);
                free(t->v[i].whose);
        }
        if (t)
                free(t->v);
        free(t);
}

size_t file_classes_user_n(const struct file_classes *t)
{
        return t ? t->n : 0;
}

const char *file_classes_user_at(const struct file_classes *t, size_t i, enum file_class *class)
{
        *class = t->v[i].class;
        return t->v[i].pattern;
}

const char *file_classes_user_whose(const struct file_classes *t, size_t i)
{
        return t->v[i].whose;
}

static int add_line(struct file_classes *t, char *line, const char *whose, size_t number,
                    struct err *err)
{
        line += strspn(line, " \t");
        size_t end = strlen(line);
        while (end > 0 && strchr(" \t\r", line[end - 1]))
                line[--end] = '\0';
        if (*line == '\0' || *line == '#')
                return 0;
        size_t word = strcspn(line, " \t");
        char *pattern = line + word + strspn(line + word, " \t");
        line[word] = '\0';
        enum file_class class = file_class_by_name(line);
        if (class == FILE_CLASS_COUNT) {
                char *quoted = str_quote(line);
                err_set(err, E_INPUT, "%s, line %zu: there is no class \"%s\"", whose, number,
                        quoted);
                free(quoted);
                return err_hint(err, "classes are plain, runs-on-commit, runs-on-open, "
                                     "runs-on-build, runs-in-ci, steers-agent, "
                                     "configures-ostiary");
        }
        const char *wrong = file_pattern_wrong(pattern);
        if (wrong)
                return err_set(err, E_INPUT, "%s, line %zu %s", whose, number, wrong);
        if (t->n == USER_ROWS_MAX)
                return err_set(err, E_INPUT, "%s has more than %d rows", whose, USER_ROWS_MAX);
        struct user_row *v = realloc(t->v, (t->n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        t->v = v;
        t->v[t->n++] = (struct user_row){class, str_dup(pattern), str_dup(whose)};
        return 0;
}

int file_classes_add_text(struct file_classes *t, const char *text, const char *whose,
                          struct err *err)
{
        char *copy = str_dup(text), *at = copy;
        int r = 0;
        for (size_t number = 1; r == 0 && at; number++) {
                char *line = strsep(&at, "\n");
                r = add_line(t, line, whose, number, err);
        }
        free(copy);
        return r;
}
