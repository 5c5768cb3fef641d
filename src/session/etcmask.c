/* etcmask.c - see etcmask.h. Runs with the user's rights, outside of any box. */
#include "session/etcmask.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/etc_list.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { TAKE_TRIES = 300, TAKE_PAUSE_MS = 10 };

static void mix(uint64_t *h, const void *p, size_t n)
{
        const unsigned char *b = p;
        while (n--)
                *h = (*h ^ *b++) * 0x100000001b3ull;
}

/* mix_dir(h, path): a directory's times change whenever a name in it comes or goes. */
static void mix_dir(uint64_t *h, const char *path)
{
        struct stat st;
        if (stat(path, &st) < 0)
                return;
        mix(h, &st.st_dev, sizeof st.st_dev);
        mix(h, &st.st_ino, sizeof st.st_ino);
        mix(h, &st.st_mtim, sizeof st.st_mtim);
        mix(h, &st.st_ctim, sizeof st.st_ctim);
}

/* The key is not a secret and meets no adversary: who can change /etc needs no box. */
static uint64_t key_now(void)
{
        uint64_t h = 0xcbf29ce484222325ull;
        char dir[300], last[300] = "";
        mix_dir(&h, "/etc");
        for (const struct etc_entry *l = etc_list; l->name; l++) {
                mix(&h, l->name, strlen(l->name) + 1);
                for (const char *slash = strchr(l->name, '/'); slash;
                     slash = strchr(slash + 1, '/')) {
                        snprintf(dir, sizeof dir, "/etc/%.*s", (int)(slash - l->name), l->name);
                        if (strcmp(dir, last) != 0)
                                mix_dir(&h, dir);
                        memcpy(last, dir, sizeof last);
                }
        }
        return h;
}

/* hide_rest(host, mask, prefix, whiteout_fd, err): a whiteout in ${mask} for each name of ${host}
 * that is not listed; into directories that hold something listed, one level deeper at a time. */
static int hide_rest(int host, int mask, const char *prefix, int top, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(host);
        if (!d)
                return err_sys(err, "read /etc/%s", prefix);
        struct dirent *e;
        while ((e = readdir(d))) {
                char path[520];
                snprintf(path, sizeof path, "%s%s", prefix, e->d_name);
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    etc_list_allows(path))
                        continue;
                _cleanup_close_ int sub = -1;
                if (e->d_type == DT_DIR && etc_list_holds(path))
                        sub = openat(host, e->d_name,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub < 0) {
                        if (linkat(top, ".whiteout", mask, e->d_name, 0) < 0)
                                return err_sys(err, "hide /etc/%s", path);
                        continue;
                }
                _cleanup_close_ int under = beneath_mkdirs(mask, e->d_name, 0755, err);
                if (under < 0)
                        return -1;
                strncat(path, "/", sizeof path - strlen(path) - 1);
                if (hide_rest(sub, under, path, top, err) < 0)
                        return -1;
        }
        return 0;
}

static int fill(int mask, struct err *err)
{
        _cleanup_close_ int host = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (host < 0)
                return err_sys(err, "read /etc");
        if (mknodat(mask, ".whiteout", S_IFCHR, 0) < 0) {
                err_sys(err, "make a whiteout in the state directory");
                return err_hint(err, "its filesystem must take character devices 0:0, as overlays "
                                     "need it");
        }
        return hide_rest(host, mask, "", mask, err);
}

/* begin(dir_fd, tmp, err): an empty directory of that name, held, so that nobody's sweep takes it.
 * A sweep that comes before we hold it does: then there is another try. */
static int begin(int dir_fd, const char *tmp, struct err *err)
{
        for (int tries = 0; tries < 20; tries++) {
                struct stat a, b;
                if (mkdirat(dir_fd, tmp, 0755) < 0)
                        return err_sys(err, "make the mask of /etc");
                _cleanup_close_ int mask =
                        openat(dir_fd, tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (mask < 0 && errno == ENOENT)
                        continue;
                if (mask < 0 || flock(mask, LOCK_SH) < 0 || fchmod(mask, 0755) < 0 ||
                    fstat(mask, &a) < 0)
                        return err_sys(err, "open the mask of /etc");
                if (fstatat(dir_fd, tmp, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino)
                        return take_fd(&mask);
        }
        return err_set(err, E_SYSTEM, "the mask of /etc is removed whenever it is made");
}

/* make(dir_fd, name, err): fill a temporary directory and rename it, so that a mask is whole or not
 * there. Somebody else may win the race: their mask is as good. */
static int make(int dir_fd, const char *name, struct err *err)
{
        char tmp[64];
        snprintf(tmp, sizeof tmp, "new.%d", (int)getpid());
        _cleanup_close_ int mask = begin(dir_fd, tmp, err);
        int r = mask < 0 ? -1 : fill(mask, err);
        if (r == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0 && errno != EEXIST &&
            errno != ENOTEMPTY)
                r = err_sys(err, "put the mask of /etc in its place");
        beneath_remove_tree(dir_fd, tmp, NULL);
        return r;
}

static int open_home(const struct store *store, struct err *err)
{
        _cleanup_free_ char *dir = str_fmt("%s/etc-mask", store->state);
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (mkdir(dir, 0711) < 0 && errno != EEXIST)
                        return err_sys(err, "make %s", dir);
                fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        return fd < 0 ? err_sys(err, "open %s", dir) : fd;
}

/* sweep(home, current, &removed, err): remove every mask but ${current} that nobody holds. */
static int sweep(int home, const char *current, size_t *removed, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(home);
        struct dirent *e;
        while (d && (e = readdir(d))) {
                if (e->d_name[0] == '.' || strcmp(e->d_name, current) == 0)
                        continue;
                _cleanup_close_ int fd =
                        openat(home, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                        continue;
                if (beneath_remove_tree(home, e->d_name, err) < 0)
                        return -1;
                ++*removed;
        }
        return 0;
}

int etcmask_take(const struct store *store, char **path, struct err *err)
{
        _cleanup_close_ int home = open_home(store, err);
        if (home < 0)
                return -1;
        /* An upgrade, or somebody who adds users, changes /etc in bursts: wait for a gap between
         * two changes, some seconds at most. */
        for (int tries = 0; tries < TAKE_TRIES; tries++) {
                char name[20];
                if (tries >= 3)
                        poll(NULL, 0, TAKE_PAUSE_MS);
                uint64_t key = key_now();
                snprintf(name, sizeof name, "%016" PRIx64, key);
                _cleanup_close_ int fd =
                        openat(home, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                struct stat a, b;
                /* Locked, and still the one of that name: nobody removed it in between. */
                if (fd >= 0 && flock(fd, LOCK_SH) == 0 && fstat(fd, &a) == 0 &&
                    fstatat(home, name, &b, 0) == 0 && a.st_ino == b.st_ino) {
                        *path = str_fmt("%s/etc-mask/%s", store->state, name);
                        return take_fd(&fd);
                }
                /* If /etc changes while we make it, the mask is one for a key that never comes. */
                if (fd < 0) {
                        size_t gone = 0;
                        if (make(home, name, err) < 0)
                                return -1;
                        sweep(home, name, &gone, NULL); /* what is left over is gc's */
                }
        }
        err_set(err, E_SYSTEM, "/etc has changed without a pause for some seconds");
        return err_hint(err, "try again when what changes it, an upgrade perhaps, is done");
}

int etcmask_gc(const struct store *store, size_t *removed, struct err *err)
{
        char current[20];
        snprintf(current, sizeof current, "%016" PRIx64, key_now());
        _cleanup_close_ int home = open_home(store, err);
        return home < 0 ? -1 : sweep(home, current, removed, err);
}
