/* print_test.c - names as git quotes them, contents as a terminal may see them, and sections of a
 * diff from two trees: what is masked, unreadable, large or no file at all. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/err.h"
#include "workspace/change.h"
#include "workspace/print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool names(const char *in, const char *want)
{
        struct buf b = {0};
        ws_print_name(&b, "a/", in);
        bool is_same = strcmp(buf_cstr(&b), want) == 0;
        if (!is_same)
                printf("# got %s\n", buf_cstr(&b));
        buf_free(&b);
        return is_same;
}

static void quoting(void)
{
        CHECK("plain", names("x.c", "a/x.c"));
        CHECK("a blank is plain", names("x y", "a/x y"));
        CHECK("quotes and backslashes", names("q\"\\", "\"a/q\\\"\\\\\""));
        CHECK("controls by letter", names("\a\b\t\n\v\f\r", "\"a/\\a\\b\\t\\n\\v\\f\\r\""));
        CHECK("others in octal", names("\001\033\177", "\"a/\\001\\033\\177\""));
        CHECK("every byte beyond ASCII", names("\303\244\377", "\"a/\\303\\244\\377\""));
        char n[32];
        check_str("numbers", ws_print_number(1204000, n), "1,204,000");
        check_str("small ones", ws_print_number(999, n), "999");
        check_str("the largest", ws_print_number(UINT64_MAX, n), "18,446,744,073,709,551,615");
}

static bool shows(const char *in, size_t len, bool has_colour, const char *want)
{
        struct buf b = {0};
        ws_print_shown(&b, in, len, has_colour);
        bool is_same = strcmp(buf_cstr(&b), want) == 0;
        if (!is_same)
                printf("# got %s\n", buf_cstr(&b));
        buf_free(&b);
        return is_same;
}

static void showing(void)
{
        CHECK("text", shows("a\tb \\x1b", 8, false, "a\tb \\x1b"));
        CHECK("an escape", shows("\033[2J", 4, false, "\\x1b[2J"));
        CHECK("one that is marked", shows("\033[2J", 4, true, "\033[7m\\x1b\033[27m[2J"));
        CHECK("two in a row are one mark",
              shows("\001\002x", 3, true, "\033[7m\\x01\\x02\033[27mx"));
        CHECK("at the end", shows("x\r", 2, true, "x\033[7m\\x0d\033[27m"));
        CHECK("UTF-8 stays", shows("\303\244\344\270\255", 5, false, "\303\244\344\270\255"));
        CHECK("half a code point at the end", shows("x\303", 2, false, "x\\xc3"));
        CHECK("a code point cut by the length", shows("x\303\244", 2, false, "x\\xc3"));
        CHECK("C1 in UTF-8", shows("\302\233m", 3, false, "\\xc2\\x9bm"));
        CHECK("turned around", shows("\342\200\256", 3, false, "\\xe2\\x80\\xae"));
        CHECK("a NUL", shows("a\0b", 3, false, "a\\x00b"));
        CHECK("nothing", shows("", 0, true, ""));
}

/* --- sections ----------------------------------------------------------------------------------
 */

static struct buf got;
static int fails_after = -1;

static int put(void *arg, const void *p, size_t n)
{
        (void)arg;
        if (fails_after >= 0 && fails_after-- == 0) {
                errno = EPIPE;
                return -1;
        }
        buf_put(&got, p, n);
        return 0;
}

static void file(int dir, const char *name, const char *text, mode_t mode)
{
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
                perror(name);
        close(fd);
}

struct trees {
        char path[2][64];
        int fd[2];
        struct ws_root root;
};

static void trees_make(struct trees *t)
{
        for (size_t i = 0; i < 2; i++) {
                snprintf(t->path[i], sizeof t->path[i], "/tmp/print_test.XXXXXX");
                if (!mkdtemp(t->path[i]))
                        perror("mkdtemp");
                t->fd[i] = open(t->path[i], O_RDONLY | O_DIRECTORY);
        }
        t->root = (struct ws_root){.name = (char *)"ws", .host = (char *)"/x", .top_n = 1};
        ws_view_add(&t->root.before, t->fd[0], false);
        ws_view_add(&t->root.after, t->fd[1], true);
        ws_view_add(&t->root.after, t->fd[0], false);
}

static const char *print(struct trees *t, struct ws_change *c, struct ws_print *p)
{
        struct err err = {0};
        got.len = 0;
        c->root = &t->root;
        if (ws_view_look(&t->root.before, c->from ? c->from : c->path, &c->before, &err) < 0 ||
            ws_view_look(&t->root.after, c->path, &c->after, &err) < 0)
                printf("# %s\n", err.text);
        if (c->what == WS_ADDED)
                c->before = (struct ws_node){0};
        p->put = put;
        p->context = 3;
        if (ws_print_change(p, c, &err) < 0)
                return err.text[0] ? "failed" : "failed without a story";
        return buf_cstr(&got);
}

static void sections(void)
{
        struct trees t = {0};
        struct ws_print p = {0};
        trees_make(&t);
        file(t.fd[0], "f", "a\nb\n", 0644);
        file(t.fd[1], "f", "a\nc\n", 0755);
        struct ws_change c = {.path = (char *)"f", .what = WS_MODIFIED};
        check_str("content and mode", print(&t, &c, &p),
                  "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n"
                  "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");

        p.name_prefix = "/srv/x/";
        p.line_prefix = "| ";
        check_str("under another root", print(&t, &c, &p),
                  "| diff --git a/srv/x/f b/srv/x/f\n| old mode 100644\n| new mode 100755\n"
                  "| --- a/srv/x/f\n| +++ b/srv/x/f\n| @@ -1,2 +1,2 @@\n|  a\n| -b\n| +c\n");
        p = (struct ws_print){0};

        c.class = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT, .why = "git hook"};
        c.refused = "it is odd";
        CHECK("class and refusal come first",
              strncmp(print(&t, &c, &p),
                      "runs on commit: f (git hook)\nnever applied: f: it is odd\ndiff --git ",
                      64) == 0);
        c.is_masked = true;
        const char *text = print(&t, &c, &p);
        CHECK("of a masked file nothing is shown",
              strstr(text, "masked: f holds stand-ins") && !strstr(text, "@@"));

        struct ws_change gone = {.path = (char *)"f", .what = WS_MODIFIED};
        (void)print(&t, &gone, &p);
        unlinkat(t.fd[1], "f", 0);
        unlinkat(t.fd[0], "f", 0);
        got.len = 0;
        struct err err = {0};
        p.unread_n = 0;
        CHECK("a content that is gone meanwhile is told and counted",
              ws_print_change(&p, &gone, &err) == 0 && p.unread_n == 1 &&
                      strstr(buf_cstr(&got), "could not be read"));

        file(t.fd[1], "n", "x\n", 0644);
        struct ws_change n = {.path = (char *)"n", .what = WS_ADDED};
        check_str("from a failing writer", (fails_after = 2, print(&t, &n, &p)), "failed");
        fails_after = -1;
        struct ws_print_count count;
        ws_print_count(&n, &count);
        CHECK("lines counted", count.added == 1 && count.removed == 0 && !count.is_binary);

        mkfifoat(t.fd[1], "p", 0600);
        struct ws_change fifo = {.path = (char *)"p", .what = WS_ADDED};
        check_str("a FIFO is not opened", print(&t, &fifo, &p), "new FIFO: p\n");

        file(t.fd[1], "hole", "x", 0644);
        int fd = openat(t.fd[1], "hole", O_WRONLY);
        if (ftruncate(fd, (off_t)PRINT_FILE_MAX + 1) < 0)
                perror("ftruncate");
        close(fd);
        struct ws_change hole = {.path = (char *)"hole", .what = WS_ADDED};
        check_str("a large file is told by its size", print(&t, &hole, &p),
                  "diff --git a/hole b/hole\nnew file mode 100644\n"
                  "Binary files /dev/null and b/hole differ\n# 16,777,217 bytes\n");

        static const char *const all[] = {"n", "p", "hole"};
        for (size_t i = 0; i < 3; i++)
                unlinkat(t.fd[1], all[i], 0);
        for (size_t i = 0; i < 2; i++) {
                close(t.fd[i]);
                rmdir(t.path[i]);
        }
        ws_view_free(&t.root.before);
        ws_view_free(&t.root.after);
        buf_free(&got);
}

int main(void)
{
        quoting();
        showing();
        sections();
        return check_end();
}
