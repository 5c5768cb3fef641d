/* objects.c - several objects out of the quarantine with two calls of git: first their sizes, then
 * those that are small enough. */
#include "git/fetch_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* objects_line(line, n, id_len, type, &size): "ID TYPE SIZE"; of the wanted type? */
static bool objects_line(const char *line, size_t n, size_t id_len, const char *type, size_t *size)
{
        char id[GIT_ID_MAX + 1];
        size_t type_len = strlen(type);
        if (n < id_len + type_len + 3 || !git_names_id(line, id_len, id_len, id) ||
            line[id_len] != ' ' || strncmp(line + id_len + 1, type, type_len) != 0 ||
            line[id_len + 1 + type_len] != ' ')
                return false;
        *size = strtoull(line + id_len + type_len + 2, NULL, 10);
        return true;
}

/* objects_fit(f, type, ids, each_max, fit, err): those that are read at all. */
static int objects_fit(struct fetch *f, const char *type, const struct buf *ids, size_t each_max,
                       struct buf *fit, struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = 256 << 20};
        if (fetch_ours(f, FETCH_ARGV("cat-file", "--batch-check"), ids, &out, err) != 0)
                return -1;
        for (const char *p = buf_cstr(&out); *p;) {
                size_t n = strcspn(p, "\n"), size;
                if (objects_line(p, n, f->id_len, type, &size) && size <= each_max)
                        buf_put_fmt(fit, "%.*s\n", (int)f->id_len, p);
                p += n + (p[n] != 0);
        }
        return 0;
}

int fetch_objects(struct fetch *f, const char *type, const struct buf *ids, size_t each_max,
                  size_t all_max, fetch_object_fn *fn, void *ctx, struct err *err)
{
        _cleanup_buf_ struct buf fit = {0}, out = {.max = all_max};
        if (objects_fit(f, type, ids, each_max, &fit, err) < 0)
                return -1;
        if (fit.len == 0)
                return 0;
        if (fetch_ours(f, FETCH_ARGV("cat-file", "--batch"), &fit, &out, err) != 0)
                return -1;
        for (size_t at = 0; at < out.len;) {
                const char *p = (const char *)out.data + at;
                const char *nl = memchr(p, '\n', out.len - at);
                size_t size;
                if (!nl || !objects_line(p, (size_t)(nl - p), f->id_len, type, &size))
                        return err_set(err, E_PROTO, "git printed something else than an object");
                at += (size_t)(nl + 1 - p);
                if (out.len - at < size + 1)
                        return err_set(err, E_PROTO, "git printed half of an object");
                char id[GIT_ID_MAX + 1];
                git_names_id(p, f->id_len, f->id_len, id);
                fn(ctx, id, (const char *)out.data + at, size);
                at += size + 1;
        }
        return 0;
}
