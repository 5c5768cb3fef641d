/* live_modes.c - see live.h: rights that a box gives to others in a live workspace. A directory that
 * anybody may write to is a way to put a hook into it, later and by somebody else; so a file or
 * directory that the user's umask would not have made so, and that was not so before, is put right.
 * The same for access control lists that directories hand on. "Before" means this place and this
 * inode: a wide directory is not to be moved to where hooks are, nor a file of old to a place that was
 * wide. Only a new file may take the place of a wide one, as an editor does it.
 *
 * What others could not read stays so, by its place and as the inode that it is.
 *
 * A program that runs with the rights of its owner or group is one that nobody touched since the start:
 * in the box the bit means nothing, on the host it would give these rights to whoever starts what the
 * box wrote. On directories it means something else.
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

enum modes_what {
        MODES_PATH = 1,  /* a place that was wide */
        MODES_PAIR,      /* and what lay there */
        MODES_LIST,      /* a directory in its place that handed a list on */
        MODES_SHUT_PATH, /* what the group could not read; others: one more */
        MODES_SHUT_OTHERS_PATH,
        MODES_SHUT_INODE,
        MODES_SHUT_OTHERS_INODE,
};

/* modes_key(path, ino, what): a number for a place, an inode, or one in the other. ${what} is mixed
 * in before the inode: neighbours in one directory have inodes that differ in a bit, as kinds do. */
static uint64_t modes_key(const char *path, uint64_t ino, enum modes_what what)
{
        const uint64_t prime = 0x100000001b3ull;
        uint64_t h = (0xcbf29ce484222325ull ^ (uint64_t)what) * prime;
        for (; *path; path++)
                h = (h ^ (unsigned char)*path) * prime;
        return ino ? (h ^ ino) * 0x9e3779b97f4a7c15ull : h;
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

/* modes_excess(t, st): the rights of others that the user's umask forbids: to write; and to read, where
 * it forbids that. */
static mode_t modes_excess(const struct live_tree *t, const struct stat *st)
{
        mode_t all = S_IWGRP | S_IWOTH | S_IRGRP | S_IROTH;
        return S_ISLNK(st->st_mode) ? 0 : st->st_mode & all & t->mask;
}

/* modes_reading(st, is_others): what the group, or others, need to see what is in it. */
static mode_t modes_reading(const struct stat *st, bool is_others)
{
        mode_t bits = S_ISDIR(st->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
        return is_others ? bits : bits << 3;
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

/* modes_note_shut(t, path, st): what the umask would let them read, and they cannot. Where it does not,
 * nearly everything is so, and modes_excess has it. */
static void modes_note_shut(struct live_tree *t, const char *path, const struct stat *st)
{
        for (int others = 0; others < 2; others++) {
                mode_t reading = modes_reading(st, others);
                if (st->st_mode & reading || t->mask & reading)
                        continue;
                modes_put(t, modes_key(path, 0, MODES_SHUT_PATH + others));
                modes_put(t, modes_key("", st->st_ino, MODES_SHUT_INODE + others));
        }
}

void live_modes_note(struct live_tree *t, const char *path, const struct stat *st)
{
        if (modes_excess(t, st)) {
                modes_put(t, modes_key(path, 0, MODES_PATH));
                modes_put(t, modes_key(path, st->st_ino, MODES_PAIR));
        }
        if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
                modes_note_shut(t, path, st);
        if (modes_hands_on(t->fd, path, st))
                modes_put(t, modes_key(path, st->st_ino, MODES_LIST));
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

/* modes_is_born(t, path): was it made since the start? A number alone may have been given away again. */
static bool modes_is_born(const struct live_tree *t, const char *path)
{
        struct err err = {0};
        struct statx x;
        _cleanup_close_ int fd = beneath_open_nosym(t->fd, path, O_PATH | O_NOFOLLOW, 0, &err);
        return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 &&
               x.stx_mask & STATX_BTIME &&
               (int64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec >= t->begun_ns;
}

/* modes_was_wide(t, path, st): did others have such rights there before? A second name of a file is no
 * place of its own. */
static bool modes_was_wide(const struct live_tree *t, const char *path, const struct stat *st)
{
        if (modes_has(t, modes_key(path, st->st_ino, MODES_PAIR)))
                return true;
        bool is_single = S_ISDIR(st->st_mode) || st->st_nlink == 1;
        return is_single && modes_has(t, modes_key(path, 0, MODES_PATH)) && modes_is_born(t, path);
}

/* modes_opened(t, path, st): rights to read of those who had none before. */
static mode_t modes_opened(const struct live_tree *t, const char *path, const struct stat *st)
{
        mode_t bits = 0;
        for (int others = 0; others < 2; others++) {
                mode_t now = st->st_mode & modes_reading(st, others);
                if (!now || S_ISLNK(st->st_mode))
                        continue;
                bool is_place = modes_has(t, modes_key(path, 0, MODES_SHUT_PATH + others));
                bool is_inode = modes_has(t, modes_key("", st->st_ino, MODES_SHUT_INODE + others));
                if (is_place || (is_inode && !modes_is_born(t, path)))
                        bits |= now;
        }
        return bits;
}

/* modes_lent(st): the bits by which a program runs as somebody else. */
static mode_t modes_lent(const struct stat *st)
{
        return S_ISREG(st->st_mode) ? st->st_mode & (S_ISUID | S_ISGID) : 0;
}

/* modes_too_many(t, path, st): the rights that are to go. */
static mode_t modes_too_many(const struct live_tree *t, const char *path, const struct stat *st)
{
        mode_t wide = modes_excess(t, st);
        if (!modes_is_touched(t, st))
                return 0;
        return modes_lent(st) | modes_opened(t, path, st) |
               (wide && !modes_was_wide(t, path, st) ? wide : 0);
}

static bool modes_is_list(const struct live_tree *t, const char *path, const struct stat *st)
{
        return S_ISDIR(st->st_mode) && modes_is_touched(t, st) && modes_hands_on(t->fd, path, st) &&
               !modes_has(t, modes_key(path, st->st_ino, MODES_LIST));
}

int live_modes_mend(const struct live_tree *t, const char *path, const struct stat *seen)
{
        mode_t rights = modes_too_many(t, path, seen);
        bool is_list = modes_is_list(t, path, seen);
        struct err err = {0};
        struct stat st;
        char proc[64];
        if (!rights && !is_list)
                return 0;
        _cleanup_close_ int fd = beneath_open_nosym(t->fd, path, O_PATH | O_NOFOLLOW, 0, &err);
        if (fd < 0 || fstat(fd, &st) < 0)
                return 0; /* gone */
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
        rights = modes_too_many(t, path, &st);
        if (rights && chmod(proc, st.st_mode & 07777 & ~rights) < 0)
                return -1;
        if (is_list && removexattr(proc, handed_on) < 0)
                return -1;
        if (rights & (S_ISUID | S_ISGID))
                return LIVE_MENDED_LENT;
        return is_list || rights & (S_IWGRP | S_IWOTH) ? LIVE_MENDED_WRITE : LIVE_MENDED_READ;
}
