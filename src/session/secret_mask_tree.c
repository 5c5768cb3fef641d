/* secret_mask_tree.c - the trees that are looked through for secrets, and reading files in them:
 * beneath a descriptor, without following a link, within bounds. Used by secret_mask*.c. */
#include "session/secret_mask_int.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

void secret_mask_tree_close(struct secret_mask_tree *t)
{
        close_fd(&t->source_fd);
        close_fd(&t->upper_fd);
        free(t->source);
        free(t->target);
        strs_free(&t->lowers);
}

/* says(lower, path): does this frozen layer decide what is at ${path}? It has it, hides it, or
 * hides a directory above. */
static bool says(int lower, const char *path)
{
        _cleanup_close_ int dir = fcntl(lower, F_DUPFD_CLOEXEC, 3);
        for (const char *p = path; dir >= 0;) {
                size_t n = strcspn(p, "/");
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, p);
                struct stat st;
                char mark;
                if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return false;
                if (!p[n] || !S_ISDIR(st.st_mode))
                        return true;
                int next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                close(dir);
                dir = next;
                if (dir >= 0 && fgetxattr(dir, "user.overlay.opaque", &mark, 1) == 1 && mark == 'y')
                        return true;
                p += n + 1;
        }
        return false;
}

bool secret_mask_is_frozen(const struct secret_mask_tree *t, const char *path)
{
        for (size_t i = 0; i < t->lowers.n; i++) {
                _cleanup_close_ int fd =
                        open(t->lowers.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd >= 0 && says(fd, path))
                        return true;
        }
        return false;
}

/* Copies, because the plan's mounts may
 * move when one is added. */
bool secret_mask_tree_open(const struct box_mount *m, struct secret_mask_tree *t)
{
        *t = (struct secret_mask_tree){.source_fd = -1, .upper_fd = -1};
        if ((m->kind != BOX_MOUNT_COW && m->kind != BOX_MOUNT_LIVE) || !m->source)
                return false;
        t->source_fd = open(m->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (m->layer) {
                _cleanup_free_ char *upper = str_fmt("%s/upper", m->layer);
                t->upper_fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        for (size_t i = 0; i < m->lowers.n; i++)
                strs_add(&t->lowers, m->lowers.v[i]);
        t->source = str_dup(m->source);
        t->target = str_dup(m->target);
        snprintf(t->layer, sizeof t->layer, "%s", m->layer ? strrchr(m->layer, '/') + 1 : "live");
        return t->source_fd >= 0;
}

/* A worktree's git directory lies elsewhere and is shown by itself. */
void secret_mask_tree_walk(const struct secret_mask_tree *t, struct strs *paths)
{
        if (faccessat(t->source_fd, "objects", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
            faccessat(t->source_fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                strs_add(paths, "config");
        else
                secret_scan_walk(t->source_fd, paths);
}

bool secret_mask_read(int root, const char *path, struct buf *b, struct stat *st)
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

void secret_mask_wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}

void secret_mask_sha(int dir, const char *name, char sha[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {0};
        struct stat st;
        sha[0] = 0;
        if (secret_mask_read(dir, name, &b, &st))
                sha256_hex(b.data, b.len, sha);
}

char *secret_mask_joined(const struct strs *l)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < l->n; i++)
                buf_put_fmt(&b, "%s%s", i ? "," : "", l->v[i]);
        return str_dup(buf_cstr(&b));
}
