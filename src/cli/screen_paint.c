/* screen_paint.c - our rows: taken, painted, given back; and the terminal put as the box has it.
 *
 * Everything is said in absolute terms from the model, so that no saved cursor and no position
 * report is needed. The one exception is a cursor whose row is not known: as many line feeds as could
 * be missing bring it to the last row, which scrolls by what was uncertain, and as many rows up it
 * is where the model's lower bound has it, with every line around it as before. */
#include "cli/screen.h"

#include "base/str.h"
#include "cli/seq.h"

#include <stdlib.h>
#include <string.h>

static unsigned paint_total(const struct screen *s)
{
        return s->rows + s->below;
}

/* --- before and after ---------------------------------------------------------------------------- */

/* paint_begin(s): nothing that the box switched on changes what we write. */
static void paint_begin(struct screen *s)
{
        const struct screen_cursor *c = &s->at;
        if (s->state == SCREEN_SIXEL && !s->is_sixel_dropped) {
                s->is_sixel_dropped = true; /* the rest of an image that is under way */
                screen_say(s, "\033\\");
        }
        if (c->is_origin)
                screen_say(s, "\033[?6l");
        if (s->has_sides)
                screen_say(s, "\033[?69l");
        if (s->has_insert)
                screen_say(s, "\033[4l");
        if (c->is_protected)
                screen_say(s, "\033[0\"q");
        if (c->sets[0] != 'B' || c->shift)
                screen_say(s, "\033(B\017");
        if (s->shift_once) /* it falls on our first letter */
                screen_say(s, "\033*B\033+B");
        if (s->link[0])
                screen_say(s, "\033]8;;\033\\");
}

static void paint_sets(struct screen *s)
{
        static const char shifts[4][3] = {"\017", "\016", "\033n", "\033o"};
        const struct screen_cursor *c = &s->at;
        if (c->sets[0] != 'B')
                screen_say(s, "\033(%c", c->sets[0]);
        if (s->shift_once)
                screen_say(s, "\033*%c\033+%c", c->sets[2], c->sets[3]);
        if (c->shift)
                screen_say(s, "%s", shifts[c->shift & 3]);
}

/* paint_place(s): the cursor. A line that is full is full again when its last character is written
 * once more. */
static void paint_place(struct screen *s)
{
        struct screen_cursor *c = &s->at;
        bool is_again = c->is_pending && s->last_n && !s->is_wrap_off;
        unsigned col = c->col;
        if (is_again && s->last_width == 2 && c->col > 0)
                c->col--;
        screen_say_place(s);
        c->col = col;
        s->is_last_ours = !is_again;
        paint_sets(s);
        if (s->link[0] && s->out) {
                buf_put_str(s->out, "\033]8;");
                buf_put_str(s->out, s->link);
                buf_put_str(s->out, "\033\\");
        }
        if (c->is_protected)
                screen_say(s, "\033[1\"q");
        if (is_again) {
                screen_pen_print(&s->last_pen, s->out);
                buf_put(s->out, s->last, s->last_n);
        }
        screen_pen_print(&c->pen, s->out);
}

static void paint_margins(struct screen *s, bool is_whole)
{
        bool is_usual = s->top == 0 && s->bottom == s->rows - 1 && s->below == 0;
        if (is_whole || is_usual)
                screen_say(s, "\033[r");
        else
                screen_say(s, "\033[%u;%ur", s->top + 1, s->bottom + 1);
        if (s->has_sides)
                screen_say(s, "\033[?69h\033[%u;%us", s->left + 1, s->right + 1);
        if (s->at.is_origin)
                screen_say(s, "\033[?6h");
}

/* paint_confine(s): a place that was saved before the margins were set; there is no other way to
 * tell it to a terminal that counts from them. */
static void paint_confine(struct screen *s)
{
        struct screen_cursor *c = &s->at;
        if (!c->is_origin)
                return;
        c->lo = c->lo < s->top ? s->top : c->lo > s->bottom ? s->bottom : c->lo;
        c->hi = c->lo;
        if (s->has_sides)
                c->col = c->col < s->left ? s->left : c->col > s->right ? s->right : c->col;
}

static void paint_state(struct screen *s, bool has_whole_margins)
{
        paint_confine(s);
        paint_margins(s, has_whole_margins);
        screen_settle_wrap(s);
        paint_place(s);
        if (s->has_insert)
                screen_say(s, "\033[4h");
        if (s->shift_once)
                screen_say(s, "\033%c", s->shift_once);
}

static void paint_erase(struct screen *s, unsigned from, unsigned to)
{
        for (unsigned row = from; row < to; row++)
                screen_say(s, "\033[%u;1H\033[0m\033[2K", row + 1);
}

/* paint_rows(s): a line that begins with SCREEN_JOINED is written on from the one above, which is
 * full, so that a terminal copies both as one. */
static void paint_rows(struct screen *s)
{
        size_t above = 0;
        /* ESC # 5: the line may have been one of double width or height */
        for (unsigned i = 0; i < s->below; i++)
                screen_say(s, "\033[%u;1H\033#5\033[0m\033[2K", s->rows + i + 1);
        for (unsigned i = 0; i < s->below; i++) {
                const char *line = s->lines[i] ? s->lines[i] : "";
                bool is_joined = *line == SCREEN_JOINED && above == s->cols;
                line += *line == SCREEN_JOINED;
                size_t n = strlen(line);
                n = n < s->cols ? n : s->cols;
                if (is_joined && s->is_wrap_off) {
                        screen_say(s, "\033[?7h");
                        s->is_wrap_off = false;
                }
                if (!is_joined)
                        screen_say(s, "\033[%u;1H", s->rows + i + 1);
                screen_say(s, "\033[7m");
                buf_put(s->out, line, n);
                screen_say(s, "\033[0m");
                above = n;
        }
}

void screen_refresh(struct screen *s)
{
        paint_begin(s);
        paint_rows(s);
        paint_state(s, false);
}

/* screen_bring(s, to): the terminal is told all of it rather than to restore its own saved cursor,
 * which may lie in our rows. */
void screen_bring(struct screen *s, const struct screen_cursor *to)
{
        paint_begin(s);
        for (int i = 1; i < 4; i++)
                if (s->at.sets[i] != to->sets[i])
                        screen_say(s, "\033%c%c", "()*+"[i], to -> sets[i]);
        s->at = *to;
        s->at.hi = s->at.lo;
        s->at.is_adrift = false;
        s->at.is_pending = false;
        paint_state(s, false);
}

/* --- making room ---------------------------------------------------------------------------------- */

static void paint_index(struct screen *s, unsigned n)
{
        for (; n > 0; n--)
                screen_say(s, "\033D");
}

/* paint_settle(s, has_edges): the cursor, perhaps below the box's rows, comes to a known place within
 * them. Unless the terminal's margins are its edges (${has_edges}), line feeds do not bring it there;
 * a program with margins draws by positions anyway, and draws all anew. */
static void paint_settle(struct screen *s, bool has_edges)
{
        struct screen_cursor *c = &s->at;
        unsigned total = paint_total(s);
        if (c->is_adrift) {
                screen_say(s, s->is_alt ? "\r" : "\r\033D");
                c->lo += !s->is_alt && c->lo + 1 < total;
                c->hi += !s->is_alt && c->hi + 1 < total;
                c->col = 0;
                c->is_adrift = c->is_pending = false;
        }
        unsigned row = c->lo < s->rows ? c->lo : s->rows - 1;
        if (c->lo == c->hi && c->lo > row) {
                screen_say(s, "\033[r\033[%u;1H", total);
                paint_index(s, c->lo - row);
        } else if (c->lo != c->hi && has_edges) {
                paint_index(s, total - 1 - row);
                screen_say(s, "\033[%uA", total - 1 - row);
        }
        if (!s->is_alt)
                s->lowest = row + screen_deep(s);
        c->lo = c->hi = row;
}

static void paint_lines(struct screen *s, const char *const *lines, size_t n)
{
        for (size_t i = 0; i < SCREEN_BELOW_MAX; i++) {
                char *line = i < n ? str_dup(lines[i]) : NULL;
                for (char *p = line; p && *p; p++)
                        if ((*p < 0x20 || *p > 0x7e) && (p != line || *p != SCREEN_JOINED))
                                *p = '?'; /* the caller has quoted it */
                free(s->lines[i]);
                s->lines[i] = line;
        }
}

/* paint_shape(s, rows, below): the box has other rows now; margins at its edge stay there. */
static void paint_shape(struct screen *s, unsigned rows, unsigned below)
{
        bool is_edge = s->bottom == s->rows - 1;
        s->bottom = is_edge || s->bottom >= rows ? rows - 1 : s->bottom;
        if (s->top >= s->bottom) {
                s->top = 0;
                s->bottom = rows - 1;
        }
        s->rows = rows;
        s->below = below;
}

bool screen_may_reserve(const struct screen *s)
{
        return paint_total(s) > SCREEN_ROWS_MIN && s->cols >= SCREEN_COLS_MIN;
}

static unsigned paint_fitting(size_t n, unsigned total, unsigned cols)
{
        bool is_large = total > SCREEN_ROWS_MIN && cols >= SCREEN_COLS_MIN;
        unsigned most = is_large ? total - SCREEN_ROWS_MIN : 0;
        if (n > SCREEN_BELOW_MAX)
                n = SCREEN_BELOW_MAX;
        return n < most ? (unsigned)n : most;
}

/* paint_open(s): what could hide our rows or lead into them is off as long as they are there. */
static void paint_open(struct screen *s)
{
        s->is_wrap_off = !s->has_wrap;
        screen_say(s, "\033[?2026l");
        if (s->has_back_wrap)
                screen_say(s, "\033[?45l");
        if (s->has_palette)
                screen_say(s, "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
        s->has_palette = false;
}

static void paint_close(struct screen *s)
{
        if (s->has_back_wrap)
                screen_say(s, "\033[?45h");
}

void screen_reserve(struct screen *s, const char *const *lines, size_t wanted, struct buf *out)
{
        unsigned total = paint_total(s), n = paint_fitting(wanted, total, s->cols), was = s->below;
        if (n == 0 && was == 0)
                return;
        s->out = out;
        paint_lines(s, lines, n);
        paint_begin(s);
        if (was == 0)
                paint_open(s);
        if (n < was)
                paint_erase(s, total - was, total - n);
        bool is_more = n > was;
        bool has_edges =
                s->top == 0 && s->bottom == s->rows - 1 && !s->has_sides && !s->at.is_origin;
        paint_shape(s, total - n, n);
        if (is_more)
                paint_settle(s, has_edges);
        paint_rows(s);
        paint_state(s, false);
        if (n == 0)
                paint_close(s);
        s->out = NULL;
}

/* --- events ---------------------------------------------------------------------------------------- */

/* screen_switch(s, mode, is_alt, to): our rows are taken off the screen that is left, with its
 * cursor as the terminal should keep it, and put on the one that comes. There the cursor may stand
 * where the box has no row now. */
void screen_switch(struct screen *s, unsigned mode, bool is_alt, const struct screen_cursor *to)
{
        paint_begin(s);
        paint_erase(s, s->rows, paint_total(s));
        paint_state(s, true);
        screen_say(s, "\033[?%u%c", mode, is_alt ? 'h' : 'l');
        s->is_alt = is_alt;
        s->at = *to;
        paint_begin(s);
        paint_settle(s, true);
        paint_rows(s);
        paint_state(s, false);
}

void screen_reset(struct screen *s, bool is_hard)
{
        struct screen_cursor before = s->at;
        s->at = s->saved[0] = s->saved[1] = screen_cursor_usual();
        s->lowest = is_hard ? 0 : s->lowest;
        if (!is_hard) {
                s->at.lo = before.lo;
                s->at.hi = before.hi;
                s->at.col = before.col;
                s->at.is_adrift = before.is_adrift;
                s->at.is_pending = false;
        }
        screen_margins_usual(s);
        s->has_sides = s->has_insert = false;
        s->has_wrap = true;
        s->shift_once = 0;
        if (is_hard) {
                screen_tabs_usual(s);
                s->is_alt = s->has_newline = s->has_back_wrap = s->has_size_reports = false;
                s->has_palette = false;
                s->link[0] = 0;
                s->pens_n = 0;
                s->last_n = 0;
        }
        if (!s->out)
                return;
        s->is_wrap_off = false;
        screen_say(s, is_hard ? "\033c" : "\033[!p\033[?69l\033[?7h");
        screen_refresh(s);
}

/* paint_moved(c, is_alt, was, rows, cols, is_wider): where a terminal has a cursor after its own
 * resize. Rows below the cursor go first; a higher main screen may bring lines back from above, and
 * one of another width breaks its lines anew. */
static void paint_moved(struct screen_cursor *c, bool is_alt, unsigned was, unsigned rows,
                        unsigned cols, bool is_wider)
{
        if (rows > was && !is_alt)
                c->hi += rows - was;
        c->lo = is_wider && !is_alt ? 0 : c->lo < rows ? c->lo : rows - 1;
        c->hi = (is_wider && !is_alt) || c->hi >= rows ? rows - 1 : c->hi;
        c->col = c->col < cols ? c->col : cols - 1;
        c->is_pending = false;
}

void screen_resize(struct screen *s, unsigned rows, unsigned cols, struct buf *out)
{
        unsigned was = paint_total(s), ours = s->rows, below = s->below, from = s->at.lo;
        bool is_wider = cols != s->cols;
        rows = rows ? rows : 1;
        cols = cols ? cols : 1;
        if (rows == was && !is_wider)
                return;
        unsigned deep = screen_deep(s);
        paint_moved(&s->at, s->is_alt, was, rows, cols, is_wider);
        s->lowest = s->is_alt ? s->lowest : s->at.hi + deep;
        for (int i = 0; i < 2; i++)
                paint_moved(&s->saved[i], i == 1, was, rows, cols, is_wider);
        s->cols = cols;
        s->rows = rows;
        s->below = 0;
        screen_margins_usual(s);
        if (below == 0)
                return;

        s->out = out;
        paint_begin(s);
        /* What we painted: a terminal that became smaller has dropped it. */
        if (s->is_alt && rows > ours)
                screen_say(s, "\033[%u;1H\033[0m\033[J", ours + 1);
        else if (!s->is_alt && rows >= was)
                screen_say(s, "\033[%uB\r\033[0m\033[J\033[%uA\033[%uG", ours - from, ours - from,
                           s->at.col + 1);
        s->below = paint_fitting(below, rows, cols);
        s->rows = rows - s->below;
        screen_margins_usual(s);
        paint_settle(s, true);
        paint_rows(s);
        paint_state(s, false);
        if (s->below == 0)
                paint_close(s);
        s->out = NULL;
}

void screen_lost(struct screen *s)
{
        s->at.lo = 0;
        s->at.hi = s->rows - 1;
        s->at.col = 0;
        s->at.is_pending = s->at.is_adrift = false;
}

/* --- in a signal handler ---------------------------------------------------------------------------- */

static void paint_undo_place(struct seq *q, unsigned row, unsigned col)
{
        seq_put(q, "\033[");
        seq_number(q, row + 1);
        seq_put(q, ";");
        seq_number(q, col + 1);
        seq_put(q, "H");
}

size_t screen_undo(const struct screen *s, char *out, size_t cap)
{
        struct seq q = {.p = out, .cap = cap};
        if (s->below == 0)
                return 0;
        seq_put(&q, "\033\\\033[?6l\033[?69l\033[0m\033[r");
        for (unsigned i = 0; i < s->below; i++) {
                paint_undo_place(&q, s->rows + i, 0);
                seq_put(&q, "\033[2K");
        }
        paint_undo_place(&q, s->at.lo, s->at.col);
        if (s->is_wrap_off && s->has_wrap)
                seq_put(&q, "\033[?7h");
        return q.n;
}
