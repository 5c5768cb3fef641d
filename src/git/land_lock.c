/* land_lock.c - see land_lock.h. What proves that a lock is ours and left behind: it holds our words,
 * which no git writes, and nobody has the flock that its maker kept until its end. */
#include "git/land_lock.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TEXT_MAX = 2048 };

static const char OURS[] = "ostiary\n"; /* how a lock file of ours begins; "REF ID" follows */

/* lock_is_at(fd, lock): does the name still lead to what was opened? */
static bool lock_is_at(int fd, const char *lock)
{
        struct stat a, b;
        return fstat(fd, &a) == 0 && lstat(lock, &b) == 0 && a.st_dev == b.st_dev &&
               a.st_ino == b.st_ino;
}

/* lock_read(lock, text, &is_held): a descriptor of a lock of ours, or -1. Without ${is_held} it was
 * left, and the flock is ours until the descriptor is closed: of two that recover it one does. */
static int lock_read(const char *lock, char text[LOCK_TEXT_MAX], bool *is_held)
{
        *is_held = false;
        _cleanup_close_ int fd = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;
        ssize_t n = pread(fd, text, LOCK_TEXT_MAX - 1, 0);
        text[n > 0 ? n : 0] = 0;
        if (!str_starts(text, OURS))
                return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                *is_held = true;
        else if (!lock_is_at(fd, lock))
                return -1;
        return take_fd(&fd);
}

/* lock_is_moved(git_dir, text): is the branch where the killed run wanted it? Then the index is right. */
static bool lock_is_moved(const char *git_dir, const char *text)
{
        const char *ref = text + sizeof OURS - 1, *blank = strchr(ref, ' ');
        if (!blank)
                return true; /* of an older version: it tells nothing; the index stays as it is */
        _cleanup_free_ char *name = str_fmt("%.*s", (int)(blank - ref), ref);
        _cleanup_free_ char *want = str_fmt("%.*s", (int)strcspn(blank + 1, "\n"), blank + 1);
        const char *const argv[] = {"rev-parse", "--verify", "-q", name, NULL};
        _cleanup_strs_ struct strs env = {0};
        _cleanup_buf_ struct buf out = {.max = 4096};
        struct err none = {0};
        strs_addf(&env, "GIT_DIR=%s", git_dir);
        struct git_call call = {.dir = git_dir, .argv = argv, .out = &out, .out_fd = -1};
        int status = git_call_host(&call, &env, &none);
        const char *now = status == 0 ? buf_cstr(&out) : "";
        return status < 0 ||
               (strlen(want) == strcspn(now, "\n") && strncmp(now, want, strlen(want)) == 0);
}

int land_lock_recover(const char *git_dir)
{
        static const char *const ends[] = {".next.part", ".next", ".before.part", ".before", ""};
        _cleanup_free_ char *lock = str_fmt("%s/index.lock", git_dir);
        char text[LOCK_TEXT_MAX];
        bool is_held;
        _cleanup_close_ int fd = lock_read(lock, text, &is_held);
        if (fd < 0 || is_held)
                return is_held;
        _cleanup_free_ char *before = str_fmt("%s.before", lock);
        _cleanup_free_ char *index = str_fmt("%s/index", git_dir);
        /* Nobody has written the index since: the lock was there. None that was kept: it was not
         * replaced, or there was none. */
        if (!lock_is_moved(git_dir, text))
                (void)rename(before, index);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                _cleanup_free_ char *name = str_fmt("%s%s", lock, ends[i]);
                (void)unlink(name); /* gone is as good */
        }
        return 0;
}

/* lock_fill(fd, ref, id): flock and words; -1 and errno. */
static int lock_fill(int fd, const char *ref, const char *id)
{
        _cleanup_free_ char *text = str_fmt("%s%s %s\n", OURS, ref, id);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return -1;
        return fdio_write_all(fd, text, strlen(text));
}

/* lock_make(git_dir, lock, ref, id): whole before it has its name, so that a kill at any moment leaves
 * one that is known as ours, or none; where the file system cannot do that, with a gap. */
static int lock_make(const char *git_dir, const char *lock, const char *ref, const char *id)
{
        _cleanup_close_ int fd = open(git_dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        if (fd >= 0) {
                char self[64];
                snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
                if (lock_fill(fd, ref, id) == 0 &&
                    linkat(AT_FDCWD, self, AT_FDCWD, lock, AT_SYMLINK_FOLLOW) == 0)
                        return take_fd(&fd);
                if (errno == EEXIST)
                        return -1;
        }
        close_fd(&fd);
        fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 || lock_fill(fd, ref, id) == 0)
                return take_fd(&fd);
        int e = errno;
        (void)unlink(lock); /* ours: it was made here */
        errno = e;
        return -1;
}

int land_lock_take(const char *git_dir, const char *ref, const char *id)
{
        _cleanup_free_ char *lock = str_fmt("%s/index.lock", git_dir);
        int fd = lock_make(git_dir, lock, ref, id);
        if (fd >= 0 || errno != EEXIST)
                return fd;
        (void)land_lock_recover(git_dir); /* somebody else's stays, and is told */
        return lock_make(git_dir, lock, ref, id);
}
