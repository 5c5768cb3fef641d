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

/* Both contents of a section, or why one of them could not be read. */
struct sides {
        struct print_side a, b;
        bool is_read;
        bool is_after; /* it was the box's */
        struct err why;
};

static void sides_free(struct sides *s)
{
        print_side_free(&s->a);
        print_side_free(&s->b);
}

static void read_sides(const struct ws_change *c, const struct ws_node *before,
                       const struct ws_node *after, struct sides *s)
{
        const char *from = c->from ? c->from : c->path;
        s->is_read = print_side_read(&c->root->before, from, before, &s->a, &s->why) == 0;
        if (!s->is_read)
                return;
        s->is_read = print_side_read(&c->root->after, c->path, after, &s->b, &s->why) == 0;
        s->is_after = true;
}

/* has_lines(s): do the contents show up as hunks? */
static bool has_lines(const struct sides *s)
{
        return !s->a.is_binary && !s->b.is_binary && !s->a.is_large && !s->b.is_large;
}

/* is_packable(s): binary, different, and held whole. */
static bool is_packable(const struct sides *s)
{
        return (s->a.is_binary || s->b.is_binary) && !s->a.is_large && !s->b.is_large &&
               !print_are_equal(&s->a, &s->b);
}

/* head(p, c, before, after, has_mode): the lines before the hunks. */
static int head(struct ws_print *p, const struct ws_change *c, const struct ws_node *before,
                const struct ws_node *after, bool has_mode, struct err *err)
{
        unsigned old = git_mode(before), new = git_mode(after);
        int rc = 0;
        if (before->kind == WS_NONE)
                rc = ws_print_line(p, PRINT_HEAD, err, "new file mode %06o", new);
        else if (after->kind == WS_NONE)
                rc = ws_print_line(p, PRINT_HEAD, err, "deleted file mode %06o", old);
        else if (old != new || has_mode)
                rc = ws_print_line(p, PRINT_HEAD, err, "old mode %06o", old) ||
                     ws_print_line(p, PRINT_HEAD, err, "new mode %06o", new);
        if (rc == 0 && c->from) {
                _cleanup_free_ char *x = name(p, "", c->from), *y = name(p, "", c->path);
                rc = ws_print_line(p, PRINT_HEAD, err, "similarity index %u%%", c->similarity) ||
                     ws_print_line(p, PRINT_HEAD, err, "rename from %s", x) ||
                     ws_print_line(p, PRINT_HEAD, err, "rename to %s", y);
        }
        return rc ? -1 : 0;
}

/* section(p, c, before, after): from one node to another of the same kind, or from or to nothing.
 */
static int section(struct ws_print *p, const struct ws_change *c, const struct ws_node *before,
                   const struct ws_node *after, struct err *err)
{
        _cleanup_free_ char *a = name(p, "a/", c->from ? c->from : c->path);
        _cleanup_free_ char *b = name(p, "b/", c->path);
        __attribute__((cleanup(sides_free))) struct sides s = {0};
        if (c->what != WS_MODE)
                read_sides(c, before, after, &s);
        if (p->wants_shown && s.is_read && after->kind == WS_FILE && !s.b.is_large)
                sha256_hex(s.b.bytes.data, s.b.len, p->shown);
        /* A link says so by its mode; and git apply knows a section without hunks for what it is
         * only when another line follows the first. */
        bool is_packed = p->is_whole && s.is_read && is_packable(&s);
        bool has_mode = after->kind == WS_LINK || (!has_lines(&s) && !is_packed);
        if (ws_print_line(p, PRINT_HEAD, err, "diff --git %s %s", a, b) < 0 ||
            head(p, c, before, after, has_mode, err) < 0)
                return -1;
        if (c->what == WS_MODE)
                return 0;
        if (!s.is_read) {
                _cleanup_free_ char *shown = str_quote(s.why.text);
                p->unread_n++;
                return ws_print_line(p, PRINT_WARN, err, "# the content %s could not be read: %s",
                                     s.is_after ? "in the box" : "on the host", shown);
        }
        if (is_packed) {
                char old[PRINT_BLOB_LEN + 1], new[PRINT_BLOB_LEN + 1];
                print_blob_name(&s.a, old);
                print_blob_name(&s.b, new);
                if (ws_print_line(p, PRINT_HEAD, err, "index %s..%s", old, new) < 0)
                        return -1;
                return print_binary(p, &s.a, &s.b, err);
        }
        return print_hunks(p, &s.a, &s.b, before->kind == WS_NONE ? "/dev/null" : a,
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
        p->shown[0] = 0;
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
