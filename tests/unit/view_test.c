/* view_test.c - layers read as overlayfs shows them: whiteouts of both kinds, opaque directories,
 * what hides what; marks that must not be there; hostile names and links (cases 71, 77).
 * suite: check=any test=root,user soak=root,user timeout=60
 * tier: whiteouts are devices for root and marks for a user */
#include "unit/liblayers.h"

#include "workspace/view_int.h"

static struct ws_root r;

static enum ws_kind kind(const char *path)
{
        struct ws_node n;
        struct err err = {0};
        if (ws_view_look(&r.after, path, &n, &err) < 0) {
                printf("# %s: %s\n", path, err.text);
                return (enum ws_kind)99;
        }
        return n.kind;
}

static bool reads(const char *path, const char *text)
{
        struct ws_node n;
        char got[64] = "";
        _cleanup_close_ int fd = ws_view_file(&r.after, path, &n, NULL);
        ssize_t len = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
        return len == (ssize_t)strlen(text) && memcmp(got, text, (size_t)len) == 0;
}

static char *names(const char *path, size_t top_n)
{
        struct ws_names n;
        struct buf b = {0};
        struct ws_dir *d = ws_dir_root(&r.after, NULL);
        if (*path) {
                struct ws_dir *sub = ws_dir_open(d, path, NULL);
                ws_dir_close(d);
                d = sub;
        }
        if (!d)
                return str_dup("(none)");
        if (ws_dir_list(d, top_n, &n, NULL) < 0)
                return str_dup("(error)");
        for (size_t i = 0; i < n.n; i++)
                buf_put_fmt(&b, "%s%s", i ? " " : "", n.v[i]);
        ws_names_free(&n);
        ws_dir_close(d);
        char *text = str_dup(buf_cstr(&b));
        buf_free(&b);
        return text;
}

static void what_shows(void)
{
        put("host/keep", "host");
        put("host/gone", "host");
        put("host/gone2", "host");
        put("host/changed", "host");
        put("host/d/a", "host");
        put("host/d/b", "host");
        put("host/opaque/old", "host");
        put("host/file_over_dir/in", "host");
        put("host/dir_over_file", "host");
        put("host/back", "host");

        dirs("mid");
        put("mid/changed", "mid");
        whiteout("mid/gone");
        put("mid/opaque/mid", "mid");
        mark("mid/opaque", "opaque", "y");
        put("mid/file_over_dir", "mid");
        put("mid/dir_over_file/new", "mid");
        whiteout("mid/back");

        dirs("up");
        put("up/changed", "upper");
        put("up/back", "upper");
        mark("up/back", "origin", "x");
        dirs("up/d");
        mark("up/d", "opaque", "x");
        put("up/d/b", "");
        mark("up/d/b", "whiteout", "y");
        put("up/d/empty", "");
        put("up/gone2", "");
        mark("up/gone2", "whiteout", "y"); /* its directory is not marked "x": a plain empty file */
        put("up/opaque/top", "upper");
        put("up/file_over_dir/again", "upper");

        r = root_of((const char *const[]){"up", "mid", "host", NULL}, 2);
        CHECK("the host's file shows", reads("keep", "host"));
        CHECK("the topmost file wins", reads("changed", "upper"));
        CHECK("a whiteout hides", kind("gone") == WS_NONE);
        CHECK("a file above a whiteout shows", reads("back", "upper"));
        CHECK("a whiteout by xattr hides", kind("d/b") == WS_NONE && kind("d/a") == WS_FILE);
        CHECK("an empty file is no whiteout", kind("d/empty") == WS_FILE);
        CHECK("the xattr counts only in a directory that says so", kind("gone2") == WS_FILE);
        CHECK("an opaque directory hides what is below",
              kind("opaque/old") == WS_NONE && reads("opaque/mid", "mid"));
        CHECK("and not what is above", reads("opaque/top", "upper"));
        CHECK("a file hides the directory below, for what lies above too",
              kind("file_over_dir") == WS_DIR && kind("file_over_dir/in") == WS_NONE &&
                      reads("file_over_dir/again", "upper"));
        CHECK("a directory hides the file below",
              kind("dir_over_file") == WS_DIR && reads("dir_over_file/new", "mid"));
        CHECK("a path through a file finds nothing", kind("keep/x") == WS_NONE);
        CHECK("nothing is nothing", kind("nosuch/deeper") == WS_NONE);
        CHECK("blanks in a path do not matter", reads("./d//a", "host"));

        struct ws_node n = {0};
        CHECK("an origin is seen",
              ws_view_look(&r.after, "back", &n, NULL) == 0 && n.has_origin && n.layer == 0);
        CHECK("and where there is none",
              ws_view_look(&r.after, "keep", &n, NULL) == 0 && !n.has_origin && n.layer == 2);
        CHECK("an opaque directory says so",
              ws_view_look(&r.before, "opaque", &n, NULL) == 0 && !n.is_opaque);

        _cleanup_free_ char *all = names("", 0);
        check_str("the merged names, sorted", all,
                  "back changed d dir_over_file file_over_dir gone2 keep opaque");
        _cleanup_free_ char *top = names("", 1);
        check_str("the names of the topmost layer", top,
                  "back changed d file_over_dir gone2 opaque");
        _cleanup_free_ char *two = names("", 2);
        check_str("hidden ones are among them", two,
                  "back changed d dir_over_file file_over_dir gone gone2 opaque");
        _cleanup_free_ char *opaque = names("opaque", 0);
        check_str("of an opaque directory", opaque, "mid top");
        root_end(&r);
}

static void what_is_refused(void)
{
        struct err err = {0};
        struct ws_node n;
        put("bad/plain", "x");
        put("bad/meta", "");
        mark("bad/meta", "metacopy", "");
        dirs("bad/moved");
        mark("bad/moved", "redirect", "/elsewhere");
        dirs("bad_host");
        r = root_of((const char *const[]){"bad", "bad_host", NULL}, 1);
        CHECK("a metacopy is an error, not a guess",
              ws_view_look(&r.after, "meta", &n, &err) < 0 && strstr(err.text, "metacopy"));
        err = (struct err){0};
        CHECK("a redirect is an error",
              ws_view_look(&r.after, "moved", &n, &err) < 0 && strstr(err.text, "redirect"));
        CHECK("also on the way", ws_view_look(&r.after, "moved/x", &n, NULL) < 0);
        CHECK("what is beside them is read", kind("plain") == WS_FILE);
        CHECK("no path climbs", ws_view_look(&r.after, "../bad/plain", &n, NULL) < 0 &&
                                        ws_view_look(&r.after, "x/../../y", &n, NULL) < 0);
        CHECK("the root has no name", ws_view_look(&r.after, "", &n, NULL) < 0);
        root_end(&r);

        /* The same marks in a layer that is no overlay's are just attributes. */
        r = root_of((const char *const[]){"bad", NULL}, 0);
        CHECK("a plain tree has no marks", kind("meta") == WS_FILE && kind("moved") == WS_DIR);
        root_end(&r);
}

static void links_are_not_followed(void)
{
        struct ws_node n;
        _cleanup_buf_ struct buf target = {0};
        put("l/real/file", "real");
        put("secret/file", "secret");
        symlink("../secret", "l/out");
        symlink("real", "l/in");
        mkfifo("l/fifo", 0600);
        dirs("l_host");
        r = root_of((const char *const[]){"l", "l_host", NULL}, 1);
        CHECK("a link is a link", kind("out") == WS_LINK && kind("in") == WS_LINK);
        CHECK("nothing lies behind one", kind("out/file") == WS_NONE && kind("in/file") == WS_NONE);
        CHECK("its target can be read", ws_view_link(&r.after, "out", &target, NULL) == 0 &&
                                                strcmp(buf_cstr(&target), "../secret") == 0);
        CHECK("it cannot be opened as a file", ws_view_file(&r.after, "out", &n, NULL) < 0);
        CHECK("nor can a FIFO, and nothing hangs",
              kind("fifo") == WS_SPECIAL && ws_view_file(&r.after, "fifo", &n, NULL) < 0);

        /* Swapped between the look and the open (case 72). */
        struct err err = {0};
        struct ws_dir *d = ws_dir_root(&r.after, NULL);
        put("l/swap", "one");
        ws_dir_look(d, "swap", &n, NULL);
        rename("l/real/file", "l/swap");
        CHECK("another file by now is not opened",
              ws_dir_file(d, "swap", &n, &err) < 0 && err.sys == ESTALE);
        ws_dir_look(d, "swap", &n, NULL);
        unlink("l/swap");
        symlink("../secret/file", "l/swap");
        CHECK("a link by now is not followed", ws_dir_file(d, "swap", &n, NULL) < 0);
        ws_dir_close(d);
        root_end(&r);
}

static void sleep_and_wake(void)
{
        struct err err = {0};
        struct ws_node n;
        put("s/a/b/file", "x");
        put("s_host/a/file", "y");
        r = root_of((const char *const[]){"s", "s_host", NULL}, 1);
        struct ws_dir *top = ws_dir_root(&r.after, NULL), *a = ws_dir_open(top, "a", NULL);
        struct ws_dir *b = ws_dir_open(a, "b", NULL);
        CHECK("a directory of two layers, and one of one in it", a && b && a->n == 2 && b->n == 1);
        ws_dir_sleep(a, b);
        CHECK("what the child leads back to is closed", a->parts[0].fd < 0 && a->parts[1].fd >= 0);
        CHECK("it wakes up as it was", ws_dir_wake(a, b, NULL) == 0 &&
                                               ws_dir_look(a, "file", &n, NULL) == 0 &&
                                               n.kind == WS_FILE && n.layer == 1);
        ws_dir_sleep(a, b);
        dirs("s/elsewhere");
        rename("s/a/b", "s/elsewhere/b");
        CHECK("a directory that was moved meanwhile does not lead anywhere",
              ws_dir_wake(a, b, &err) < 0 && strstr(err.text, "moved"));
        ws_dir_close(b);
        ws_dir_close(a);
        ws_dir_close(top);
        root_end(&r);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip view: the temporary directory cannot hold attributes\n");
                return 0;
        }
        what_shows();
        what_is_refused();
        links_are_not_followed();
        sleep_and_wake();
        scratch_end();
        return check_end();
}
