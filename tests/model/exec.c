/* exec.c - do one operation below a directory, the way programs do it. Called for the host's tree
 * and for the mounted view alike. An operation that fails is no failure: the tree decides what is
 * possible, and the oracle looks only at what came of it. */
#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Links that lead out of the tree must not lead the test out of it. */
static int open_in(int root, const char *path, int flags, mode_t mode)
{
        struct open_how how = {
                .flags = (unsigned)flags | O_CLOEXEC,
                .mode = flags & O_CREAT ? mode : 0,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
        };
        return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

/* parent(root, path, &name): the directory it lies in, without following links. */
static int parent(int root, const char *path, const char **name)
{
        const char *slash = strrchr(path, '/');
        *name = slash ? slash + 1 : path;
        if (!slash)
                return open_in(root, ".", O_RDONLY | O_DIRECTORY, 0);
        char *dir = strndup(path, (size_t)(slash - path));
        int fd = open_in(root, dir, O_RDONLY | O_DIRECTORY, 0);
        free(dir);
        return fd;
}

/* parent_made(root, path, &name): the same, and what is missing is made first. */
static int parent_made(int root, const char *path, const char **name)
{
        char *dir = strdup(path);
        for (char *p = dir; (p = strchr(p, '/')); *p++ = '/') {
                *p = 0;
                const char *part;
                int at = parent(root, dir, &part);
                if (at >= 0) {
                        mkdirat(at, part, 0755);
                        close(at);
                }
        }
        free(dir);
        return parent(root, path, name);
}

void remove_tree(int dir_fd, const char *name)
{
        if (unlinkat(dir_fd, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
                return;
        int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
                fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *e;
        if (d)
                fchmod(fd, 0700);
        while (d && (e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        remove_tree(fd, e->d_name);
        if (d)
                closedir(d);
        unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Text of some lines, or bytes with NULs in them; the same number gives the same. */
static size_t fill(char *to, size_t cap, unsigned n)
{
        struct dice d = {n % 97};
        size_t len = 0;
        if (n % 11 == 0)
                return 0;
        unsigned lines = 1 + n % 13;
        for (unsigned i = 0; i < lines && len + 40 < cap; i++) {
                int got = snprintf(to + len, cap - len, "line %u of %u%s", i, dice_below(&d, 5),
                                   n % 17 == 1 ? "" : "\n");
                len += (size_t)got + (n % 19 == 1); /* a NUL at the end of the line: binary */
        }
        return len;
}

static void put(int fd, unsigned n)
{
        char text[1024] = {0};
        size_t len = fill(text, sizeof text, n);
        if (len > 0 && write(fd, text, len) < 0)
                return;
}

static void copy_tree(int from_dir, const char *from, int to_dir, const char *to)
{
        struct stat st;
        char target[4096];
        if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        if (S_ISLNK(st.st_mode)) {
                ssize_t n = readlinkat(from_dir, from, target, sizeof target - 1);
                if (n >= 0) {
                        target[n] = 0;
                        if (symlinkat(target, to_dir, to) < 0)
                                return;
                }
        } else if (S_ISDIR(st.st_mode)) {
                if (mkdirat(to_dir, to, 0700) < 0)
                        return;
                int in = openat(from_dir, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                int out = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                DIR *d = in < 0 ? NULL : fdopendir(in);
                struct dirent *e;
                while (d && out >= 0 && (e = readdir(d)))
                        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                                copy_tree(in, e->d_name, out, e->d_name);
                if (d)
                        closedir(d);
                if (out >= 0) {
                        fchmod(out, st.st_mode & 0777);
                        close(out);
                }
        } else if (S_ISREG(st.st_mode)) {
                int in = openat(from_dir, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
                int out = openat(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
                static char part[65536];
                ssize_t n;
                while (in >= 0 && out >= 0 && (n = read(in, part, sizeof part)) > 0)
                        if (write(out, part, (size_t)n) < 0)
                                break;
                if (out >= 0)
                        fchmod(out, st.st_mode & 0777);
                if (in >= 0)
                        close(in);
                if (out >= 0)
                        close(out);
        } else if (mknodat(to_dir, to, st.st_mode & (S_IFMT | 0777), 0) < 0) {
                return;
        }
}

/* is_within(dir_fd, st): is it that directory, or below it? Links may have led there. */
static bool is_within(int dir_fd, const struct stat *st)
{
        struct stat here, last = {0};
        int at = dup(dir_fd);
        bool got = false;
        while (at >= 0 && !got && fstat(at, &here) == 0 &&
               (here.st_ino != last.st_ino || here.st_dev != last.st_dev)) {
                got = here.st_ino == st->st_ino && here.st_dev == st->st_dev;
                last = here;
                int up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                close(at);
                at = up;
        }
        if (at >= 0)
                close(at);
        return got;
}

/* On the host, while a box's layers stand above it, what may have a copy in them is not renamed but
 * copied and removed: the kernel goes by the inode that a copy was made of, and would show the
 * box's content under the new name, which is one of the things it does not promise. */
static void move(int root, int dir, const char *name, const struct op *o)
{
        const char *to_name;
        struct stat st;
        int to = parent_made(root, o->other, &to_name);
        if (to < 0)
                return;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || is_within(to, &st)) {
                close(to);
                return;
        }
        bool is_copied = o->kind == OP_RENAME && o->where == AT_HOST;
        if (!is_copied && (renameat(dir, name, to, to_name) == 0 || errno != EXDEV)) {
                close(to);
                return;
        }
        if (o->kind == OP_RENAME && faccessat(to, to_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
                copy_tree(dir, name, to, to_name);
                remove_tree(dir, name);
        }
        close(to);
}

static void deep(int dir, const char *name, unsigned n)
{
        int at = dup(dir);
        unsigned levels = n % 37 ? 2 + n % 5 : 30;
        for (unsigned i = 0; i < levels && at >= 0; i++) {
                const char *part = i == 0 ? name : i % 3 ? "deep" : "d";
                mkdirat(at, part, 0755);
                int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                close(at);
                at = next;
        }
        int fd = at < 0 ? -1 : openat(at, "end", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0) {
                put(fd, n);
                close(fd);
        }
        if (at >= 0)
                close(at);
}

static const mode_t modes[] = {0644, 0755, 0600, 0700, 0444, 0555, 0664, 0777, 0640, 0400};

static void change_mode(int dir, const char *name, unsigned n, enum op_where where)
{
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
                return;
        mode_t mode = modes[n % 10];
        if (S_ISDIR(st.st_mode)) /* the oracle must see what is in it */
                mode = (mode | 0500) & ~(mode_t)(n % 3 ? 0 : 0222);
        if (where == AT_BOX && n % 29 == 0)
                mode |= n % 2 ? S_ISUID : S_ISGID;
        if (fchmodat(dir, name, mode, 0) < 0)
                return;
}

static void save(int dir, const char *name, unsigned n)
{
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
                return;
        int fd = openat(dir, ".save~", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
                return;
        put(fd, n);
        close(fd);
        if (renameat(dir, ".save~", dir, name) < 0)
                unlinkat(dir, ".save~", 0);
}

static void rewrite(int fd, unsigned n, enum op_kind kind)
{
        struct stat st;
        char some[64];
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return;
        if (kind == OP_TRUNCATE) {
                if (ftruncate(fd, n % 5 ? n % 300 : st.st_size + 5000) < 0)
                        return;
        } else if (kind == OP_POKE) {
                if (st.st_size > 0 && pwrite(fd, "poked", 5, (off_t)n % st.st_size) < 0)
                        return;
        } else if (kind == OP_SAME) {
                ssize_t got = pread(fd, some, sizeof some, 0);
                if (got > 0 && pwrite(fd, some, (size_t)got, 0) < 0)
                        return;
        }
}

static void revert(int root, int host_fd, int dir, const char *name, const char *path)
{
        const char *host_name;
        int from = parent(host_fd, path, &host_name);
        (void)root;
        if (from >= 0 && faccessat(from, host_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
                remove_tree(dir, name);
                copy_tree(from, host_name, dir, name);
        }
        if (from >= 0)
                close(from);
}

void op_do(int root, int host_fd, const struct op *o)
{
        const char *name;
        const unsigned long makes = 1ul << OP_WRITE | 1ul << OP_SAVE | 1ul << OP_BIG |
                                    1ul << OP_MKDIR | 1ul << OP_SYMLINK | 1ul << OP_TO_DIR |
                                    1ul << OP_TO_FILE | 1ul << OP_FIFO;
        int dir = -1;
        if (o->path && (makes >> o->kind & 1))
                dir = parent_made(root, o->path, &name);
        else if (o->path)
                dir = parent(root, o->path, &name);
        int fd = -1;
        struct stat st;
        if (dir < 0)
                return;
        const int safe = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
        bool is_there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        bool is_file = is_there && S_ISREG(st.st_mode);
        switch (o->kind) {
        case OP_WRITE:
                fd = !is_there || is_file
                             ? openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | safe, 0644)
                             : -1;
                if (fd >= 0)
                        put(fd, o->n);
                break;
        case OP_SAVE:
                save(dir, name, o->n);
                break;
        case OP_APPEND:
                fd = is_file ? openat(dir, name, O_WRONLY | O_APPEND | safe) : -1;
                if (fd >= 0)
                        put(fd, o->n);
                break;
        case OP_BIG:
                fd = !is_there || is_file
                             ? openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | safe, 0644)
                             : -1;
                if (fd >= 0 && ftruncate(fd, 150000 + (off_t)o->n / 2) == 0 &&
                    pwrite(fd, "middle", 6, 70000 + o->n % 1000) < 0)
                        break;
                break;
        case OP_TRUNCATE:
        case OP_POKE:
        case OP_SAME:
                fd = is_file ? openat(dir, name, O_RDWR | safe) : -1;
                rewrite(fd, o->n, o->kind);
                break;
        case OP_CHMOD:
                change_mode(dir, name, o->n, o->where);
                break;
        case OP_UNLINK:
                unlinkat(dir, name, 0);
                break;
        case OP_RMDIR:
                unlinkat(dir, name, AT_REMOVEDIR);
                break;
        case OP_RMTREE:
                remove_tree(dir, name);
                break;
        case OP_MKDIR:
                mkdirat(dir, name, 0755);
                break;
        case OP_MKDEEP:
                deep(dir, name, o->n);
                break;
        case OP_RENAME:
        case OP_MOVE:
                move(root, dir, name, o);
                break;
        case OP_EXCHANGE: {
                if (geteuid() != 0) /* the kernel does not tell its users which inode was copied */
                        break;
                const char *to_name;
                int to = parent(root, o->other, &to_name);
                if (to >= 0) {
                        renameat2(dir, name, to, to_name, RENAME_EXCHANGE);
                        close(to);
                }
                break;
        }
        case OP_SYMLINK:
                if (is_there && !S_ISDIR(st.st_mode))
                        unlinkat(dir, name, 0);
                if (symlinkat(o->other, dir, name) < 0)
                        break;
                break;
        case OP_LINK: {
                const char *to_name;
                int to = parent(root, o->other, &to_name);
                if (to >= 0) {
                        if (is_file && linkat(dir, name, to, to_name, 0) < 0)
                                errno = 0;
                        close(to);
                }
                break;
        }
        case OP_TO_DIR:
        case OP_RECREATE:
                if (!is_there && o->kind == OP_RECREATE)
                        break;
                remove_tree(dir, name);
                if (mkdirat(dir, name, 0755) == 0 && o->n % 3) {
                        int in = openat(dir, name, O_RDONLY | O_DIRECTORY | safe);
                        fd = in < 0 ? -1 : openat(in, "a", O_WRONLY | O_CREAT | safe, 0644);
                        if (fd >= 0)
                                put(fd, o->n);
                        if (in >= 0)
                                close(in);
                }
                break;
        case OP_TO_FILE:
                remove_tree(dir, name);
                fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | safe, 0644);
                if (fd >= 0)
                        put(fd, o->n);
                break;
        case OP_TOUCH:
                utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW);
                break;
        case OP_REVERT:
                revert(root, host_fd, dir, name, o->path);
                break;
        case OP_XATTR:
                fd = is_file ? openat(dir, name, O_RDONLY | safe) : -1;
                if (fd >= 0)
                        fsetxattr(fd, "user.note", &o->n, sizeof o->n, 0);
                break;
        case OP_FIFO:
        case OP_SOCKET:
                mknodat(dir, name, (o->kind == OP_FIFO ? S_IFIFO : S_IFSOCK) | 0644, 0);
                break;
        case OP_FREEZE:
        case OP_COUNT:
                break;
        }
        if (fd >= 0)
                close(fd);
        close(dir);
}
