/* undo_prune.c - what of undo is let go: records that are old or too large together, contents that
 * no record names, and what a killed run left in the user's tree: temporary files, and directories
 * that it had opened. Nothing but what a record of ours names is ever touched there. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/objects.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names of contents that are needed, and by how much; sorted once it is whole. */
struct names {
        char (*v)[SHA256_HEX_LEN + 1];
        size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
        return memcmp(a, b, SHA256_HEX_LEN);
}

static void add_name(struct names *l, const struct undo_state *s)
{
        if (s->kind != 'f')
                return;
        if (l->n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 256;
                l->v = reallocarray(l->v, l->cap, sizeof *l->v);
                if (!l->v)
                        str_no_memory();
        }
        memcpy(l->v[l->n++], s->sha, SHA256_HEX_LEN + 1);
}

static bool has_name(void *arg, const char *hex)
{
        const struct names *l = arg;
        return l->n && bsearch(hex, l->v, l->n, sizeof *l->v, by_name);
}

/* What is known of each record before anything is removed. */
struct known {
        uint64_t n, dev, ino;
        int64_t when_us;
        bool is_newest; /* of its root */
};
struct knowns {
        struct known *v;
        size_t n, cap;
};

static int learn(void *ctx, const struct undo_record *r)
{
        struct knowns *l = ctx;
        if (l->n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 64;
                l->v = reallocarray(l->v, l->cap, sizeof *l->v);
                if (!l->v)
                        str_no_memory();
        }
        bool is_newest = r->ino != 0; /* they come newest first; one without a root is damaged */
        for (size_t i = 0; i < l->n && is_newest; i++)
                is_newest = l->v[i].dev != r->dev || l->v[i].ino != r->ino;
        l->v[l->n++] = (struct known){.n = r->n,
                                      .dev = r->dev,
                                      .ino = r->ino,
                                      .when_us = r->when_us,
                                      .is_newest = is_newest};
        return 0;
}

static int use(void *ctx, const struct undo_record *r)
{
        for (size_t i = 0; i < r->entries_n; i++) {
                add_name(ctx, &r->v[i].before);
                add_name(ctx, &r->v[i].after);
        }
        return 0;
}

static int drop(int undo_fd, uint64_t n, struct err *err)
{
        char name[24];
        snprintf(name, sizeof name, "%" PRIu64, n);
        return beneath_remove_tree(undo_fd, name, err);
}

static void weigh(void *arg, const char *hex, uint64_t bytes)
{
        (void)hex;
        *(uint64_t *)arg += bytes;
}

/* sweep_objects(undo_fd, objects_fd, freed, total): what no record names goes; what stays weighs
 * ${total}. */
static int sweep_objects(int undo_fd, int objects_fd, uint64_t *freed, uint64_t *total,
                         struct err *err)
{
        struct names used = {0};
        uint64_t objects_n = 0;
        int r = undo_list(undo_fd, true, use, &used, err);
        if (used.n)
                qsort(used.v, used.n, sizeof *used.v, by_name);
        if (r == 0)
                r = objects_gc(objects_fd, has_name, &used, &objects_n, freed, err);
        *total = 0;
        if (r == 0)
                r = objects_each(objects_fd, weigh, total, err);
        free(used.v);
        return r;
}

int undo_prune(int undo_fd, uint64_t max_age_s, uint64_t max_bytes, uint64_t *removed_n,
               uint64_t *freed, struct err *err)
{
        struct knowns all = {0};
        uint64_t total = 0;
        *removed_n = *freed = 0;
        _cleanup_close_ int lock = undo_lock(undo_fd, err);
        _cleanup_close_ int objects_fd = lock < 0 ? -1 : undo_objects(undo_fd, err);
        if (objects_fd < 0 || undo_list(undo_fd, false, learn, &all, err) < 0)
                return -1;
        int64_t now_us = (int64_t)clock_real_us();
        int r = 0;
        for (size_t i = all.n; r == 0 && i-- > 0;) {
                const struct known *k = &all.v[i];
                bool is_old = now_us > k->when_us &&
                              (uint64_t)(now_us - k->when_us) / 1000000 > max_age_s;
                if (k->is_newest || !is_old)
                        continue;
                r = drop(undo_fd, k->n, err);
                all.v[i].is_newest = true; /* gone: not to be looked at again */
                *removed_n += 1;
        }
        if (r == 0)
                r = sweep_objects(undo_fd, objects_fd, freed, &total, err);
        /* Contents are shared, so what a record's going frees is only known afterwards. */
        for (size_t i = all.n; r == 0 && total > max_bytes && i-- > 0;) {
                if (all.v[i].is_newest)
                        continue;
                r = drop(undo_fd, all.v[i].n, err);
                *removed_n += 1;
                if (r == 0)
                        r = sweep_objects(undo_fd, objects_fd, freed, &total, err);
        }
        free(all.v);
        return r;
}

/* sweep_one(undo_fd, n, root_fd, st): the temporary names of an interrupted run of this root,
 * beside every path it named. */
static int sweep_one(int undo_fd, uint64_t n, int root_fd, const struct stat *root, struct err *err)
{
        _cleanup_record_ struct undo_record r = {0};
        if (undo_read(undo_fd, n, &r, NULL) < 0 || r.is_done || r.is_swept ||
            r.dev != root->st_dev || r.ino != root->st_ino || strlen(r.temp) < 16)
                return 0;
        for (size_t i = 0; i < r.entries_n; i++) {
                char temp[96];
                char *slash = strrchr(r.v[i].path, '/');
                if (slash)
                        *slash = 0;
                _cleanup_close_ int dir = beneath_open_nosym(root_fd, slash ? r.v[i].path : "",
                                                             O_PATH | O_DIRECTORY, 0, NULL);
                snprintf(temp, sizeof temp, ".ostiary-%s-%zu", r.temp, i);
                if (dir >= 0 && unlinkat(dir, temp, 0) < 0)
                        (void)unlinkat(dir, temp, AT_REMOVEDIR);
        }
        for (size_t i = r.shut_n; i-- > 0;)
                undo_shut_again(root_fd, &r.shut[i]);
        struct undo_writer *w = undo_again(undo_fd, n, err);
        if (!w)
                return -1;
        undo_swept(w);
        undo_close(w);
        return 0;
}

int undo_sweep(int undo_fd, int root_fd, struct err *err)
{
        struct stat root, st;
        _cleanup_free_ uint64_t *numbers = NULL;
        size_t n;
        if (fstat(root_fd, &root) < 0)
                return err_sys(err, "look at the root");
        if (undo_numbers(undo_fd, &numbers, &n, err) < 0)
                return -1;
        for (size_t i = 0; i < n; i++) {
                char path[48];
                snprintf(path, sizeof path, "%" PRIu64 "/record", numbers[i]);
                if (fstatat(undo_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                    (st.st_mode & 0777) == UNDO_OVER)
                        continue;
                if (sweep_one(undo_fd, numbers[i], root_fd, &root, err) < 0)
                        return -1;
        }
        return 0;
}

int undo_clean(int undo_fd, int root_fd, struct err *err)
{
        _cleanup_close_ int lock = undo_lock(undo_fd, err);
        return lock < 0 ? -1 : undo_sweep(undo_fd, root_fd, err);
}
