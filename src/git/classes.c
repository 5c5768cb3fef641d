/* classes.c - what a path of a commit means, by the tables of policy: by its name, and for
 * .gitmodules and .gitattributes by what changed in them, read from the quarantine. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/git_config.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES_BLOBS_MAX = 4096, CLASSES_ALL_MAX = 64 << 20 };

void fetch_classes_free(struct fetch_classes *c)
{
        for (size_t i = 0; i < c->n; i++)
                free(c->v[i].text);
        free(c->v);
        c->v = NULL;
        c->n = 0;
}

static bool classes_is_read(const char *path)
{
        return file_class_is_git_config(path) || file_class_is_attributes(path);
}

/* classes_find(c, id, &at): -1 when it was never asked for. */
static ssize_t classes_find(const struct fetch_classes *c, const char *id)
{
        for (size_t i = 0; i < c->n; i++)
                if (strcmp(c->v[i].id, id) == 0)
                        return (ssize_t)i;
        return -1;
}

static void classes_want(struct fetch_classes *c, const char *id, unsigned mode)
{
        if ((mode & 0170000) != 0100000 || classes_find(c, id) >= 0 || c->n >= CLASSES_BLOBS_MAX)
                return;
        void *v = realloc(c->v, (c->n + 1) * sizeof *c->v);
        if (!v)
                str_no_memory();
        c->v = v;
        memset(&c->v[c->n], 0, sizeof *c->v);
        memcpy(c->v[c->n++].id, id, strlen(id) + 1);
}

static void classes_keep(void *arg, const char *id, const char *data, size_t len)
{
        struct fetch_classes *c = arg;
        ssize_t i = classes_find(c, id);
        if (i < 0 || c->v[i].text)
                return;
        c->v[i].text = malloc(len + 1);
        if (!c->v[i].text)
                str_no_memory();
        memcpy(c->v[i].text, data, len);
        c->v[i].text[len] = 0;
        c->v[i].len = len;
}

void fetch_classes_load(struct fetch_classes *c, const struct git_raw *raws, size_t n)
{
        size_t from = c->n;
        for (size_t i = 0; c->from && i < n; i++) {
                if (!classes_is_read(raws[i].path))
                        continue;
                classes_want(c, raws[i].id, raws[i].mode);
                classes_want(c, raws[i].id_was, raws[i].mode_was);
        }
        if (c->n == from)
                return;
        _cleanup_buf_ struct buf ids = {0};
        struct err none = {0};
        for (size_t i = from; i < c->n; i++)
                buf_put_fmt(&ids, "%s\n", c->v[i].id);
        /* What cannot be had keeps the class of its name. */
        (void)fetch_objects(c->from, "blob", &ids, GIT_CONFIG_MAX, CLASSES_ALL_MAX, classes_keep, c,
                            &none);
}

/* classes_text(c, id, mode, &text, &len): false when it is not known; nothing there is known. */
static bool classes_text(const struct fetch_classes *c, const char *id, unsigned mode,
                         const char **text, size_t *len)
{
        *text = NULL;
        *len = 0;
        if (mode == 0)
                return true;
        ssize_t i = (mode & 0170000) == 0100000 ? classes_find(c, id) : -1;
        if (i < 0 || !c->v[i].text)
                return false;
        *text = c->v[i].text;
        *len = c->v[i].len;
        return true;
}

void fetch_class_of(struct fetch_classes *c, const struct git_raw *r,
                    struct file_class_verdict *verdict)
{
        const char *before, *after;
        size_t before_len, after_len;
        file_class_of(c->table, r->path, verdict);
        if (verdict->class == FILE_PLAIN || !c->from || !classes_is_read(r->path) ||
            !classes_text(c, r->id_was, r->mode_was, &before, &before_len) ||
            !classes_text(c, r->id, r->mode, &after, &after_len))
                return;
        struct file_class_verdict read = {0};
        if (file_class_is_attributes(r->path))
                file_class_attributes(before, before_len, after, after_len, &read);
        else
                file_class_git_config(before, before_len, after, after_len, &read);
        read.is_odd = verdict->is_odd;
        if (!read.is_odd || read.class != FILE_PLAIN)
                *verdict = read;
}
