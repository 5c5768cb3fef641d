/* live_modes.c - see live.h: rights to write that a box gives to others in a live workspace. A
 * directory that anybody may write to is a way to put a hook into it, later and by somebody else;
 * so a file or directory that the user's umask would not have made so, and that was not so before,
 * is put right. The same for access control lists that directories hand on.
 *
 * Called by live.c before the start and by live_watch.c while the box runs, as the user. Rights are
 * only taken away here, never given. */
#include "session/live.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char handed_on[] = "system.posix_acl_default";

enum modes_what { MODES_PATH = 1, MODES_INODE, MODES_LIST_PATH, MODES_LIST_INODE };

/* modes_key(path, ino, what): a number for one of the two. */
static uint64_t modes_key(const char *path, uint64_t ino, enum modes_what what)
{
        uint64_t h = 0xcbf29ce484222325ull ^ (uint64_t)what;
        if (what == MODES_INODE || what == MODES_LIST_INODE)
                return (h ^ ino) * 0x9e3779b97f4a7c15ull;
        for (; *path; path++)
                h = (h ^ (unsigned char)*path) * 0x100000001b3ull;
        return h;
}

static int modes_by_key(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return x < y ? -1 : x > y;
}

static void modes_put(struct live_tree *t, uint64_t key)
{
        if ((t->wide_n & (t->wide_n - 1)) == 0) {
                t->wide = reallocarray(t->wide, t->wide_n ? 2 * t->wide_n : 1, sizeof *t->wide);
                if (!t->wide)
                        str_no_memory();
        }
        t->wide[t->wide_n++] = key;
}

static bool modes_has(const struct live_tree *t, uint64_t key)
{
        return t->wide_n && bsearch(&key, t->wide, t->wide_n, sizeof key, modes_by_key);
}

/* modes_excess(t, st): the rights of others that the user's umask forbids. */
static mode_t modes_excess(const struct live_tree *t, const struct stat *st)
{
        return S_ISLNK(st->st_mode) ? 0 : st->st_mode & (S_IWGRP | S_IWOTH) & t->mask;
}

static bool modes_hands_on(int root_fd, const char *path, const struct stat *st)
{
        struct err err = {0};
        char proc[64];
        if (!S_ISDIR(st->st_mode))
                return false;
        _cleanup_close_ int fd = beneath_open_nosym(root_fd, path, O_PATH | O_DIRECTORY, 0, &err);
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
        return fd >= 0 && getxattr(proc, handed_on, NULL, 0) > 0;
}

void live_modes_begin(struct live_tree *t)
{
        struct timespec now;
        struct stat st;
        t->mask = umask(022);
        (void)umask(t->mask);
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        t->begun_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        if (fstat(t->fd, &st) == 0)
                live_modes_note(t, ".", &st);
}

void live_modes_note(struct live_tree *t, const char *path, const struct stat *st)
{
        if (modes_excess(t, st)) {
                modes_put(t, modes_key(path, 0, MODES_PATH));
                modes_put(t, modes_key("", st->st_ino, MODES_INODE));
        }
        if (modes_hands_on(t->fd, path, st)) {
                modes_put(t, modes_key(path, 0, MODES_LIST_PATH));
                modes_put(t, modes_key("", st->st_ino, MODES_LIST_INODE));
        }
}

void live_modes_noted(struct live_tree *t)
{
        if (t->wide_n)
                qsort(t->wide, t->wide_n, sizeof *t->wide, modes_by_key);
}

/* modes_is_touched(t, st): since the start; nobody can set that time. */
static bool modes_is_touched(const struct live_tree *t, const struct stat *st)
{
        return (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec >= t->begun_ns;
}

static bool modes_is_wide(const struct live_tree *t, const char *path, const struct stat *st)
{
        return modes_excess(t, st) && modes_is_touched(t, st) &&
               !modes_has(t, modes_key(path, 0, MODES_PATH)) &&
               !modes_has(t, modes_key("", st->st_ino, MODES_INODE));
}

static bool modes_is_list(const struct live_tree *t, const char *path, const struct stat *st)
{
        return S_ISDIR(st->st_mode) && modes_is_touched(t, st) && modes_hands_on(t->fd, path, st) &&
               !modes_has(t, modes_key(path, 0, MODES_LIST_PATH)) &&
               !modes_has(t, modes_key("", st->st_ino, MODES_LIST_INODE));
}

int live_modes_mend(const struct live_tree *t, const char *path, const struct stat *seen)
{
        bool is_wide = modes_is_wide(t, path, seen), is_list = modes_is_list(t, path, seen);
        struct err err = {0};
        struct stat st;
        char proc[64];
        if (!is_wide && !is_list)
                return 0;
        _cleanup_close_ int fd = beneath_open_nosym(t->fd, path, O_PATH | O_NOFOLLOW, 0, &err);
        if (fd < 0 || fstat(fd, &st) < 0)
                return 0; /* gone */
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
        mode_t right = st.st_mode & 07777 & ~modes_excess(t, &st);
        if (is_wide && modes_is_wide(t, path, &st) && chmod(proc, right) < 0)
                return -1;
        if (is_list && removexattr(proc, handed_on) < 0)
                return -1;
        return 1;
}
