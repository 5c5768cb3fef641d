/* beneath_test.c - no path, link or race leads outside of the root; any tree can be removed.
 * suite: check=any test=root,user soak=root,user timeout=120
 * tier: what may be removed or opened differs for root */
#include "unit/check.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* What a fixture fails to make, the check that needs it will miss. */
#pragma GCC diagnostic ignored "-Wunused-result"

static int top = -1, root = -1; /* top/root is the root, top/secret lies outside of it */

static void put(int dir, const char *name, const char *text)
{
        _cleanup_close_ int fd = openat(dir, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                perror(name);
}

static bool opens(const char *path, int flags)
{
        int fd = beneath_open(root, path, flags, 0, NULL);
        if (fd >= 0)
                close(fd);
        return fd >= 0;
}

static bool opens_nosym(const char *path)
{
        int fd = beneath_open_nosym(root, path, O_RDONLY, 0, NULL);
        if (fd >= 0)
                close(fd);
        return fd >= 0;
}

static void ways_out(void)
{
        char abs[4096];
        mkdirat(root, "d", 0700);
        put(root, "d/in", "in");
        put(root, "file", "file");
        symlinkat("../file", root, "d/up");
        symlinkat("../../secret", root, "d/out");
        symlinkat("d", root, "link");
        symlinkat("/proc/self/cwd", root, "magic");
        snprintf(abs, sizeof abs, "/proc/self/fd/%d/secret", top);
        symlinkat(abs, root, "absolute");

        CHECK("a file below", opens("d/in", O_RDONLY));
        CHECK("the root itself", opens("", O_RDONLY) && opens(".", O_RDONLY | O_DIRECTORY));
        CHECK("a link that stays inside", opens("d/up", O_RDONLY) && opens("link/in", O_RDONLY));
        CHECK("..", !opens("..", O_RDONLY) && errno == EXDEV);
        CHECK("d/../../secret", !opens("d/../../secret", O_RDONLY));
        CHECK("d/../file stays inside", opens("d/../file", O_RDONLY));
        CHECK("an absolute path", !opens("/etc/passwd", O_RDONLY));
        CHECK("case 71: a link outside", !opens("d/out", O_RDONLY));
        CHECK("an absolute link", !opens("absolute", O_RDONLY));
        CHECK("a magic link", !opens("magic", O_RDONLY));
        CHECK("O_NOFOLLOW", !opens("d/up", O_RDONLY | O_NOFOLLOW) && errno == ELOOP);
        CHECK("nosym refuses any link", !opens_nosym("d/up") && !opens_nosym("link/in"));
        CHECK("nosym opens the rest", opens_nosym("d/in"));
        int fd = beneath_open(root, "d", O_RDONLY | O_DIRECTORY, 0755, NULL);
        CHECK("a mode that is not needed is no fault", fd >= 0);
        close(fd);
        fd = beneath_open(root, "d/out", O_CREAT | O_WRONLY | O_EXCL, 0600, NULL);
        CHECK("nothing is created through a link", fd < 0);
        CHECK("close-on-exec", (fd = beneath_open(root, "d", O_PATH, 0, NULL)) >= 0 &&
                                       (fcntl(fd, F_GETFD) & FD_CLOEXEC));
        close(fd);
}

static void making(void)
{
        struct err err = {0};
        int fd = beneath_mkdirs(root, "m/n//./o/", 0700, &err);
        CHECK("mkdirs", fd >= 0 && faccessat(root, "m/n/o", F_OK, 0) == 0);
        close(fd);
        CHECK("mkdirs again", (fd = beneath_mkdirs(root, "m/n/o", 0700, &err)) >= 0);
        close(fd);
        CHECK("mkdirs refuses ..", beneath_mkdirs(root, "m/../../x", 0700, &err) == -1);
        CHECK("mkdirs refuses a link", beneath_mkdirs(root, "link/x", 0700, &err) == -1 &&
                                               faccessat(root, "d/x", F_OK, 0) < 0);
        CHECK("mkdirs refuses a file", beneath_mkdirs(root, "file/x", 0700, &err) == -1);
        char big[400];
        memset(big, 'n', sizeof big - 1);
        big[sizeof big - 1] = 0;
        CHECK("mkdirs refuses a long name", beneath_mkdirs(root, big, 0700, &err) == -1);
}

/* --- case 72: a directory that turns into a link, again and again
 * --------------------------------- */

static atomic_bool is_over;

static void *flip(void *arg)
{
        (void)arg;
        while (!atomic_load(&is_over)) {
                renameat2(root, "flip", root, "flop", RENAME_EXCHANGE);
        }
        return NULL;
}

static void race(void)
{
        pthread_t t;
        struct timespec a, b;
        char got[16];
        unsigned good = 0, refused = 0, outside = 0;
        mkdirat(root, "flip", 0700);
        put(root, "flip/secret", "inside");
        symlinkat("..", root, "flop");
        pthread_create(&t, NULL, flip, NULL);
        clock_gettime(CLOCK_MONOTONIC, &a);
        do {
                for (int i = 0; i < 200; i++) {
                        int fd = beneath_open(root, "flip/secret", O_RDONLY, 0, NULL);
                        if (fd < 0) {
                                refused++;
                                continue;
                        }
                        ssize_t n = read(fd, got, sizeof got);
                        close(fd);
                        bool is_inside = n == 6 && !memcmp(got, "inside", 6);
                        good += is_inside;
                        outside += !is_inside;
                }
                clock_gettime(CLOCK_MONOTONIC, &b);
        } while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 200);
        atomic_store(&is_over, true);
        pthread_join(t, NULL);
        printf("# race: %u inside, %u refused, %u outside\n", good, refused, outside);
        CHECK("case 72: a link swapped in never leads outside", outside == 0);
        CHECK("case 72: the race really was one", good > 0 && refused > 0);
}

/* --- removing ----------------------------------------------------------------------------------
 */

static bool is_gone(const char *name)
{
        struct stat st;
        return fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static void make_deep(const char *name, int levels)
{
        mkdirat(root, name, 0700);
        int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < levels && fd >= 0; i++) {
                put(fd, "f", "x");
                mkdirat(fd, "a-directory-with-a-long-name", 0700);
                int next = openat(fd, "a-directory-with-a-long-name", O_RDONLY | O_DIRECTORY);
                close(fd);
                fd = next;
        }
        if (fd >= 0)
                close(fd);
}

static void removing(void)
{
        struct err err = {0};
        CHECK("what is not there is removed", beneath_remove_tree(root, "nothing", &err) == 0);
        make_deep("deep", 5000);
        CHECK("case 78: 5000 levels",
              beneath_remove_tree(root, "deep", &err) == 0 && is_gone("deep"));

        make_deep("sly", 300);
        for (int i = 0; i < 8; i++) {
                char name[64];
                snprintf(name, sizeof name, "sly/.ostiary-rm.%d", i);
                if (i % 2)
                        put(root, name, "in the way");
                else
                        mkdirat(root, name, 0700);
                snprintf(name, sizeof name, "sly/.ostiary-rm.%d/f", i);
                if (!(i % 2))
                        put(root, name, "in the way");
        }
        CHECK("names that we use ourselves",
              beneath_remove_tree(root, "sly", &err) == 0 && is_gone("sly"));

        mkdirat(root, "wide", 0700);
        int fd = openat(root, "wide", O_RDONLY | O_DIRECTORY);
        for (int i = 0; i < 20000; i++) {
                char name[32];
                snprintf(name, sizeof name, "f%d", i);
                if (i % 10)
                        put(fd, name, "");
                else
                        mkdirat(fd, name, 0700);
        }
        close(fd);
        CHECK("20000 entries", beneath_remove_tree(root, "wide", &err) == 0 && is_gone("wide"));

        mkdirat(root, "shut", 0700);
        mkdirat(root, "shut/a", 0700);
        put(root, "shut/a/f", "x");
        mkdirat(root, "shut/a/b", 0700);
        put(root, "shut/a/b/f", "x");
        mkdirat(root, "shut/ro", 0700);
        put(root, "shut/ro/f", "x");
        fchmodat(root, "shut/ro", 0500, 0);
        fchmodat(root, "shut/a/b", 0, 0);
        fchmodat(root, "shut/a", 0, 0);
        fchmodat(root, "shut", 0, 0);
        CHECK("directories without any permission",
              beneath_remove_tree(root, "shut", &err) == 0 && is_gone("shut"));

        mkdirat(root, "links", 0700);
        symlinkat("../../secret", root, "links/s");
        symlinkat("..", root, "links/up");
        mkfifoat(root, "links/fifo", 0600);
        CHECK("links are removed, not followed", beneath_remove_tree(root, "links", &err) == 0 &&
                                                         is_gone("links") &&
                                                         faccessat(top, "secret", F_OK, 0) == 0);
        symlinkat("../keep", root, "top");
        mkdirat(top, "keep", 0500);
        CHECK("a link at the top too",
              beneath_remove_tree(root, "top", &err) == 0 && is_gone("top"));
        struct stat st;
        CHECK("and its target keeps its mode",
              fstatat(top, "keep", &st, 0) == 0 && (st.st_mode & 0777) == 0500);
}

/* A directory and a link to one outside trade places while the tree is removed: the target must
 * keep its mode and what is in it. */
static void *trade(void *arg)
{
        (void)arg;
        while (!atomic_load(&is_over))
                renameat2(root, "race/x", root, "race/y", RENAME_EXCHANGE);
        return NULL;
}

static void remove_race(void)
{
        struct stat st;
        bool is_kept = true;
        fchmodat(top, "keep", 0700, 0);
        put(top, "keep/f", "keep");
        fchmodat(top, "keep", 0500, 0);
        for (int i = 0; i < 200 && is_kept; i++) {
                pthread_t t;
                mkdirat(root, "race", 0700);
                mkdirat(root, "race/x", 0700);
                put(root, "race/x/f", "x");
                symlinkat("../../keep", root, "race/y");
                fchmodat(root, "race/x", 0, 0);
                atomic_store(&is_over, false);
                pthread_create(&t, NULL, trade, NULL);
                for (int k = 0; k < 50 && beneath_remove_tree(root, "race", NULL) < 0; k++)
                        ;
                atomic_store(&is_over, true);
                pthread_join(t, NULL);
                is_kept &= fstatat(top, "keep", &st, 0) == 0 && (st.st_mode & 0777) == 0500 &&
                           faccessat(top, "keep/f", F_OK, 0) == 0;
                beneath_remove_tree(root, "race", NULL);
        }
        CHECK("case 72: removing in a race changes nothing outside", is_kept);
}

int main(void)
{
        char dir[] = "/tmp/ostiary-beneath.XXXXXX";
        if (!mkdtemp(dir))
                return 1;
        top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        mkdirat(top, "root", 0700);
        put(top, "secret", "outside");
        root = openat(top, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ways_out();
        making();
        race();
        removing();
        remove_race();
        close(root);
        close(top);
        CHECK("everything is cleaned up", beneath_remove_tree(AT_FDCWD, dir, NULL) == 0);
        return check_end();
}
