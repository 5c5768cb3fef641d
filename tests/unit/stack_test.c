/* stack_test.c - frozen layers: the list and every way it can be cut, freezing killed at random
 * moments, copies that keep what they copy, and squashing, which must show what showed before:
 * random layers are read through a view before and after. */
#include "workspace/stack.h"

#include "unit/liblayers.h"
#include "workspace/view.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int box_fd, frozen_fd;

static void fresh_box(void)
{
        beneath_remove_tree(AT_FDCWD, "box", NULL);
        beneath_remove_tree(AT_FDCWD, "frozen", NULL);
        dirs("box/layers/ws/upper");
        dirs("box/layers/home/upper");
        dirs("frozen");
        close(box_fd);
        close(frozen_fd);
        box_fd = open("box", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        frozen_fd = open("frozen", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* dump(v): everything a view shows, as text: what two views are compared by. */
static void dump_dir(const struct ws_dir *d, const char *path, struct buf *out)
{
        struct ws_names names = {0};
        if (ws_dir_list(d, 0, &names, NULL) < 0)
                buf_put_fmt(out, "%s: cannot be listed\n", path);
        for (size_t i = 0; i < names.n; i++) {
                struct ws_node n;
                _cleanup_free_ char *sub = str_fmt("%s/%s", path, names.v[i]);
                if (ws_dir_look(d, names.v[i], &n, NULL) < 0 || n.kind == WS_NONE) {
                        buf_put_fmt(out, "%s cannot be looked at\n", sub);
                        continue;
                }
                buf_put_fmt(out, "%s %d %o", sub, (int)n.kind, n.mode);
                if (n.kind == WS_FILE) {
                        _cleanup_close_ int fd = ws_dir_file(d, names.v[i], &n, NULL);
                        buf_put_str(out, " ");
                        if (fd >= 0)
                                fdio_read_all(fd, out, 1 << 20);
                } else if (n.kind == WS_LINK) {
                        buf_put_str(out, " ");
                        ws_dir_link(d, names.v[i], &n, out, NULL);
                }
                buf_put_str(out, "\n");
                if (n.kind == WS_DIR) {
                        struct ws_dir *in = ws_dir_open(d, names.v[i], NULL);
                        if (in)
                                dump_dir(in, sub, out);
                        ws_dir_close(in);
                }
        }
        ws_names_free(&names);
}

/* shown(s, with_upper): what a box with this list sees over the directory "host". */
static char *shown(const struct stack *s, bool with_upper)
{
        struct ws_view v = {0};
        _cleanup_buf_ struct buf out = {0};
        int fds[STACK_MAX + 2];
        size_t n = 0;
        if (with_upper &&
            (fds[n] = openat(box_fd, "layers/ws/upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0)
                ws_view_add(&v, fds[n++], true);
        for (size_t i = s->n; i-- > 0;)
                if ((fds[n] = stack_open(frozen_fd, s->v[i].id, "ws", NULL)) >= 0)
                        ws_view_add(&v, fds[n++], true);
        if ((fds[n] = open("host", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0)
                ws_view_add(&v, fds[n++], false);
        struct ws_dir *d = ws_dir_root(&v, NULL);
        if (d)
                dump_dir(d, "", &out);
        ws_dir_close(d);
        ws_view_free(&v);
        while (n-- > 0)
                close(fds[n]);
        return str_dup(buf_cstr(&out));
}

static void test_list(void)
{
        fresh_box();
        struct stack s = {0}, got = {0};
        struct err err = {0};
        CHECK("a list that is not there is empty",
              stack_read(box_fd, "stack", &got, &err) == 0 && got.n == 0);
        stack_add(&s, "0123456789abcdef", "turn", "make\ttest\nall", 5);
        stack_add(&s, "fedcba9876543210", "snapshot", "", 6);
        stack_add(&s, "1111111111111111", "turn", "x", 7);
        CHECK("it is written", stack_write(box_fd, "stack", &s, &err) == 0);
        CHECK("and read", stack_read(box_fd, "stack", &got, &err) == 0 && got.n == 3);
        check_str("a label stays on its line", got.n == 3 ? got.v[0].label : "", "make test all");
        CHECK("times and ids are kept",
              got.n == 3 && got.v[2].when_s == 7 && !strcmp(got.v[1].id, "fedcba9876543210"));
        CHECK("turns are counted",
              stack_turn(&got, 1) == 0 && stack_turn(&got, 2) == 2 && stack_turn(&got, 3) == 3);
        stack_free(&got);

        _cleanup_free_ char *text = fdio_read_file(box_fd, "stack", 1 << 20, NULL);
        size_t bad = 0, len = strlen(text);
        for (size_t i = 0; i < len; i++) {
                char *cut = str_fmt("%.*s", (int)i, text);
                bad += stack_parse(cut, &got, &err) == 0;
                stack_free(&got);
                free(cut);
        }
        CHECK("wherever it is cut, it is seen to be damaged", bad == 0);
        static const char *const odd[] = {
                "layer 0123456789abcdeg\tturn\tx\t1\nlayers 1\n",
                "layer ../../../../etc/\tturn\tx\t1\nlayers 1\n",
                "layer 0123456789abcdef\tother\tx\t1\nlayers 1\n",
                "layer 0123456789abcdef\tturn\tx\nlayers 1\n",
                "layer 0123456789abcdef\tturn\tx\t-1\nlayers 1\n",
                "layers 1\n",
                "",
        };
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
                char *copy = str_dup(odd[i]);
                check(stack_parse(copy, &got, &err) < 0, "a list that makes no sense is refused",
                      "%s", odd[i]);
                stack_free(&got);
                free(copy);
        }
        stack_free(&s);
}

static void test_freeze(void)
{
        fresh_box();
        char id[STACK_ID_LEN + 1];
        struct err err = {0};
        struct stack s = {0};
        struct stat before, st;
        put("box/layers/ws/upper/a", "one");
        put("box/layers/ws/upper/d/b", "two");
        chmod("box/layers/ws/upper", 0751);
        stat("box/layers/ws/upper/a", &before);
        CHECK("a box is frozen",
              stack_freeze(box_fd, frozen_fd, "snapshot", "s", id, &err) == 0 && stack_is_id(id));
        CHECK("its list says so",
              stack_read(box_fd, "stack", &s, &err) == 0 && s.n == 1 && !strcmp(s.v[0].id, id));
        _cleanup_free_ char *path = str_fmt("frozen/%s/ws/a", id);
        CHECK("by moving, not copying", stat(path, &st) == 0 && st.st_ino == before.st_ino);
        CHECK("the next upper is there, empty and with the same mode",
              stat("box/layers/ws/upper", &st) == 0 && (st.st_mode & 07777) == 0751 &&
                      access("box/layers/ws/upper/a", F_OK) < 0);
        _cleanup_free_ char *home = str_fmt("frozen/%s/home", id);
        CHECK("a layer that holds nothing is not in it", access(home, F_OK) < 0);
        CHECK("a box that holds nothing new is not frozen again",
              stack_freeze(box_fd, frozen_fd, "snapshot", "s", id, &err) == 0 && !id[0]);
        _cleanup_close_ int fd = stack_open(frozen_fd, s.v[0].id, "ws", &err);
        CHECK("its tree can be opened", fd >= 0);
        err = (struct err){0};
        CHECK("a name that it has not is told as such",
              stack_open(frozen_fd, s.v[0].id, "home", &err) < 0 && err.sys == ENOENT);
        err = (struct err){0};
        CHECK("an entry that is missing is another thing",
              stack_open(frozen_fd, "0000000000000000", "ws", &err) < 0 && err.code == E_INPUT);
        stack_free(&s);
}

/* Killed at random moments, a freeze leaves the same files in sight. */
static void test_killed(void)
{
        fresh_box();
        dirs("host");
        for (int i = 0; i < 40; i++) {
                _cleanup_free_ char *path = str_fmt("box/layers/ws/upper/f%d", i);
                put(path, "x");
        }
        struct stack s = {0};
        _cleanup_free_ char *want = shown(&s, true);
        int bad = 0, broken = 0;
        /* Moments are spread over twice the time that a freeze takes here. */
        struct timespec from, to;
        char first[STACK_ID_LEN + 1];
        clock_gettime(CLOCK_MONOTONIC, &from);
        stack_freeze(box_fd, frozen_fd, "snapshot", "s", first, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        long span = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec + 500000;
        span = span > 400000000 ? 400000000 : span;
        put("box/layers/ws/upper/f0", "x");
        for (int i = 0; i < 80; i++) {
                pid_t pid = fork();
                if (pid == 0) {
                        char id[STACK_ID_LEN + 1];
                        stack_freeze(box_fd, frozen_fd, "snapshot", "s", id, NULL);
                        _exit(0);
                }
                struct timespec t = {.tv_nsec = rand() % (2 * span)};
                nanosleep(&t, NULL);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                stack_free(&s);
                broken += stack_read(box_fd, "stack", &s, NULL) < 0;
                _cleanup_free_ char *now = shown(&s, true);
                bad += strcmp(now, want) != 0;
                /* Something new, so that there is something to freeze. */
                put("box/layers/ws/upper/f0", "x");
        }
        check(bad == 0 && broken == 0, "a freeze that is killed hides nothing",
              "%d of 80 times something was gone, %d times the list was broken", bad, broken);
        CHECK("some of them were done", s.n > 3);
        stack_free(&s);
}

static void test_copy(void)
{
        fresh_box();
        char id[STACK_ID_LEN + 1];
        struct err err = {0};
        struct stat a, b;
        put("box/layers/ws/upper/a", "one");
        link("box/layers/ws/upper/a", "box/layers/ws/upper/second");
        put("box/layers/ws/upper/locked", "secret");
        chmod("box/layers/ws/upper/locked", 0);
        dirs("box/layers/ws/upper/shut");
        put("box/layers/ws/upper/shut/in", "in");
        chmod("box/layers/ws/upper/shut", 0);
        symlink("../../../etc/passwd", "box/layers/ws/upper/link");
        mkfifo("box/layers/ws/upper/fifo", 0620);
        chmod("box/layers/ws/upper/fifo", 0620);
        whiteout("box/layers/ws/upper/gone");
        dirs("box/layers/ws/upper/new");
        mark("box/layers/ws/upper/new", "opaque", "y");
        int fd = open("box/layers/ws/upper/holes", O_CREAT | O_RDWR | O_CLOEXEC, 0640);
        CHECK("a file with holes",
              ftruncate(fd, 64 << 20) == 0 && pwrite(fd, "end", 3, (64 << 20) - 3) == 3);
        close(fd);
        struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 2000, .tv_nsec = 5}};
        utimensat(AT_FDCWD, "box/layers/ws/upper/a", old, 0);
        utimensat(AT_FDCWD, "box/layers/ws/upper/new", old, 0);
        if (!check(stack_copy(box_fd, frozen_fd, "snapshot", "s", id, &err) == 0, "a copy is made",
                   "%s", err.text))
                return;
        struct stack s = {0};
        CHECK("which is in no list yet", stack_read(box_fd, "stack", &s, &err) == 0 && s.n == 0);
        _cleanup_free_ char *top = str_fmt("frozen/%s/ws", id);
        CHECK("in it", chdir(top) == 0);
        CHECK("two names of one file are two names of one file",
              stat("a", &a) == 0 && stat("second", &b) == 0 && a.st_ino == b.st_ino);
        CHECK("with its time", a.st_mtim.tv_sec == 2000 && a.st_mtim.tv_nsec == 5);
        CHECK("a directory has its time too", stat("new", &a) == 0 && a.st_mtim.tv_sec == 2000);
        CHECK("modes are kept, also those that forbid",
              stat("locked", &a) == 0 && (a.st_mode & 07777) == 0 && stat("shut", &b) == 0 &&
                      (b.st_mode & 07777) == 0);
        CHECK("holes stay holes",
              stat("holes", &a) == 0 && a.st_size == 64 << 20 && a.st_blocks * 512 < 1 << 20);
        CHECK("a whiteout is one", lstat("gone", &a) == 0 && S_ISCHR(a.st_mode) && a.st_rdev == 0);
        char v[4] = "";
        CHECK("an opaque directory is one",
              getxattr("new", "user.overlay.opaque", v, sizeof v) == 1 && v[0] == 'y');
        char target[64] = "";
        CHECK("a link is not followed", readlink("link", target, sizeof target - 1) > 0 &&
                                                !strcmp(target, "../../../etc/passwd"));
        CHECK("a FIFO is not waited for",
              lstat("fifo", &a) == 0 && S_ISFIFO(a.st_mode) && (a.st_mode & 07777) == 0620);
        chmod("shut", 0700);
        CHECK("what a shut directory holds is there", access("shut/in", F_OK) == 0);
        CHECK("nothing is left of the work", access("../.links", F_OK) < 0);
        CHECK("and back", chdir(scratch) == 0);
        CHECK("the box's own are as they were",
              stat("box/layers/ws/upper/locked", &a) == 0 && (a.st_mode & 07777) == 0 &&
                      stat("box/layers/ws/upper/shut", &b) == 0 && (b.st_mode & 07777) == 0);
        chmod("box/layers/ws/upper/shut", 0700);
}

static void test_deep(void)
{
        fresh_box();
        char id[STACK_ID_LEN + 1];
        struct err err = {0};
        int fd = openat(box_fd, "layers/ws/upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < 2100 && fd >= 0; i++) {
                mkdirat(fd, "d", 0755);
                int in = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                close(fd);
                fd = in;
        }
        close(fd);
        CHECK("a tree that is too deep is told of",
              stack_copy(box_fd, frozen_fd, "snapshot", "s", id, &err) < 0 && err.text[0]);
        struct stack s = {0};
        int n = 0;
        DIR *d = opendir("frozen");
        for (struct dirent *e; d && (e = readdir(d));)
                n += stack_is_id(e->d_name);
        closedir(d);
        CHECK("and nothing is left of the copy", n == 0);
        CHECK("it can be frozen all the same",
              stack_freeze(box_fd, frozen_fd, "snapshot", "s", id, &err) == 0 &&
                      stack_read(box_fd, "stack", &s, &err) == 0 && s.n == 1);
        stack_free(&s);
}

/* random_layer(dir): files, links, whiteouts and directories with few names, so that they meet. */
static void random_layer(const char *dir, int depth)
{
        static const char *const names[] = {"a", "b", "c", "d"};
        for (size_t i = 0; i < 4; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", dir, names[i]);
                _cleanup_free_ char *text = str_fmt("%d", rand() % 1000);
                switch (rand() % 8) {
                case 0:
                case 1:
                        put(path, text);
                        chmod(path, (mode_t)(0600 | rand() % 64));
                        break;
                case 2:
                        whiteout(path);
                        break;
                case 3:
                        symlink(text, path);
                        break;
                case 4:
                case 5:
                        if (depth == 0)
                                break;
                        mkdir(path, (mode_t)(0700 | rand() % 64));
                        if (rand() % 3 == 0)
                                mark(path, "opaque", "y");
                        random_layer(path, depth - 1);
                        break;
                default:
                        break;
                }
        }
}

static void plain_layer(const char *dir, int depth)
{
        static const char *const names[] = {"a", "b", "c", "d"};
        for (size_t i = 0; i < 4; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", dir, names[i]);
                if (rand() % 2 && depth) {
                        mkdir(path, 0755);
                        plain_layer(path, depth - 1);
                } else {
                        put(path, "host");
                }
        }
}

static void test_squash(void)
{
        int bad = 0, failed = 0, turns_bad = 0;
        for (int round = 0; round < 60; round++) {
                fresh_box();
                beneath_remove_tree(AT_FDCWD, "host", NULL);
                dirs("host");
                plain_layer("host", 3);
                struct stack s = {0};
                struct err err = {0};
                bool has_turns = round % 4 == 3;
                int n = 2 + rand() % 6;
                for (int i = 0; i < n; i++) {
                        char id[STACK_ID_LEN + 1];
                        random_layer("box/layers/ws/upper", 3);
                        stack_freeze(box_fd, frozen_fd, has_turns && i % 2 ? "turn" : "snapshot",
                                     "l", id, &err);
                }
                stack_read(box_fd, "stack", &s, &err);
                size_t was_n = s.n, was_turns = 0, turns = 0;
                while (stack_turn(&s, (unsigned)was_turns + 1) < s.n)
                        was_turns++;
                _cleanup_free_ char *before = shown(&s, false);
                if (stack_squash(frozen_fd, &s, 0, &err) < 0) {
                        failed++;
                        printf("# %s\n", err.text);
                }
                while (stack_turn(&s, (unsigned)turns + 1) < s.n)
                        turns++;
                turns_bad += turns != was_turns || (!has_turns && was_n > 1 && s.n != 1);
                _cleanup_free_ char *after = shown(&s, false);
                if (strcmp(before, after) != 0 && bad++ == 0)
                        printf("# before:\n%s# after:\n%s", before, after);
                stack_free(&s);
        }
        check(bad == 0 && failed == 0, "what is squashed shows what it showed",
              "%d of 60 differ, %d failed", bad, failed);
        CHECK("turns stay apart, the rest becomes one", turns_bad == 0);
}

struct told {
        struct buf back, kept;
};

static void on_path(void *arg, const char *layer, const char *path, bool is_kept)
{
        struct told *t = arg;
        buf_put_fmt(is_kept ? &t->kept : &t->back, "%s:%s ", layer, path);
}

static void turn(const char *label)
{
        char id[STACK_ID_LEN + 1];
        stack_freeze(box_fd, frozen_fd, "turn", label, id, NULL);
}

static void test_back(void)
{
        fresh_box();
        beneath_remove_tree(AT_FDCWD, "host", NULL);
        put("host/a", "host");
        put("host/d/x", "host");
        put("box/layers/ws/upper/a", "one");
        put("box/layers/ws/upper/d/y", "one");
        put("box/layers/home/upper/memory", "one");
        turn("one");
        put("box/layers/ws/upper/a", "two");
        whiteout("box/layers/ws/upper/gone");
        turn("two");
        struct stack s = {0};
        struct err err = {0};
        struct told t = {0};
        struct stack_back how = {.on_path = on_path, .arg = &t, .whole = "home", .is_dry = true};
        stack_read(box_fd, "stack", &s, &err);
        _cleanup_free_ char *before = shown(&s, true);
        CHECK("a turn can be looked at", stack_back(box_fd, frozen_fd, &s, 0, &how, &err) == 0);
        _cleanup_free_ char *same = shown(&s, true);
        CHECK("which changes nothing", s.n == 2 && !strcmp(before, same));
        check_str("what later ones changed stays", buf_cstr(&t.kept), "ws:a ");
        check_str("the rest goes", buf_cstr(&t.back), "ws:d/y ");
        how.is_dry = false;
        CHECK("it is taken back",
              stack_back(box_fd, frozen_fd, &s, 0, &how, &err) == 0 && s.n == 2);
        _cleanup_free_ char *after = shown(&s, true);
        CHECK("and is gone from sight",
              strstr(after, "two") && strstr(after, "/d/x") && !strstr(after, "/d/y"));
        _cleanup_free_ char *memory = str_fmt("frozen/%s/home/memory", s.v[0].id);
        CHECK("the home stays", access(memory, F_OK) == 0);
        CHECK("the newest goes whole", stack_back(box_fd, frozen_fd, &s, 1, &how, &err) == 0 &&
                                               s.n == 1 && !strcmp(s.v[0].kind, "turn"));
        CHECK("and then the first", stack_back(box_fd, frozen_fd, &s, 0, &how, &err) == 0 &&
                                            s.n == 1 && !strcmp(s.v[0].kind, "snapshot"));
        _cleanup_free_ char *end = shown(&s, true);
        struct stack none = {0};
        _cleanup_free_ char *host = shown(&none, false);
        check_str("nothing but the host is left", end, host);
        buf_free(&t.back);
        buf_free(&t.kept);
        stack_free(&s);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip stack: user xattrs cannot be set in /tmp\n");
                return 0;
        }
        srand((unsigned)getpid());
        printf("# seed %d\n", (int)getpid());
        box_fd = frozen_fd = -1;
        test_list();
        test_freeze();
        test_killed();
        test_copy();
        test_deep();
        test_squash();
        test_back();
        scratch_end();
        return check_end();
}
