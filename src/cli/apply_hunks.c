/* apply_hunks.c - `ostiary apply --hunks`: each place that differs is shown and asked for, as `git
 * add -p` does. What is no text, and what is no change of content, is asked for as a whole.
 * Contents came out of a box: made safe for the terminal before they are shown (cases 76, 80). */
#include "cli/apply.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/out.h"
#include "workspace/print.h"
#include "workspace/text_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const letters = "nyadq?";
static const char hunk_help[] =
        "  y  apply this        a  this and all that follow in the file\n"
        "  n  do not            d  neither this nor any that follow in the file\n"
        "  q  end here: nothing that follows is applied\n";

static int put(void *arg, const void *bytes, size_t n)
{
        (void)arg;
        return fdio_write_all(STDERR_FILENO, bytes, n);
}

/* A file that is taken apart. */
struct sides {
        struct buf a, b;
        struct text_lines la, lb;
        struct text_edits edits;
        struct text_hunks hunks;
};

static void sides_free(struct sides *s)
{
        text_hunks_free(&s->hunks);
        text_edits_free(&s->edits);
        text_lines_free(&s->la);
        text_lines_free(&s->lb);
        buf_free(&s->a);
        buf_free(&s->b);
}

static bool read_side(const struct ws_view *v, const char *path, struct buf *to)
{
        struct ws_node node;
        to->max = (size_t)PRINT_FILE_MAX + 1;
        _cleanup_close_ int fd = ws_view_file(v, path, &node, NULL);
        if (fd < 0 || node.size > PRINT_FILE_MAX || fdio_read_all(fd, to, PRINT_FILE_MAX) < 0)
                return false;
        buf_cstr(to);
        return !to->is_broken && !text_is_binary((const char *)to->data, to->len);
}

/* sides_of(c, s): the hunks of a changed text; false when it is asked for as a whole. */
static bool sides_of(const struct ws_change *c, struct sides *s)
{
        if (c->what != WS_MODIFIED || c->before.kind != WS_FILE || c->after.kind != WS_FILE ||
            !read_side(&c->root->before, c->path, &s->a) ||
            !read_side(&c->root->after, c->path, &s->b))
                return false;
        text_lines_of(&s->la, (const char *)s->a.data, s->a.len);
        text_lines_of(&s->lb, (const char *)s->b.data, s->b.len);
        if (s->la.n > PRINT_LINES_MAX || s->lb.n > PRINT_LINES_MAX)
                return false;
        text_diff(&s->la, &s->lb, &s->edits);
        text_hunks_of(&s->edits, s->la.n, s->lb.n, 3, &s->hunks);
        return s->hunks.n > 0;
}

static void show_lines(const struct text_lines *l, size_t from, size_t n, char mark)
{
        bool has_colour = out_has_colour(STDERR_FILENO);
        for (size_t i = from; i < from + n && i < l->n; i++) {
                _cleanup_buf_ struct buf out = {0};
                if (has_colour && mark != ' ')
                        buf_put_str(&out, mark == '+' ? "\033[32m" : "\033[31m");
                buf_put_u8(&out, (uint8_t)mark);
                size_t len = l->at[i + 1] - l->at[i];
                bool has_newline = len && l->data[l->at[i + 1] - 1] == '\n';
                /* with a NUL after it: the printer looks past a code point's first byte */
                _cleanup_free_ char *line = calloc(1, len + 1);
                if (!line)
                        str_no_memory();
                memcpy(line, l->data + l->at[i], len - has_newline);
                ws_print_shown(&out, line, len - has_newline, has_colour);
                if (has_colour && mark != ' ')
                        buf_put_str(&out, "\033[m");
                buf_put_str(&out, has_newline ? "\n" : "\n\\ No newline at end of file\n");
                if (fdio_write_all(STDERR_FILENO, out.data, out.len) < 0)
                        return;
        }
}

static void show_hunk(const struct sides *s, const struct text_hunk *h)
{
        fprintf(stderr, "@@ -%zu,%zu +%zu,%zu @@\n", h->a + (h->a_n > 0), h->a_n,
                h->b + (h->b_n > 0), h->b_n);
        size_t at = h->a;
        for (size_t i = h->first; i < h->first + h->n; i++) {
                const struct text_edit *e = &s->edits.v[i];
                show_lines(&s->la, at, e->a - at, ' ');
                show_lines(&s->la, e->a, e->a_n, '-');
                show_lines(&s->lb, e->b, e->b_n, '+');
                at = e->a + e->a_n;
        }
        show_lines(&s->la, at, h->a + h->a_n - at, ' ');
}

static char ask(const char *question)
{
        for (;;) {
                char got = apply_answer(question, letters);
                if (got != '?')
                        return got;
                fputs(hunk_help, stderr);
        }
}

static void head(const struct apply_job *j, const struct landing_item *it)
{
        const struct file_class_verdict *k = &it->change->class;
        _cleanup_free_ char *name = landing_name(&j->l, it);
        fprintf(stderr, "%s: %s%s%s%s%s\n", name, ws_what_name(it->change->what),
                k->class == FILE_PLAIN ? "" : ", ",
                k->class == FILE_PLAIN ? "" : file_class_words(k->class), *k->why ? ": " : "",
                k->why);
}

static void ask_whole(struct apply_job *j, struct landing_item *it)
{
        struct ws_print p = {.put = put,
                             .is_safe = true,
                             .wants_shown = true,
                             .has_colour = out_has_colour(STDERR_FILENO),
                             .context = 3};
        head(j, it);
        (void)ws_print_change(&p, it->change, NULL);
        memcpy(it->shown, p.shown, sizeof p.shown);
        char got = ask("Apply this change? [y,N,q,?]");
        it->fate = got == 'y' || got == 'a' ? FATE_TAKE : FATE_DECLINED;
        j->l.is_over = got == 'q';
}

static void ask_hunks(struct apply_job *j, struct landing_item *it, struct sides *s)
{
        _cleanup_free_ bool *taken = calloc(s->hunks.n, sizeof *taken);
        if (!taken)
                str_no_memory();
        head(j, it);
        size_t taken_n = 0;
        char rest = 0; /* the answer to all that follow */
        for (size_t i = 0; i < s->hunks.n; i++) {
                char got = rest;
                if (!rest) {
                        _cleanup_free_ char *question = str_fmt(
                                "Apply this hunk (%zu of %zu)? [y,N,a,d,q,?]", i + 1, s->hunks.n);
                        show_hunk(s, &s->hunks.v[i]);
                        got = ask(question);
                }
                rest = got == 'a' ? 'y' : got == 'd' || got == 'q' ? 'n' : rest;
                j->l.is_over |= got == 'q';
                taken[i] = got == 'y' || got == 'a';
                taken_n += taken[i];
        }
        it->fate = taken_n ? FATE_TAKE : FATE_DECLINED;
        sha256_hex(s->b.data, s->b.len, it->shown);
        if (taken_n == 0 || taken_n == s->hunks.n)
                return;
        it->how = APPLY_BYTES;
        it->bytes.max = 3 * (size_t)PRINT_FILE_MAX;
        text_take(&s->la, &s->lb, &s->edits, &s->hunks, taken, &it->bytes);
        if (it->bytes.is_broken)
                it->fate = FATE_DECLINED;
}

void apply_hunks(struct apply_job *j)
{
        for (size_t i = 0; i < j->l.n; i++) {
                struct landing_item *it = &j->l.v[i];
                if (it->fate != FATE_OPEN)
                        continue;
                if (j->l.is_over) {
                        it->fate = FATE_DECLINED;
                        continue;
                }
                struct sides s = {0};
                if (sides_of(it->change, &s))
                        ask_hunks(j, it, &s);
                else
                        ask_whole(j, it);
                sides_free(&s);
        }
}
