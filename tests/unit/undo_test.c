/* undo_test.c - records of undo: written, read, torn, taken back, taken back again, pruned. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "unit/check.h"
#include "workspace/objects.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/undo_test.XXXXXX";
static char root_path[64];
static int root_fd, undo_fd, objects_fd;

static void put(const char *path, const char *text)
{
        struct err err = {0};
        if (fdio_write_file(root_fd, path, text, 0644, &err) < 0)
                check(false, path, "%s", err.text);
}

static const char *get(const char *path)
{
        static char text[256];
        int fd = openat(root_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
                close(fd);
        if (n < 0)
                return NULL;
        text[n] = 0;
        return text;
}

static void states(void)
{
        static const char *const good[] = {"-", "?", "s", "d 755", "l a b\tc\n\\", NULL};
        static const char *const bad[] = {"",
                                          "x",
                                          "-x",
                                          "d",
                                          "d 8",
                                          "d 7777",
                                          "d 1x",
                                          "f 644",
                                          "l ",
                                          "f 644 abc 3",
                                          "f 644 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
                                          "10ff61f20015ag 3",
                                          "f 644 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
                                          "10ff61f20015ad",
                                          "f 644 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
                                          "10ff61f20015ad -3",
                                          NULL};
        for (size_t i = 0; good[i]; i++) {
                struct undo_state s;
                struct buf b = {0};
                CHECK("state: good", undo_state_parse(good[i], &s) == 0);
                undo_state_put(&b, &s);
                check_str("state: comes out as it went in", buf_cstr(&b), good[i]);
                undo_state_free(&s);
                buf_free(&b);
        }
        for (size_t i = 0; bad[i]; i++) {
                struct undo_state s;
                check(undo_state_parse(bad[i], &s) < 0, "state: bad", "\"%s\" was taken", bad[i]);
                undo_state_free(&s);
        }
        CHECK("path: fit", undo_path_is_fit("a/b.c/..d"));
        static const char *const unfit[] = {"", "/a", "a//b", "a/", ".", "../a", "a/../b", "a/./b"};
        for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
                check(!undo_path_is_fit(unfit[i]), "path: unfit", "\"%s\" was taken", unfit[i]);
}

/* change(path, text): as apply does it: kept and recorded, then touched. */
static void change(struct undo_writer *w, const char *path, const char *text)
{
        struct err err = {0};
        struct undo_state before, after = {.kind = '-'};
        if (undo_state_of(root_fd, path, objects_fd, &before, NULL, &err) < 0)
                check(false, "state_of", "%s", err.text);
        if (text) {
                after = (struct undo_state){.kind = 'f', .mode = 0644, .size = strlen(text)};
                sha256_hex(text, strlen(text), after.sha);
        }
        undo_add(w, path, &before, &after);
        CHECK("synced", undo_sync(w, &err) == 0);
        if (text)
                put(path, text);
        else
                unlinkat(root_fd, path, 0);
        undo_state_free(&before);
}

static struct undo_head head(void)
{
        struct stat st;
        fstat(root_fd, &st);
        return (struct undo_head){.what = "apply",
                                  .box = "amber-1",
                                  .layer = "ws",
                                  .root = root_path,
                                  .dev = st.st_dev,
                                  .ino = st.st_ino};
}

static bool says_yes(void *arg, const char *path, const char *why)
{
        (void)path, (void)why;
        ++*(int *)arg;
        return true;
}

static bool says_no(void *arg, const char *path, const char *why)
{
        (void)path, (void)why;
        ++*(int *)arg;
        return false;
}

static void there_and_back(void)
{
        struct err err = {0};
        struct undo_head h = head();
        put("old", "one");
        put("gone", "two");
        put("odd\tname\n\\x", "three");
        put("mine", "four");
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        CHECK("begin", w && undo_number(w) == 1);
        change(w, "old", "ONE");
        change(w, "gone", NULL);
        change(w, "odd\tname\n\\x", "THREE");
        change(w, "new", "NEW");
        change(w, "mine", "FOUR");
        CHECK("done", undo_done(w, &err) == 0);
        undo_close(w);
        chmod(top, 0700);
        put("mine", "the user's own");

        struct undo_record r;
        CHECK("read", undo_read(undo_fd, 1, &r, &err) == 0);
        CHECK("read: entries", r.entries_n == 5 && r.is_done && !r.is_undone);
        check_str("read: box", r.box, "amber-1");
        check_str("read: odd name", r.v[2].path, "odd\tname\n\\x");
        undo_record_free(&r);

        struct undo_result res;
        int asked = 0;
        struct undo_opts dry = {.is_dry = true, .may_replace = says_no, .arg = &asked};
        CHECK("dry", undo_run(undo_fd, 1, &dry, &res, &err) == 0 && res.done_n == 4 &&
                             res.left_n == 1 && asked == 1);
        check_str("dry: nothing done", get("old"), "ONE");

        asked = 0;
        struct undo_opts no = {.may_replace = says_no, .arg = &asked};
        CHECK("undo", undo_run(undo_fd, 1, &no, &res, &err) == 0);
        CHECK("undo: counts",
              res.done_n == 4 && res.left_n == 1 && asked == 1 && res.record_n == 2);
        check_str("undo: content", get("old"), "one");
        check_str("undo: deletion", get("gone"), "two");
        check_str("undo: odd name", get("odd\tname\n\\x"), "three");
        check_str("undo: addition", get("new"), NULL);
        check_str("undo: what changed since is left", get("mine"), "the user's own");

        CHECK("undo the rest: asks",
              undo_run(undo_fd, 1, &(struct undo_opts){.may_replace = says_yes, .arg = &asked},
                       &res, &err) == 0 &&
                      res.done_n == 1);
        check_str("undo the rest", get("mine"), "four");
        CHECK("undo a third time",
              undo_run(undo_fd, 1, &no, &res, &err) < 0 && strstr(err.text, "undone already"));

        /* redo */
        CHECK("redo", undo_run(undo_fd, 2, &no, &res, &err) == 0 && res.done_n == 4);
        check_str("redo: content", get("old"), "ONE");
        check_str("redo: deletion", get("gone"), NULL);
        check_str("redo: addition", get("new"), "NEW");
        CHECK("redo of the user's own", undo_run(undo_fd, 3, &no, &res, &err) == 0);
        check_str("redo of the user's own: back", get("mine"), "the user's own");
        CHECK("absent record", undo_run(undo_fd, 99, &no, &res, &err) < 0 && err.code == E_ABSENT);
}

static void torn(void)
{
        struct err err = {0};
        int fd = openat(undo_fd, "1/record", O_RDWR | O_CLOEXEC);
        struct stat st;
        fstat(fd, &st);
        /* whatever length it was cut to, it is read without a fault and can be gone on with */
        for (off_t n = st.st_size; n >= 0; n -= 7) {
                struct undo_record r;
                if (ftruncate(fd, n) < 0 || undo_read(undo_fd, 1, &r, &err) < 0)
                        check(false, "torn", "at %ld", (long)n);
                else
                        undo_record_free(&r);
        }
        close(fd);
        unlinkat(undo_fd, "1/record", 0);
        unlinkat(undo_fd, "1", AT_REMOVEDIR);
        struct undo_head h = head();
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        uint64_t n = undo_number(w);
        change(w, "old", "torn");
        undo_close(w);
        char path[40];
        snprintf(path, sizeof path, "%llu/record", (unsigned long long)n);
        fd = openat(undo_fd, path, O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK("torn: half a line", write(fd, "path half", 9) == 9);
        close(fd);
        struct undo_result res;
        CHECK("torn: undone",
              undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) == 0 && res.done_n == 1);
        struct undo_record r;
        CHECK("torn: the mark is read", undo_read(undo_fd, n, &r, &err) == 0 && r.is_undone);
        undo_record_free(&r);
}

static void damaged(void)
{
        struct err err = {0};
        struct undo_head h = head();
        put("old", "precious");
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        uint64_t n = undo_number(w);
        change(w, "old", "worthless");
        undo_done(w, &err);
        undo_close(w);
        char hex[SHA256_HEX_LEN + 1], path[80];
        sha256_hex("precious", 8, hex);
        snprintf(path, sizeof path, "%.2s/%s", hex, hex + 2);
        CHECK("case 79: content is writable", fchmodat(objects_fd, path, 0600, 0) == 0);
        int fd = openat(objects_fd, path, O_WRONLY | O_CLOEXEC);
        CHECK("case 79: content is damaged", pwrite(fd, "evil", 4, 0) == 4);
        close(fd);
        struct undo_result res;
        CHECK("case 79: damaged content is never restored",
              undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) < 0 &&
                      strstr(err.text, "damaged"));
        check_str("case 79: the host is as before", get("old"), "worthless");
        fd = openat(objects_fd, path, O_WRONLY | O_CLOEXEC);
        CHECK("case 79: mended", pwrite(fd, "prec", 4, 0) == 4);
        close(fd);
        CHECK("case 79: the control",
              undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) == 0);
        check_str("case 79: restored", get("old"), "precious");
}

static void moved(void)
{
        struct err err = {0};
        struct undo_head h = head();
        char aside[80];
        snprintf(aside, sizeof aside, "%s.aside", root_path);
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        uint64_t n = undo_number(w);
        change(w, "old", "moved");
        undo_done(w, &err);
        undo_close(w);
        struct undo_result res;
        rename(root_path, aside);
        CHECK("moved: refused", undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) < 0 &&
                                        strstr(err.text, "not there any more"));
        mkdir(root_path, 0700);
        CHECK("replaced: refused", undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) < 0 &&
                                           strstr(err.text, "another directory"));
        rmdir(root_path);
        rename(aside, root_path);
        CHECK("moved back: done",
              undo_run(undo_fd, n, &(struct undo_opts){0}, &res, &err) == 0 && res.done_n == 1);
}

static mode_t mode_of(const char *path)
{
        struct stat st;
        return fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & 07777 : 0;
}

/* A run that was killed while directories were open to their owner. */
static void shut(void)
{
        struct err err = {0};
        struct undo_head h = head();
        struct stat st;
        static const char *const dirs[] = {"shut", "shut/in", "other", "moved"};
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        for (size_t i = 0; i < 4; i++) {
                CHECK("shut: a directory", mkdirat(root_fd, dirs[i], 0700) == 0 &&
                                                   fstatat(root_fd, dirs[i], &st, 0) == 0 &&
                                                   fchmodat(root_fd, dirs[i], 02755, 0) == 0);
                struct undo_shut s = {.path = (char *)dirs[i], .mode = 02555, .ino = st.st_ino};
                undo_opened(w, &s);
        }
        CHECK("shut: noted", undo_sync(w, &err) == 0);
        uint64_t n = undo_number(w);
        undo_close(w);
        struct undo_record r;
        CHECK("shut: read", undo_read(undo_fd, n, &r, &err) == 0 && r.shut_n == 4 &&
                                    strcmp(r.shut[1].path, "shut/in") == 0 &&
                                    r.shut[1].mode == 02555 && r.shut[1].ino != 0);
        undo_record_free(&r);
        CHECK("shut: others went on", fchmodat(root_fd, "other", 0711, 0) == 0 &&
                                              renameat(root_fd, "moved", root_fd, "away") == 0 &&
                                              symlinkat("away", root_fd, "moved") == 0);
        CHECK("shut: the next run shuts them", undo_clean(undo_fd, root_fd, &err) == 0 &&
                                                       mode_of("shut") == 02555 &&
                                                       mode_of("shut/in") == 02555);
        CHECK("shut: one with another mode by now is left", mode_of("other") == 0711);
        CHECK("shut: so is one that is elsewhere", mode_of("away") == 02755);
        CHECK("shut: once", fchmodat(root_fd, "shut", 02755, 0) == 0 &&
                                    undo_clean(undo_fd, root_fd, &err) == 0 &&
                                    mode_of("shut") == 02755);
        static const char *const odd[] = {
                "open 555\t1\t../x", "open 9\t1\tx", "open 555\tx\ty", "open 70000\t1\tx",
                "open 555\t1",       "open \t\t",    "open -1\t1\tx",  NULL};
        for (size_t i = 0; odd[i]; i++) {
                _cleanup_close_ int fd = open(top, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
                dprintf(fd, "%s\n", odd[i]);
                lseek(fd, 0, SEEK_SET);
                CHECK(odd[i], undo_parse(fd, true, &r, &err) == 0 && r.shut_n == 0);
                undo_record_free(&r);
        }
        static const struct {
                const char *line;
                int64_t us;
        } times[] = {{"when_us 1700000000123456", 1700000000123456},
                     {"when 1700000000", 1700000000999999},
                     {"when_us 9223372036854775807", 0},
                     {"when 18446744073709551615", 0},
                     {NULL, 0}};
        for (size_t i = 0; times[i].line; i++) {
                _cleanup_close_ int fd = open(top, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
                dprintf(fd, "%s\n", times[i].line);
                lseek(fd, 0, SEEK_SET);
                CHECK(times[i].line,
                      undo_parse(fd, true, &r, &err) == 0 && r.when_us == times[i].us);
                undo_record_free(&r);
        }
}

static int count(void *ctx, const struct undo_record *r)
{
        (void)r;
        ++*(int *)ctx;
        return 0;
}

static void pruned(void)
{
        struct err err = {0};
        uint64_t removed, freed;
        int n = 0, after = 0;
        undo_list(undo_fd, false, count, &n, &err);
        CHECK("prune: nothing is old",
              undo_prune(undo_fd, 86400, 1 << 30, &removed, &freed, &err) == 0 && removed == 0);
        CHECK("prune: by size", undo_prune(undo_fd, 86400, 0, &removed, &freed, &err) == 0);
        undo_list(undo_fd, false, count, &after, &err);
        CHECK("prune: the newest of the root stays",
              n > 3 && after == 1 && removed == (uint64_t)n - 1);
        struct undo_head h = head();
        struct undo_writer *w = undo_begin(undo_fd, &h, &err);
        CHECK("numbers are not used again", undo_number(w) > (uint64_t)n);
        undo_drop(w);
}

int main(void)
{
        struct err err = {0};
        if (!mkdtemp(top))
                return 1;
        snprintf(root_path, sizeof root_path, "%s/root", top);
        mkdir(root_path, 0700);
        root_fd = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        undo_fd = undo_store_open(top, &err);
        objects_fd = undo_objects(undo_fd, &err);
        states();
        there_and_back();
        torn();
        damaged();
        moved();
        shut();
        pruned();
        char cmd[80];
        snprintf(cmd, sizeof cmd, "rm -rf %s", top);
        return system(cmd) ? 1 : check_end();
}
