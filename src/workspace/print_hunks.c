/* print_hunks.c - the contents of a change: read from the layers, compared, printed hunk by hunk.
 * Called by print.c. Everything read here is hostile and bounded by PRINT_FILE_MAX; nothing is
 * followed, because views do not. */
#include "workspace/print_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/text_diff.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

void print_side_free(struct print_side *s)
{
        buf_free(&s->bytes);
}

/* read_file(fd, max, s): the first ${max} bytes. */
static int read_file(int fd, size_t max, struct print_side *s, struct err *err)
{
        s->bytes.max = max + 2;
        while (s->bytes.len < max) {
                size_t had = s->bytes.len, want = max - had < 65536 ? max - had : 65536;
                uint8_t *to = buf_room(&s->bytes, want);
                if (!to)
                        return err_set(err, E_SYSTEM, "there is no memory for %zu bytes", max);
                ssize_t n = read(fd, to, want);
                s->bytes.len = had + (n > 0 ? (size_t)n : 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_sys(err, "read it");
                if (n == 0)
                        break;
        }
        s->len = s->bytes.len;
        return 0;
}

int print_side_read(const struct ws_view *v, const char *path, const struct ws_node *node,
                    struct print_side *s, struct err *err)
{
        *s = (struct print_side){.is_absent = node->kind != WS_FILE && node->kind != WS_LINK};
        if (node->kind == WS_LINK) {
                if (ws_view_link(v, path, &s->bytes, err) < 0)
                        return -1;
                s->len = s->bytes.len;
        } else if (node->kind == WS_FILE) {
                struct ws_node now;
                _cleanup_close_ int fd = ws_view_file(v, path, &now, err);
                if (fd < 0)
                        return -1;
                s->is_large = node->size > PRINT_FILE_MAX;
                /* A large one is looked into only as far as git looks for a NUL. */
                if (read_file(fd, s->is_large ? 8000 : PRINT_FILE_MAX, s, err) < 0)
                        return -1;
                s->is_binary = text_is_binary((const char *)s->bytes.data, s->len);
        }
        s->size = s->is_large ? node->size : s->len;
        /* What looks at a code point looks past its first byte. */
        if (!s->is_absent)
                buf_put_u8(&s->bytes, 0);
        return 0;
}

bool print_are_equal(const struct print_side *a, const struct print_side *b)
{
        return a->size == b->size && a->len == b->len && !a->is_large && !b->is_large &&
               (a->len == 0 || memcmp(a->bytes.data, b->bytes.data, a->len) == 0);
}

int print_flush(struct ws_print *p, struct buf *out, struct err *err)
{
        if (out->is_broken)
                return err_set(err, E_SYSTEM, "there is no memory for a line of this diff");
        if (out->len && p->put(p->arg, out->data, out->len) < 0)
                return err_sys(err, "write the diff");
        out->len = 0;
        return 0;
}

static const char *const colours[] = {
        [PRINT_PLAIN] = "",        [PRINT_HEAD] = "\033[1m", [PRINT_WARN] = "\033[1;33m",
        [PRINT_HUNK] = "\033[36m", [PRINT_OLD] = "\033[31m", [PRINT_NEW] = "\033[32m",
};

void print_open(struct buf *out, const struct ws_print *p, enum ws_print_style style)
{
        if (p->line_prefix)
                buf_put_str(out, p->line_prefix);
        if (p->has_colour)
                buf_put_str(out, colours[style]);
}

void print_close(struct buf *out, const struct ws_print *p, enum ws_print_style style)
{
        if (p->has_colour && style != PRINT_PLAIN)
                buf_put_str(out, "\033[0m");
        buf_put_u8(out, '\n');
}

static void put_line(struct buf *out, const struct ws_print *p, char mark,
                     const struct text_lines *l, size_t i)
{
        static const enum ws_print_style styles[] = {
                [' '] = PRINT_PLAIN, ['-'] = PRINT_OLD, ['+'] = PRINT_NEW};
        size_t at = l->at[i], n = l->at[i + 1] - at;
        bool lacks = i + 1 == l->n && l->lacks_newline;
        if (!lacks)
                n--;
        enum ws_print_style style = styles[(unsigned char)mark];
        print_open(out, p, style);
        buf_put_u8(out, (uint8_t)mark);
        if (p->is_safe)
                ws_print_shown(out, l->data + at, n, p->has_colour);
        else
                buf_put(out, l->data + at, n);
        print_close(out, p, style);
        if (lacks) {
                print_open(out, p, PRINT_PLAIN);
                buf_put_str(out, "\\ No newline at end of file\n");
        }
}

static void put_range(struct buf *out, char mark, size_t at, size_t n)
{
        /* Lines count from 1; a range without lines is told by the line before it. */
        if (n == 1)
                buf_put_fmt(out, "%c%zu", mark, at + 1);
        else
                buf_put_fmt(out, "%c%zu,%zu", mark, n ? at + 1 : at, n);
}

struct pair {
        struct text_lines a, b;
        struct text_edits edits;
        struct text_hunks hunks;
};

static int put_some(struct ws_print *p, struct buf *out, char mark, const struct text_lines *l,
                    size_t from, size_t to, struct err *err)
{
        for (size_t i = from; i < to; i++) {
                put_line(out, p, mark, l, i);
                if (out->len >= FLUSH_AT && print_flush(p, out, err) < 0)
                        return -1;
        }
        return 0;
}

static int put_hunk(struct ws_print *p, struct buf *out, const struct pair *t,
                    const struct text_hunk *h, struct err *err)
{
        print_open(out, p, PRINT_HUNK);
        buf_put_str(out, "@@ ");
        put_range(out, '-', h->a, h->a_n);
        buf_put_u8(out, ' ');
        put_range(out, '+', h->b, h->b_n);
        buf_put_str(out, " @@");
        print_close(out, p, PRINT_HUNK);
        size_t at = h->a;
        for (size_t k = h->first; k < h->first + h->n; k++) {
                const struct text_edit *e = &t->edits.v[k];
                if (put_some(p, out, ' ', &t->a, at, e->a, err) < 0 ||
                    put_some(p, out, '-', &t->a, e->a, e->a + e->a_n, err) < 0 ||
                    put_some(p, out, '+', &t->b, e->b, e->b + e->b_n, err) < 0)
                        return -1;
                at = e->a + e->a_n;
        }
        return put_some(p, out, ' ', &t->a, at, h->a + h->a_n, err);
}

static int put_text(struct ws_print *p, struct pair *t, const char *a_name, const char *b_name,
                    struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = (size_t)512 << 20};
        text_diff(&t->a, &t->b, &t->edits);
        text_hunks_of(&t->edits, t->a.n, t->b.n, p->context, &t->hunks);
        if (t->hunks.n == 0)
                return 0;
        /* A name with a blank in it ends at a tab, as git writes it. */
        if (ws_print_line(p, PRINT_HEAD, err, "--- %s%s", a_name, strchr(a_name, ' ') ? "\t" : "") <
                    0 ||
            ws_print_line(p, PRINT_HEAD, err, "+++ %s%s", b_name, strchr(b_name, ' ') ? "\t" : "") <
                    0)
                return -1;
        for (size_t i = 0; i < t->hunks.n; i++)
                if (put_hunk(p, &out, t, &t->hunks.v[i], err) < 0)
                        return -1;
        return print_flush(p, &out, err);
}

static int put_sizes(struct ws_print *p, const struct print_side *a, const struct print_side *b,
                     const char *why, struct err *err)
{
        char x[32], y[32];
        ws_print_number(a->size, x);
        ws_print_number(b->size, y);
        if (a->is_absent)
                return ws_print_line(p, PRINT_PLAIN, err, "# %s bytes%s", y, why);
        if (b->is_absent)
                return ws_print_line(p, PRINT_PLAIN, err, "# it had %s bytes%s", x, why);
        return ws_print_line(p, PRINT_PLAIN, err, "# %s bytes -> %s bytes%s", x, y, why);
}

int print_hunks(struct ws_print *p, const struct print_side *a, const struct print_side *b,
                const char *a_name, const char *b_name, struct err *err)
{
        if (print_are_equal(a, b))
                return 0;
        if (a->is_binary || b->is_binary) {
                if (ws_print_line(p, PRINT_PLAIN, err, "Binary files %s and %s differ", a_name,
                                  b_name) < 0)
                        return -1;
                return put_sizes(p, a, b, "", err);
        }
        struct pair t = {0};
        bool is_large = a->is_large || b->is_large;
        if (!is_large) {
                text_lines_of(&t.a, (const char *)a->bytes.data, a->len);
                text_lines_of(&t.b, (const char *)b->bytes.data, b->len);
                is_large = t.a.n > PRINT_LINES_MAX || t.b.n > PRINT_LINES_MAX;
        }
        int rc;
        if (is_large) {
                /* In these words git apply refuses it, instead of making an empty file of it. */
                rc = ws_print_line(p, PRINT_PLAIN, err, "Files %s and %s differ", a_name, b_name);
                if (rc == 0)
                        rc = put_sizes(p, a, b,
                                       "; over 16 MiB or 2 million lines, the content is not shown",
                                       err);
        } else {
                rc = put_text(p, &t, a_name, b_name, err);
        }
        text_lines_free(&t.a);
        text_lines_free(&t.b);
        text_edits_free(&t.edits);
        text_hunks_free(&t.hunks);
        return rc;
}
