/* diff_git.c - what a box committed, before its files: for each repository the new commits of each
 * ref as `git log --stat` tells them, every path among them that somebody runs or obeys, and what
 * of the git directory stays in the box. Called by diff_walk.c.
 *
 * Names, messages and paths are the box's and quoted (cases 76, 80). Lines of ours begin with "# "
 * or with words, so that a patch program passes them over. */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/refwords.h"
#include "git/show.h"
#include "session/committed.h"
#include "session/fetched.h"
#include "session/git_extra.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 64 << 20, STAGED_MAX = 50, PLAIN_STAGED = 5 };

/* git_place(r): how the repository is told: "", or "lib/sub: ". */
static char *git_place(const struct git_repo *r)
{
        _cleanup_free_ char *shown = str_quote(r->path);
        return *r->path ? str_fmt("%s: ", shown) : str_dup("");
}

/* git_line(d, r, path, words): "committed: sub/a (runs in CI)". */
static int git_line(struct diff *d, const char *what, const struct git_repo *r,
                    const struct git_path *p, const char *more, struct err *err)
{
        _cleanup_free_ char *whole =
                *r->path ? str_fmt("%s/%s", r->path, p->path) : str_dup(p->path);
        _cleanup_buf_ struct buf name = {0};
        ws_print_name(&name, "", whole);
        bool is_classed = p->class.class != FILE_PLAIN;
        d->noted_n++;
        _cleanup_free_ char *line = str_fmt(
                "%s: %s%s%s%s%s", what, buf_cstr(&name), is_classed ? " (" : "",
                is_classed ? file_class_words(p->class.class) : "", is_classed ? ")" : "", more);
        if (d->form == &diff_json || !d->form->note)
                return d->form->note ? d->form->note(d, line, err) : 0;
        return ws_print_line(&d->print, is_classed ? PRINT_WARN : PRINT_PLAIN, err, "%s", line);
}

/* The commits of some refs that follow each other, as one call of git told them. */
struct git_logs {
        struct git_show_left *left;
        struct git_show_seen seen;
        size_t from, to;  /* refs of the repository */
        struct strs *ids; /* of each of them: what was not told before it */
        bool is_bad;      /* all together could not be told */
        char *text, *at;  /* and what of it comes next */
};

static void git_logs_drop(struct git_logs *g)
{
        for (size_t i = 0; g->ids && i < g->to - g->from; i++)
                strs_free(&g->ids[i]);
        free(g->ids);
        free(g->text);
        g->ids = NULL;
        g->text = g->at = NULL;
}

static bool git_is_told(const struct git_ref *ref)
{
        return ref->is_new && !ref->refused;
}

/* git_log_begins(line, end, id): the first line of a commit; ${id} NULL: of any. */
static bool git_log_begins(const char *line, const char *end, const char *id)
{
        enum { WORD = 7 };
        if (!end || !str_starts(line, "commit "))
                return false;
        size_t n = (size_t)(end - line) - WORD;
        return id ? strlen(id) == n && strncmp(line + WORD, id, n) == 0
                  : strspn(line + WORD, "0123456789abcdef") == n;
}

/* git_log_text(log): the text; the caller frees. A NUL byte of a patch does not end it. */
static char *git_log_text(struct buf *log)
{
        for (size_t i = 0; i < log->len; i++)
                if (!log->data[i])
                        log->data[i] = 0x1a; /* "substitute" */
        return str_dup(buf_cstr(log));
}

/* git_logs_next(d, r, g): ask for the commits of the refs from g->to on. */
static void git_logs_next(struct diff *d, const struct git_repo *r, struct git_logs *g)
{
        _cleanup_buf_ struct buf log = {.max = LOG_MAX};
        _cleanup_strs_ struct strs all = {0};
        struct err why = {0};
        git_logs_drop(g);
        g->from = g->to;
        g->ids = calloc(r->refs_n - g->from + 1, sizeof *g->ids);
        if (!g->ids)
                str_no_memory();
        for (; g->to < r->refs_n && all.n < GIT_SHOW_MANY; g->to++) {
                struct strs *ids = &g->ids[g->to - g->from];
                if (git_is_told(&r->refs[g->to]))
                        git_show_new(&r->refs[g->to], &g->seen, ids);
                for (size_t i = 0; i < ids->n; i++)
                        strs_add(&all, ids->v[i]);
        }
        g->is_bad = all.n && git_show_log(r, &all, d->with_all, g->left, &log, &why) < 0;
        g->text = g->at = g->is_bad ? NULL : git_log_text(&log);
}

/* git_text_line(d, line, was_blank): words of the box, made safe; of blank lines one at a time. */
static int git_text_line(struct diff *d, const char *line, bool *was_blank, struct err *err)
{
        bool is_blank = line[strspn(line, " ")] == 0, is_again = is_blank && *was_blank;
        _cleanup_free_ char *shown = str_quote(is_blank ? "" : line);
        *was_blank = is_blank;
        return is_again ? 0 : diff_note(d, err, "  %s", shown);
}

/* git_tag(d, ref): an annotated tag's own words. */
static int git_tag(struct diff *d, const struct git_ref *ref, struct err *err)
{
        _cleanup_free_ char *text = ref->tag ? str_dup(ref->tag) : NULL;
        char *rest = text;
        bool was_blank = false;
        for (char *line; rest && (line = strsep(&rest, "\n")) && (rest || *line);)
                if (git_text_line(d, line, &was_blank, err) < 0)
                        return -1;
        return 0;
}

/* git_older(d, ref): those that are not listed. */
static int git_older(struct diff *d, const struct git_ref *ref, struct err *err)
{
        char n[32];
        size_t left = ref->commits_all - ref->commits_n;
        return left ? diff_note(d, err, "  %s older commit%s not shown; their paths are judged",
                                ws_print_number(left, n), left == 1 ? " is" : "s are")
                    : 0;
}

/* git_log_lines(d, text, ids, rest): the lines of these commits; ${rest} is what follows them. */
static int git_log_lines(struct diff *d, char *text, const struct strs *ids, char **rest,
                         struct err *err)
{
        bool was_blank = false;
        size_t n = 0;
        for (*rest = text; *rest && **rest;) {
                char *line = *rest, *end = strchr(line, '\n');
                if (git_log_begins(line, end, n < ids->n ? ids->v[n] : NULL) && n++ == ids->n)
                        return 0;
                *rest = end ? end + 1 : NULL;
                if (end)
                        *end = 0;
                if (git_text_line(d, line, &was_blank, err) < 0)
                        return -1;
        }
        return 0;
}

/* git_log(d, r, g, k): the commits of ref ${k} that were not told with another one, line by line. */
static int git_log(struct diff *d, const struct git_repo *r, struct git_logs *g, size_t k,
                   struct err *err)
{
        const struct git_ref *ref = &r->refs[k];
        if (k >= g->to)
                git_logs_next(d, r, g);
        const struct strs *ids = &g->ids[k - g->from];
        if (ids->n == 0)
                return diff_note(d, err, "  %.12s, whose commits %s", ref->tip,
                                 ref->commits_all ? "are told above" : "the host has already");
        if (!g->is_bad)
                return git_log_lines(d, g->at, ids, &g->at, err);
        _cleanup_buf_ struct buf log = {.max = LOG_MAX};
        struct err why = {0};
        if (git_show_log(r, ids, d->with_all, g->left, &log, &why) < 0) {
                d->unshown_n++;
                return diff_note(d, err, "  its commits cannot be shown: %s", why.text);
        }
        _cleanup_free_ char *text = git_log_text(&log);
        char *rest;
        return git_log_lines(d, text, ids, &rest, err);
}

static int git_tell_ref(struct diff *d, const struct git_repo *r, struct git_logs *g, size_t k,
                        struct err *err)
{
        const struct git_ref *ref = &r->refs[k];
        _cleanup_free_ char *place = git_place(r), *words = refwords(ref);
        if (ref->refused)
                return diff_note(d, err, "%s%s stays in the box: %s", place, words, ref->refused);
        if (!ref->is_new)
                return 0;
        char n[32];
        if (diff_note(d, err, "%s%s: %s new commit%s", place, words,
                      ws_print_number(ref->commits_all, n), ref->commits_all == 1 ? "" : "s") < 0)
                return -1;
        _cleanup_free_ char *on = r->head && strcmp(r->head, ref->name) == 0
                                          ? str_dup("")
                                          : str_fmt(", in %s", words);
        for (size_t i = 0; i < ref->paths.n; i++)
                if (ref->paths.v[i].class.class != FILE_PLAIN &&
                    git_line(d, "committed", r, &ref->paths.v[i], on, err) < 0)
                        return -1;
        if (d->form != &diff_json && d->form->note)
                return git_tag(d, ref, err) < 0 || git_log(d, r, g, k, err) < 0
                               ? -1
                               : git_older(d, ref, err);
        return 0;
}

/* git_tell_head(d, r): what the branch's move brings without a new commit of its own. */
static int git_tell_head(struct diff *d, const struct git_repo *r, struct err *err)
{
        for (size_t k = 0; k < r->refs_n; k++)
                if (r->head && strcmp(r->refs[k].name, r->head) == 0 && r->refs[k].is_new)
                        return 0; /* told with its commits */
        for (size_t i = 0; i < r->touched.n; i++)
                if (r->touched.v[i].class.class != FILE_PLAIN &&
                    git_line(d, "committed", r, &r->touched.v[i], "", err) < 0)
                        return -1;
        return 0;
}

static int git_tell_staged(struct diff *d, struct git_repo *r, struct err *err)
{
        size_t plain_n = 0;
        for (size_t i = 0; i < r->staged.n; i++) {
                if (committed_is_in_tree(&d->c->roots.v[d->root], r, &r->staged.v[i]))
                        continue;
                bool is_plain = r->staged.v[i].class.class == FILE_PLAIN;
                plain_n += is_plain;
                if ((!is_plain || plain_n <= PLAIN_STAGED) && i < STAGED_MAX &&
                    git_line(d, "staged", r, &r->staged.v[i], "; the index stays in the box", err) <
                            0)
                        return -1;
        }
        _cleanup_free_ char *place = git_place(r);
        char n[32];
        return plain_n > PLAIN_STAGED
                       ? diff_note(d, err, "%s%s plain files are staged in the box's index in all",
                                   place, ws_print_number(plain_n, n))
                       : 0;
}

/* git_tell_extra(d, r, place): hooks and their like, in one line. */
static int git_tell_extra(struct diff *d, const struct git_repo *r, const char *place,
                          struct err *err)
{
        _cleanup_strs_ struct strs names = {0};
        struct out_names shown = {0};
        git_extra_list(d->c, r, &names);
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_free_ char *quoted = str_quote(names.v[i]);
                out_names_add(&shown, quoted);
        }
        _cleanup_free_ char *words = out_names_words(&shown);
        strs_free(&shown.v);
        return names.n ? diff_note(d, err,
                                   "%s%zu file%s of its git directory stay%s in the box: %s", place,
                                   names.n, names.n == 1 ? "" : "s", names.n == 1 ? "s" : "", words)
                       : 0;
}

static int git_tell_rest(struct diff *d, const struct git_repo *r, struct err *err)
{
        _cleanup_free_ char *place = git_place(r);
        _cleanup_free_ char *file = str_fmt("%s%s.git/config", r->path, *r->path ? "/" : "");
        const struct ws_query *q = &d->c->query;
        /* Where we put stand-ins for its secrets, a difference is our own. */
        bool is_masked = q->is_masked && q->is_masked(q->arg, "ws", file);
        for (size_t i = 0; i < r->config.n && !is_masked; i++)
                if (diff_note(d, err, "%sits configuration stays in the box; to have it too: %s",
                              place, r->config.v[i]) < 0)
                        return -1;
        if (git_tell_extra(d, r, place, err) < 0)
                return -1;
        char n[32];
        return r->notes_n ? diff_note(d, err,
                                      "%s%s other ref%s (notes, remotes, replacements) stay%s "
                                      "in the box",
                                      place, ws_print_number(r->notes_n, n),
                                      r->notes_n == 1 ? "" : "s", r->notes_n == 1 ? "s" : "")
                          : 0;
}

static int git_tell_repo(struct diff *d, struct git_repo *r, struct git_show_left *left,
                         struct err *err)
{
        _cleanup_free_ char *place = git_place(r);
        if (r->is_spare)
                return diff_note(d, err, "%sits files stay in the box: %s", place, r->waits);
        if (r->waits)
                return diff_note(d, err, "%swhat the box committed waits in it: %s", place,
                                 r->waits);
        if (!r->host_git &&
            diff_note(d, err, "%sonly the box has this repository; apply asks before it is made",
                      *place ? place : "the workspace: ") < 0)
                return -1;
        struct git_logs logs = {.left = left};
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < r->refs_n; i++)
                rc = git_tell_ref(d, r, &logs, i, err);
        git_logs_drop(&logs);
        git_show_seen_free(&logs.seen);
        if (rc < 0)
                return -1;
        if (git_tell_head(d, r, err) < 0 || git_tell_staged(d, r, err) < 0)
                return -1;
        return git_tell_rest(d, r, err);
}

int diff_git_tell(struct diff *d, const struct strs *trees, struct err *err)
{
        if (d->is_git_told || trees->n == 0 || d->c->turn || !d->store)
                return 0;
        d->is_git_told = true;
        struct err why = {0};
        if (fetched_show(d->c, d->store, trees, &d->fetch, &why) < 0)
                return diff_note(d, err, "what the box committed cannot be read: %s", why.text);
        if (d->fetch.waits)
                return diff_note(d, err, "%s", d->fetch.waits);
        struct git_show_left left = git_show_all();
        for (size_t i = 0; i < d->fetch.n; i++)
                if (git_tell_repo(d, &d->fetch.v[i], &left, err) < 0)
                        return -1;
        return 0;
}

bool diff_git_is_uncommitted(const struct diff *d, const struct ws_change *c)
{
        struct git_repo *r = NULL;
        enum committed how = committed_of(&d->fetch, c, &r);
        return r && r->touched.n && how != COMMITTED_WHOLLY && c->after.kind != WS_DIR;
}

bool diff_git_is_held(const struct diff *d, const struct ws_change *c)
{
        return d->fetch.n && committed_is_held(&d->fetch, c, d->c->applied);
}
