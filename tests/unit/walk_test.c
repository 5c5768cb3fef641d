/* walk_test.c - what differs between two views of a tree, in which order it is told, and what is
 * refused; stacks of layers; deep, sparse, wide and hostile trees (cases 71, 73, 76, 77, 78).
 * suite: check=any test=root,user soak=root,user timeout=120
 * tier: whiteouts are devices for root and marks for a user */
#include "unit/liblayers.h"

#include "workspace/walk_int.h"

static void told(const char *name, const char *const *layers, size_t top_n,
                 const struct ws_query *q, const char *want)
{
        struct ws_root r = root_of(layers, top_n);
        _cleanup_free_ char *got = changes(&r, q);
        check_str(name, got, want);
        root_end(&r);
}
#define LAYERS(...)                                                                                \
        (const char *const[])                                                                      \
        {                                                                                          \
                __VA_ARGS__, NULL                                                                  \
        }

static void kinds_of_change(void)
{
        put("h/same", "same");
        put("h/mod", "old");
        put("h/mode", "x");
        put("h/del", "x");
        put("h/d/in", "x");
        put("h/d2/keep", "x");
        symlink("mod", "h/link");
        symlink("mod", "h/link_same");

        dirs("u");
        put("u/same", "same");
        put("u/mod", "new");
        put("u/mode", "x");
        chmod("u/mode", 0755);
        whiteout("u/del");
        whiteout("u/nothing");
        put("u/new", "x");
        dirs("u/d"); /* copied up and not changed */
        dirs("u/d2");
        chmod("u/d2", 0700);
        symlink("mode", "u/link");
        symlink("mod", "u/link_same");
        dirs("u/empty");
        told("added, modified, mode, deleted; equal ones are no changes", LAYERS("u", "h"), 1, NULL,
             "mode dd d2\n"
             "deleted f- del\n"
             "added -d empty\n"
             "modified ll link\n"
             "modified ff mod\n"
             "mode ff mode\n"
             "added -f new\n");
}

/* The order is one that can be followed: what is in a directory goes before it does, and comes
 * after it does. */
static void order(void)
{
        put("oh/gone/a/deep", "x");
        put("oh/gone/b", "x");
        put("oh/todir", "x");
        put("oh/tofile/sub/in", "x");
        put("oh/tofile/z", "x");
        put("oh/tolink/in", "x");
        put("oh/swap/kept", "same");
        put("oh/swap/lost/in", "x");
        dirs("ou");
        whiteout("ou/gone");
        put("ou/todir/new/in", "x");
        put("ou/tofile", "x");
        symlink("todir", "ou/tolink");
        put("ou/swap/kept", "same");
        put("ou/swap/more", "x");
        mark("ou/swap", "opaque", "y");
        told("deletions go up, additions go down", LAYERS("ou", "oh"), 1, NULL,
             "deleted f- gone/a/deep\n"
             "deleted d- gone/a\n"
             "deleted f- gone/b\n"
             "deleted d- gone\n"
             "deleted f- swap/lost/in\n"
             "deleted d- swap/lost\n"
             "added -f swap/more\n"
             "type fd todir\n"
             "added -d todir/new\n"
             "added -f todir/new/in\n"
             "deleted f- tofile/sub/in\n"
             "deleted d- tofile/sub\n"
             "deleted f- tofile/z\n"
             "type df tofile\n"
             "deleted f- tolink/in\n"
             "type dl tolink\n");

        struct strs paths = {0};
        struct ws_query q = {.paths = &paths};
        strs_add(&paths, "./gone/a/");
        strs_add(&paths, "todir/new/in");
        strs_add(&paths, "nosuch");
        told("only what was asked for", LAYERS("ou", "oh"), 1, &q,
             "deleted f- gone/a/deep\n"
             "deleted d- gone/a\n"
             "added -f todir/new/in\n");
        strs_free(&paths);
        strs_add(&paths, "gon");
        told("a name is not asked for by its beginning", LAYERS("ou", "oh"), 1, &q, "");
        strs_free(&paths);
}

/* Three layers over the host: all together, and one alone (a turn). */
static void stacks(void)
{
        put("sh/a", "host");
        put("sh/b", "host");
        put("sh/d/x", "host");
        dirs("s1");
        put("s1/a", "one");
        whiteout("s1/b");
        put("s1/d/y", "one");
        dirs("s2");
        put("s2/a", "host"); /* back to what it was */
        put("s2/b", "two");
        whiteout("s2/d");
        dirs("s3");
        put("s3/d/z", "three");
        mark("s3/d", "opaque", "y"); /* as overlayfs does for a directory in a whiteout's place */
        told("all layers together", LAYERS("s3", "s2", "s1", "sh"), 3, NULL,
             "modified ff b\n"
             "deleted f- d/x\n"
             "added -f d/z\n");
        told("the first alone", LAYERS("s1", "sh"), 1, NULL,
             "modified ff a\n"
             "deleted f- b\n"
             "added -f d/y\n");
        told("the second over the first", LAYERS("s2", "s1", "sh"), 1, NULL,
             "modified ff a\n"
             "added -f b\n"
             "deleted f- d/x\n"
             "deleted f- d/y\n"
             "deleted d- d\n");
        told("the third over both", LAYERS("s3", "s2", "s1", "sh"), 1, NULL,
             "added -d d\n"
             "added -f d/z\n");
        told("a layer over itself: nothing", LAYERS("s3", "s3"), 1, NULL, "");
        struct ws_root r = root_of(LAYERS("s1"), 0);
        r.top_n = 1;
        ws_view_free(&r.before);
        _cleanup_free_ char *got = changes(&r, NULL);
        check_str("an empty side before", got,
                  "added -f a\n"
                  "added -s b refused\n"
                  "added -d d\n"
                  "added -f d/y\n");
        root_end(&r);
}

static void refusals(void)
{
        dirs("rh/d");
        symlink("/etc/passwd", "rh/own");
        mkfifo("rh/pipe", 0600);
        put("rh/suid", "x");
        put("ru/suid", "x");
        chmod("ru/suid", 04755);
        put("ru/sgid", "x");
        chmod("ru/sgid", 02755);
        dirs("ru/sticky");
        chmod("ru/sticky", 01777);
        mkfifo("ru/fifo", 0600);
        whiteout("ru/pipe");
        symlink("/etc/passwd", "ru/abs");
        symlink("../../x", "ru/climb");
        dirs("ru/d");
        symlink("../ok", "ru/d/ok");
        symlink("../../x", "ru/d/climb");
        symlink("a/../..", "ru/d/later");
        symlink("/etc/passwd", "ru/own");
        lchown("ru/own", (uid_t)-1, (gid_t)-1);
        put("ru/hard", "x");
        link("ru/hard", "ru/hard2");
        told("what apply never takes", LAYERS("ru", "rh"), 1, NULL,
             "added -l abs refused\n"
             "added -l climb refused\n"
             "added -l d/climb refused\n"
             "added -l d/later refused\n"
             "added -l d/ok\n"
             "added -s fifo refused\n"
             "added -f hard\n"
             "added -f hard2\n"
             "deleted s- pipe refused\n"
             "added -f sgid refused\n"
             "added -d sticky refused\n"
             "mode ff suid refused\n");
        unlink("ru/d/ok");

        /* A directory below one that hands its group on has the bit without having asked for it. */
        dirs("gh/g");
        chmod("gh/g", 02755);
        dirs("gu/g/new");
        chmod("gu/g", 02755);
        chmod("gu/g/new", 02755);
        told("a group that is handed on is no refusal", LAYERS("gu", "gh"), 1, NULL,
             "added -d g/new\n");

        put("bu/ok", "x");
        put("bu/meta", "");
        mark("bu/meta", "metacopy", "");
        dirs("bh");
        struct ws_root r = root_of(LAYERS("bu", "bh"), 1);
        _cleanup_free_ char *got = changes(&r, NULL);
        CHECK("a damaged layer is an error with a sentence",
              strstr(got, "error: ") && strstr(got, "metacopy"));
        root_end(&r);
}

static void unreadable(void)
{
        if (geteuid() == 0) {
                printf("skip unreadable entries: root may read everything\n");
                return;
        }
        put("nh/f", "x");
        put("nh/d/in", "x");
        put("nu/f", "y");
        put("nu/d/in", "y");
        put("nu/new/in", "y");
        chmod("nu/f", 0);
        chmod("nu/d", 0);
        chmod("nu/new", 0);
        told("what cannot be read is told, and why", LAYERS("nu", "nh"), 1, NULL,
             "mode dd d refused\n"
             "modified ff f refused\n"
             "added -d new refused\n");
        chmod("nu/d", 0755);
        chmod("nu/new", 0755);

        /* Names can be listed, and nothing behind them can be seen: on one side, on the other. */
        put("eh/host_shut/in", "x");
        put("eh/plain", "x");
        put("eu/host_shut/in", "y");
        put("eu/shut/in", "y");
        put("eu/plain", "y");
        chmod("eu/shut", 0444);
        chmod("eh/host_shut", 0444);
        told("a directory that shows names alone hides nothing of the rest", LAYERS("eu", "eh"), 1,
             NULL,
             "mode dd host_shut\n"
             "modified -f host_shut/in refused\n"
             "modified ff plain\n"
             "added -d shut refused\n");
        chmod("eu/shut", 0755);
        chmod("eh/host_shut", 0755);
}

static void names(void)
{
        dirs("xh");
        put("xu/new\nline", "x");
        put("xu/\x1b[31mred", "x");
        put("xu/\xff\xfe", "x");
        put("xu/ blank ", "x");
        told("hostile names come out quoted", LAYERS("xu", "xh"), 1, NULL,
             "added -f \\x1b[31mred\n"
             "added -f  blank \n"
             "added -f new\\x0aline\n"
             "added -f \\xff\\xfe\n");
}

/* below(n, name, last): a tree far deeper than a path may be long, made one step at a time. */
static void below(const char *root, unsigned n, const char *name, const char *last)
{
        int at = dir_fd(root);
        for (unsigned i = 0; i < n; i++) {
                mkdirat(at, name, 0755);
                int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                close(at);
                at = next;
        }
        if (last)
                close(openat(at, last, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        close(at);
}

struct count {
        uint64_t n, last_len, refused_n;
};
static int count_it(void *ctx, const struct ws_change *c)
{
        struct count *k = ctx;
        k->n++;
        k->last_len = strlen(c->path);
        k->refused_n += c->refused != NULL;
        return 0;
}

static uint64_t fds_open(void)
{
        uint64_t n = 0;
        _cleanup_closedir_ DIR *d = opendir("/proc/self/fd");
        while (d && readdir(d))
                n++;
        return n;
}

static void deep(void)
{
        enum { LEVELS = 1000 };
        struct count k = {0};
        struct err err = {0};
        struct ws_query q = {0};
        static const char name[] = "a-directory-with-a-name";
        dirs("dh");
        dirs("du");
        below("du", LEVELS, name, "leaf");
        below("dh", LEVELS / 2, name, "old");
        struct ws_root r = root_of(LAYERS("du", "dh"), 1);
        uint64_t fds = fds_open();
        CHECK("a tree deeper than any path may be long is walked",
              ws_walk(&r, &q, count_it, &k, NULL, &err) == 0 && k.n == LEVELS / 2 + 1 &&
                      k.last_len == LEVELS * sizeof name + strlen("leaf"));
        CHECK("no descriptor is left behind", fds_open() == fds);
        root_end(&r);

        dirs("dw");
        whiteout("dw/a-directory-with-a-name");
        r = root_of(LAYERS("dw", "dh"), 1);
        k = (struct count){0};
        CHECK("and its deletion, deepest first", ws_walk(&r, &q, count_it, &k, NULL, &err) == 0 &&
                                                         k.n == LEVELS / 2 + 1 &&
                                                         k.last_len == strlen(name));
        root_end(&r);

        char wide[251];
        memset(wide, 'w', 250);
        wide[250] = 0;
        dirs("lu");
        dirs("lh");
        below("lu", 270, wide, "leaf");
        r = root_of(LAYERS("lu", "lh"), 1);
        k = (struct count){0};
        CHECK("what lies too deep is told, refused and not entered",
              ws_walk(&r, &q, count_it, &k, NULL, &err) == 0 && k.refused_n == 1 && k.n < 270 &&
                      k.last_len > 65536);
        root_end(&r);
}

static void sparse(void)
{
        static const off_t huge = (off_t)1 << 40;
        const char *const files[] = {"ph/big", "pu/big", "ph/big2", "pu/big2"};
        dirs("ph");
        dirs("pu");
        bool is_made = true;
        for (size_t i = 0; i < 4; i++) {
                put(files[i], "start");
                is_made = truncate(files[i], huge) == 0 && is_made;
        }
        if (!is_made) {
                printf("skip sparse files: the filesystem does not take a terabyte\n");
                return;
        }
        _cleanup_close_ int fd = open("pu/big2", O_WRONLY | O_CLOEXEC);
        pwrite(fd, "x", 1, huge - 5);
        told("a terabyte of nothing costs nothing, and its last bytes count", LAYERS("pu", "ph"), 1,
             NULL, "modified ff big2\n");

        /* Zeros that are stored are the same as zeros that are not. */
        put("ph/zero", "");
        truncate("ph/zero", 300000);
        put("pu/zero", "");
        _cleanup_close_ int zero = open("pu/zero", O_WRONLY | O_CLOEXEC);
        static const char zeros[300000];
        write(zero, zeros, sizeof zeros);
        told("a hole is equal to zeros", LAYERS("pu", "ph"), 1, NULL, "modified ff big2\n");
        pwrite(zero, "x", 1, 299999);
        told("and not to anything else", LAYERS("pu", "ph"), 1, NULL,
             "modified ff big2\nmodified ff zero\n");
}

static bool is_a(void *arg, const char *layer, const char *path)
{
        (void)arg;
        return strcmp(layer, "ws") == 0 && strcmp(path, "a") == 0;
}
static bool is_applied_a(void *arg, const char *layer, const char *path, const struct ws_node *n)
{
        return n->kind == WS_FILE && is_a(arg, layer, path);
}
static int stop_at_second(void *ctx, const struct ws_change *c)
{
        unsigned *n = ctx;
        (void)c;
        return ++*n == 2 ? 42 : 0;
}
static int masked_n(void *ctx, const struct ws_change *c)
{
        *(unsigned *)ctx += c->is_masked;
        return 0;
}

static void questions(void)
{
        put("qh/eq", "x");
        dirs("qh/d");
        put("qu/a", "x");
        put("qu/b", "x");
        put("qu/c", "x");
        put("qu/eq", "x");
        dirs("qu/d");
        struct ws_query q = {.is_applied = is_applied_a};
        told("what was applied is not told again", LAYERS("qu", "qh"), 1, &q,
             "added -f b\nadded -f c\n");
        q = (struct ws_query){.is_raw = true};
        told("raw: what was touched is told too", LAYERS("qu", "qh"), 1, &q,
             "added -f a\nadded -f b\nadded -f c\nmode dd d\nmodified ff eq\n");

        struct ws_root r = root_of(LAYERS("qu", "qh"), 1);
        unsigned n = 0;
        q = (struct ws_query){.is_masked = is_a};
        CHECK("a stand-in is marked", ws_walk(&r, &q, masked_n, &n, NULL, NULL) == 0 && n == 1);
        n = 0;
        CHECK("the listener can end it",
              ws_walk(&r, &q, stop_at_second, &n, NULL, NULL) == 42 && n == 2);
        struct ws_changes l;
        struct ws_tally t = {0};
        CHECK("the same as a list", ws_changes_of(&r, &q, &l, &t, NULL) == 0 && l.n == 3 &&
                                            strcmp(l.v[2].path, "c") == 0 &&
                                            t.files_n[WS_ADDED] == 3);
        ws_changes_free(&l);
        ws_tally_free(&t);
        root_end(&r);
}

static char *renames(const char *const *layers)
{
        struct ws_root r = root_of(layers, 1);
        struct ws_changes l;
        struct ws_query q = {0};
        struct buf b = {0};
        if (ws_changes_of(&r, &q, &l, NULL, NULL) == 0)
                ws_changes_rename(&l);
        for (size_t i = 0; i < l.n; i++) {
                const struct ws_change *c = &l.v[i];
                buf_put_fmt(&b, "%s %s%s%s", ws_what_name(c->what), c->from ? c->from : "",
                            c->from ? " " : "", c->path);
                if (c->what == WS_RENAMED)
                        buf_put_fmt(&b, " %s", c->similarity == 100 ? "100" : "less");
                buf_put_str(&b, "\n");
        }
        ws_changes_free(&l);
        root_end(&r);
        char *text = str_dup(buf_cstr(&b));
        buf_free(&b);
        return text;
}

static void renaming(void)
{
        static const char text[] = "one line\ntwo lines\nthree lines\nfour lines\nfive lines\n";
        static const char like[] = "one line\ntwo lines\nthree lines\nfour lines\nfive lives\n";
        put("mh/a", "the same content");
        put("mh/d/keeps_name", "another");
        put("mh/d/other", "another");
        put("mh/text", text);
        put("mh/lone", "nothing like it");
        put("mh/empty", "");
        put("mh/.githooks/pre-commit", "run me please");
        dirs("mu");
        whiteout("mu/a");
        dirs("mu/d");
        whiteout("mu/d/keeps_name");
        whiteout("mu/d/other");
        whiteout("mu/text");
        whiteout("mu/lone");
        whiteout("mu/empty");
        dirs("mu/.githooks");
        whiteout("mu/.githooks/pre-commit");
        put("mu/b", "the same content");
        put("mu/e/keeps_name", "another");
        put("mu/text2", like);
        put("mu/new", "of a kind of its own");
        put("mu/empty2", "");
        put("mu/harmless", "run me please");
        _cleanup_free_ char *got = renames(LAYERS("mu", "mh"));
        check_str("deletion and addition of one content are a rename", got,
                  "renamed a b 100\n"
                  "deleted d/other\n"
                  "added e\n"
                  "renamed d/keeps_name e/keeps_name 100\n"
                  "deleted empty\n"
                  "added empty2\n"
                  "renamed .githooks/pre-commit harmless 100\n"
                  "deleted lone\n"
                  "added new\n"
                  "renamed text text2 less\n");
}

static void wide(void)
{
        enum { FILES = 6000 };
        struct count k = {0};
        struct ws_query q = {0};
        dirs("wh");
        dirs("wu");
        int h = dir_fd("wh"), u = dir_fd("wu");
        for (int i = 0; i < FILES; i++) {
                char name[32];
                snprintf(name, sizeof name, "file-%d", i);
                close(openat(i % 2 ? h : u, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        }
        close(h);
        close(u);
        struct ws_root r = root_of(LAYERS("wu", "wh"), 1);
        CHECK("many names in one directory",
              ws_walk(&r, &q, count_it, &k, NULL, NULL) == 0 && k.n == FILES / 2);
        root_end(&r);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip walk: the temporary directory cannot hold attributes\n");
                return 0;
        }
        kinds_of_change();
        order();
        stacks();
        refusals();
        unreadable();
        names();
        deep();
        sparse();
        questions();
        renaming();
        wide();
        scratch_end();
        return check_end();
}
