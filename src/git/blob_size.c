/* blob_size.c - see blob.h: how large the contents are that a box's HEAD has. Asked for when a file of
 * the box is too large to be read only to find that it is another one. */
#include "git/blob.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/show.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES_OUT_MAX = 256 << 20 };
#define NOT_TOLD UINT64_MAX

void git_blob_sizes_in(const struct git_paths *list, struct buf *for_git)
{
        for (size_t i = 0; i < list->n; i++)
                buf_put_fmt(for_git, "%s\n", list->v[i].id);
}

uint64_t *git_blob_sizes_out(const struct git_paths *list, struct buf *said)
{
        uint64_t *v = reallocarray(NULL, list->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        const char *at = buf_cstr(said);
        for (size_t i = 0; i < list->n; i++) {
                char *end;
                unsigned long long n = strtoull(at, &end, 10);
                v[i] = end != at && *end == '\n' ? n : NOT_TOLD;
                at += strcspn(at, "\n");
                at += *at == '\n';
        }
        return v;
}

/* sizes_read(r, list): a size for each entry; what is missing stays untold. */
static uint64_t *sizes_read(struct git_repo *r, const struct git_paths *list)
{
        _cleanup_buf_ struct buf in = {0}, out = {.max = SIZES_OUT_MAX};
        _cleanup_strs_ struct strs env = {0};
        struct err none = {0};
        git_blob_sizes_in(list, &in);
        git_show_env(r, &env);
        const char *const argv[] = {"cat-file", GIT_BLOB_SIZES, NULL};
        struct git_call call = {.dir = r->host_git ? r->dir : "/",
                                .argv = argv,
                                .in = in.data,
                                .in_len = in.len,
                                .out = &out};
        if (git_call_host(&call, &env, &none) != 0) {
                buf_free(&out);
                out = (struct buf){.max = SIZES_OUT_MAX};
        }
        return git_blob_sizes_out(list, &out);
}

static bool sizes_has(const struct git_paths *list, const struct git_path *p)
{
        return list->n && p >= list->v && p < list->v + list->n;
}

enum git_blob_told git_blob_size(struct git_repo *r, const struct git_path *p, uint64_t *size)
{
        bool is_staged = sizes_has(&r->staged, p), is_head = sizes_has(&r->head_tree, p);
        if (!is_staged && !is_head && !sizes_has(&r->touched, p))
                return GIT_BLOB_UNTOLD;
        const struct git_paths *list = is_staged ? &r->staged
                                       : is_head ? &r->head_tree
                                                 : &r->touched;
        uint64_t **sizes = is_staged ? &r->staged_sizes : is_head ? &r->head_sizes : &r->sizes;
        if (!*sizes && !is_staged)
                *sizes = sizes_read(r, list);
        if (!*sizes || (*sizes)[p - list->v] == NOT_TOLD)
                return GIT_BLOB_UNTOLD;
        *size = (*sizes)[p - list->v];
        return is_staged ? GIT_BLOB_BY_BOX : GIT_BLOB_TOLD;
}
