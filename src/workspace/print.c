/* print.c - one change as a section of a git-style diff. Called by `ostiary diff` and wherever
 * apply asks about a change. What could not be read is told in its section and counted, so that one
 * damaged file does not hide the others. Writes nowhere but to ${put}. */
#include "workspace/print_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/text_diff.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

int ws_print_line(struct ws_print *p, enum ws_print_style style, struct err *err, const char *fmt,
                  ...)
{
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *words = str_vfmt(fmt, ap);
        va_end(ap);
        _cleanup_buf_ struct buf out = {0};
        print_open(&out, p, style);
        buf_put_str(&out, words);
        print_close(&out, p, style);
        return print_flush(p, &out, err);
}

/* name(p, side, path): "a/src/x.c", quoted; the caller frees. ${side} is "a/", "b/" or "". */
static char *name(const struct ws_print *p, const char *side, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        const char *root = p->name_prefix ? p->name_prefix : "";
        /* "a" and an absolute path join at its own slash. */
        _cleanup_free_ char *prefix =
                *side ? str_fmt("%c/%s", *side, root + (*root == '/')) : str_dup(root);
        ws_print_name(&b, prefix, path);
        return str_dup(buf_cstr(&b));
}

static unsigned git_mode(const struct ws_node *n)
{
        return n->kind == WS_LINK ? 0120000u : 0100000u | (unsigned)(n->mode & 07777);
}

/* read_side(p, c, is_after, path, node, s): told and counted when it fails; 1 then. */
static int read_side(struct ws_print *p, const struct ws_change *c, bool is_after, const char *path,
                     const struct ws_node *node, struct print_side *s, struct err *err)
{
        struct err why = {0};
        const struct ws_view *v = is_after ? &c->root->after : &c->root->before;
        if (print_side_read(v, path, node, s, &why) == 0)
                return 0;
        p->unread_n++;
        _cleanup_free_ char *shown = str_quote(why.text);
        return ws_print_line(p, PRINT_WARN, err, "# the content %s could not be read: %s",
                             is_after ? "in the box" : "on the host", shown) < 0
                       ? -1
                       : 1;
}

/* section(p, c, before, after): from one node to another of the same kind, or from or to nothing.
 */
static int section(struct ws_print *p, const struct ws_change *c, const struct ws_node *before,
                   const struct ws_node *after, struct err *err)
{
        const char *from = c->from ? c->from : c->path;
        _cleanup_free_ char *a = name(p, "a/", from), *b = name(p, "b/", c->path);
        unsigned old = git_mode(before), new = git_mode(after);
        int rc = ws_print_line(p, PRINT_HEAD, err, "diff --git %s %s", a, b);
        if (rc == 0 && before->kind == WS_NONE)
                rc = ws_print_line(p, PRINT_HEAD, err, "new file mode %06o", new);
        else if (rc == 0 && after->kind == WS_NONE)
                rc = ws_print_line(p, PRINT_HEAD, err, "deleted file mode %06o", old);
        else if (rc == 0 && (old != new || after->kind == WS_LINK))
                rc = ws_print_line(p, PRINT_HEAD, err, "old mode %06o", old) ||
                     ws_print_line(p, PRINT_HEAD, err, "new mode %06o", new);
        if (rc == 0 && c->from) {
                _cleanup_free_ char *x = name(p, "", from), *y = name(p, "", c->path);
                rc = ws_print_line(p, PRINT_HEAD, err, "similarity index %u%%", c->similarity) ||
                     ws_print_line(p, PRINT_HEAD, err, "rename from %s", x) ||
                     ws_print_line(p, PRINT_HEAD, err, "rename to %s", y);
        }
        if (rc || c->what == WS_MODE)
                return rc ? -1 : 0;

        _cleanup_side_ struct print_side s = {0}, t = {0};
        int got = read_side(p, c, false, from, before, &s, err);
        if (got == 0)
                got = read_side(p, c, true, c->path, after, &t, err);
        if (got)
                return got < 0 ? -1 : 0;
        return print_hunks(p, &s, &t, before->kind == WS_NONE ? "/dev/null" : a,
                           after->kind == WS_NONE ? "/dev/null" : b, err);
}

static bool is_content(const struct ws_node *n)
{
        return n->kind == WS_FILE || n->kind == WS_LINK;
}

static const char *special_words(mode_t mode)
{
        switch (mode & S_IFMT) {
        case S_IFIFO:
                return "FIFO";
        case S_IFSOCK:
                return "socket";
        case S_IFCHR:
        case S_IFBLK:
                return "device";
        default:
                return "special file";
        }
}

/* odd(p, c): what git has no words for: directories, devices, FIFOs and sockets. */
static int odd(struct ws_print *p, const struct ws_change *c, const struct ws_node *n,
               const char *verb, struct err *err)
{
        _cleanup_free_ char *shown = name(p, "", c->path);
        if (n->kind == WS_DIR)
                return ws_print_line(p, PRINT_HEAD, err, "%s directory: %s", verb, shown);
        if (n->kind == WS_SPECIAL)
                return ws_print_line(p, PRINT_HEAD, err, "%s %s: %s", verb, special_words(n->mode),
                                     shown);
        return 0;
}

/* headings(p, c): the lines that nobody should overlook. */
static int headings(struct ws_print *p, const struct ws_change *c, struct err *err)
{
        _cleanup_free_ char *shown = name(p, "", c->path);
        if (c->class.class != FILE_PLAIN || c->class.is_odd) {
                _cleanup_free_ char *why = str_quote(c->class.why);
                const char *words = c->class.class == FILE_PLAIN ? "looks like another name"
                                                                 : file_class_words(c->class.class);
                if (ws_print_line(p, PRINT_WARN, err, "%s: %s%s%s%s%s", words, shown,
                                  *why ? " (" : "", why, *why ? ")" : "",
                                  c->class.is_odd && c->class.class != FILE_PLAIN
                                          ? ", under a name that looks like another"
                                          : "") < 0)
                        return -1;
        }
        if (c->refused &&
            ws_print_line(p, PRINT_WARN, err, "never applied: %s: %s", shown, c->refused) < 0)
                return -1;
        return 0;
}

int ws_print_change(struct ws_print *p, const struct ws_change *c, struct err *err)
{
        if (headings(p, c, err) < 0)
                return -1;
        if (c->is_masked) {
                _cleanup_free_ char *shown = name(p, "", c->path);
                return ws_print_line(p, PRINT_WARN, err,
                                     "masked: %s holds stand-ins for secrets; it is not shown and "
                                     "never applied",
                                     shown);
        }
        bool is_same_kind = c->before.kind == c->after.kind;
        if (c->what == WS_MODE && c->after.kind == WS_DIR) {
                _cleanup_free_ char *shown = name(p, "", c->path);
                return ws_print_line(p, PRINT_HEAD, err, "directory mode: %s %04o -> %04o", shown,
                                     (unsigned)(c->before.mode & 07777),
                                     (unsigned)(c->after.mode & 07777));
        }
        if (is_same_kind && is_content(&c->after))
                return section(p, c, &c->before, &c->after, err);

        static const struct ws_node nothing = {.kind = WS_NONE};
        if (c->before.kind != WS_NONE) {
                if (is_content(&c->before) ? section(p, c, &c->before, &nothing, err) < 0
                                           : odd(p, c, &c->before, "deleted", err) < 0)
                        return -1;
        }
        if (c->after.kind == WS_NONE)
                return 0;
        return is_content(&c->after) ? section(p, c, &nothing, &c->after, err)
                                     : odd(p, c, &c->after, "new", err);
}

void ws_print_count(const struct ws_change *c, struct ws_print_count *n)
{
        *n = (struct ws_print_count){0};
        if (c->is_masked || c->what == WS_MODE)
                return;
        _cleanup_side_ struct print_side s = {0}, t = {0};
        if (print_side_read(&c->root->before, c->from ? c->from : c->path, &c->before, &s, NULL) <
                    0 ||
            print_side_read(&c->root->after, c->path, &c->after, &t, NULL) < 0) {
                n->is_unread = true;
                return;
        }
        n->is_binary = s.is_binary || t.is_binary || s.is_large || t.is_large;
        if (n->is_binary || print_are_equal(&s, &t))
                return;
        struct text_lines a, b;
        struct text_edits e = {0};
        text_lines_of(&a, (const char *)s.bytes.data, s.len);
        text_lines_of(&b, (const char *)t.bytes.data, t.len);
        n->is_binary = a.n > PRINT_LINES_MAX || b.n > PRINT_LINES_MAX;
        if (!n->is_binary)
                text_diff(&a, &b, &e);
        for (size_t i = 0; i < e.n; i++) {
                n->removed += e.v[i].a_n;
                n->added += e.v[i].b_n;
        }
        text_edits_free(&e);
        text_lines_free(&a);
        text_lines_free(&b);
}
