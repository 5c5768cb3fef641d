/* diff_stat.c - `ostiary diff --stat`: one row per file with how many lines came and went, classes
 * by name before them, and sums at the end. Rows are held until the widest name is known, up to
 * ROWS_MAX; after that they are written as they come. */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 20000, NAME_MAX_WIDTH = 60, GRAPH = 30 };

static size_t width(const char *s)
{
        size_t n = strlen(s);
        return n > NAME_MAX_WIDTH ? NAME_MAX_WIDTH : n;
}

static void put_bar(struct buf *b, const struct diff *d, char mark, uint64_t n,
                    enum ws_print_style style)
{
        static const char *const colours[] = {[PRINT_OLD] = "\033[31m", [PRINT_NEW] = "\033[32m"};
        if (n == 0)
                return;
        if (d->print.has_colour)
                buf_put_str(b, colours[style]);
        for (uint64_t i = 0; i < n; i++)
                buf_put_u8(b, (uint8_t)mark);
        if (d->print.has_colour)
                buf_put_str(b, "\033[0m");
}

/* scaled(n, most): so that the longest bar has GRAPH marks, and none that counts has no mark. */
static uint64_t scaled(uint64_t n, uint64_t most)
{
        if (most <= GRAPH || n == 0)
                return n;
        uint64_t got = (uint64_t)((double)n * GRAPH / (double)most);
        return got ? got : 1;
}

static int put_row(struct diff *d, const struct diff_row *r, size_t name_width, uint64_t most,
                   struct err *err)
{
        size_t n = strlen(r->name), cut = n > name_width ? n - name_width + 3 : 0;
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, " %s%-*s |", cut ? "..." : "", (int)(name_width - (cut ? 3 : 0)),
                    r->name + cut);
        if (r->n.is_unread)
                buf_put_str(&b, " could not be read");
        else if (r->n.is_binary)
                buf_put_fmt(&b, " Bin %" PRIu64 " -> %" PRIu64 " bytes", r->before, r->after);
        else if (!r->is_short) {
                uint64_t all = r->n.added + r->n.removed;
                buf_put_fmt(&b, " %4" PRIu64 "%s", all, all ? " " : "");
                put_bar(&b, d, '+', scaled(r->n.added, most), PRINT_NEW);
                put_bar(&b, d, '-', scaled(r->n.removed, most), PRINT_OLD);
        }
        return ws_print_line(&d->print, PRINT_PLAIN, err, "%s", buf_cstr(&b));
}

/* flush(d): the rows that are held, with what is known of them. */
static int flush(struct diff *d, struct err *err)
{
        size_t w = 10;
        uint64_t most = 0;
        int rc = 0;
        for (size_t i = 0; i < d->rows_n; i++) {
                const struct diff_row *r = &d->rows[i];
                w = width(r->name) > w ? width(r->name) : w;
                most = r->n.added + r->n.removed > most ? r->n.added + r->n.removed : most;
        }
        for (size_t i = 0; i < d->rows_n; i++) {
                if (rc == 0)
                        rc = put_row(d, &d->rows[i], w, most, err);
                free(d->rows[i].name);
        }
        d->rows_n = 0;
        return rc;
}

static char *row_name(const struct diff *d, const struct ws_change *c)
{
        _cleanup_free_ char *name = diff_name(d, c->path);
        if (c->what == WS_RENAMED) {
                _cleanup_free_ char *from = diff_name(d, c->from);
                return str_fmt("%s => %s", from, name);
        }
        const char *dir = c->after.kind == WS_DIR || c->before.kind == WS_DIR ? "/" : "";
        switch (c->what) {
        case WS_ADDED:
                return str_fmt("%s%s (new)", name, dir);
        case WS_DELETED:
                return str_fmt("%s%s (gone)", name, dir);
        case WS_MODE:
                return str_fmt("%s%s (mode %04o => %04o)", name, dir,
                               (unsigned)(c->before.mode & 07777),
                               (unsigned)(c->after.mode & 07777));
        case WS_RETYPED:
                return str_fmt("%s (type changed)", name);
        case WS_MODIFIED:
        case WS_RENAMED:
                break;
        }
        return str_fmt("%s%s", name, dir);
}

static int stat_change(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (c->class.class != FILE_PLAIN) {
                _cleanup_free_ char *name = diff_name(d, c->path), *why = str_quote(c->class.why);
                if (ws_print_line(&d->print, PRINT_WARN, err, "%s: %s%s%s%s",
                                  file_class_words(c->class.class), name, *why ? " (" : "", why,
                                  *why ? ")" : "") < 0)
                        return -1;
        }
        if (c->refused) {
                _cleanup_free_ char *name = diff_name(d, c->path);
                if (ws_print_line(&d->print, PRINT_WARN, err, "never applied: %s: %s", name,
                                  c->refused) < 0)
                        return -1;
        }
        struct diff_row r = {.name = row_name(d, c),
                             .before = c->before.kind == WS_FILE ? c->before.size : 0,
                             .after = c->after.kind == WS_FILE ? c->after.size : 0};
        r.is_short = c->what == WS_MODE || c->is_masked || c->after.kind == WS_DIR ||
                     c->after.kind == WS_SPECIAL ||
                     (c->after.kind == WS_NONE && c->before.kind == WS_DIR);
        ws_print_count(c, &r.n);
        d->print.unread_n += r.n.is_unread;
        d->added_n += r.n.added;
        d->removed_n += r.n.removed;
        if (d->rows_n == ROWS_MAX && flush(d, err) < 0) {
                free(r.name);
                return -1;
        }
        struct diff_row *v = d->rows;
        if ((d->rows_n & (d->rows_n - 1)) == 0 || !v) {
                v = reallocarray(d->rows, d->rows_n ? d->rows_n * 2 : 1, sizeof *v);
                if (!v)
                        str_no_memory();
                d->rows = v;
        }
        d->rows[d->rows_n++] = r;
        return 0;
}

static int stat_note(struct diff *d, const char *words, struct err *err)
{
        (void)err;
        strs_add(&d->notes, words);
        return 0;
}

static int stat_end(struct diff *d, struct err *err)
{
        if (flush(d, err) < 0)
                return -1;
        for (size_t i = 0; i < d->notes.n; i++)
                if (ws_print_line(&d->print, PRINT_PLAIN, err, "# %s", d->notes.v[i]) < 0)
                        return -1;
        _cleanup_free_ char *programs = out_names_words(&d->programs);
        if (*programs &&
            ws_print_line(&d->print, PRINT_WARN, err,
                          "can be run (executable, or begins with #!): %s", programs) < 0)
                return -1;
        if (d->shown_n == 0)
                return 0;
        char n[32], plus[32], minus[32];
        return ws_print_line(&d->print, PRINT_PLAIN, err,
                             " %s file%s changed, %s line%s added, %s removed",
                             ws_print_number(d->shown_n, n), d->shown_n == 1 ? "" : "s",
                             ws_print_number(d->added_n, plus), d->added_n == 1 ? "" : "s",
                             ws_print_number(d->removed_n, minus));
}

const struct diff_form diff_stat = {.change = stat_change, .note = stat_note, .end = stat_end};
