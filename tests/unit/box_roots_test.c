/* box_roots_test.c - from a box's directory to two views of each of its trees: `roots` written and
 * read, uppers and frozen layers, turns, what is missing, and host directories that are gone.
 * suite: check=any test=root,user soak=root,user timeout=60
 * tier: an ordinary user may not make every owner, mode and device that root makes */
#include "unit/liblayers.h"

#include "workspace/stack.h"

#include <time.h>

static int box = -1, frozen = -1;

static bool opens(struct ws_roots *r, unsigned turn, struct err *err)
{
        *err = (struct err){0};
        return ws_roots_open(r, box, frozen, turn, err) == 0;
}

/* fails(word): it is refused, with a sentence that has the word. */
static bool fails(unsigned turn, const char *word)
{
        struct ws_roots r;
        struct err err;
        if (opens(&r, turn, &err)) {
                ws_roots_free(&r);
                return false;
        }
        if (!strstr(err.text, word))
                printf("# %s\n", err.text);
        return strstr(err.text, word);
}

static void write_roots(const char *host, const char *home)
{
        struct stat st = {0};
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        stat(host, &st);
        _cleanup_free_ char *full = str_fmt("%s/%s", scratch, host);
        struct ws_root v[2] = {
                {.name = (char *)(uintptr_t) "ws",
                 .kind = WS_ROOT_COW,
                 .host = full,
                 .dev = st.st_dev,
                 .ino = st.st_ino,
                 .since_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec},
                {.name = (char *)(uintptr_t) "home",
                 .kind = WS_ROOT_HOME,
                 .host = (char *)(uintptr_t)home},
        };
        struct ws_roots r = {.v = v, .n = 2};
        CHECK("roots are written", ws_roots_write(box, &r, NULL) == 0);
}

static void text_is(const char *name, const char *text, bool want)
{
        struct ws_roots r = {0};
        _cleanup_free_ char *copy = str_dup(text);
        CHECK(name, (ws_roots_parse(&r, copy, NULL) == 0) == want);
        ws_roots_free(&r);
}

static void lines(void)
{
        text_is("a line", "root ws\tcow\t1:2\t3\t/host\n", true);
        text_is("a path with a tab and a newline", "root ws\tcow\t1:2\t3\t/ho\tst\\nx\n", true);
        text_is("no host", "root home\thome\t0:0\t3\t\n", true);
        text_is("nothing at all", "", true);
        text_is("a line that was cut", "root ws\tcow\t1:2\t3\t/host", false);
        text_is("a line without a value", "root\n", false);
        text_is("another key", "stem ws\tcow\t1:2\t3\t/host\n", false);
        text_is("a field that is missing", "root ws\tcow\t1:2\t/host\n", false);
        text_is("a kind that does not exist", "root ws\tcold\t1:2\t3\t/host\n", false);
        text_is("a number that is none", "root ws\tcow\t1:x\t3\t/host\n", false);
        text_is("a relative path", "root ws\tcow\t1:2\t3\thost\n", false);
        text_is("a name that climbs", "root ..\tcow\t1:2\t3\t/host\n", false);
        text_is("a name with a slash", "root a/b\tcow\t1:2\t3\t/host\n", false);
        text_is("a name twice", "root ws\tcow\t1:2\t3\t/h\nroot ws\tcow\t1:2\t3\t/h\n", false);
}

static void stack_line(const char *const *ids, const char *const *kinds, size_t n)
{
        struct stack s = {0};
        for (size_t i = 0; i < n; i++)
                stack_add(&s, ids[i], kinds[i], "", 1);
        stack_write(box, "stack", &s, NULL);
        stack_free(&s);
}

static void told(const char *name, unsigned turn, const char *want)
{
        struct ws_roots r;
        struct err err;
        if (!check(opens(&r, turn, &err), name, "%s", err.text))
                return;
        _cleanup_free_ char *got = changes(&r.v[0], NULL);
        check_str(name, got, want);
        ws_roots_free(&r);
}

static void layers(void)
{
        struct ws_roots r;
        struct err err;
        dirs("box");
        dirs("frozen");
        box = dir_fd("box");
        frozen = dir_fd("frozen");
        CHECK("a box that never started says so", fails(0, "never started"));
        put("host/a", "host");
        put("host/b", "host");
        write_roots("host", "");
        told("a box whose layers were not made yet changed nothing", 0, "");

        dirs("box/layers/ws/upper");
        dirs("box/layers/home/upper");
        put("box/layers/ws/upper/a", "box");
        put("box/layers/home/upper/h", "x");
        mark("box/layers/home/upper/h", "metacopy", ""); /* a home without a lower is no overlay */
        told("the upper over the host", 0, "modified ff a\n");
        if (CHECK("both roots", opens(&r, 0, &err) && r.n == 2)) {
                CHECK("the host's directory is open", r.v[0].host_fd >= 0 && !r.v[0].gone &&
                                                              r.v[0].top_n == 1 &&
                                                              r.v[0].kind == WS_ROOT_COW);
                _cleanup_free_ char *home = changes(&r.v[1], NULL);
                check_str("a new home is all added, and has no marks", home, "added -f h\n");
                ws_roots_free(&r);
        }

        static const char *const ids[] = {"00000000000000a1", "00000000000000a2"};
        put("frozen/00000000000000a1/ws/b", "one");
        put("frozen/00000000000000a1/info", "");
        put("frozen/00000000000000a2/ws/c", "two");
        put("frozen/00000000000000a2/info", "");
        whiteout("frozen/00000000000000a2/ws/b");
        stack_line(ids, (const char *const[]){"turn", "turn"}, 2);
        told("upper, two frozen layers, host", 0, "modified ff a\ndeleted f- b\nadded -f c\n");
        told("the first turn", 1, "modified ff b\n");
        told("the second turn", 2, "deleted f- b\nadded -f c\n");
        told("the turn that is still in the upper", 3, "modified ff a\n");
        CHECK("a turn that never was", fails(4, "no turn 4"));

        rename("box/layers/ws/upper", "box/gone");
        told("an upper that was just frozen", 0, "deleted f- b\nadded -f c\n");
        stack_line(ids, (const char *const[]){"turn"}, 0);
        CHECK("an upper that is lost", fails(0, "layer ws"));
        rename("box/gone", "box/layers/ws/upper");
        stack_line(ids, (const char *const[]){"turn", "turn"}, 2);
        rename("frozen/00000000000000a1", "frozen/lost");
        CHECK("a frozen layer that is lost", fails(0, "layer"));
        rename("frozen/lost", "frozen/00000000000000a1");

        rename("box/layers/ws/upper", "box/gone");
        symlink("../../../host", "box/layers/ws/upper");
        CHECK("a link in a layer's place is not followed", fails(0, "layer ws"));
        unlink("box/layers/ws/upper");
        rename("box/gone", "box/layers/ws/upper");
}

static void gone(const char *name, const char *want)
{
        struct ws_roots r;
        struct err err;
        if (CHECK(name, opens(&r, 0, &err))) {
                check_str(name, r.v[0].gone, want);
                CHECK("and it is not open", r.v[0].host_fd < 0 && r.v[0].before.n == 0);
                ws_roots_free(&r);
        }
}

static void hosts(void)
{
        struct ws_roots r;
        struct err err;
        unlink("box/stack");
        rename("host", "host_old");
        gone("a host directory that is gone", "was deleted or moved");
        dirs("host");
        gone("another one in its place", "is another directory now");
        rmdir("host");
        put("host", "x");
        gone("a file in its place", "is no directory any more");
        unlink("host");
        symlink("host_old", "host");
        CHECK("the same one through a link of the user's",
              opens(&r, 0, &err) && !r.v[0].gone && r.v[0].host_fd >= 0);
        ws_roots_free(&r);

        struct stat st;
        struct timespec now;
        _cleanup_close_ int fd = dir_fd("host_old");
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        fstat(fd, &st);
        CHECK("it is itself", ws_roots_is_same(fd, st.st_dev, st.st_ino, 0));
        CHECK("after a restart its device may have another number",
              ws_roots_is_same(fd, st.st_dev + 1, st.st_ino, ns));
        CHECK("but one that was made later is another one",
              !ws_roots_is_same(fd, st.st_dev + 1, st.st_ino, 1));
        CHECK("and so is one with another inode",
              !ws_roots_is_same(fd, st.st_dev, st.st_ino + 1, ns));
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip box_roots: the temporary directory cannot hold attributes\n");
                return 0;
        }
        lines();
        layers();
        hosts();
        close(box);
        close(frozen);
        scratch_end();
        return check_end();
}
