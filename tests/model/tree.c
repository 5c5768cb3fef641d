/* tree.c - the oracle: read a tree by plain system calls into a sorted list, and compare two of
 * them. Knows nothing of layers, whiteouts or classes, and uses none of the program's code. */
#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash_bytes(uint64_t h, const unsigned char *p, size_t n)
{
        /* Eight at a time: most of what is read is holes. */
        while (n >= 8) {
                uint64_t w;
                memcpy(&w, p, 8);
                h = (h ^ w) * 0x100000001b3u;
                h ^= h >> 29;
                p += 8;
                n -= 8;
        }
        while (n--)
                h = (h ^ *p++) * 0x100000001b3u;
        return h;
}

static int hash_file(int dir_fd, const char *name, struct entry *e)
{
        static unsigned char part[262144];
        int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return -1;
        e->hash = 0xcbf29ce484222325u;
        size_t held = 0;
        for (;;) { /* whole parts, so that short reads do not change the sum */
                ssize_t n = read(fd, part + held, sizeof part - held);
                if (n < 0) {
                        close(fd);
                        return -1;
                }
                held += (size_t)n;
                if (n == 0 || held == sizeof part) {
                        e->hash = hash_bytes(e->hash, part, held);
                        e->size += held;
                        held = 0;
                }
                if (n == 0)
                        break;
        }
        close(fd);
        return 0;
}

static int read_dir(struct tree *t, int fd, const char *prefix);

static int read_one(struct tree *t, int dir_fd, const char *name, const char *path)
{
        struct stat st;
        struct entry e = {0};
        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -1;
        e.path = strdup(path);
        e.mode = st.st_mode & 07777;
        e.kind = S_ISREG(st.st_mode) ? 'f' : S_ISDIR(st.st_mode) ? 'd' : 's';
        if (S_ISLNK(st.st_mode)) {
                char target[4097];
                ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);
                if (n < 0)
                        return -1;
                target[n] = 0;
                e.kind = 'l';
                e.mode = 0;
                e.target = strdup(target);
        }
        if (e.kind == 'f' && hash_file(dir_fd, name, &e) < 0)
                return -1;
        t->v = reallocarray(t->v, t->n + 1, sizeof *t->v);
        t->v[t->n++] = e;
        if (e.kind != 'd')
                return 0;
        int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -1 : read_dir(t, fd, path);
}

/* read_dir owns the descriptor. */
static int read_dir(struct tree *t, int fd, const char *prefix)
{
        DIR *d = fdopendir(fd);
        struct dirent *e;
        int got = 0;
        if (!d)
                return -1;
        while (got == 0 && (e = readdir(d))) {
                char *path = NULL;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (asprintf(&path, "%s%s%s", prefix, *prefix ? "/" : "", e->d_name) < 0)
                        abort();
                got = read_one(t, fd, e->d_name, path);
                free(path);
        }
        closedir(d);
        return got;
}

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

int tree_read(int root_fd, struct tree *t)
{
        *t = (struct tree){0};
        int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || read_dir(t, fd, "") < 0)
                return -1;
        if (t->n > 0)
                qsort(t->v, t->n, sizeof *t->v, by_path);
        return 0;
}

void tree_copy(struct tree *to, const struct tree *from)
{
        *to = (struct tree){.v = calloc(from->n + 1, sizeof *to->v), .n = from->n};
        for (size_t i = 0; i < from->n; i++) {
                to->v[i] = from->v[i];
                to->v[i].path = strdup(from->v[i].path);
                to->v[i].target = from->v[i].target ? strdup(from->v[i].target) : NULL;
        }
}

void tree_free(struct tree *t)
{
        for (size_t i = 0; i < t->n; i++) {
                free(t->v[i].path);
                free(t->v[i].target);
        }
        free(t->v);
        *t = (struct tree){0};
}

const struct entry *tree_at(const struct tree *t, const char *path)
{
        struct entry key = {.path = (char *)(uintptr_t)path};
        return t->n == 0 ? NULL : bsearch(&key, t->v, t->n, sizeof *t->v, by_path);
}

bool entry_same(const struct entry *a, const struct entry *b)
{
        if (!a || !b)
                return a == b;
        return a->kind == b->kind && a->mode == b->mode && a->size == b->size &&
               a->hash == b->hash &&
               strcmp(a->target ? a->target : "", b->target ? b->target : "") == 0;
}

static const struct entry *entry_in(const struct tree *t, const char *dir, size_t len,
                                    const char *name)
{
        char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", (int)len, dir, len && *name ? "/" : "", name) < 0)
                abort();
        const struct entry *e = tree_at(t, path);
        free(path);
        return e;
}

static bool has_shape(const struct tree *t, const char *dir, size_t len)
{
        return entry_in(t, dir, len, "HEAD") &&
               (entry_in(t, dir, len, "commondir") ||
                (entry_in(t, dir, len, "objects") && entry_in(t, dir, len, "refs")));
}

bool tree_is_git(const struct tree *before, const struct tree *after, const char *path)
{
        size_t from = 0;
        if (has_shape(before, "", 0))
                return true;
        for (size_t len = 1; path[len - 1]; len++) {
                if (path[len] != '/' && path[len] != 0)
                        continue;
                const struct entry *was = entry_in(before, path, len, "");
                bool is_new = !was || was->kind != 'd';
                if ((len - from == 4 && strncmp(path + from, ".git", 4) == 0) ||
                    has_shape(before, path, len) || (is_new && has_shape(after, path, len)))
                        return true;
                from = len + 1;
        }
        return false;
}

const char *path_words(const char *path)
{
        static char places[8][512];
        static unsigned turn;
        char *to = places[turn++ % 8];
        size_t len = 0;
        for (const char *p = path; *p && len + 8 < sizeof places[0]; p++) {
                unsigned char c = (unsigned char)*p;
                if (c > ' ' && c < 127)
                        to[len++] = (char)c;
                else
                        len += (size_t)snprintf(to + len, 8, "%%%02x", c);
        }
        to[len] = 0;
        return to;
}

const char *entry_words(const struct entry *e, char *buf, size_t size)
{
        if (!e)
                snprintf(buf, size, "nothing");
        else if (e->kind == 'l')
                snprintf(buf, size, "link to %s", path_words(e->target));
        else
                snprintf(buf, size, "%s %o, %llu bytes, sum %08x",
                         e->kind == 'f'   ? "file"
                         : e->kind == 'd' ? "directory"
                                          : "special",
                         e->mode, (unsigned long long)e->size, (unsigned)e->hash);
        return buf;
}

bool tree_differ(const struct tree *a, const struct tree *b, char *why, size_t size)
{
        size_t i = 0, j = 0;
        while (i < a->n || j < b->n) {
                int c = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->v[i].path, b->v[j].path);
                const struct entry *x = c <= 0 ? &a->v[i++] : NULL;
                const struct entry *y = c >= 0 ? &b->v[j++] : NULL;
                char one[128], two[128];
                if (entry_same(x, y))
                        continue;
                snprintf(why, size, "%s: %s instead of %s", path_words(x ? x->path : y->path),
                         entry_words(x, one, sizeof one), entry_words(y, two, sizeof two));
                return true;
        }
        return false;
}
