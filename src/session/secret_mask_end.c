/* secret_mask_end.c - see secret_mask.h: what becomes of the copies when the box is over, and what
 * explain says of them beforehand. The upper layer is hostile: it is only entered by descriptor. */
#include "session/secret_mask.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "session/secret_mask_int.h"
#include "session/start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* in_upper(upper, path, &base): the directory of ${path} in an upper layer, and its last part; -1.
 */
static int in_upper(int upper, const char *path, const char **base)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *above = str_fmt("%.*s", slash ? (int)(slash - path) : 0, path);
        *base = slash ? slash + 1 : path;
        return beneath_open_nosym(upper, above, O_RDONLY | O_DIRECTORY, 0, NULL);
}

static void remove_copy(int upper, const struct secret_mask_entry *e)
{
        char sha[SHA256_HEX_LEN + 1];
        const char *base;
        _cleanup_close_ int dir = in_upper(upper, e->path, &base);
        if (dir < 0)
                return;
        secret_mask_sha(dir, base, sha);
        if (strcmp(sha, e->sha) == 0)
                unlinkat(dir, base, 0);
}

/* open_layer(at_fd, after, layer): the home is kept by other rules, and --live has no layer; -1. */
static int open_layer(int at_fd, const char *after, const char *layer)
{
        if (strcmp(layer, "home") == 0 || strchr(layer, '/'))
                return -1;
        _cleanup_free_ char *path = str_fmt("%s%s", layer, after);
        return beneath_open_nosym(at_fd, path, O_RDONLY | O_DIRECTORY, 0, NULL);
}

/* take_off(dir_fd, at_fd, after): from the trees LAYER/after in ${at_fd}. */
static void take_off(int dir_fd, int at_fd, const char *after)
{
        _cleanup_masks_ struct secret_mask_list l = {0};
        secret_mask_list_read(dir_fd, &l);
        for (size_t i = 0; i < l.n; i++) {
                _cleanup_close_ int upper = open_layer(at_fd, after, l.v[i].layer);
                if (upper >= 0)
                        remove_copy(upper, &l.v[i]);
        }
        /* Children before parents; what is not empty stays. */
        for (size_t i = l.made.n; i-- > 0;) {
                const char *tab = strchr(l.made.v[i], '\t'), *base;
                _cleanup_free_ char *layer =
                        str_fmt("%.*s", tab ? (int)(tab - l.made.v[i]) : 0, l.made.v[i]);
                _cleanup_close_ int upper = tab ? open_layer(at_fd, after, layer) : -1;
                _cleanup_close_ int dir = upper < 0 ? -1 : in_upper(upper, tab + 1, &base);
                if (dir >= 0)
                        unlinkat(dir, base, AT_REMOVEDIR);
        }
}

void secret_mask_end(int dir_fd)
{
        _cleanup_close_ int layers =
                openat(dir_fd, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layers >= 0)
                take_off(dir_fd, layers, "/upper");
}

void secret_mask_strip(int dir_fd, int entry_fd)
{
        take_off(dir_fd, entry_fd, "");
}

/* tell_file(plan, t, path): a note, if a start would hide or list something. */
static void tell_file(struct session_plan *plan, const struct secret_mask_tree *t, const char *path)
{
        enum secret_scan_kind kind = secret_scan_kind(path);
        _cleanup_wiped_ struct buf b = {0};
        _cleanup_copy_ struct secret_mask_copy copy = {0};
        struct stat st;
        if (!secret_mask_read(t->source_fd, path, &b, &st))
                return;
        _cleanup_free_ char *what = str_fmt("%s/%s", t->target, path);
        if (kind == SECRET_SCAN_KEY) {
                if (memmem(b.data, b.len, "PRIVATE KEY-----", 16))
                        session_plan_note(plan, false, what, "a private key, shown as it is");
                return;
        }
        secret_mask_copy_make(kind == SECRET_SCAN_NOT ? SECRET_SCAN_TEXT : kind,
                              (const char *)b.data, b.len, &plan->secrets, &copy);
        _cleanup_free_ char *keys = secret_mask_joined(&copy.keys);
        _cleanup_free_ char *why = str_fmt("masked: %zu value%s%s%s", copy.count,
                                           copy.count == 1 ? "" : "s", *keys ? " of " : "", keys);
        if (copy.count)
                session_plan_note(plan, true, what, why);
}

void secret_mask_tell(struct session_plan *plan)
{
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                _cleanup_tree_ struct secret_mask_tree t;
                _cleanup_strs_ struct strs paths = {0};
                if (!secret_mask_tree_open(&plan->box.mounts[i], &t))
                        continue;
                secret_mask_tree_walk(&t, &paths);
                for (size_t k = 0; k < paths.n; k++)
                        tell_file(plan, &t, paths.v[k]);
        }
}
