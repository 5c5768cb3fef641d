/* secret_mask_list.c - the file `masked` in a box's directory: which files the box sees a copy of.
 * Written before the box starts and when the keeper has answered; read at the box's end and by
 * whoever tells the user. The directory is ours; a torn file yields what is whole. */
#include "session/secret_mask_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 << 20, WORDS_MAX = 8 };

void secret_mask_list_free(struct secret_mask_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].layer);
                free(l->v[i].names);
                free(l->v[i].path);
        }
        free(l->v);
        strs_free(&l->listed);
        strs_free(&l->made);
        *l = (struct secret_mask_list){0};
}

struct secret_mask_entry *secret_mask_list_add(struct secret_mask_list *l, const char *layer,
                                               const char *path)
{
        struct secret_mask_entry *v = realloc(l->v, (l->n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        l->v = v;
        v += l->n++;
        *v = (struct secret_mask_entry){
                .layer = str_dup(layer), .path = str_dup(path), .names = str_dup("")};
        return v;
}

struct secret_mask_entry *secret_mask_list_find(const struct secret_mask_list *l, const char *layer,
                                                const char *path)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->v[i].path, path) == 0 && strcmp(l->v[i].layer, layer) == 0)
                        return &l->v[i];
        return NULL;
}

static void read_entry(struct secret_mask_list *l, char *value)
{
        char *layer = strsep(&value, "\t"), *sha = strsep(&value, "\t"),
             *count = strsep(&value, "\t"), *names = strsep(&value, "\t");
        uint64_t n;
        if (!value || strlen(sha) != SHA256_HEX_LEN || str_u64(count, &n) < 0)
                return;
        struct secret_mask_entry *e = secret_mask_list_add(l, layer, value);
        memcpy(e->sha, sha, sizeof e->sha);
        e->count = (size_t)n;
        free(e->names);
        e->names = str_dup(names);
}

void secret_mask_list_read(int dir_fd, struct secret_mask_list *l)
{
        _cleanup_free_ char *text = fdio_read_file(dir_fd, "masked", FILE_MAX, NULL);
        char *at = text, *key, *value;
        while (at && kv_next(&at, &key, &value)) {
                if (strcmp(key, "masked") == 0)
                        read_entry(l, value);
                else if (strcmp(key, "listed") == 0)
                        strs_add(&l->listed, value);
                else if (strcmp(key, "made") == 0)
                        strs_add(&l->made, value);
        }
}

int secret_mask_list_write(int dir_fd, const struct secret_mask_list *l, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < l->n; i++) {
                const struct secret_mask_entry *e = &l->v[i];
                _cleanup_free_ char *value = str_fmt("%s\t%s\t%zu\t%s\t%s", e->layer, e->sha,
                                                     e->count, e->names, e->path);
                kv_put(&b, "masked", value);
        }
        for (size_t i = 0; i < l->listed.n; i++)
                kv_put(&b, "listed", l->listed.v[i]);
        for (size_t i = 0; i < l->made.n; i++)
                kv_put(&b, "made", l->made.v[i]);
        if (b.is_broken)
                return err_set(err, E_SYSTEM, "out of memory");
        return fdio_write_file(dir_fd, "masked", buf_cstr(&b), 0600, err);
}

void secret_mask_words(int dir_fd, struct strs *words)
{
        _cleanup_masks_ struct secret_mask_list l = {0};
        secret_mask_list_read(dir_fd, &l);
        size_t all = l.n + l.listed.n;
        for (size_t i = 0; i < l.n && words->n < WORDS_MAX; i++) {
                _cleanup_free_ char *path = str_quote(l.v[i].path);
                strs_addf(words, "masked %zu value%s in %s%s; ostiary explain shows them",
                          l.v[i].count, l.v[i].count == 1 ? "" : "s",
                          strcmp(l.v[i].layer, "home") == 0 ? "~/" : "", path);
        }
        for (size_t i = 0; i < l.listed.n && words->n < WORDS_MAX; i++) {
                const char *tab = strchr(l.listed.v[i], '\t');
                if (!tab)
                        continue;
                _cleanup_free_ char *path = str_quote(tab + 1);
                strs_addf(words, "%s %.*s", path, (int)(tab - l.listed.v[i]), l.listed.v[i]);
        }
        if (all > WORDS_MAX)
                strs_addf(words, "%zu more files with secrets; ostiary explain shows them",
                          all - WORDS_MAX);
}

void secret_mask_beneath(int dir_fd, const char *workspace, const char *path, struct strs *found)
{
        _cleanup_masks_ struct secret_mask_list l = {0};
        _cleanup_free_ char *whole =
                path[0] == '/' ? str_dup(path) : str_fmt("%s/%s", workspace, path);
        /* "a/./b/" is a/b; a ".." leads somewhere else, and is not followed. */
        _cleanup_buf_ struct buf plain = {0};
        char *at = whole;
        for (char *part; (part = strsep(&at, "/"));)
                if (*part && strcmp(part, ".") != 0)
                        buf_put_fmt(&plain, "/%s", part);
        secret_mask_list_read(dir_fd, &l);
        for (size_t i = 0; i < l.n; i++) {
                _cleanup_free_ char *copy = str_fmt("%s/%s", workspace, l.v[i].path);
                if (strcmp(l.v[i].layer, "ws") == 0 && str_is_beneath(copy, buf_cstr(&plain)))
                        strs_add(found, l.v[i].path);
        }
}
