/* story_before.c - see story_before.h. The log is read once more, up to the change; what is kept of
 * it is bounded. */
#include "session/story_before.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* --- records that outlive their line ---------------------------------------------------------- */

static void keep(struct story_kept *k, const struct story_event *e)
{
        k->time_us = e->time_us;
        /* It was read once already, so it can be read again. */
        if (audit_record_parse(e->line, e->line_len, &k->record, &k->strings) < 0)
                abort();
}

/* push(v, n, max, e): as the first of a short list. */
static void push(struct story_kept *v, size_t *n, size_t max, const struct story_event *e)
{
        struct story_kept last = *n == max ? v[max - 1] : (struct story_kept){0};
        if (*n < max)
                ++*n;
        memmove(v + 1, v, (*n - 1) * sizeof *v);
        v[0] = last;
        keep(&v[0], e);
}

static void drop_alive(struct story_before *b, size_t i)
{
        struct story_kept gone = b->alive[i];
        memmove(&b->alive[i], &b->alive[i + 1], (b->alive_n - i - 1) * sizeof gone);
        b->alive_n--;
        buf_free(&gone.strings);
}

static void on_process(struct story_before *b, const struct story_event *e)
{
        bool is_exec = strcmp(e->kind, "exec") == 0, is_exit = strcmp(e->kind, "exit") == 0;
        if (!is_exec && !is_exit)
                return;
        b->has_execs = true;
        for (size_t i = b->alive_n; i-- > 0;)
                if (b->alive[i].record.pid == e->record->pid) {
                        drop_alive(b, i);
                        break;
                }
        if (is_exit || audit_record_is_refused(e->record))
                return;
        if (b->alive_n == STORY_ALIVE_MAX) {
                drop_alive(b, 0);
                b->alive_more++;
        }
        b->alive[b->alive_n] = (struct story_kept){0};
        keep(&b->alive[b->alive_n++], e);
}

/* is_path_of(b, workspace, path): does an open of the log mean the changed file? The log has the
 * path as the program wrote it: absolute, or from wherever it stood. */
static bool is_path_of(const char *name, const char *workspace, const char *path)
{
        while (str_starts(path, "./"))
                path += 2;
        const char *tail = name[0] == '~' ? name + 1 : name; /* "~/x" is ".../x" */
        if (path[0] == '/') {
                if (name[0] == '/')
                        return strcmp(path, name) == 0;
                if (name[0] == '~')
                        return str_ends(path, tail);
                size_t n = strlen(workspace);
                return strncmp(path, workspace, n) == 0 && path[n] == '/' &&
                       strcmp(path + n + 1, name) == 0;
        }
        size_t n = strlen(name), m = strlen(path);
        return m && n >= m && strcmp(name + n - m, path) == 0 && (n == m || name[n - m - 1] == '/');
}

static void on_open(struct story_before *b, const char *workspace, const struct story_event *e)
{
        const struct audit_record *r = e->record;
        b->has_opens = true;
        if (strcmp(r->method, "r") == 0 || audit_record_is_refused(r))
                return;
        if (is_path_of(b->change.name, workspace, r->path) ||
            (b->change.from && is_path_of(b->change.from, workspace, r->path)))
                push(b->writers, &b->writers_n, STORY_WRITERS_MAX, e);
}

/* --- which change ----------------------------------------------------------------------------- */

static int choose(struct story_before *b, const struct store *store, const char *id,
                  const char *workspace, const char *path, struct err *err)
{
        _cleanup_story_filter_ struct story_filter f;
        story_filter_init(&f);
        strs_add(&f.kinds, "change");
        f.path = path;
        f.workspace = workspace;
        _cleanup_story_ struct story s;
        int got = story_open(&s, store, id, &f, err);
        if (got < 0)
                return -1;
        if (*s.no_changes) {
                got = err_set(err, E_INPUT, "the changes of box %s cannot be read: %s", id,
                              s.no_changes);
        } else if (!s.changes_n) {
                _cleanup_free_ char *shown = str_quote(path);
                got = err_set(err, E_ABSENT,
                              "box %s has no change of %s (ostiary diff --name-only %s lists them)",
                              id, shown, id);
        } else {
                size_t at = s.changes_n - 1; /* the newest, unless one has exactly this name */
                for (size_t i = 0; i < s.changes_n; i++)
                        if (strcmp(s.changes[i].name, path) == 0)
                                at = i;
                b->change = s.changes[at];
                b->change.name = take_ptr(&s.changes[at].name);
                b->change.from = take_ptr(&s.changes[at].from);
                b->others_n = s.changes_n - 1 + s.changes_more;
        }
        return got;
}

int story_before_find(struct story_before *b, const struct store *store, const char *id,
                      const char *workspace, const char *path, struct err *err)
{
        *b = (struct story_before){0};
        if (choose(b, store, id, workspace, path, err) < 0)
                return -1;
        b->alive = calloc(STORY_ALIVE_MAX, sizeof *b->alive);
        if (!b->alive)
                str_no_memory();
        _cleanup_story_filter_ struct story_filter f;
        story_filter_init(&f);
        f.until_us = b->change.time_us;
        if (story_filter_kinds(&f, "process,request,open", err) < 0)
                return -1;
        _cleanup_story_ struct story s;
        struct story_event e;
        int got = story_open(&s, store, id, &f, err);
        while (got >= 0 && (got = story_next(&s, &e, err)) > 0) {
                if (e.group == STORY_PROCESS)
                        on_process(b, &e);
                else if (e.group == STORY_REQUEST)
                        push(b->requests, &b->requests_n, STORY_NEAR_MAX, &e);
                else
                        on_open(b, workspace, &e);
        }
        return got;
}

void story_before_free(struct story_before *b)
{
        free(b->change.name);
        free(b->change.from);
        for (size_t i = 0; i < b->writers_n; i++)
                buf_free(&b->writers[i].strings);
        for (size_t i = 0; i < b->requests_n; i++)
                buf_free(&b->requests[i].strings);
        for (size_t i = 0; i < b->alive_n; i++)
                buf_free(&b->alive[i].strings);
        free(b->alive);
        *b = (struct story_before){0};
}
