/* home_test.c - what outlives a box: only what is listed, whatever the box left behind. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/home.h"
#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-home.XXXXXX";

static char *at(const char *rel)
{
        static char slots[8][512];
        static unsigned next;
        char *s = slots[next++ % 8];
        snprintf(s, sizeof slots[0], "%s%s%s", top, *rel ? "/" : "", rel);
        return s;
}

static void put(const char *rel, const char *text)
{
        char *path = at(rel);
        for (char *p = path + 1; (p = strchr(p, '/')); p++) {
                *p = 0;
                mkdir(path, 0755);
                *p = '/';
        }
        FILE *f = fopen(path, "w");
        if (f) {
                fputs(text, f);
                fclose(f);
        }
}

static int rm_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st, (void)ftw;
        if (flag == FTW_DNR)
                chmod(path, 0700);
        (void)remove(path); /* whatever stays, the walk goes on */
        return 0;
}

static void rm(const char *rel)
{
        nftw(at(rel), rm_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Is ${text} what the current version has at ${rel}? NULL: it has nothing there. */
static bool is_kept(const char *rel, const char *text)
{
        char *dir = home_current(at("data"), "agent");
        char path[600];
        snprintf(path, sizeof path, "%s/%s", dir ? dir : "/nonexistent", rel);
        free(dir);
        struct stat st;
        if (!text)
                return lstat(path, &st) < 0;
        char *got = fdio_read_file(AT_FDCWD, path, 1 << 20, NULL);
        bool same = got && strcmp(got, text) == 0;
        free(got);
        return same;
}

static int accept_upper(const char *upper, struct strs *notes, struct err *err)
{
        struct strs persist = {0};
        strs_add(&persist, ".a/sessions");
        strs_add(&persist, ".a/history");
        strs_add(&persist, ".a/sessions/inner"); /* inside another: counts once */
        int fd = open(at(upper), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct home_accept a = {.data_dir = at("data"),
                                .profile = "agent",
                                .persist = &persist,
                                .upper_fd = fd,
                                .owner = geteuid(),
                                .group = getegid()};
        int r = home_accept(&a, notes, err);
        close(fd);
        strs_free(&persist);
        return r;
}

static void test_plain(void)
{
        struct err err = {0};
        put("up/other", "x");
        CHECK("nothing listed was written: no version",
              accept_upper("up", NULL, &err) == 0 && home_current(at("data"), "agent") == NULL);

        put("up/.a/sessions/one", "1");
        put("up/.a/history", "h");
        put("up/.a/settings.json", "planted");
        put("up/.bashrc", "planted");
        if (!CHECK("the first version is made", accept_upper("up", NULL, &err) == 0))
                printf("# %s\n", err.text);
        CHECK("what is listed is kept",
              is_kept(".a/sessions/one", "1") && is_kept(".a/history", "h"));
        CHECK("what is not listed is not kept", is_kept(".a/settings.json", NULL) &&
                                                        is_kept(".bashrc", NULL) &&
                                                        is_kept("other", NULL));

        char *v1 = home_current(at("data"), "agent");
        int held = home_hold(v1, &err);
        rm("up");
        put("up/.a/sessions/two", "2");
        put("up/.a/history", "hh");
        int r = accept_upper("up", NULL, &err);
        CHECK("the next version has the old and the new",
              r == 0 && is_kept(".a/sessions/one", "1") && is_kept(".a/sessions/two", "2") &&
                      is_kept(".a/history", "hh"));
        char path[600];
        snprintf(path, sizeof path, "%s/.a/history", v1);
        char *old = fdio_read_file(AT_FDCWD, path, 100, NULL);
        CHECK("a version that a box lives over is neither changed nor removed",
              held >= 0 && old && strcmp(old, "h") == 0);
        free(old);
        close(held);
        size_t removed = 0;
        CHECK("gc removes it when the box is gone", home_gc(at("data"), &removed, &err) == 0 &&
                                                            removed == 1 && access(v1, F_OK) != 0 &&
                                                            is_kept(".a/history", "hh"));
        free(v1);
        rm("up");
}

static void test_overlay_signs(void)
{
        struct err err = {0};
        put("up/.a/sessions/three", "3");
        if (mknod(at("up/.a/sessions/one"), S_IFCHR, makedev(0, 0)) < 0) {
                puts("skip a deletion in the box is a deletion: whiteouts cannot be made here");
        } else {
                CHECK("a deletion in the box is a deletion",
                      accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions/one", NULL) &&
                              is_kept(".a/sessions/two", "2") && is_kept(".a/sessions/three", "3"));
        }
        rm("up");
        put("up/.a/sessions/four", "4");
        if (setxattr(at("up/.a/sessions"), "user.overlay.opaque", "y", 1, 0) < 0) {
                puts("skip a replaced directory replaces: this filesystem has no user attributes");
        } else {
                CHECK("a replaced directory replaces",
                      accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions/two", NULL) &&
                              is_kept(".a/sessions/four", "4") && is_kept(".a/history", "hh"));
                rm("up");
                put("up/.a/x", "");
                setxattr(at("up/.a"), "user.overlay.opaque", "y", 1, 0);
                CHECK("a replaced parent takes everything with it",
                      accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions", NULL) &&
                              is_kept(".a/history", NULL));
        }
        rm("up");
}

static void test_hostile(void)
{
        struct err err = {0};
        struct strs notes = {0};
        put("victim/key", "secret");
        put("up/.a/sessions/good", "g");
        char *link = at("up/.a/sessions/out");
        if (symlink("../../../victim/key", link) < 0 ||
            symlink(at("victim"), at("up/.a/sessions/abs")) < 0 ||
            symlink("good", at("up/.a/sessions/inside")) < 0 ||
            symlink("../../victim/key", at("up/.a/history")) < 0 ||
            mkfifo(at("up/.a/sessions/fifo"), 0600) < 0)
                perror("build");
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        snprintf(sa.sun_path, sizeof sa.sun_path, "%s", at("up/.a/sessions/sock"));
        if (bind(s, (struct sockaddr *)&sa, sizeof sa) < 0)
                perror("bind");
        close(s);
        put("up/.a/sessions/suid", "x");
        chmod(at("up/.a/sessions/suid"), 06777);
        put("up/.a/sessions/locked/x", "locked");
        chmod(at("up/.a/sessions/locked/x"), 0);
        chmod(at("up/.a/sessions/locked"), 0);
        put("up/.a/sessions/new\nline\033[31m", "n");

        int r = accept_upper("up", &notes, &err);
        if (!CHECK("a hostile layer is accepted as far as it is harmless",
                   r == 0 && is_kept(".a/sessions/good", "g") &&
                           is_kept(".a/sessions/locked/x", "locked") &&
                           is_kept(".a/sessions/inside", "g")))
                printf("# %s\n", err.text);
        CHECK("links that lead out, sockets and FIFOs stay behind (cases 71, 77)",
              is_kept(".a/sessions/out", NULL) && is_kept(".a/sessions/abs", NULL) &&
                      is_kept(".a/history", NULL) && is_kept(".a/sessions/fifo", NULL) &&
                      is_kept(".a/sessions/sock", NULL) && notes.n >= 5);
        char *dir = home_current(at("data"), "agent");
        char path[600];
        struct stat st = {0};
        snprintf(path, sizeof path, "%s/.a/sessions/suid", dir ? dir : "");
        CHECK("set-user-id and open modes are not kept",
              stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
        free(dir);
        bool clean = true;
        for (size_t i = 0; i < notes.n; i++)
                for (const char *p = notes.v[i]; *p; p++)
                        clean &= *p != '\033';
        CHECK("hostile names are quoted (case 76)", clean);
        strs_free(&notes);
        rm("up");

        /* A link in the place of a directory on the way. */
        put("victim/sessions/stolen", "s");
        mkdir(at("up"), 0755);
        if (symlink("../victim", at("up/.a")) < 0)
                perror("symlink");
        CHECK("a directory that became a link leads nowhere",
              accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions/stolen", NULL));
        rm("up");

        /* Deeper than we go, and than a path may be. */
        mkdir(at("up"), 0755);
        mkdir(at("up/.a"), 0755);
        mkdir(at("up/.a/sessions"), 0755);
        int fd = open(at("up/.a/sessions"), O_RDONLY | O_DIRECTORY);
        for (int i = 0; i < 300 && fd >= 0; i++) {
                mkdirat(fd, "deep", 0755);
                int next = openat(fd, "deep", O_RDONLY | O_DIRECTORY);
                close(fd);
                fd = next;
        }
        close(fd);
        put("up/.a/sessions/top", "t");
        CHECK("a tree that is too deep is cut, not followed (case 78)",
              accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions/top", "t"));
        rm("up");
}

static void test_killed(void)
{
        /* An accept that was killed at its worst moments. */
        struct err err = {0};
        char *dir = home_current(at("data"), "agent");
        unsigned long n = strtoul(strrchr(dir, '/') + 1, NULL, 10);
        free(dir);
        char rel[64];
        snprintf(rel, sizeof rel, "data/homes/agent/%lu/half", n + 1);
        put(rel, "x");
        put("data/homes/agent/tmp.1/half", "x");
        put("up/.a/sessions/after", "a");
        CHECK("an accept that was killed leaves nothing in the way",
              accept_upper("up", NULL, &err) == 0 && is_kept(".a/sessions/after", "a") &&
                      is_kept("half", NULL) && access(at("data/homes/agent/tmp.1"), F_OK) != 0);
        snprintf(rel, sizeof rel, "data/homes/agent/%lu/half", n + 2);
        put(rel, "x");
        size_t removed = 0;
        snprintf(rel, sizeof rel, "data/homes/agent/%lu", n + 2);
        CHECK("gc removes a version that never was current",
              home_gc(at("data"), &removed, &err) == 0 && access(at(rel), F_OK) != 0);
        rm("up");
}

static void test_together(void)
{
        enum { BOXES = 8 };
        pid_t pids[BOXES];
        for (int i = 0; i < BOXES; i++) {
                char rel[64];
                snprintf(rel, sizeof rel, "up%d/.a/sessions/box%d", i, i);
                put(rel, "x");
        }
        for (int i = 0; i < BOXES; i++) {
                pids[i] = fork();
                if (pids[i] == 0) {
                        char rel[16];
                        struct err err = {0};
                        snprintf(rel, sizeof rel, "up%d", i);
                        _exit(accept_upper(rel, NULL, &err) == 0 ? 0 : 1);
                }
        }
        bool all = true;
        for (int i = 0; i < BOXES; i++) {
                int status = -1;
                waitpid(pids[i], &status, 0);
                all &= status == 0;
        }
        for (int i = 0; i < BOXES; i++) {
                char rel[64];
                snprintf(rel, sizeof rel, ".a/sessions/box%d", i);
                all &= is_kept(rel, "x");
        }
        CHECK("boxes that end at once lose nothing", all && is_kept(".a/sessions/top", "t"));
        size_t n = 0;
        struct err err = {0};
        home_gc(at("data"), &n, &err);
        DIR *d = opendir(at("data/homes/agent"));
        int entries = 0;
        while (d && readdir(d))
                entries++;
        if (d)
                closedir(d);
        CHECK("nothing is left over", entries == 5); /* . .. lock current N */
}

int main(void)
{
        if (!mkdtemp(top))
                return 1;
        mkdir(at("data"), 0700);
        test_plain();
        test_overlay_signs();
        test_hostile();
        test_killed();
        test_together();
        rm("");
        rm("");
        return check_end();
}
