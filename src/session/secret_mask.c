/* secret_mask.c - see secret_mask.h. Called by start.c before the supervisor is forked, by the
 * supervisor when the keeper has answered and at the end. The upper layer of a box that ran before
 * is hostile: it is entered by descriptor without following any link, and a file that the box
 * touched is left to it. The workspace on the host is only read. */
#include "session/secret_mask.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/secret_mask_int.h"
#include "session/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A tree that is looked through: the workspace, or the git directory of a worktree. */
struct tree {
        char *source;   /* on the host */
        char *target;   /* in the box */
        char layer[32]; /* "ws", "git0", or "live" */
        int source_fd, upper_fd;
};

enum { TIME_S = 3 }; /* for the files of a workspace, however many somebody put there */

struct mask {
        struct session_plan *plan;
        int dir_fd;
        time_t until;
        bool is_shown;
        struct secret_mask_list old, now;
        struct err *err;
};

static void tree_close(struct tree *t)
{
        close_fd(&t->source_fd);
        close_fd(&t->upper_fd);
        free(t->source);
        free(t->target);
}
#define _cleanup_tree_ __attribute__((cleanup(tree_close)))

/* tree_open(m, t): is this mount one that is looked through? Copies, because the plan's mounts may
 * move when one is added. */
static bool tree_open(const struct session_plan *plan, const struct box_mount *m, struct tree *t)
{
        *t = (struct tree){.source_fd = -1, .upper_fd = -1};
        bool is_ws = plan->workspace && strcmp(m->target, plan->workspace) == 0;
        const char *layer = m->layer ? strrchr(m->layer, '/') + 1 : "live";
        if ((m->kind != BOX_MOUNT_COW && m->kind != BOX_MOUNT_LIVE) || !m->source ||
            (!is_ws && !str_starts(layer, "git")))
                return false;
        t->source_fd = open(m->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (m->layer) {
                _cleanup_free_ char *upper = str_fmt("%s/upper", m->layer);
                t->upper_fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        t->source = str_dup(m->source);
        t->target = str_dup(m->target);
        snprintf(t->layer, sizeof t->layer, "%s", layer);
        return t->source_fd >= 0;
}

static void tree_walk(const struct session_plan *plan, const struct tree *t, struct strs *paths)
{
        if (plan->workspace && strcmp(t->target, plan->workspace) == 0)
                secret_scan_walk(t->source_fd, paths);
        else
                strs_add(paths, "config");
}

/* read_host(t, path, b, st): a plain file of the workspace; false when it is none, too large (then
 * st says so) or somebody else's to read. */
static bool read_host(int root, const char *path, struct buf *b, struct stat *st)
{
        _cleanup_close_ int fd =
                beneath_open_nosym(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL);
        *st = (struct stat){0};
        b->max = SECRET_SCAN_FILE_MAX + 16384;
        if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode) ||
            st->st_size > SECRET_SCAN_FILE_MAX || !buf_room(b, (size_t)st->st_size + 4096))
                return false;
        b->len = 0; /* all the room at once: a buffer that grows leaves its content behind */
        if (fdio_read_all(fd, b, SECRET_SCAN_FILE_MAX) < 0)
                return false;
        buf_put_u8(b, 0);
        b->len--;
        return !b->is_broken;
}

/* What was read holds secrets, and a process that is forked from here would keep them. */
static void wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}
#define _cleanup_wiped_ __attribute__((cleanup(wipe)))

static int give(const struct session_plan *plan, int fd, const char *path, struct err *err)
{
        if (geteuid() != plan->box.kuid && fchown(fd, plan->box.kuid, plan->box.kgid) < 0)
                return err_sys(err, "give %s to the box", path);
        return 0;
}

/* parent(k, t, path, err): the directory in the upper layer that ${path} is in, made as the host's
 * are; -1 with err->sys 0 when the box has something else there. */
static int parent(struct mask *k, const struct tree *t, const char *path, struct err *err)
{
        _cleanup_close_ int dir = fcntl(t->upper_fd, F_DUPFD_CLOEXEC, 3);
        for (const char *p = path, *slash; dir >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
                _cleanup_free_ char *name = str_fmt("%.*s", (int)(slash - p), p);
                _cleanup_free_ char *whole = str_fmt("%.*s", (int)(slash - path), path);
                struct stat st;
                bool is_made = false;
                if (mkdirat(dir, name, 0700) == 0)
                        is_made = true;
                else if (errno != EEXIST)
                        return err_sys(err, "make %s in the box's layer", whole);
                int next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (next < 0)
                        return -1;
                close(dir);
                dir = next;
                if (!is_made)
                        continue;
                strs_addf(&k->now.made, "%s\t%s", t->layer, whole);
                if (fstatat(t->source_fd, whole, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (give(k->plan, dir, whole, err) < 0)
                        return -1;
                if (fchmod(dir, st.st_mode & 07777) < 0)
                        return err_sys(err, "make %s in the box's layer", whole);
                futimens(dir, (const struct timespec[]){st.st_atim, st.st_mtim});
        }
        return take_fd(&dir);
}

static void sha_of_file(int dir, const char *name, char sha[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {0};
        struct stat st;
        sha[0] = 0;
        if (read_host(dir, name, &b, &st))
                sha256_hex(b.data, b.len, sha);
}

/* write_copy(k, dir, name, text, st, path): a new file, the box's own, as old as the host's. */
static int write_copy(const struct mask *k, int dir, const char *name, const struct buf *text,
                      const struct stat *st, const char *path)
{
        _cleanup_close_ int fd =
                openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || fdio_write_all(fd, text->data, text->len) < 0)
                return err_sys(k->err, "write the masked copy of %s", path);
        if (give(k->plan, fd, path, k->err) < 0)
                return -1;
        if (fchmod(fd, st->st_mode & 0777) < 0)
                return err_sys(k->err, "write the masked copy of %s", path);
        futimens(fd, (const struct timespec[]){st->st_atim, st->st_mtim});
        return 0;
}

/* lay_over(k, t, path, text, st): into the upper layer. 1 done, 0 the box's own file is there, -1.
 */
static int lay_over(struct mask *k, const struct tree *t, const char *path, const struct buf *text,
                    const struct stat *st)
{
        struct err err = {0};
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const struct secret_mask_entry *was = secret_mask_list_find(&k->old, t->layer, path);
        _cleanup_close_ int dir = t->upper_fd < 0 ? -1 : parent(k, t, path, &err);
        struct stat there;
        if (dir < 0) {
                *k->err = err;
                return err.code ? -1 : 0;
        }
        if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0) {
                char sha[SHA256_HEX_LEN + 1];
                sha_of_file(dir, name, sha);
                if (!was || strcmp(sha, was->sha) != 0)
                        return 0;
                if (unlinkat(dir, name, 0) < 0)
                        return err_sys(k->err, "replace the masked copy of %s", path);
        }
        return write_copy(k, dir, name, text, st, path) < 0 ? -1 : 1;
}

/* bind_over(k, t, path, text, st): --live: the copy lies beside the box and is bound over the file.
 */
static int bind_over(struct mask *k, const struct tree *t, const char *path, const struct buf *text,
                     const struct stat *st)
{
        char hex[SHA256_HEX_LEN + 1], name[24];
        _cleanup_free_ char *target = str_fmt("%s/%s", t->target, path);
        sha256_hex(target, strlen(target), hex);
        snprintf(name, sizeof name, "%.16s", hex);
        if (mkdirat(k->dir_fd, "masks", 0711) < 0 && errno != EEXIST)
                return err_sys(k->err, "make room for masked copies");
        _cleanup_close_ int dir =
                openat(k->dir_fd, "masks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir < 0 || (unlinkat(dir, name, 0) < 0 && errno != ENOENT))
                return err_sys(k->err, "make room for masked copies");
        struct stat mode = *st;
        mode.st_mode &= 0444;
        if (write_copy(k, dir, name, text, &mode, path) < 0)
                return -1;
        for (size_t i = 0; i < k->plan->box.mounts_n; i++)
                if (strcmp(k->plan->box.mounts[i].target, target) == 0)
                        return 1;
        _cleanup_free_ char *source = str_fmt("%s/../masks/%s", k->plan->layers_dir, name);
        _cleanup_free_ char *real = realpath(source, NULL);
        box_plan_mount(&k->plan->box, BOX_MOUNT_FILE, real ? real : source, target, NULL,
                       "masked: it holds secrets");
        return 1;
}

static char *joined(const struct strs *l)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < l->n; i++)
                buf_put_fmt(&b, "%s%s", i ? "," : "", l->v[i]);
        return str_dup(buf_cstr(&b));
}

static int mask_file(struct mask *k, const struct tree *t, const char *path)
{
        enum secret_scan_kind kind = secret_scan_kind(path);
        _cleanup_wiped_ struct buf b = {0};
        _cleanup_copy_ struct secret_mask_copy copy = {0};
        struct stat st;
        if (time(NULL) > k->until) {
                strs_addf(&k->now.listed,
                          "was not looked through, because there is too much to look at, and is "
                          "shown as it is\t%s",
                          path);
                return 0;
        }
        if (kind == SECRET_SCAN_NOT) /* a git directory's own config */
                kind = SECRET_SCAN_TEXT;
        if (!read_host(t->source_fd, path, &b, &st)) {
                if (S_ISREG(st.st_mode) && st.st_size > SECRET_SCAN_FILE_MAX)
                        strs_addf(&k->now.listed,
                                  "is too large to be looked through and is shown "
                                  "as it is\t%s",
                                  path);
                return 0;
        }
        if (kind == SECRET_SCAN_KEY) {
                if (memmem(b.data, b.len, "PRIVATE KEY-----", 16))
                        strs_addf(&k->now.listed, "is a private key and is shown as it is\t%s",
                                  path);
                return 0;
        }
        secret_mask_copy_make(kind, (const char *)b.data, b.len, &k->plan->secrets, &copy);
        if (copy.count == 0)
                return 0;
        if (k->is_shown) {
                strs_addf(&k->now.listed, "holds secrets and is shown as it is (--no-mask)\t%s",
                          path);
                return 0;
        }
        int done = strcmp(t->layer, "live") == 0 ? bind_over(k, t, path, &copy.text, &st)
                                                 : lay_over(k, t, path, &copy.text, &st);
        if (done <= 0)
                return done;
        struct secret_mask_entry *e = secret_mask_list_add(&k->now, t->layer, path);
        sha256_hex(copy.text.data, copy.text.len, e->sha);
        e->count = copy.count;
        free(e->names);
        e->names = joined(&copy.names);
        return 0;
}

static int mask_tree(struct mask *k, const struct tree *t)
{
        _cleanup_strs_ struct strs paths = {0};
        tree_walk(k->plan, t, &paths);
        for (size_t i = 0; i < paths.n; i++)
                if (mask_file(k, t, paths.v[i]) < 0)
                        return -1;
        return 0;
}

/* is_worth_writing(k): a box without anything hidden has no list. */
static bool is_worth_writing(const struct mask *k)
{
        return k->now.n || k->now.listed.n || k->now.made.n || k->old.n || k->old.listed.n;
}

static int mask_all(struct mask *k)
{
        secret_mask_list_read(k->dir_fd, &k->old);
        for (size_t i = 0; i < k->old.made.n; i++)
                strs_add(&k->now.made, k->old.made.v[i]);
        size_t mounts_n = k->plan->box.mounts_n;
        for (size_t i = 0; i < mounts_n; i++) {
                _cleanup_tree_ struct tree t;
                if (tree_open(k->plan, &k->plan->box.mounts[i], &t) && mask_tree(k, &t) < 0)
                        return -1;
        }
        /* What the box made its own stays on the list: it still is not the user's file. */
        for (size_t i = 0; i < k->old.n; i++) {
                const struct secret_mask_entry *was = &k->old.v[i];
                if (secret_mask_list_find(&k->now, was->layer, was->path))
                        continue;
                struct secret_mask_entry *e = secret_mask_list_add(&k->now, was->layer, was->path);
                memcpy(e->sha, was->sha, sizeof e->sha);
                e->count = was->count;
                free(e->names);
                e->names = str_dup(was->names);
        }
        return is_worth_writing(k) ? secret_mask_list_write(k->dir_fd, &k->now, k->err) : 0;
}

int secret_mask_prepare(struct session_plan *plan, int dir_fd, bool is_shown, struct err *err)
{
        struct mask k = {.plan = plan,
                         .dir_fd = dir_fd,
                         .until = time(NULL) + TIME_S,
                         .is_shown = is_shown,
                         .err = err};
        int r = mask_all(&k);
        secret_mask_list_free(&k.old);
        secret_mask_list_free(&k.now);
        return r < 0 ? err_add(err, "hide the secrets in the workspace") : 0;
}

int secret_mask_grant(struct session_plan *plan, int dir_fd, struct err *err)
{
        _cleanup_masks_ struct secret_mask_list l = {0};
        secret_mask_list_read(dir_fd, &l);
        bool is_needed = false;
        for (size_t i = 0; i < l.n; i++)
                is_needed |= l.v[i].names[0] != 0;
        if (!is_needed)
                return 0;
        return secret_mask_settings_grant(plan, dir_fd, err) < 0 ||
                               secret_mask_prepare(plan, dir_fd, false, err) < 0
                       ? -1
                       : 0;
}

void secret_mask_end(const struct session_plan *plan, int dir_fd)
{
        _cleanup_masks_ struct secret_mask_list l = {0};
        secret_mask_list_read(dir_fd, &l);
        for (size_t i = 0; i < plan->box.mounts_n && l.n; i++) {
                _cleanup_tree_ struct tree t;
                if (!tree_open(plan, &plan->box.mounts[i], &t) || t.upper_fd < 0)
                        continue;
                for (size_t k = 0; k < l.n; k++) {
                        char sha[SHA256_HEX_LEN + 1];
                        if (strcmp(l.v[k].layer, t.layer) != 0)
                                continue;
                        sha_of_file(t.upper_fd, l.v[k].path, sha);
                        const char *slash = strrchr(l.v[k].path, '/');
                        _cleanup_free_ char *above = str_fmt(
                                "%.*s", slash ? (int)(slash - l.v[k].path) : 0, l.v[k].path);
                        _cleanup_close_ int dir = beneath_open_nosym(
                                t.upper_fd, above, O_RDONLY | O_DIRECTORY, 0, NULL);
                        if (dir >= 0 && strcmp(sha, l.v[k].sha) == 0)
                                unlinkat(dir, slash ? slash + 1 : l.v[k].path, 0);
                }
                for (size_t k = l.made.n; k-- > 0;) {
                        const char *tab = strchr(l.made.v[k], '\t');
                        size_t n = strlen(t.layer);
                        if (!tab || (size_t)(tab - l.made.v[k]) != n ||
                            strncmp(l.made.v[k], t.layer, n) != 0)
                                continue;
                        const char *slash = strrchr(tab + 1, '/');
                        _cleanup_free_ char *above =
                                str_fmt("%.*s", slash ? (int)(slash - tab - 1) : 0, tab + 1);
                        _cleanup_close_ int dir = beneath_open_nosym(
                                t.upper_fd, above, O_RDONLY | O_DIRECTORY, 0, NULL);
                        if (dir >= 0) /* only when it is empty */
                                unlinkat(dir, slash ? slash + 1 : tab + 1, AT_REMOVEDIR);
                }
        }
}

void secret_mask_tell(struct session_plan *plan)
{
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                _cleanup_tree_ struct tree t;
                _cleanup_strs_ struct strs paths = {0};
                if (!tree_open(plan, &plan->box.mounts[i], &t))
                        continue;
                tree_walk(plan, &t, &paths);
                for (size_t k = 0; k < paths.n; k++) {
                        enum secret_scan_kind kind = secret_scan_kind(paths.v[k]);
                        _cleanup_wiped_ struct buf b = {0};
                        _cleanup_copy_ struct secret_mask_copy copy = {0};
                        struct stat st;
                        if (!read_host(t.source_fd, paths.v[k], &b, &st))
                                continue;
                        _cleanup_free_ char *what = str_fmt("%s/%s", t.target, paths.v[k]);
                        if (kind == SECRET_SCAN_KEY) {
                                if (memmem(b.data, b.len, "PRIVATE KEY-----", 16))
                                        session_plan_note(plan, false, what,
                                                          "a private key, shown as it is");
                                continue;
                        }
                        secret_mask_copy_make(kind == SECRET_SCAN_NOT ? SECRET_SCAN_TEXT : kind,
                                              (const char *)b.data, b.len, &plan->secrets, &copy);
                        _cleanup_free_ char *keys = joined(&copy.keys);
                        _cleanup_free_ char *why =
                                str_fmt("masked: %zu value%s%s%s", copy.count,
                                        copy.count == 1 ? "" : "s", *keys ? " of " : "", keys);
                        if (copy.count)
                                session_plan_note(plan, true, what, why);
                }
        }
}
