/* show.c - see show.h. No external diff, no text conversion, no pager, no mailmap, no signature
 * check: nothing that a commit could choose is run. */
#include "git/show.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/beneath.h"

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

/* show_env(r, env): the quarantine over the user's objects; alone where only the box has the
 * repository. */
static void show_env(const struct git_repo *r, struct strs *env)
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

int git_show_log(const struct git_repo *r, const struct git_ref *ref, const struct strs *told,
                 bool with_patch, struct buf *out, struct err *err)
{
        _cleanup_strs_ struct strs env = {0}, argv = {0};
        show_env(r, &env);
        for (size_t i = 0; i < sizeof show_words / sizeof *show_words; i++)
                strs_add(&argv, show_words[i]);
        strs_addf(&argv, "--max-count=%d", GIT_COMMITS_MAX);
        strs_add(&argv, with_patch ? "--patch" : "--summary");
        strs_add(&argv, ref->tip);
        strs_add(&argv, "--not");
        strs_add(&argv, "--all");
        for (size_t i = 0; told && i < told->n; i++)
                strs_add(&argv, told->v[i]);
        strs_add(&argv, "--");
        struct git_call call = {.dir = r->host_git ? r->dir : "/",
                                .argv = (const char *const *)argv.v,
                                .out = out,
                                .out_fd = -1};
        int status = git_call_host(&call, &env, err);
        return status > 0 ? err_add(err, "read the commits of %s", ref->name) : status;
}
