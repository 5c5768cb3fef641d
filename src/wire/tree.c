/* tree.c - the records of the tree stream and the small rules that both ends share.
 *
 * Used by the senders and receivers in this room. Everything here is pure, except for opening the
 * directory above; nothing here trusts the other side. */
#include "wire/tree.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void tree_entry_put(struct buf *b, const struct tree_entry *e)
{
        buf_put_u8(b, (uint8_t)e->kind);
        buf_put_u32(b, e->mode);
        buf_put_u64(b, (uint64_t)e->mtime_s);
        buf_put_u32(b, e->mtime_ns);
        buf_put_u64(b, e->size);
        buf_put_lstr(b, e->name);
        buf_put_lstr(b, e->target);
}

/* get_str(c, out, cap): an lstr into a fixed array. */
static int get_str(struct cur *c, char *out, size_t cap)
{
        uint32_t n;
        const uint8_t *p;
        if (cur_u32(c, &n) < 0 || n >= cap || cur_bytes(c, n, &p) < 0)
                return -1;
        if (n && memchr(p, 0, n))
                return -1;
        if (n)
                memcpy(out, p, n);
        out[n] = 0;
        return 0;
}

int tree_entry_get(struct cur *c, bool is_root, struct tree_entry *e)
{
        uint8_t kind;
        uint64_t mtime;
        *e = (struct tree_entry){0};
        if (cur_u8(c, &kind) < 0 || cur_u32(c, &e->mode) < 0 || cur_u64(c, &mtime) < 0 ||
            cur_u32(c, &e->mtime_ns) < 0 || cur_u64(c, &e->size) < 0 ||
            get_str(c, e->name, sizeof e->name) < 0 ||
            get_str(c, e->target, sizeof e->target) < 0 || c->left)
                return -1;
        if (kind != TREE_FILE && kind != TREE_DIR && kind != TREE_LINK)
                return -1;
        e->kind = (enum tree_kind)kind;
        e->mtime_s = (int64_t)mtime;
        if ((e->mode & ~0777u) || e->mtime_ns >= 1000000000u)
                return -1;
        if (e->kind != TREE_FILE && e->size)
                return -1;
        if ((e->kind == TREE_LINK) != (e->target[0] != 0))
                return -1;
        if (is_root)
                return e->name[0] || e->kind == TREE_LINK ? -1 : 0;
        return tree_name_is_one(e->name) ? 0 : -1;
}

bool tree_name_is_one(const char *s)
{
        return *s && strcmp(s, ".") != 0 && strcmp(s, "..") != 0 && !strchr(s, '/') &&
               strlen(s) <= NAME_MAX;
}

bool tree_link_is_inside(const char *target, size_t depth)
{
        bool has_name = false;
        if (*target == '/' || !*target)
                return false;
        for (const char *p = target; *p;) {
                size_t n = strcspn(p, "/");
                bool is_up = n == 2 && p[0] == '.' && p[1] == '.';
                if (is_up && (has_name || depth == 0))
                        return false;
                if (is_up)
                        depth--;
                else if (n && !(n == 1 && p[0] == '.'))
                        has_name = true;
                p += n + (p[n] == '/');
        }
        return true;
}

int tree_reopen_parent(int child_fd, dev_t dev, ino_t ino, int flags, struct err *err)
{
        _cleanup_close_ int fd = openat(child_fd, "..", flags | O_DIRECTORY | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "go back to the directory above");
        if (st.st_dev != dev || st.st_ino != ino)
                return err_set(err, E_INPUT, "A directory was moved away while it was copied.");
        return take_fd(&fd);
}

void tree_path_push(struct buf *path, const char *name)
{
        if (path->len)
                buf_put_u8(path, '/');
        buf_put_str(path, name);
}

void tree_path_pop(struct buf *path)
{
        while (path->len && path->data[path->len - 1] != '/')
                path->len--;
        if (path->len)
                path->len--;
}

char *tree_path_words(struct buf *path, const char *name)
{
        enum { TAIL = 160 };
        const char *dir = buf_cstr(path);
        size_t n = strlen(dir);
        const char *lead = n > TAIL ? ".../" : "";
        if (n > TAIL)
                dir += n - TAIL;
        if (!*dir)
                return str_dup(*name ? name : ".");
        return str_fmt("%s%s%s%s", lead, dir, *name ? "/" : "", name);
}
