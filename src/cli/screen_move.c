/* screen_move.c - where the cursor goes: text, line feeds, positions, tabs, margins.
 *
 * While rows are ours, vertical movements leave here as absolute positions within the box's rows.
 * Only text and line feeds between the margins are left to the terminal, because there they scroll
 * and cannot pass the lower margin. Below the margins a line feed or a wrapped line would walk into
 * our rows; so there the terminal's own wrapping is off and each step is told to it. */
#include "cli/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void screen_say(struct screen *s, const char *fmt, ...)
{
        char words[256];
        va_list args;
        if (!s->out)
                return;
        va_start(args, fmt);
        int n = vsnprintf(words, sizeof words, fmt, args);
        va_end(args);
        if (n > 0)
                buf_put(s->out, words, (size_t)n < sizeof words ? (size_t)n : sizeof words - 1);
}

struct screen_cursor screen_cursor_usual(void)
{
        return (struct screen_cursor){.sets = {'B', 'B', 'B', 'B'}};
}

void screen_tabs_usual(struct screen *s)
{
        memset(s->tabs, 0x01, sizeof s->tabs); /* every eighth */
        s->is_tabs_lost = false;
}

void screen_margins_usual(struct screen *s)
{
        s->top = 0;
        s->bottom = s->rows - 1;
        s->left = 0;
        s->right = s->cols - 1;
}

static unsigned move_least(unsigned a, unsigned b)
{
        return a < b ? a : b;
}

/* How far left and right the cursor goes from where it is. */
static unsigned move_right_end(const struct screen *s)
{
        return s->has_sides && s->at.col <= s->right ? s->right : s->cols - 1;
}

static unsigned move_left_end(const struct screen *s)
{
        return s->has_sides && s->at.col >= s->left ? s->left : 0;
}

void screen_say_place(struct screen *s)
{
        const struct screen_cursor *c = &s->at;
        unsigned from_row = c->is_origin ? s->top : 0;
        unsigned from_col = c->is_origin && s->has_sides ? s->left : 0;
        screen_say(s, "\033[%u;%uH", c->lo >= from_row ? c->lo - from_row + 1 : 1,
                   c->col >= from_col ? c->col - from_col + 1 : 1);
}

void screen_settle_wrap(struct screen *s)
{
        bool is_off = !s->has_wrap || (s->below && s->at.lo > s->bottom);
        if (s->out && is_off != s->is_wrap_off) {
                s->is_wrap_off = is_off;
                screen_say(s, "\033[?7%c", is_off ? 'l' : 'h');
        }
}

/* --- up and down ------------------------------------------------------------------------------- */

static unsigned move_next_row(const struct screen *s, unsigned row)
{
        return row == s->bottom || row + 1 >= s->rows ? row : row + 1;
}

/* screen_down(s, is_return, as): a line feed, written ${as}; the cursor also returns to the left
 * margin if ${is_return}. */
void screen_down(struct screen *s, bool is_return, const char *as)
{
        struct screen_cursor *c = &s->at;
        bool is_stuck = c->lo > s->bottom && c->lo + 1 >= s->rows;
        c->lo = move_next_row(s, c->lo);
        c->hi = move_next_row(s, c->hi);
        c->is_pending = false;
        if (is_return) {
                c->col = move_left_end(s);
                c->is_adrift = c->is_adrift && s->has_sides && s->left;
        }
        if (!is_stuck)
                screen_say(s, "%s", as);
        else if (is_return)
                screen_say(s, "\r");
}

void screen_reverse(struct screen *s)
{
        struct screen_cursor *c = &s->at;
        c->lo -= c->lo != s->top && c->lo > 0;
        c->hi -= c->hi != s->top && c->hi > 0;
        c->is_pending = false;
        screen_say(s, "\033M");
}

static unsigned move_by(const struct screen *s, unsigned row, unsigned n, bool is_up)
{
        if (is_up) {
                unsigned end = row >= s->top ? s->top : 0;
                return row - end > n ? row - n : end;
        }
        return move_least(row + n, row <= s->bottom ? s->bottom : s->rows - 1);
}

void screen_vertical(struct screen *s, unsigned n, bool is_up)
{
        struct screen_cursor *c = &s->at;
        unsigned lo = move_by(s, c->lo, n, is_up), hi = move_by(s, c->hi, n, is_up);
        if (!s->out && !is_up && c->lo < s->top) /* some terminals go past the margins from above */
                hi = move_least(c->hi + n, s->rows - 1);
        c->lo = lo;
        c->hi = hi > lo ? hi : lo;
        c->is_pending = false;
        screen_say_place(s);
}

void screen_go(struct screen *s, unsigned row, unsigned col)
{
        struct screen_cursor *c = &s->at;
        unsigned right = s->cols - 1;
        if (c->is_origin) {
                row = move_least(row + s->top, s->bottom);
                if (s->has_sides) {
                        col += s->left;
                        right = s->right;
                }
        }
        c->lo = c->hi = move_least(row, s->rows - 1);
        c->col = move_least(col, right);
        c->is_pending = c->is_adrift = false;
        screen_say_place(s);
}

/* --- along the line ---------------------------------------------------------------------------- */

void screen_sideways(struct screen *s, unsigned n, bool is_back)
{
        struct screen_cursor *c = &s->at;
        if (is_back) {
                unsigned end = move_left_end(s);
                c->col = c->col - end > n ? c->col - n : end;
        } else {
                c->col = move_least(c->col + n, move_right_end(s));
        }
        c->is_pending = false;
}

static bool move_is_tab(const struct screen *s, unsigned col)
{
        return col >= SCREEN_TABS_MAX ? col % 8 == 0 : s->tabs[col / 8] >> (col % 8) & 1;
}

void screen_tab(struct screen *s, unsigned n, bool is_back)
{
        struct screen_cursor *c = &s->at;
        unsigned end = is_back ? move_left_end(s) : move_right_end(s);
        n = move_least(n, s->cols);
        for (; n > 0 && c->col != end; n--) {
                do
                        c->col = is_back ? c->col - 1 : c->col + 1;
                while (c->col != end && !move_is_tab(s, c->col));
        }
        if (is_back)
                c->is_pending = false;
        c->is_adrift |= s->is_tabs_lost;
}

/* move_backspace(s): with reverse wrap from the first column to the end of the line above; the mode
 * is off while rows are ours, because some terminals go from the first row to the last. */
static void move_backspace(struct screen *s)
{
        struct screen_cursor *c = &s->at;
        bool may_wrap = !s->out && s->has_back_wrap && s->has_wrap;
        if (may_wrap && (c->is_adrift || c->col == move_left_end(s))) {
                c->lo = c->lo ? c->lo - 1 : 0;
                c->hi = s->rows - 1;
                c->col = move_right_end(s);
        } else {
                screen_sideways(s, 1, true);
        }
}

void screen_control(struct screen *s, uint8_t c)
{
        char as[2] = {(char)c, 0};
        switch (c) {
        case '\n':
        case '\v':
        case '\f':
                screen_down(s, s->has_newline, as);
                return;
        case '\r':
                s->at.col = move_left_end(s);
                s->at.is_adrift = s->at.is_adrift && s->has_sides && s->left;
                s->at.is_pending = false;
                break;
        case '\b':
                move_backspace(s);
                break;
        case '\t':
                screen_tab(s, 1, false);
                if (!s->out || !s->at.is_adrift)
                        break;
                s->at.is_adrift = false;
                screen_say_place(s);
                return;
        case 0x0e:
        case 0x0f:
                s->at.shift = c == 0x0e;
                break;
        default:
                break;
        }
        screen_say(s, "%s", as);
}

/* --- text -------------------------------------------------------------------------------------- */

/* move_wrap(s): to the beginning of the next line. Between the margins the terminal does it when the
 * character comes. */
static void move_wrap(struct screen *s)
{
        bool is_told = s->is_wrap_off;
        struct buf *out = s->out;
        if (s->at.is_adrift) { /* whether it wraps is not known either */
                s->at.hi = s->rows - 1;
                return;
        }
        s->out = NULL;
        screen_down(s, true, "");
        s->out = out;
        if (is_told)
                screen_say_place(s);
}

static void move_keep(struct screen *s, const uint8_t *p, size_t n, unsigned width)
{
        if (width) {
                s->last_n = 0;
                s->last_width = (uint8_t)width;
                s->last_pen = s->at.pen;
                s->is_last_ours = false;
        }
        if ((width || s->last_n) && s->last_n + n < sizeof s->last) {
                memcpy(s->last + s->last_n, p, n);
                s->last_n = (uint8_t)(s->last_n + n);
                s->last[s->last_n] = 0;
        }
}

void screen_text(struct screen *s, const uint8_t *p, size_t n, unsigned width)
{
        struct screen_cursor *c = &s->at;
        if (width == 0) {
                /* Some terminals put a mark on whatever was drawn last: that could be our row. */
                if (s->out && s->is_last_ours)
                        return;
                move_keep(s, p, n, 0);
                if (s->out)
                        buf_put(s->out, p, n);
                return;
        }
        if (width > s->cols)
                c->is_adrift = true; /* no terminal agrees with another about that */
        if (c->is_adrift)
                c->hi = s->rows - 1;
        unsigned end = move_right_end(s);
        bool is_over = c->is_pending || (width == 2 && c->col == end);
        if (is_over && s->has_wrap)
                move_wrap(s);
        c->is_pending = false;
        screen_settle_wrap(s);
        if (s->out)
                buf_put(s->out, p, n);
        move_keep(s, p, n, width);
        if (!s->is_alt && c->hi > s->lowest)
                s->lowest = c->hi;
        s->shift_once = 0;
        end = move_right_end(s);
        c->col += width;
        if (c->col > end) {
                c->col = end;
                c->is_pending = s->has_wrap;
        }
}
