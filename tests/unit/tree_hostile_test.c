/* tree_hostile_test.c - senders that lie, destinations that move, disks that are full: the receiver
 * writes nothing where it should not and leaves nothing half done.
 * suite: check=any test=root,user soak=root,user timeout=120
 * tier: a receiver that is root could set owners and make devices */
#include "unit/libtree.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <time.h>

/* --- one record after the other, as a hostile sender would choose them --------------------------
 */

static struct tree_recv r;
static struct tree_place place = {.dir_fd = -1, .parent_fd = -1};
static struct tree_opts opts;
static struct tree_count count;
static struct err err;

static void begin(void)
{
        beneath_remove_tree(AT_FDCWD, "h", NULL);
        mkdir("h", 0755);
        mkdir("h/dest", 0755);
        put("h/outside", "outside");
        tree_place_free(&place);
        if (tree_place_open(&place, "h/dest", "", open_dir, NULL, &err) < 0)
                _exit(1);
        opts = opts_of();
        count = (struct tree_count){0};
        tree_recv_init(&r, &place, &opts, &count);
}

static int feed(uint32_t type, const void *p, size_t n)
{
        struct cur c = cur_of(p, n);
        return tree_recv_feed(&r, type, &c, &err);
}

static int entry(uint32_t type, int kind, const char *name, uint64_t size, const char *target)
{
        _cleanup_buf_ struct buf b = {0};
        struct tree_entry e = {.kind = (enum tree_kind)kind, .mode = 0644, .size = size};
        snprintf(e.name, sizeof e.name, "%s", name);
        snprintf(e.target, sizeof e.target, "%s", target);
        tree_entry_put(&b, &e);
        return feed(type, b.data, b.len);
}

static int root_dir(void)
{
        begin();
        return entry(TREE_ROOT, TREE_DIR, "", 0, "");
}

static bool is_untouched(int wanted)
{
        tree_recv_close(&r);
        return entries_in("h/dest") == wanted && entries_in("h") == 2 &&
               holds("h/outside", "outside");
}

static bool name_is_refused(const char *name)
{
        root_dir();
        bool is_refused = entry(TREE_ENTRY, TREE_FILE, name, 0, "") == -1;
        is_refused &= is_untouched(0);
        root_dir();
        is_refused &= entry(TREE_ENTRY, TREE_DIR, name, 0, "") == -1;
        is_refused &= is_untouched(0);
        root_dir();
        is_refused &= entry(TREE_ENTRY, TREE_LINK, name, 0, "x") == -1;
        return is_refused && is_untouched(0);
}

static void names(void)
{
        static const char *const bad[] = {"", ".", "..", "../x", "a/b", "/", "/etc", "a/", "./a"};
        bool is_refused = true;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                is_refused &= name_is_refused(bad[i]);
        CHECK("case 72: names that are not one component", is_refused);

        _cleanup_buf_ struct buf b = {0};
        struct tree_entry e = {.kind = TREE_FILE, .mode = 0644};
        strcpy(e.name, "abc");
        tree_entry_put(&b, &e);
        bool all = true;
        for (size_t n = 0; n < b.len; n++) {
                struct cur c = cur_of(b.data, n);
                all &= tree_entry_get(&c, false, &e) == -1;
        }
        CHECK("entries cut anywhere", all);
        b.data[b.len - 6] = 0; /* in the middle of the name */
        struct cur c = cur_of(b.data, b.len);
        CHECK("a NUL in a name", tree_entry_get(&c, false, &e) == -1);
        b.data[b.len - 6] = 'b';
        b.data[3] = 0x0d; /* 06644 and above */
        c = cur_of(b.data, b.len);
        CHECK("setuid", tree_entry_get(&c, false, &e) == -1);
        char big[300];
        memset(big, 'n', sizeof big - 1);
        big[sizeof big - 1] = 0;
        CHECK("255 bytes are a name, 256 are not",
              !tree_name_is_one(big) && (big[255] = 0, tree_name_is_one(big)));
}

static void links(void)
{
        CHECK("links inside", tree_link_is_inside("a", 0) && tree_link_is_inside("a/b", 0) &&
                                      tree_link_is_inside("../a", 1) &&
                                      tree_link_is_inside("..", 1) &&
                                      tree_link_is_inside("./../../a", 2));
        CHECK("links outside", !tree_link_is_inside("/a", 9) && !tree_link_is_inside("..", 0) &&
                                       !tree_link_is_inside("../../a", 1) &&
                                       !tree_link_is_inside("", 1));
        CHECK("a climb behind a name, which another link could have moved",
              !tree_link_is_inside("a/..", 1) && !tree_link_is_inside("a/../b", 5));
        root_dir();
        int got = entry(TREE_ENTRY, TREE_LINK, "l", 0, "../outside");
        CHECK("case 71: a link outside is left out with a note",
              got == 0 && notes_n == 1 && is_untouched(0));
        begin();
        got = entry(TREE_ROOT, TREE_LINK, "", 0, "x");
        CHECK("a link as the root", got == -1 && is_untouched(0));
}

static void sizes(void)
{
        root_dir();
        int got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "abcd", 4);
        CHECK("more than announced", got && is_untouched(0));
        root_dir();
        got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "ab", 2) ||
              feed(TREE_FILE_END, NULL, 0);
        CHECK("less than announced", got && is_untouched(0));
        root_dir();
        static const uint8_t hole[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        got = entry(TREE_ENTRY, TREE_FILE, "f", UINT64_MAX, "") || feed(TREE_HOLE, hole, 8);
        CHECK("a hole as large as can be said", got && is_untouched(0));
        root_dir();
        got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "abc", 3) ||
              feed(TREE_FILE_CUT, NULL, 0);
        CHECK("a file that was cut is dropped", got == 0 && is_untouched(0));
        root_dir();
        got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "abc", 3);
        CHECK("a stream that ends in a file leaves no temporary file", got == 0 && is_untouched(0));
}

static void order(void)
{
        static const uint32_t all[] = {TREE_ROOT, TREE_ENTRY,    TREE_DATA,     TREE_HOLE, TREE_UP,
                                       TREE_END,  TREE_FILE_END, TREE_FILE_CUT, TREE_DONE, 0,
                                       77,        0xffffffff};
        bool is_refused = true;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                begin();
                is_refused &= feed(all[i], "x", 1) == -1 && is_untouched(0);
                root_dir();
                is_refused &= feed(all[i], "x", 1) == -1 && is_untouched(0);
                root_dir();
                entry(TREE_ENTRY, TREE_FILE, "f", 1, "");
                if (all[i] != TREE_DATA && all[i] != TREE_FILE_CUT)
                        is_refused &= feed(all[i], "x", 1) == -1 && is_untouched(0);
                tree_recv_close(&r);
                root_dir();
                feed(TREE_UP, NULL, 0);
                if (all[i] != TREE_END)
                        is_refused &= feed(all[i], "x", 1) == -1 && is_untouched(0);
                tree_recv_close(&r);
        }
        CHECK("every record out of turn", is_refused);
        root_dir();
        feed(TREE_UP, NULL, 0);
        CHECK("the end", feed(TREE_END, NULL, 0) == 1 && feed(TREE_END, NULL, 0) == -1);
        tree_recv_close(&r);

        root_dir();
        int got = 0, n = 0;
        for (; got == 0 && n < 2 * TREE_DEPTH_MAX; n++)
                got = entry(TREE_ENTRY, TREE_DIR, "d", 0, "");
        CHECK("case 78: depth has an end", got == -1 && n == TREE_DEPTH_MAX);
        tree_recv_close(&r);
}

static void in_the_way(void)
{
        root_dir();
        symlink("../outside", "h/dest/f");
        int got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "abc", 3) ||
                  feed(TREE_FILE_END, NULL, 0);
        CHECK("B3: a link in the way is replaced, not written through",
              got == 0 && holds("h/dest/f", "abc") && !links_to("h/dest/f", "../outside") &&
                      is_untouched(1));
        root_dir();
        symlink("..", "h/dest/d");
        got = entry(TREE_ENTRY, TREE_DIR, "d", 0, "");
        CHECK("B3: a link in the way of a directory is refused", got == -1 && is_untouched(1));
        root_dir();
        mkfifo("h/dest/f", 0644);
        got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "");
        CHECK("a FIFO in the way is refused", got == -1 && is_untouched(1));
        root_dir();
        link("h/outside", "h/dest/f");
        got = entry(TREE_ENTRY, TREE_FILE, "f", 3, "") || feed(TREE_DATA, "abc", 3) ||
              feed(TREE_FILE_END, NULL, 0);
        CHECK("case 73: a hard link in the way is not written through",
              got == 0 && holds("h/dest/f", "abc") && is_untouched(1));
        root_dir();
        got = entry(TREE_ENTRY, TREE_DIR, "d", 0, "");
        rename("h/dest/d", "h/away");
        symlink("..", "h/dest/d");
        got |= entry(TREE_ENTRY, TREE_FILE, "outside", 3, "") || feed(TREE_DATA, "abc", 3) ||
               feed(TREE_FILE_END, NULL, 0);
        CHECK("case 72: a directory swapped for a link while we are in it",
              got == 0 && holds("h/away/outside", "abc") && holds("h/outside", "outside"));
        tree_recv_close(&r);
}

/* --- both ends alive
 * ------------------------------------------------------------------------------- */

static atomic_bool is_over;

static void *swap(void *arg)
{
        (void)arg;
        while (!atomic_load(&is_over))
                renameat2(AT_FDCWD, "s/x", AT_FDCWD, "s/y", RENAME_EXCHANGE);
        return NULL;
}

static void swapped_source(void)
{
        pthread_t t;
        struct timespec a, b;
        unsigned rounds = 0, leaked = 0, seen = 0;
        mkdir("secret", 0755);
        put("secret/f", "secret");
        mkdir("s", 0755);
        mkdir("s/x", 0755);
        put("s/x/f", "mine");
        symlink("../secret", "s/y");
        pthread_create(&t, NULL, swap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &a);
        do {
                struct tree_opts o = opts_of();
                struct err e = {0};
                beneath_remove_tree(AT_FDCWD, "s.in", NULL);
                copy_in("s", "s.in", &o, &e);
                leaked += holds("s.in/x/f", "secret") || holds("s.in/y/f", "secret");
                seen += holds("s.in/x/f", "mine") || holds("s.in/y/f", "mine");
                rounds++;
                clock_gettime(CLOCK_MONOTONIC, &b);
        } while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 500);
        atomic_store(&is_over, true);
        pthread_join(t, NULL);
        printf("# %u copies, %u with the directory, %u leaks\n", rounds, seen, leaked);
        CHECK("case 72: a directory swapped for a link during the walk is not entered",
              leaked == 0 && seen > 0);
}

/* On a small tmpfs of our own, in namespaces of our own. */
static int full_disk_child(void)
{
        uid_t uid = geteuid();
        gid_t gid = getegid();
        char map[64];
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return 77;
        fdio_put(AT_FDCWD, "/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", uid);
        if (fdio_put(AT_FDCWD, "/proc/self/uid_map", map) < 0)
                return 77;
        snprintf(map, sizeof map, "0 %u 1", gid);
        if (fdio_put(AT_FDCWD, "/proc/self/gid_map", map) < 0)
                return 77;
        mkdir("small", 0755);
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("small", "small", "tmpfs", 0, "size=256k,mode=755") < 0)
                return 77;
        put("small/big", "the old content");
        struct tree_opts o = opts_of();
        struct err e = {0};
        if (copy_out("big", "small/big", &o, &e) != -1 || !strstr(e.text, "No space left"))
                return 1;
        if (!holds("small/big", "the old content") || entries_in("small") != 1)
                return 2;
        if (copy_in("big", "small/big", &o, &e) != -1 || !strstr(e.text, "No space left") ||
            !strstr(e.text, "the box says"))
                return 3;
        return holds("small/big", "the old content") && entries_in("small") == 1 ? 0 : 4;
}

static void full_disk(void)
{
        int fd = open("big", O_CREAT | O_RDWR | O_CLOEXEC, 0644), status = -1;
        char chunk[65536];
        memset(chunk, 'x', sizeof chunk);
        for (int i = 0; i < 64; i++)
                fdio_write_all(fd, chunk, sizeof chunk);
        close(fd);
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(full_disk_child());
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
                printf("skip a full disk: no user namespace to mount a small one in\n");
                return;
        }
        printf("# full disk: %d\n", status >> 8);
        CHECK("a full disk: a clear sentence, the old file, no temporary file, both ways",
              status == 0);
}

int main(void)
{
        signal(SIGPIPE, SIG_DFL); /* nothing here may rely on it being ignored */
        scratch_make();
        names();
        links();
        sizes();
        order();
        in_the_way();
        swapped_source();
        full_disk();
        tree_place_free(&place);
        scratch_end();
        return check_end();
}
