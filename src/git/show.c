/* show.c - see show.h. No external diff, no text conversion, no pager, no mailmap, no signature
 * check: nothing that a commit could choose is run. */
#include "git/show.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/beneath.h"
#include "git/fetch_int.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What is printed, and nothing that a commit or the user's settings could add to it. */
static const char *const show_words[] = {
        "log",
        "--no-color",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-mailmap",
        "--no-notes",
        "--no-show-signature",
        "--no-decorate",
        "--date=iso-strict",
        "--stat=80",
        "--text",
        "--diff-merges=first-parent",
        "--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n%w(0,4,4)%B"};

void git_show_env(const struct git_repo *r, struct strs *env)
{
        git_beneath_env(r, env);
        if (!r->quarantine)
                return;
        strs_addf(env, "GIT_OBJECT_DIRECTORY=%s", r->quarantine);
        if (r->host_common)
                strs_addf(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s/objects", r->host_common);
        else
                strs_addf(env, "GIT_DIR=%s/..", r->quarantine);
}

enum { SHOW_CALL_CPU_S = 20, SHOW_ALL_MS = 120 * 1000 };
int64_t git_show_cpu_ms = 60 * 1000;

struct git_show_left git_show_all(void)
{
        return (struct git_show_left){.cpu_ms = git_show_cpu_ms, .wall_ms = SHOW_ALL_MS};
}

int git_show_log(const struct git_repo *r, const struct strs *ids, bool with_patch,
                 struct git_show_left *left, struct buf *out, struct err *err)
{
        _cleanup_strs_ struct strs env = {0}, argv = {0};
        _cleanup_buf_ struct buf in = {0};
        if (left->cpu_ms <= 0 || left->wall_ms <= 0)
                return err_set(err, E_INPUT, "to tell the box's commits took too long already");
        git_show_env(r, &env);
        for (size_t i = 0; i < sizeof show_words / sizeof *show_words; i++)
                strs_add(&argv, show_words[i]);
        strs_add(&argv, with_patch ? "--patch" : "--summary");
        strs_add(&argv, "--no-walk=unsorted");
        strs_add(&argv, "--stdin");
        for (size_t i = 0; i < ids->n; i++)
                buf_put_fmt(&in, "%s\n", ids->v[i]);
        uint64_t used_ms = 0;
        int64_t began = fetch_now_ms();
        uint32_t cpu_s = (uint32_t)((left->cpu_ms + 999) / 1000);
        struct git_call call = {.dir = r->host_git ? r->dir : "/",
                                .argv = (const char *const *)argv.v,
                                .in = in.data,
                                .in_len = in.len,
                                .out = out,
                                .out_fd = -1,
                                .cpu_s = cpu_s < SHOW_CALL_CPU_S ? cpu_s : SHOW_CALL_CPU_S,
                                .cpu_ms = &used_ms,
                                .patience_ms = (uint32_t)left->wall_ms};
        int status = git_call_host(&call, &env, err);
        left->cpu_ms -= (int64_t)used_ms;
        left->wall_ms -= fetch_now_ms() - began;
        if (status > 0)
                err_add(err, "read the commits");
        return status ? -1 : 0;
}

/* --- which commits ---------------------------------------------------------------------------- */

static int show_order(const void *a, const void *b)
{
        return strcmp(a, b);
}

void git_show_new(const struct git_ref *ref, struct git_show_seen *seen, struct strs *ids)
{
        for (size_t i = 0; i < ref->commits_n; i++) {
                const char *id = ref->commits[i].id;
                if (tfind(id, &seen->root, show_order))
                        continue;
                if (!tsearch(id, &seen->root, show_order))
                        str_no_memory();
                strs_add(ids, id);
        }
}

static void show_keep(void *id)
{
        (void)id; /* it is the ref's */
}

void git_show_seen_free(struct git_show_seen *seen)
{
        tdestroy(seen->root, show_keep);
        seen->root = NULL;
}

/* --- whether they can be told ------------------------------------------------------------------ */

static bool show_is_new(const struct git_ref *ref)
{
        return ref->is_new && !ref->refused;
}

/* show_prove_each(r, from, to, left): refs that could not be told together, each by itself. */
static void show_prove_each(struct git_repo *r, size_t from, size_t to, struct git_show_left *left)
{
        for (size_t i = from; i < to; i++) {
                struct git_show_seen none = {0};
                _cleanup_strs_ struct strs ids = {0};
                struct err err = {0};
                if (!show_is_new(&r->refs[i]))
                        continue;
                git_show_new(&r->refs[i], &none, &ids);
                git_show_seen_free(&none);
                if (ids.n && git_show_log(r, &ids, false, left, NULL, &err) < 0)
                        r->refs[i].refused = str_fmt(
                                "its commits cannot be shown (%s), and --yes takes none unseen; "
                                "without it apply asks on a terminal",
                                err.text);
        }
}

static void show_prove_repo(struct git_repo *r, struct git_show_left *left)
{
        struct git_show_seen seen = {0};
        for (size_t from = 0, to = 0; from < r->refs_n; from = to) {
                _cleanup_strs_ struct strs ids = {0};
                struct err err = {0};
                for (; to < r->refs_n && ids.n < GIT_SHOW_MANY; to++)
                        if (show_is_new(&r->refs[to]))
                                git_show_new(&r->refs[to], &seen, &ids);
                if (ids.n && git_show_log(r, &ids, false, left, NULL, &err) < 0)
                        show_prove_each(r, from, to, left);
        }
        git_show_seen_free(&seen);
}

void git_show_prove(struct git_fetch *f)
{
        struct git_show_left left = git_show_all();
        for (size_t i = f->n; i-- > 0;)
                if (!f->v[i].waits && !f->v[i].shares)
                        show_prove_repo(&f->v[i], &left);
}
