/* undo_shut.c - directories that are shut to their own owner (0555, as module caches have them):
 * opened for the moment in which something lands in them, and shut again. Called by undo_land.c,
 * and by the sweep after a run that was killed in between.
 *
 * Which ones, and with which mode, is in the record before the first is opened. Never follows a
 * symlink; never touches another directory than the one that was recorded. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* look(root_fd, path, st, by_fd): descriptor of the directory, or -1. Its path in /proc leads to it
 * and nowhere else, though it may be one that cannot be opened for reading. */
static int look(int root_fd, const char *path, struct stat *st, char by_fd[40])
{
        _cleanup_close_ int fd = beneath_open_nosym(root_fd, strcmp(path, ".") == 0 ? "" : path,
                                                    O_PATH | O_NOFOLLOW, 0, NULL);
        if (fd < 0 || fstat(fd, st) < 0 || !S_ISDIR(st->st_mode))
                return -1;
        snprintf(by_fd, 40, "/proc/self/fd/%d", fd);
        return take_fd(&fd);
}

static void add(struct undo_land *l, const char *path, const struct stat *st)
{
        if ((l->shut_n & (l->shut_n - 1)) == 0) {
                struct undo_shut *v =
                        reallocarray(l->shut, l->shut_n ? 2 * l->shut_n : 1, sizeof *v);
                if (!v)
                        str_no_memory();
                l->shut = v;
        }
        l->shut[l->shut_n++] = (struct undo_shut){
                .path = str_dup(path), .mode = st->st_mode & 07777, .ino = st->st_ino};
}

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct undo_shut *)a)->path, ((const struct undo_shut *)b)->path);
}

void undo_shut_find(struct undo_land *l)
{
        char parent[PATH_MAX], last[PATH_MAX] = "";
        for (size_t i = 0; i < l->n; i++) {
                struct stat st;
                char by_fd[40];
                if (l->v[i].landing != UNDO_WAITS)
                        continue;
                snprintf(parent, sizeof parent, "%s", l->v[i].path);
                char *slash = strrchr(parent, '/');
                if (slash)
                        *slash = 0;
                else
                        memcpy(parent, ".", 2);
                if (strcmp(parent, last) == 0)
                        continue;
                memcpy(last, parent, strlen(parent) + 1);
                _cleanup_close_ int fd = look(l->root_fd, parent, &st, by_fd);
                if (fd >= 0 && (st.st_mode & 0700) != 0700 && st.st_uid == geteuid() &&
                    access(by_fd, R_OK | W_OK | X_OK) < 0)
                        add(l, parent, &st);
        }
        if (l->shut_n)
                qsort(l->shut, l->shut_n, sizeof *l->shut, by_path);
        size_t n = 0;
        for (size_t i = 0; i < l->shut_n; i++)
                if (n && strcmp(l->shut[n - 1].path, l->shut[i].path) == 0)
                        free(l->shut[i].path);
                else
                        l->shut[n++] = l->shut[i];
        l->shut_n = n;
        for (size_t i = 0; i < n; i++) {
                const struct undo_op *op = undo_land_find(l, l->shut[i].path);
                /* One that is to have the mode of an open one is never shut by the sweep. */
                bool is_after = op && op->after.kind == 'd' &&
                                op->after.mode == ((l->shut[i].mode | 0700) & 0777);
                if (!is_after)
                        undo_opened(l->writer, &l->shut[i]);
        }
}

void undo_shut_open(const struct undo_land *l)
{
        for (size_t i = 0; i < l->shut_n; i++) {
                struct stat st;
                char by_fd[40];
                _cleanup_close_ int fd = look(l->root_fd, l->shut[i].path, &st, by_fd);
                if (fd >= 0 && st.st_ino == l->shut[i].ino)
                        (void)chmod(by_fd, l->shut[i].mode | 0700);
        }
}

void undo_shut_again(int root_fd, const struct undo_shut *s)
{
        struct stat st;
        char by_fd[40];
        _cleanup_close_ int fd = look(root_fd, s->path, &st, by_fd);
        /* Whoever gave it another mode meanwhile had a reason. */
        if (fd >= 0 && st.st_ino == s->ino && (st.st_mode & 07777) == (s->mode | 0700))
                (void)chmod(by_fd, s->mode);
}

void undo_shut_close(const struct undo_land *l)
{
        for (size_t i = l->shut_n; i-- > 0;) {
                const struct undo_op *op = undo_land_find(l, l->shut[i].path);
                bool has_other = op && op->after.kind == 'd' && op->landing == UNDO_LANDED;
                if (!has_other)
                        undo_shut_again(l->root_fd, &l->shut[i]);
        }
}
