/* file_class_trail.c - see file_class_trail.h. Called by file_class.c for one path, and by the
 * classifier of a walk for one after the other.
 *
 * A row holds for a path when it ends with the path's last component, or when it is one for
 * directories and ended with a component above. So a level keeps the best row for directories that
 * ended there or above, and a new component is held only against rows that could end with it. */
#include "policy/file_class_trail.h"

#include "base/str.h"
#include "policy/file_class_fold.h"
#include "policy/file_class_pattern.h"
#include "policy/file_class_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 4096, GIT_MAX = 16 };
#define NO_ROW SIZE_MAX

/* A row that holds, and how. */
struct trail_hit {
        size_t row; /* NO_ROW: none */
        size_t git; /* of git's rows: which of the git directories above it is meant from */
        bool is_odd;
};

struct trail_level {
        size_t end;                        /* of the component, in the path */
        char *space;                       /* where its two spellings lie */
        struct trail_hit table, user, git; /* rows for directories, which go on holding below */
        size_t git_n;                      /* components up to here that are git directories */
        bool is_git_odd, is_data;
};

struct file_trail {
        const struct file_classes *t;
        char *path;
        size_t path_cap;
        struct trail_level *v;
        char **raw, **folded;
        size_t n, cap;
        size_t git_at[GIT_MAX]; /* which components are git directories */
        struct file_pattern *user;
        uint64_t steps_n;
};

/* --- the built-in rows, cut once --------------------------------------------------------------- */

static struct file_pattern table_cut[ROWS_MAX], git_cut[64];
static uint16_t first_row[256][256], next_row[ROWS_MAX];
static size_t table_n;

static unsigned char row_byte(char c)
{
        return c == '?' ? '*' : (unsigned char)tolower((unsigned char)c);
}

static void index_rows(void)
{
        if (table_n)
                return;
        while (table_n < ROWS_MAX - 1 && file_class_row_at(table_n))
                table_n++;
        /* By the bytes that the last part begins and ends with, wildcards under *. From the last on, so
         * that each list is in order; 0 ends it, hence one more. */
        for (size_t i = table_n; i-- > 0;) {
                struct file_pattern *p = &table_cut[i];
                if (!file_pattern_cut(file_class_row_at(i)->pattern, p))
                        continue;
                const char *part = p->part[p->n - 1];
                uint16_t *list =
                        &first_row[row_byte(part[0])][row_byte(part[p->len[p->n - 1] - 1])];
                next_row[i] = *list;
                *list = (uint16_t)(i + 1);
        }
        for (size_t i = 0; i < file_class_git_rows_n && i < sizeof git_cut / sizeof git_cut[0]; i++)
                (void)file_pattern_cut(file_class_git_rows[i].pattern, &git_cut[i]);
}

struct file_trail *file_trail_new(const struct file_classes *t)
{
        struct file_trail *f = calloc(1, sizeof *f);
        size_t user_n = file_classes_user_n(t);
        index_rows();
        if (!f || (user_n && !(f->user = calloc(user_n, sizeof *f->user))))
                str_no_memory();
        f->t = t;
        for (size_t i = 0; i < user_n; i++) {
                enum file_class class;
                (void)file_pattern_cut(file_classes_user_at(t, i, &class), &f->user[i]);
        }
        return f;
}

void file_trail_free(struct file_trail *f)
{
        if (!f)
                return;
        for (size_t i = 0; i < f->n; i++)
                free(f->v[i].space);
        free(f->path);
        free(f->v);
        free(f->raw);
        free(f->folded);
        free(f->user);
        free(f);
}

/* --- a component ------------------------------------------------------------------------------- */

static bool is_better(const struct trail_hit *a, const struct trail_hit *b)
{
        return a->git != b->git ? a->git < b->git : a->row < b->row;
}

/* take(here, below, hit, is_dir): a row that ends here counts here, and below if it is for
 * directories. The same row by an exact name is not odd. */
static void take(struct trail_hit *here, struct trail_hit *below, const struct trail_hit *hit,
                 bool is_dir)
{
        struct trail_hit *to[] = {here, is_dir ? below : here};
        for (size_t i = 0; i < 2; i++) {
                if (is_better(hit, to[i]))
                        *to[i] = *hit;
                else if (hit->row == to[i]->row && hit->git == to[i]->git)
                        to[i]->is_odd &= hit->is_odd;
        }
}

static void try_list(struct file_trail *f, size_t list, struct trail_hit *here,
                     struct trail_hit *below)
{
        for (size_t i = list; i > 0; i = next_row[i - 1]) {
                struct trail_hit hit = {.row = i - 1};
                if (hit.row > here->row && hit.row > below->row)
                        return;
                f->steps_n++;
                if (file_pattern_ends(&table_cut[i - 1], f->raw, f->folded, f->n, &hit.is_odd))
                        take(here, below, &hit, table_cut[i - 1].is_dir);
        }
}

/* row_bytes(folded, raw, to): the bytes that a row may have where a name has these two. */
static size_t row_bytes(char folded, char raw, unsigned char to[3])
{
        size_t n = 0;
        to[n++] = '*';
        if (folded != '*')
                to[n++] = (unsigned char)folded;
        unsigned char other = (unsigned char)tolower((unsigned char)raw);
        if (other != '*' && other != (unsigned char)folded)
                to[n++] = other;
        return n;
}

static void try_tables(struct file_trail *f, struct trail_hit *here, struct trail_hit *below)
{
        const char *raw = f->raw[f->n - 1], *folded = f->folded[f->n - 1];
        size_t raw_len = strlen(raw), folded_len = strlen(folded);
        if (strchr(folded, '~') || strchr(raw, '~')) { /* the short name of any */
                for (int c = 0; c < 256; c++)
                        for (int e = 0; e < 256; e++)
                                try_list(f, first_row[c][e], here, below);
                return;
        }
        unsigned char first[3], last[3];
        size_t first_n = row_bytes(*folded, *raw, first);
        size_t last_n = row_bytes(folded_len ? folded[folded_len - 1] : '*',
                                  raw_len ? raw[raw_len - 1] : '*', last);
        for (size_t i = 0; i < first_n; i++)
                for (size_t k = 0; k < last_n; k++)
                        try_list(f, first_row[first[i]][last[k]], here, below);
}

/* The later of a user's rows decides: they are numbered from the last. */
static void try_user(struct file_trail *f, struct trail_hit *here, struct trail_hit *below)
{
        size_t n = file_classes_user_n(f->t);
        for (size_t i = n; i-- > 0;) {
                enum file_class class;
                struct trail_hit hit = {.row = n - 1 - i};
                f->steps_n++;
                (void)file_classes_user_at(f->t, i, &class);
                if (file_pattern_ends(&f->user[i], f->raw, f->folded, f->n, &hit.is_odd) &&
                    !(class == FILE_PLAIN && hit.is_odd))
                        take(here, below, &hit, f->user[i].is_dir);
        }
}

/* try_git(f, from, git, ...): git's rows, from component ${from} on. */
static void try_git(struct file_trail *f, size_t from, size_t git, struct trail_hit *here,
                    struct trail_hit *below)
{
        for (size_t i = 0; i < file_class_git_rows_n && from < f->n; i++) {
                struct trail_hit hit = {.row = i, .git = git};
                f->steps_n++;
                /* A name that only looks like a sample is none. */
                if (file_pattern_ends(&git_cut[i], f->raw + from, f->folded + from, f->n - from,
                                      &hit.is_odd) &&
                    !(file_class_git_rows[i].class == FILE_PLAIN && hit.is_odd))
                        take(here, below, &hit, git_cut[i].is_dir);
        }
}

/* Names that git makes up: a branch may be called Makefile. */
static bool is_git_data(const char *part)
{
        static const char *const data[] = {"refs", "logs", "objects", "lfs"};
        for (size_t i = 0; i < sizeof data / sizeof data[0]; i++)
                if (strcmp(part, data[i]) == 0)
                        return true;
        return false;
}

static void grow(struct file_trail *f)
{
        if (f->n < f->cap)
                return;
        f->cap = f->cap ? f->cap * 2 : 16;
        f->v = reallocarray(f->v, f->cap, sizeof *f->v);
        f->raw = reallocarray(f->raw, f->cap, sizeof *f->raw);
        f->folded = reallocarray(f->folded, f->cap, sizeof *f->folded);
        if (!f->v || !f->raw || !f->folded)
                str_no_memory();
}

/* What holds for the path that ends with the last component. */
struct trail_here {
        struct trail_hit table, user, git;
};

static const struct trail_hit no_hit = {.row = NO_ROW, .git = SIZE_MAX};

/* push(f, name, len, end, here): one component more. ${here} NULL: it is one on the way, and only
 * what it hands on is wanted, which is the same work. */
static void push(struct file_trail *f, const char *name, size_t len, size_t end,
                 struct trail_here *here)
{
        grow(f);
        struct trail_level *l = &f->v[f->n];
        const struct trail_level *up = f->n ? l - 1 : NULL;
        *l = up ? *up : (struct trail_level){.table = no_hit, .user = no_hit, .git = no_hit};
        l->end = end;
        l->space = malloc(2 * len + 2);
        if (!l->space)
                str_no_memory();
        memcpy(l->space, name, len);
        l->space[len] = '\0';
        file_fold(name, len, l->space + len + 1);
        f->raw[f->n] = l->space;
        f->folded[f->n] = l->space + len + 1;
        f->n++;
        *here = (struct trail_here){l->table, l->user, l->git};

        bool is_git = file_part_is(".git", 4, f->folded[f->n - 1]);
        for (size_t i = 0; i < l->git_n && i < GIT_MAX; i++) {
                try_git(f, f->git_at[i] + 1, i, &here->git, &l->git);
                if (f->git_at[i] + 2 == f->n)
                        l->is_data |= is_git_data(f->raw[f->n - 1]);
        }
        if (is_git) {
                if (l->git_n < GIT_MAX)
                        f->git_at[l->git_n] = f->n - 1;
                l->git_n++;
                l->is_git_odd |= strcmp(f->raw[f->n - 1], ".git") != 0;
        }
        try_user(f, &here->user, &l->user);
        try_tables(f, &here->table, &l->table);
}

static bool is_separator(char c)
{
        return c == '/' || c == '\\';
}

/* go(f, path, here): false when there is no component in it. The last one is always judged anew: what
 * ends with it is not kept. */
static bool go(struct file_trail *f, const char *path, struct trail_here *here)
{
        size_t same = 0, len = strlen(path);
        while (f->path && f->path[same] && f->path[same] == path[same])
                same++;
        while (f->n > 0) {
                size_t end = f->v[f->n - 1].end;
                if (end <= same && is_separator(path[end]) && path[end + 1])
                        break;
                free(f->v[--f->n].space);
        }
        if (!f->path || len + 1 > f->path_cap) {
                f->path_cap = 2 * len + 64;
                f->path = realloc(f->path, f->path_cap);
                if (!f->path)
                        str_no_memory();
        }
        memcpy(f->path, path, len + 1);
        bool has_one = false;
        for (size_t i = f->n ? f->v[f->n - 1].end : 0; i < len;) {
                size_t n = 0;
                while (i + n < len && !is_separator(path[i + n]))
                        n++;
                if (n > 0 && !(n == 1 && path[i] == '.')) {
                        push(f, path + i, n, i + n, here);
                        has_one = true;
                }
                i += n + 1;
        }
        return has_one;
}

/* --- a path ------------------------------------------------------------------------------------ */

static void say(struct file_class_verdict *v, enum file_class class, const char *why, bool is_odd)
{
        v->class = class;
        v->is_odd = is_odd && class != FILE_PLAIN;
        snprintf(v->why, sizeof v->why, "%s", why);
}

static void say_row(struct file_class_verdict *v, const struct file_class_row *r, bool is_odd)
{
        say(v, r->class, r->why, is_odd);
}

/* by_git(f, here, verdict): within a component .git; true when that decides. */
static bool by_git(const struct file_trail *f, const struct trail_here *here,
                   struct file_class_verdict *v)
{
        const struct trail_level *l = &f->v[f->n - 1];
        bool is_last = l->git_n > (f->n > 1 ? f->v[f->n - 2].git_n : 0);
        if (here->git.row != NO_ROW) {
                say_row(v, &file_class_git_rows[here->git.row], here->git.is_odd);
                v->is_odd |= l->is_git_odd && v->class != FILE_PLAIN;
                return true;
        }
        if (is_last) {
                say(v, FILE_RUNS_ON_COMMIT, "git pointer", l->is_git_odd);
                return true;
        }
        if (l->git_n > GIT_MAX || l->is_git_odd) {
                /* No git makes such a directory: whatever is in it wants to be taken for one. */
                say(v, FILE_RUNS_ON_COMMIT, "looks like a git directory", true);
                return true;
        }
        return l->is_data;
}

static bool by_user(const struct file_trail *f, const struct trail_here *here,
                    struct file_class_verdict *v)
{
        if (here->user.row == NO_ROW)
                return false;
        enum file_class class;
        size_t i = file_classes_user_n(f->t) - 1 - here->user.row;
        const char *pattern = file_classes_user_at(f->t, i, &class);
        char why[sizeof v->why];
        snprintf(why, sizeof why, "%s: %.60s", file_classes_user_whose(f->t, i), pattern);
        say(v, class, class == FILE_PLAIN ? "" : why, here->user.is_odd);
        return true;
}

void file_trail_judge(struct file_trail *f, const char *path, struct file_class_verdict *v)
{
        struct trail_here here;
        say(v, FILE_PLAIN, "", false);
        if (!go(f, path, &here))
                return;
        bool is_decided = by_git(f, &here, v);
        if (!(is_decided && v->class != FILE_PLAIN) && !by_user(f, &here, v) && !is_decided &&
            here.table.row != NO_ROW)
                say_row(v, file_class_row_at(here.table.row), here.table.is_odd);
        /* A backslash is a separator on some systems and a letter here. */
        v->is_odd |= v->class != FILE_PLAIN && strchr(path, '\\') != NULL;
}

void file_trail_judge_git(struct file_trail *f, const char *path, struct file_class_verdict *v)
{
        struct trail_here here;
        say(v, FILE_PLAIN, "", false);
        if (!go(f, path, &here))
                return;
        /* Rows for directories may have ended with a component above. */
        struct trail_hit best = no_hit, ignored = no_hit;
        size_t n = f->n;
        for (f->n = 1; f->n <= n; f->n++) {
                struct trail_hit at = no_hit;
                try_git(f, 0, 0, f->n == n ? &best : &ignored, &at);
                if (is_better(&at, &best))
                        best = at;
        }
        f->n = n;
        if (best.row != NO_ROW)
                say_row(v, &file_class_git_rows[best.row], best.is_odd);
}

uint64_t file_trail_steps(const struct file_trail *f)
{
        return f->steps_n;
}
