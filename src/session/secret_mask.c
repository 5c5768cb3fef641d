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
#include <unistd.h>

enum { TIME_S = 3 }; /* for the files of a workspace, however many somebody put there */

struct mask {
        struct session_plan *plan;
        int dir_fd;
        time_t until;
        bool is_shown;
        struct secret_mask_list old, now;
        struct err *err;
};

static int give(const struct session_plan *plan, int fd, const char *path, struct err *err)
{
        if (geteuid() != plan->box.disk_uid &&
            fchown(fd, plan->box.disk_uid, plan->box.disk_gid) < 0)
                return err_sys(err, "give %s to the box", path);
        return 0;
}

/* parent(k, t, path, err): the directory in the upper layer that ${path} is in, made as the host's
 * are; -1 with err->sys 0 when the box has something else there. */
static int parent(struct mask *k, const struct secret_mask_tree *t, const char *path,
                  struct err *err)
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
static int lay_over(struct mask *k, const struct secret_mask_tree *t, const char *path,
                    const struct buf *text, const struct stat *st)
{
        struct err err = {0};
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const struct secret_mask_entry *was = secret_mask_list_find(&k->old, t->layer, path);
        if (secret_mask_is_frozen(t, path))
                return 0;
        _cleanup_close_ int dir = t->upper_fd < 0 ? -1 : parent(k, t, path, &err);
        struct stat there;
        if (dir < 0) {
                *k->err = err;
                return err.code ? -1 : 0;
        }
        if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0) {
                char sha[SHA256_HEX_LEN + 1];
                secret_mask_sha(dir, name, sha);
                if (!was || strcmp(sha, was->sha) != 0)
                        return 0;
                if (unlinkat(dir, name, 0) < 0)
                        return err_sys(k->err, "replace the masked copy of %s", path);
        }
        return write_copy(k, dir, name, text, st, path) < 0 ? -1 : 1;
}

/* bind_over(k, t, path, text, st): --live: the copy lies beside the box and is bound over the file.
 */
static int bind_over(struct mask *k, const struct secret_mask_tree *t, const char *path,
                     const struct buf *text, const struct stat *st)
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

/* is_locked(t, path, st): a file of ours that we may not read now. The box is its owner too and can
 * change that, so it gets an empty one. */
static bool is_locked(const struct secret_mask_tree *t, const char *path, struct stat *st)
{
        return fstatat(t->source_fd, path, st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st->st_mode) &&
               st->st_uid == geteuid() && !(st->st_mode & S_IRUSR);
}

static int mask_file(struct mask *k, const struct secret_mask_tree *t, const char *path)
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
        if (!secret_mask_read(t->source_fd, path, &b, &st)) {
                if (S_ISREG(st.st_mode) && st.st_size > SECRET_SCAN_FILE_MAX)
                        strs_addf(&k->now.listed,
                                  "is too large to be looked through and is shown "
                                  "as it is\t%s",
                                  path);
                if (!is_locked(t, path, &st))
                        return 0;
                buf_put_str(&copy.text, "\n");
                copy.count = 1;
        }
        if (kind == SECRET_SCAN_KEY && copy.count == 0) {
                if (memmem(b.data, b.len, "PRIVATE KEY-----", 16))
                        strs_addf(&k->now.listed, "is a private key and is shown as it is\t%s",
                                  path);
                return 0;
        }
        if (copy.count == 0)
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
        e->names = secret_mask_joined(&copy.names);
        return 0;
}

static int mask_tree(struct mask *k, const struct secret_mask_tree *t)
{
        _cleanup_strs_ struct strs paths = {0};
        secret_mask_tree_walk(t, &paths);
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
                _cleanup_tree_ struct secret_mask_tree t;
                if (secret_mask_tree_open(&k->plan->box.mounts[i], &t) && mask_tree(k, &t) < 0)
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
