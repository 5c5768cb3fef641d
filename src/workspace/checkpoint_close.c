/* checkpoint_close.c - after a live run: what it left, compared with the checkpoint, completes the
 * undo record; and the manifest for the next one (checkpoint_int.h). Called by the supervisor when
 * no process of the box is left. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "workspace/checkpoint.h"
#include "workspace/checkpoint_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MANIFEST_MAX = 512 << 20 };

/* What was kept of it, as a state. A link's target is not in the list: it is in the record. */
static void state_then(const struct checkpoint_entry *e, struct undo_state *s)
{
        *s = (struct undo_state){.mode = e->mode & 0777, .size = e->size};
        s->kind = S_ISDIR(e->mode) ? 'd' : S_ISREG(e->mode) ? 'f' : 'l';
        memcpy(s->sha, e->sha, sizeof s->sha);
}

/* touched(c, w, was, now, err): a path that is not as it was: 1 it changed, 0 it did not. */
static int touched(struct checkpoint *c, struct undo_writer *w, const char *path,
                   const struct undo_state *before, struct err *err)
{
        struct undo_state after;
        if (undo_state_of(c->root_fd, path, -1, &after, NULL, err) < 0) {
                if (err->sys != EACCES && err->sys != EPERM)
                        return -1;
                *err = (struct err){0};
                after = (struct undo_state){.kind = '?'};
        }
        bool is_same = undo_state_same(before, &after) && before->mode == after.mode;
        if (is_same)
                undo_skip(w, path);
        else
                undo_add(w, path, before, &after);
        undo_state_free(&after);
        return !is_same;
}

/* links(c, was): the targets, from the record itself. */
static int links_read(const struct checkpoint *c, struct undo_record *r, struct err *err)
{
        for (size_t i = 0; i < c->was.n; i++)
                if (S_ISLNK(c->was.v[i].mode))
                        return undo_read(c->undo_fd, c->number, r, err);
        return 0;
}

static int by_entry(const void *a, const void *b)
{
        return strcmp(((const struct undo_entry *)a)->path, ((const struct undo_entry *)b)->path);
}

static int compare(struct checkpoint *c, struct undo_writer *w, const struct checkpoint_list *now,
                   struct undo_record *r, uint64_t *changed_n, struct err *err)
{
        static const struct undo_state absent = {.kind = '-'};
        size_t i = 0, k = 0;
        if (r->v)
                qsort(r->v, r->entries_n, sizeof *r->v, by_entry);
        while (i < c->was.n || k < now->n) {
                struct checkpoint_entry *a = i < c->was.n ? &c->was.v[i] : NULL;
                const struct checkpoint_entry *b = k < now->n ? &now->v[k] : NULL;
                int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);
                const char *path = order <= 0 && a ? a->path : b ? b->path : "";
                i += order <= 0;
                k += order >= 0;
                if (order <= 0 && a->is_left)
                        continue;
                if (order == 0 &&
                    (checkpoint_same(a, b) || (S_ISDIR(a->mode) && a->mode == b->mode))) {
                        undo_skip(w, a->path);
                        continue;
                }
                struct undo_state before = absent;
                if (order <= 0)
                        state_then(a, &before);
                if (before.kind == 'l') {
                        struct undo_entry key = {.path = a->path};
                        const struct undo_entry *e =
                                r->v ? bsearch(&key, r->v, r->entries_n, sizeof *r->v, by_entry)
                                     : NULL;
                        if (!e || !e->before.target)
                                continue;
                        undo_state_copy(&before, &e->before);
                }
                int got = touched(c, w, path, &before, err);
                undo_state_free(&before);
                if (got < 0)
                        return -1;
                *changed_n += (uint64_t)got;
        }
        return 0;
}

int checkpoint_close(struct checkpoint *c, uint64_t *changed_n, struct err *err)
{
        struct checkpoint_list now = {0};
        _cleanup_record_ struct undo_record r = {0};
        _cleanup_strs_ struct strs more = {0};
        struct checkpoint_walk w = {
                .out = &now, .out_skipped = &more, .skipped = &c->skipped, .was = &c->was};
        *changed_n = 0;
        _cleanup_close_ int lock = undo_lock(c->undo_fd, err);
        if (lock < 0)
                return -1;
        int rc = checkpoint_look(&w, c->root_fd);
        if (rc == 0)
                rc = links_read(c, &r, err);
        struct undo_writer *out = rc == 0 ? undo_again(c->undo_fd, c->number, err) : NULL;
        if (!out || compare(c, out, &now, &r, changed_n, err) < 0)
                rc = -1;
        if (rc == 0 && *changed_n == 0) {
                undo_drop(out); /* there is nothing to take back */
                out = NULL;
        } else if (rc == 0) {
                rc = undo_done(out, err);
        }
        undo_close(out);
        checkpoint_list_free(&now);
        return rc < 0 ? err_add(err, "note what the run left in %s", c->root) : 0;
}

void checkpoint_drop(struct checkpoint *c)
{
        struct err err = {0};
        _cleanup_close_ int lock = undo_lock(c->undo_fd, &err);
        struct undo_writer *w = lock < 0 ? NULL : undo_again(c->undo_fd, c->number, &err);
        if (w)
                undo_drop(w);
}

/* --- the manifest ----------------------------------------------------------------------------- */

static void manifest_name(const char *root, char name[SHA256_HEX_LEN + 6])
{
        char hex[SHA256_HEX_LEN + 1];
        sha256_hex(root, strlen(root), hex);
        snprintf(name, SHA256_HEX_LEN + 6, "live/%s", hex);
}

void checkpoint_manifest_read(int undo_fd, const char *root, struct checkpoint_list *l)
{
        char name[SHA256_HEX_LEN + 6];
        char *key, *value;
        manifest_name(root, name);
        _cleanup_free_ char *text = fdio_read_file(undo_fd, name, MANIFEST_MAX, NULL);
        for (char *at = text; at && kv_next(&at, &key, &value);) {
                struct checkpoint_entry e = {0};
                int n = 0;
                if (strcmp(key, "f") != 0 ||
                    sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %o %64s %n",
                           &e.ino, &e.size, &e.mtime_ns, &e.ctime_ns, &e.mode, e.sha, &n) != 6 ||
                    n == 0 || !value[n])
                        continue;
                struct checkpoint_entry *to = checkpoint_add(l, value + n);
                e.path = to->path;
                *to = e;
        }
        checkpoint_sort(l);
}

void checkpoint_manifest_write(int undo_fd, const char *root, const struct checkpoint_list *l)
{
        char name[SHA256_HEX_LEN + 6];
        _cleanup_buf_ struct buf b = {.max = MANIFEST_MAX};
        if (mkdirat(undo_fd, "live", 0700) < 0 && errno != EEXIST)
                return;
        for (size_t i = 0; i < l->n; i++) {
                const struct checkpoint_entry *e = &l->v[i];
                if (!e->sha[0])
                        continue;
                _cleanup_free_ char *line =
                        str_fmt("%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %o %s %s", e->ino,
                                e->size, e->mtime_ns, e->ctime_ns, e->mode, e->sha, e->path);
                kv_put(&b, "f", line);
        }
        manifest_name(root, name);
        if (!b.is_broken)
                fdio_write_file(undo_fd, name, buf_cstr(&b), 0600, NULL);
}
