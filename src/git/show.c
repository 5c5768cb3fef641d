/* show.c - see show.h. No external diff, no text conversion, no pager, no mailmap, no signature
 * check: nothing that a commit could choose is run. */
#include "git/show.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

int git_show_log(const struct git_repo *r, const struct git_ref *ref, bool with_patch,
                 struct buf *out, struct err *err)
{
        _cleanup_strs_ struct strs env = {0};
        if (r->quarantine)
                strs_addf(&env, "GIT_OBJECT_DIRECTORY=%s", r->quarantine);
        if (r->quarantine && r->host_common)
                strs_addf(&env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s/objects", r->host_common);
        _cleanup_free_ char *most = str_fmt("--max-count=%d", GIT_COMMITS_MAX);
        const char *const argv[] = {"log",
                                    most,
                                    "--no-color",
                                    "--no-renames",
                                    "--no-ext-diff",
                                    "--no-textconv",
                                    "--no-show-signature",
                                    "--no-mailmap",
                                    "--no-notes",
                                    "--no-decorate",
                                    "--date=iso-strict",
                                    "--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n%w(0,4,4)%B",
                                    "--stat=80",
                                    with_patch ? "--patch" : "--summary",
                                    ref->tip,
                                    "--not",
                                    "--all",
                                    "--",
                                    NULL};
        struct git_call call = {.dir = r->host_git ? r->dir : "/",
                                .argv = argv,
                                .out = out,
                                .out_fd = -1};
        /* Without a repository of the host's there is one that is empty: the quarantine's. */
        _cleanup_free_ char *bare = NULL;
        if (!r->host_git && r->quarantine) {
                bare = str_fmt("GIT_DIR=%s/..", r->quarantine);
                strs_add(&env, bare);
        }
        int status = git_call_host(&call, &env, err);
        return status > 0 ? err_add(err, "read the commits of %s", ref->name) : status;
}
