/* home.c - see home.h: versions of an accepted home, their lock, the pointer to the current one.
 *
 * Called by the planner (which version is the lower), by the supervisor (hold it, accept at the
 * end) and by `ostiary gc`. A version is complete before `current` names it, and is never changed
 * after. */
#include "session/home.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/home_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 50000, LOCK_WAIT_MS = 20000 };
static const uint64_t bytes_max = (uint64_t)2 << 30;

static bool is_number(const char *s)
{
        return *s && strlen(s) < 10 && strspn(s, "0123456789") == strlen(s) && s[0] != '0';
}

/* The number that `current` names, 0 when there is none. */
static unsigned long current_of(int base_fd)
{
        char text[16];
        ssize_t n = readlinkat(base_fd, "current", text, sizeof text - 1);
        if (n <= 0)
                return 0;
        text[n] = 0;
        return is_number(text) ? strtoul(text, NULL, 10) : 0;
}

static char *base_path(const char *data_dir, const char *profile)
{
        return str_fmt("%s/homes/%s", data_dir, profile ? profile : "default");
}

char *home_current(const char *data_dir, const char *profile)
{
        _cleanup_free_ char *base = base_path(data_dir, profile);
        _cleanup_close_ int fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
        unsigned long n = fd < 0 ? 0 : current_of(fd);
        if (n == 0)
                return NULL;
        char *dir = str_fmt("%s/%lu", base, n);
        struct stat st;
        if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
                return dir;
        free(dir);
        return NULL;
}

int home_hold(const char *dir, struct err *err)
{
        _cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open the accepted home %s", dir);
        if (flock(fd, LOCK_SH | LOCK_NB) < 0)
                return err_sys(err, "hold the accepted home %s", dir);
        /* It may have been on its way out when we opened it. */
        struct stat here, there;
        if (fstat(fd, &here) < 0 || stat(dir, &there) < 0 || here.st_ino != there.st_ino)
                return err_set(err, E_ABSENT, "the accepted home %s was just removed", dir);
        return take_fd(&fd);
}

/* The profile's directory and its lock, which lives as long as ${lock_fd}. */
static int open_locked(const char *base, bool may_wait, int *lock_fd, struct err *err)
{
        _cleanup_close_ int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open %s", base);
        _cleanup_close_ int lock =
                openat(fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (lock < 0)
                return err_sys(err, "open the lock of %s", base);
        for (int waited = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; waited += 5) {
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return err_sys(err, "lock %s", base);
                if (!may_wait || waited >= LOCK_WAIT_MS)
                        return err_set(err, E_REFUSED, "%s is locked by another box", base);
                nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        *lock_fd = take_fd(&lock);
        return take_fd(&fd);
}

/* Is the path inside another path of the list, so that it needs no turn of its own? */
static bool is_covered(const struct strs *persist, size_t at)
{
        for (size_t i = 0; i < persist->n; i++)
                if (i != at && str_is_beneath(persist->v[at], persist->v[i]) &&
                    (strcmp(persist->v[at], persist->v[i]) != 0 || i < at))
                        return true;
        return false;
}

static int clone_persist(const struct home_run *run, int old_fd, int new_fd, const char *path,
                         struct err *err)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *parent = str_fmt("%.*s", slash ? (int)(slash - path) : 0, path);
        _cleanup_close_ int from =
                beneath_open_nosym(old_fd, parent, O_PATH | O_DIRECTORY, 0, NULL);
        if (from < 0)
                return 0;
        _cleanup_close_ int to = home_dir(run, new_fd, parent, err);
        if (to < 0)
                return -1;
        return home_clone(run, from, slash ? slash + 1 : path, to, 0, err);
}

static int fill(struct home_run *run, int base_fd, unsigned long old, int new_fd, struct err *err)
{
        const struct strs *persist = run->a->persist;
        char name[16];
        snprintf(name, sizeof name, "%lu", old);
        _cleanup_close_ int old_fd =
                old ? openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        for (size_t i = 0; i < persist->n; i++)
                if (old_fd >= 0 && !is_covered(persist, i) &&
                    clone_persist(run, old_fd, new_fd, persist->v[i], err) < 0)
                        return err_add(err, "keep ~/%s of the version before", persist->v[i]);
        for (size_t i = 0; i < persist->n; i++)
                if (!is_covered(persist, i) && home_merge(run, new_fd, persist->v[i], err) < 0)
                        return err_add(err, "accept ~/%s", persist->v[i]);
        return 0;
}

/* Make the complete directory ${tmp} the version ${n}, and ${n} the current one. */
static int publish(int base_fd, const char *tmp, unsigned long n, struct err *err)
{
        char name[16];
        snprintf(name, sizeof name, "%lu", n);
        /* Killed between the two renames, an accept leaves a version that never was current. */
        if (beneath_remove_tree(base_fd, name, err) < 0)
                return -1;
        if (renameat(base_fd, tmp, base_fd, name) < 0)
                return err_sys(err, "name version %s", name);
        unlinkat(base_fd, "current.new", 0);
        if (symlinkat(name, base_fd, "current.new") < 0 ||
            renameat(base_fd, "current.new", base_fd, "current") < 0)
                return err_sys(err, "make version %s the current one", name);
        return 0;
}

/* Remove what nobody uses, except the versions from ${oldest} to the current one. The caller has
 * the profile's lock. */
static int sweep(int base_fd, unsigned long oldest, size_t *removed_n, struct err *err)
{
        unsigned long current = current_of(base_fd);
        _cleanup_closedir_ DIR *d = fdio_opendir(base_fd);
        if (!d)
                return err_sys(err, "read the accepted homes");
        for (struct dirent *e; (e = readdir(d));) {
                unsigned long n = is_number(e->d_name) ? strtoul(e->d_name, NULL, 10) : 0;
                bool is_kept = n >= oldest && n <= current;
                if (n ? is_kept : !str_starts(e->d_name, "tmp."))
                        continue;
                _cleanup_close_ int fd =
                        openat(base_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
                        continue; /* a box lives over it */
                if (beneath_remove_tree(base_fd, e->d_name, err) < 0)
                        return -1;
                if (removed_n)
                        (*removed_n)++;
        }
        return 0;
}

int home_accept(const struct home_accept *a, struct strs *notes, struct err *err)
{
        bool is_touched = false;
        for (size_t i = 0; i < a->persist->n && !is_touched; i++)
                is_touched = home_is_touched(a->upper_fd, a->persist->v[i]);
        if (!is_touched)
                return 0;

        _cleanup_free_ char *homes = str_fmt("%s/homes", a->data_dir);
        _cleanup_free_ char *base = base_path(a->data_dir, a->profile);
        if ((mkdir(homes, 0700) < 0 && errno != EEXIST) ||
            (mkdir(base, 0700) < 0 && errno != EEXIST))
                return err_sys(err, "make %s", base);
        _cleanup_close_ int lock = -1;
        _cleanup_close_ int base_fd = open_locked(base, true, &lock, err);
        if (base_fd < 0)
                return err_add(err, "keep what the agent wants to keep");

        struct home_run run = {
                .a = a, .notes = notes, .files_left = FILES_MAX, .bytes_left = bytes_max};
        char tmp[32];
        snprintf(tmp, sizeof tmp, "tmp.%d", (int)getpid());
        if (beneath_remove_tree(base_fd, tmp, err) < 0)
                return -1;
        if (mkdirat(base_fd, tmp, 0700) < 0)
                return err_sys(err, "make a new version in %s", base);
        _cleanup_close_ int new_fd =
                openat(base_fd, tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        unsigned long old = current_of(base_fd);
        if (new_fd < 0 || home_own(&run, base_fd, tmp, err) < 0 ||
            fill(&run, base_fd, old, new_fd, err) < 0 || publish(base_fd, tmp, old + 1, err) < 0) {
                beneath_remove_tree(base_fd, tmp, NULL);
                return err_add(err, "keep what the agent wants to keep");
        }
        /* The version before stays: a box that is just starting may have read its name. What cannot
         * be removed now is removed by the next accept, or by gc. */
        (void)sweep(base_fd, old, NULL, NULL);
        return 0;
}

int home_gc(const char *data_dir, size_t *removed_n, struct err *err)
{
        _cleanup_free_ char *homes = str_fmt("%s/homes", data_dir);
        _cleanup_closedir_ DIR *d = opendir(homes);
        if (!d)
                return errno == ENOENT ? 0 : err_sys(err, "read %s", homes);
        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                _cleanup_free_ char *base = str_fmt("%s/%s", homes, e->d_name);
                _cleanup_close_ int lock = -1;
                _cleanup_close_ int base_fd = open_locked(base, false, &lock, NULL);
                if (base_fd >= 0 && sweep(base_fd, current_of(base_fd), removed_n, err) < 0)
                        return err_add(err, "clean %s", base);
        }
        return 0;
}
