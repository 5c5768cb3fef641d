/* tree_test.c - copies of honest trees: everything arrives, in the place that cp would give it.
 * suite: check=any test=root,user soak=root,user timeout=120
 * tier: root keeps owners, a user does not */
#include "unit/libtree.h"

#include <sys/un.h>

static bool mode_is(const char *path, mode_t mode)
{
        struct stat st;
        return lstat(path, &st) == 0 && (st.st_mode & 07777) == mode;
}

static void make_tree(void)
{
        mkdir("src", 0755);
        mkdir("src/sub", 0755);
        mkdir("src/sub/shut", 0755);
        put("src/a", "alpha");
        put("src/sub/b", "");
        put("src/sub/shut/c", "gamma");
        put("src/sub/line\nbreak\x1b[31m", "odd");
        chmod("src/a", 0750);
        chmod("src/sub/b", 06644); /* setuid, setgid */
        symlink("sub/b", "src/link");
        symlink("../a", "src/sub/up");
        symlink("nowhere", "src/dangling");
        chmod("src/sub/shut", 0555);
        struct timespec t[2] = {{.tv_sec = 1}, {.tv_sec = 1000000000, .tv_nsec = 123456789}};
        utimensat(AT_FDCWD, "src/a", t, 0);
        utimensat(AT_FDCWD, "src/sub", t, 0);
}

static bool is_copy(const char *dir)
{
        char p[256];
        struct stat st;
        bool is_good = true;
#define AT(name) (snprintf(p, sizeof p, "%s/%s", dir, name), p)
        is_good &= holds(AT("a"), "alpha") && mode_is(AT("a"), 0750);
        is_good &= holds(AT("sub/b"), "") && mode_is(AT("sub/b"), 0644);
        is_good &= holds(AT("sub/shut/c"), "gamma") && mode_is(AT("sub/shut"), 0555);
        is_good &= holds(AT("sub/line\nbreak\x1b[31m"), "odd");
        is_good &= links_to(AT("link"), "sub/b") && links_to(AT("sub/up"), "../a") &&
                   links_to(AT("dangling"), "nowhere");
        is_good &= stat(AT("a"), &st) == 0 && st.st_mtim.tv_sec == 1000000000 &&
                   st.st_mtim.tv_nsec == 123456789;
        is_good &= stat(AT("sub"), &st) == 0 && st.st_mtim.tv_sec == 1000000000;
        return is_good && entries_in(dir) == 4 && entries_in(AT("sub")) == 4;
#undef AT
}

static void both_ways(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        make_tree();
        CHECK("out", copy_out("src", "out", &o, &err) == 0 && is_copy("out") && notes_n == 0);
        CHECK("in", copy_in("src", "in", &o, &err) == 0 && is_copy("in") && notes_n == 0);
        CHECK("over itself again", copy_out("src/.", "out", &o, &err) == -1 || geteuid() == 0);
        chmod("out/sub/shut", 0755);
        chmod("out/sub", 0711);
        CHECK("over a copy that is there",
              copy_out("src/.", "out", &o, &err) == 0 && holds("out/sub/shut/c", "gamma"));
        CHECK("directories that exist keep their modes",
              mode_is("out/sub", 0711) && mode_is("out/sub/shut", 0755));
}

static void places(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        mkdir("p", 0755);
        mkdir("p/dir", 0755);
        put("p/file", "old");
        CHECK("a file to a new name",
              copy_out("src/a", "p/new", &o, &err) == 0 && holds("p/new", "alpha"));
        CHECK("a file over a file",
              copy_out("src/a", "p/file", &o, &err) == 0 && holds("p/file", "alpha"));
        CHECK("a file into a directory",
              copy_out("src/a", "p/dir", &o, &err) == 0 && holds("p/dir/a", "alpha"));
        CHECK("a file into a directory with /", copy_in("src/a", "p/dir/", &o, &err) == 0);
        CHECK("a file to a missing directory with /",
              copy_out("src/a", "p/none/", &o, &err) == -1 &&
                      strstr(err.text, "is not a directory"));
        CHECK("a file below a missing directory", copy_out("src/a", "p/none/x", &o, &err) == -1);
        CHECK("the same into the box",
              copy_in("src/a", "p/none/x", &o, &err) == -1 &&
                      strstr(err.text, "the box says: open p/none in the box"));
        CHECK("a file over a directory of its name",
              mkdir("p/dir2", 0755) == 0 && mkdir("p/dir2/a", 0755) == 0 &&
                      copy_out("src/a", "p/dir2", &o, &err) == -1 &&
                      strstr(err.text, "is a directory"));
        CHECK("a directory to a new name",
              copy_out("src/", "p/tree", &o, &err) == 0 && is_copy("p/tree"));
        CHECK("a directory into a directory",
              copy_out("src", "p/dir", &o, &err) == 0 && is_copy("p/dir/src"));
        mkdir("p/content", 0755);
        CHECK("its content into a directory",
              copy_in("src/.", "p/content", &o, &err) == 0 && is_copy("p/content"));
        CHECK("a directory over a file", copy_out("src", "p/file", &o, &err) == -1 &&
                                                 strstr(err.text, "is not a directory") &&
                                                 holds("p/file", "alpha"));
        CHECK("a missing source",
              copy_out("none", "p", &o, &err) == -1 && strstr(err.text, "No such file"));
        CHECK("a device as source",
              copy_out("/dev/null", "p", &o, &err) == -1 && strstr(err.text, "neither"));
        CHECK("a link as source is followed", copy_out("src/link", "p/linked", &o, &err) == 0 &&
                                                      holds("p/linked", "") &&
                                                      !links_to("p/linked", "sub/b"));
        char *b = tree_base("/");
        CHECK("the base of /", !*b);
        free(b);
        b = tree_base("a/b//");
        CHECK("the base of a/b//", !strcmp(b, "b"));
        free(b);
}

static void big_files(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        struct stat st;
        int fd = open("sparse", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
        bool is_made =
                ftruncate(fd, (off_t)1 << 34) == 0 && pwrite(fd, "x", 1, (off_t)5 << 30) == 1;
        CHECK("case 78: a sparse file of 16 GiB stays sparse",
              is_made && copy_out("sparse", "sparse2", &o, &err) == 0 &&
                      stat("sparse2", &st) == 0 && st.st_size == (off_t)1 << 34 &&
                      st.st_blocks < 4096);
        close(fd);
        char c = 0;
        fd = open("sparse2", O_RDONLY | O_CLOEXEC);
        CHECK("and has its one byte", pread(fd, &c, 1, (off_t)5 << 30) == 1 && c == 'x');
        close(fd);

        char *big = malloc(3000001);
        for (int i = 0; i < 3000001; i++)
                big[i] = (char)(i * 7 + i / 65536);
        fd = open("big", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
        fdio_write_all(fd, big, 3000001);
        close(fd);
        free(big);
        CHECK("a file of several records, both ways",
              copy_out("big", "big2", &o, &err) == 0 && copy_in("big2", "big3", &o, &err) == 0 &&
                      system("cmp -s big big3") == 0);
        o.max_bytes = 3000000;
        CHECK("--max refuses what is larger", copy_out("big", "big4", &o, &err) == -1 &&
                                                      strstr(err.text, "--max") &&
                                                      !is_there("big4"));
}

static void left_out(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        mkdir("odd", 0755);
        mkfifo("odd/fifo", 0644);
        put("odd/file", "f");
        symlink("/etc/passwd", "odd/abs");
        symlink("../x", "odd/up");
        symlink("bad\nname", "odd/in\x1bside");
        struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "odd/sock"};
        int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool has_sock = bind(s, (struct sockaddr *)&sun, sizeof sun) == 0;
        CHECK("case 71, 77: out, four are left out by name",
              copy_out("odd", "odd.out", &o, &err) == 0 && has_sock && notes_n == 4 &&
                      entries_in("odd.out") == 2);
        o = opts_of();
        CHECK("in, the same",
              copy_in("odd", "odd.in", &o, &err) == 0 && notes_n == 4 && entries_in("odd.in") == 2);
        close(s);
        if (geteuid()) {
                o = opts_of();
                chmod("odd/file", 0);
                CHECK("an unreadable file is left out", copy_out("odd", "odd.no", &o, &err) == 0 &&
                                                                notes_n == 5 &&
                                                                !is_there("odd.no/file"));
                chmod("odd/file", 0644);
        }
        mkdir("esc", 0755);
        symlink("/\x1b]52;c;aGk=\a", "esc/e\x1b[2J");
        o = opts_of();
        CHECK("case 76, 80: names in notes are quoted",
              copy_out("esc", "esc2", &o, &err) == 0 && strstr(last_note, "e\\x1b[2J") &&
                      strstr(last_note, "\\x1b]52") && !strchr(last_note, 0x1b));
        CHECK("and in errors",
              copy_out("no\x1b[2Jne", "x", &o, &err) == -1 && !strchr(err.text, 0x1b));
}

static void following(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        put("outer", "outside");
        mkdir("f", 0755);
        mkdir("f/d", 0755);
        put("f/d/x", "ex");
        symlink("d/x", "f/l");
        symlink("d", "f/dl");
        symlink("..", "f/d/loop");
        symlink("../outer", "f/out");
        o.is_follow = true;
        CHECK("follow out of the box",
              copy_out("f", "f.out", &o, &err) == 0 && holds("f.out/l", "ex") &&
                      holds("f.out/dl/x", "ex") && holds("f.out/out", "outside"));
        CHECK("a loop is left out", notes_n >= 1 && !is_there("f.out/d/loop"));
        o = opts_of();
        o.is_follow = true;
        CHECK("case 71: follow into the box, only what lies in the tree",
              copy_in("f", "f.in", &o, &err) == 0 && holds("f.in/l", "ex") &&
                      holds("f.in/dl/x", "ex") && !is_there("f.in/out"));
}

static void deep_and_wide(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        mkdir("deep", 0755);
        int fd = open("deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < 3000; i++) {
                mkdirat(fd, "z-level", 0755);
                int next = openat(fd, "z-level", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (i % 100 == 0) {
                        int f = openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
                        close(f);
                        mkdirat(fd, "a-side", 0755);
                        mkdirat(fd, "zz-side", 0755);
                }
                close(fd);
                fd = next;
        }
        int f = openat(fd, "bottom", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        close(f);
        close(fd);
        CHECK("case 78: 3000 levels out", copy_out("deep", "deep.out", &o, &err) == 0);
        CHECK("3000 levels in", copy_in("deep.out", "deep.in", &o, &err) == 0);
        CHECK("all of it", system("test $(find deep | wc -l) = $(find deep.in | wc -l) && "
                                  "test $(find deep.in | wc -l) = 3092") == 0);
        mkdir("wide", 0755);
        for (int i = 0; i < 20000; i++) {
                char name[32];
                snprintf(name, sizeof name, "wide/f%d", i);
                close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        }
        CHECK("20000 files",
              copy_out("wide", "wide.out", &o, &err) == 0 && entries_in("wide.out") == 20000);
}

static int leave_x(void *arg, int dir_fd, const char *path, const struct tree_entry *e,
                   struct err *err)
{
        size_t *seen = arg;
        (void)dir_fd;
        (void)path;
        (void)err;
        (*seen)++;
        return strcmp(e->name, "x") == 0;
}

/* What the receiver leaves out is taken off the stream at any depth, and the rest is whole. */
static void judged(void)
{
        struct err err = {0};
        struct tree_opts o = opts_of();
        size_t seen = 0;
        o.judge = leave_x;
        o.arg = &seen;
        o.mask = 027;
        system("mkdir -p j/x/deep/er j/d/x && echo in >j/x/deep/er/f && ln -s f j/x/deep/er/l && "
               "head -c 300000 /dev/zero >j/x/data && truncate -s 1M j/x/hole && echo t >j/d/x/t && "
               "echo a >j/a && echo z >j/z && echo d >j/d/f && chmod 777 j/a j/d");
        CHECK("what is left out comes nowhere, the rest does",
              copy_out("j", "j.out", &o, &err) == 0 && !is_there("j.out/x") &&
                      !is_there("j.out/d/x") && holds("j.out/a", "a\n") &&
                      holds("j.out/z", "z\n") && holds("j.out/d/f", "d\n"));
        CHECK("nothing below is asked about", seen == 7);
        struct stat st;
        CHECK("the mask holds for files and directories",
              stat("j.out/a", &st) == 0 && (st.st_mode & 0777) == 0750 &&
                      stat("j.out/d", &st) == 0 && (st.st_mode & 0777) == 0750);
        chmod("j.out/a", 0666);
        CHECK("rights that the file in its place has may stay",
              copy_out("j/a", "j.out/a", &o, &err) == 0 && stat("j.out/a", &st) == 0 &&
                      (st.st_mode & 0777) == 0776);
        CHECK("a root file that is left out",
              copy_out("j/d/x/t", "x", &o, &err) == 0 && !is_there("x"));
        CHECK("a root directory that is left out",
              copy_out("j/d", "x", &o, &err) == 0 && !is_there("x"));
}

int main(void)
{
        scratch_make();
        both_ways();
        places();
        big_files();
        left_out();
        following();
        deep_and_wide();
        judged();
        scratch_end();
        return check_end();
}
