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

/* sizes_read(r): a size for each entry of r->touched; what is missing stays untold. */
static void sizes_read(struct git_repo *r)
{
        _cleanup_buf_ struct buf in = {0}, out = {.max = SIZES_OUT_MAX};
        _cleanup_strs_ struct strs env = {0};
        struct err none = {0};
        r->sizes = reallocarray(NULL, r->touched.n + 1, sizeof *r->sizes);
        if (!r->sizes)
                str_no_memory();
        for (size_t i = 0; i < r->touched.n; i++) {
                r->sizes[i] = NOT_TOLD;
                buf_put_fmt(&in, "%s\n", r->touched.v[i].id);
        }
        git_show_env(r, &env);
        const char *const argv[] = {"cat-file", "--batch-check=%(objectsize)", NULL};
        struct git_call call = {.dir = r->host_git ? r->dir : "/",
                                .argv = argv,
                                .in = in.data,
                                .in_len = in.len,
                                .out = &out};
        if (git_call_host(&call, &env, &none) != 0)
                return;
        const char *at = buf_cstr(&out);
        for (size_t i = 0; i < r->touched.n && *at; i++) {
                char *end;
                unsigned long long n = strtoull(at, &end, 10);
                if (end != at && *end == '\n')
                        r->sizes[i] = n;
                at += strcspn(at, "\n");
                at += *at == '\n';
        }
}

bool git_blob_size(struct git_repo *r, const struct git_path *p, uint64_t *size)
{
        if (p < r->touched.v || p >= r->touched.v + r->touched.n)
                return false;
        if (!r->sizes)
                sizes_read(r);
        *size = r->sizes[p - r->touched.v];
        return *size != NOT_TOLD;
}
