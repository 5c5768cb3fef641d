/* objects.c - see objects.h. Called with the lock of the undo directory held; everything is done
 * by descriptor in a directory that only its owner may enter. */
#include "workspace/objects.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "workspace/undo_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_PREFIX "tmp."

bool objects_is_name(const char *hex)
{
        return strlen(hex) == SHA256_HEX_LEN && strspn(hex, "0123456789abcdef") == SHA256_HEX_LEN;
}

/* place(hex, path): "ab/cdef...". */
static void place(const char *hex, char path[SHA256_HEX_LEN + 2])
{
        snprintf(path, SHA256_HEX_LEN + 2, "%.2s/%s", hex, hex + 2);
}

bool objects_has(int objects_fd, const char *hex)
{
        char path[SHA256_HEX_LEN + 2];
        struct stat st;
        if (!objects_is_name(hex))
                return false;
        place(hex, path);
        return fstatat(objects_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* name_it(objects_fd, fd, temp, hex): give the finished file its name. One that is there already
 * has the same content. ${temp} is "" for a file without a name. */
static int name_it(int objects_fd, int fd, const char *temp, const char *hex)
{
        char path[SHA256_HEX_LEN + 2], by_fd[40], dir[3] = {hex[0], hex[1], 0};
        place(hex, path);
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", fd);
        for (int tries = 0; tries < 2; tries++) {
                int r = *temp ? renameat(objects_fd, temp, objects_fd, path)
                              : linkat(AT_FDCWD, by_fd, objects_fd, path, AT_SYMLINK_FOLLOW);
                if (r == 0 || errno == EEXIST)
                        return 0;
                if (errno != ENOENT || (mkdirat(objects_fd, dir, 0700) < 0 && errno != EEXIST))
                        return -1;
        }
        return -1;
}

int objects_put(int objects_fd, int src_fd, char hex[SHA256_HEX_LEN + 1], uint64_t *size,
                struct err *err)
{
        char temp[32] = "";
        _cleanup_close_ int fd =
                openat(objects_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)0400);
        if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
                uint64_t r = 0;
                if (getrandom(&r, sizeof r, 0) < 0)
                        return err_sys(err, "make up a name");
                snprintf(temp, sizeof temp, TEMP_PREFIX "%016llx", (unsigned long long)r);
                fd = openat(objects_fd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            (mode_t)0400);
        }
        if (fd < 0)
                return err_sys(err, "make an object of the undo directory");
        int r = objects_copy(src_fd, fd, hex, size, err);
        if (r == 0)
                undo_disk_start(fd);
        if (r == 0 && name_it(objects_fd, fd, temp, hex) < 0)
                r = err_sys(err, "name an object of the undo directory");
        if (r < 0 && *temp)
                (void)unlinkat(objects_fd, temp, 0);
        return r < 0 ? err_add(err, "keep what is replaced") : 0;
}

int objects_get(int objects_fd, const char *hex, int dst_fd, struct err *err)
{
        char path[SHA256_HEX_LEN + 2], found[SHA256_HEX_LEN + 1];
        uint64_t size;
        if (!objects_is_name(hex))
                return err_set(err, E_INPUT,
                               "a record of undo names content in a way that is no "
                               "name; it is damaged");
        place(hex, path);
        _cleanup_close_ int fd =
                openat(objects_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        if (fd < 0)
                return err_sys(err, "read the kept content %.12s", hex);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "the kept content %.12s is no file", hex);
        if (objects_copy(fd, dst_fd, found, &size, err) < 0)
                return err_add(err, "restore the kept content %.12s", hex);
        if (strcmp(found, hex) != 0)
                return err_set(err, E_INPUT,
                               "the kept content %.12s is damaged on disk: it does not match its "
                               "checksum, and is not used",
                               hex);
        return 0;
}

/* each(objects_fd, fn, arg): for every object of every subdirectory; fn returns true to have it
 * removed. */
static int each(int objects_fd, bool (*fn)(void *arg, const char *hex, uint64_t bytes), void *arg,
                struct err *err)
{
        for (unsigned i = 0; i < 256; i++) {
                char dir[3];
                snprintf(dir, sizeof dir, "%02x", i);
                int fd = openat(objects_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0 && errno == ENOENT)
                        continue;
                _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
                if (!d) {
                        close_fd(&fd);
                        return err_sys(err, "read the kept contents");
                }
                struct dirent *e;
                while ((e = readdir(d))) {
                        char hex[SHA256_HEX_LEN + 1];
                        struct stat st;
                        if (snprintf(hex, sizeof hex, "%s%s", dir, e->d_name) != SHA256_HEX_LEN ||
                            !objects_is_name(hex) ||
                            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                                continue;
                        if (fn(arg, hex, (uint64_t)st.st_blocks * 512) &&
                            unlinkat(fd, e->d_name, 0) < 0 && errno != ENOENT)
                                return err_sys(err, "remove kept content");
                }
        }
        return 0;
}

struct looker {
        void (*fn)(void *arg, const char *hex, uint64_t bytes);
        void *arg;
};

static bool look(void *arg, const char *hex, uint64_t bytes)
{
        struct looker *l = arg;
        l->fn(l->arg, hex, bytes);
        return false;
}

int objects_each(int objects_fd, void (*fn)(void *arg, const char *hex, uint64_t bytes), void *arg,
                 struct err *err)
{
        return each(objects_fd, look, &(struct looker){.fn = fn, .arg = arg}, err);
}

struct sweeper {
        bool (*is_used)(void *arg, const char *hex);
        void *arg;
        uint64_t *n, *bytes;
};

static bool sweep(void *arg, const char *hex, uint64_t bytes)
{
        struct sweeper *s = arg;
        if (s->is_used(s->arg, hex))
                return false;
        *s->n += 1;
        *s->bytes += bytes;
        return true;
}

int objects_gc(int objects_fd, bool (*is_used)(void *arg, const char *hex), void *arg,
               uint64_t *freed_n, uint64_t *freed_bytes, struct err *err)
{
        struct sweeper s = {.is_used = is_used, .arg = arg, .n = freed_n, .bytes = freed_bytes};
        if (each(objects_fd, sweep, &s, err) < 0)
                return -1;
        _cleanup_closedir_ DIR *d = fdio_opendir(objects_fd);
        if (!d)
                return err_sys(err, "read the kept contents");
        struct dirent *e;
        while ((e = readdir(d)))
                if (strncmp(e->d_name, TEMP_PREFIX, strlen(TEMP_PREFIX)) == 0)
                        (void)unlinkat(objects_fd, e->d_name, 0);
        return 0;
}
