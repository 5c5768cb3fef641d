/* libterm.h - a small terminal with cells, as xterm behaves, for tests of the screen model: it obeys
 * the bytes that a user's terminal would get, so that the model can be held against it. Shares only
 * the reading of SGR and the width of characters with the program. */
#ifndef UNIT_LIBTERM_H
#define UNIT_LIBTERM_H

#include "cli/screen.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VT_ROWS = 64, VT_COLS = 160, VT_NUMBERS = 16 };
enum vt_kind {
        VT_DOWN_FREELY = 1, /* from above the margins, cursor down goes to the last row (kitty) */
        VT_LINES_HOME = 2,  /* inserting lines moves to the left margin */
        VT_PULLS = 4,       /* a higher main screen gets lines back from above */
};

struct vt_cursor {
        int row, col;
        bool is_pending, is_origin;
        struct screen_pen pen;
};

struct vt {
        unsigned kind;
        int rows, cols, top, bottom, left, right;
        uint32_t cell[2][VT_ROWS][VT_COLS];
        bool is_alt, has_wrap, has_insert, has_newline, has_sides, has_back_wrap;
        struct vt_cursor at, saved[2];
        struct screen_pen pens[10];
        size_t pens_n;
        bool tabs[VT_COLS];
        uint32_t last;
        unsigned reports_n; /* how often the box or we asked where the cursor is */
        int state;          /* 0 text, 1 ESC, 2 CSI, 3 string, 4 ESC in a string */
        char held[8192];
        size_t held_n;
        uint32_t code;
        int need;
};

static void vt_reset(struct vt *t)
{
        t->at = t->saved[0] = t->saved[1] = (struct vt_cursor){0};
        t->top = t->left = 0;
        t->bottom = t->rows - 1;
        t->right = t->cols - 1;
        t->is_alt = t->has_insert = t->has_newline = t->has_sides = t->has_back_wrap = false;
        t->has_wrap = true;
        t->pens_n = 0;
        t->last = 0;
        memset(t->cell, 0, sizeof t->cell);
        for (int i = 0; i < VT_COLS; i++)
                t->tabs[i] = i % 8 == 0;
}

static void vt_init(struct vt *t, int rows, int cols, unsigned kind)
{
        memset(t, 0, sizeof *t);
        t->rows = rows;
        t->cols = cols;
        t->kind = kind;
        vt_reset(t);
}

static int vt_least(int a, int b)
{
        return a < b ? a : b;
}

static uint32_t *vt_row(struct vt *t, int row)
{
        return t->cell[t->is_alt][row];
}

static void vt_blank(struct vt *t, int row, int from, int to)
{
        for (int i = from; i < to && i < t->cols; i++)
                vt_row(t, row)[i] = 0;
}

/* vt_scroll(t, from, n): rows from..bottom up by n, or down if n is negative; between the sides. */
static void vt_scroll(struct vt *t, int from, int n)
{
        int a = t->has_sides ? t->left : 0, b = t->has_sides ? t->right + 1 : t->cols;
        int high = t->bottom - from + 1;
        n = n > high ? high : n < -high ? -high : n;
        for (int i = 0; i < high; i++) {
                int to = n > 0 ? from + i : t->bottom - i, src = to + n;
                bool is_in = src >= from && src <= t->bottom;
                if (is_in)
                        memmove(vt_row(t, to) + a, vt_row(t, src) + a,
                                (size_t)(b - a) * sizeof(uint32_t));
                else
                        vt_blank(t, to, a, b);
        }
}

static void vt_down(struct vt *t)
{
        struct vt_cursor *c = &t->at;
        c->is_pending = false;
        if (c->row == t->bottom) {
                if (!t->has_sides || (c->col >= t->left && c->col <= t->right))
                        vt_scroll(t, t->top, 1);
        } else if (c->row < t->rows - 1) {
                c->row++;
        }
}

static void vt_go(struct vt *t, int row, int col)
{
        struct vt_cursor *c = &t->at;
        int right = t->cols - 1;
        if (c->is_origin) {
                row = vt_least(row + t->top, t->bottom);
                if (t->has_sides) {
                        col += t->left;
                        right = t->right;
                }
        }
        c->row = vt_least(row, t->rows - 1);
        c->col = vt_least(col, right);
        c->is_pending = false;
}

static int vt_right(const struct vt *t)
{
        return t->has_sides && t->at.col <= t->right ? t->right : t->cols - 1;
}

static int vt_left(const struct vt *t)
{
        return t->has_sides && t->at.col >= t->left ? t->left : 0;
}

static void vt_print(struct vt *t, uint32_t code)
{
        struct vt_cursor *c = &t->at;
        int width = (int)screen_width(code);
        if (width == 0)
                return;
        if (t->has_wrap && (c->is_pending || (width == 2 && c->col == vt_right(t)))) {
                int left = vt_left(t);
                vt_down(t);
                c->col = left;
        }
        c->is_pending = false;
        int end = vt_right(t);
        if (t->has_insert)
                for (int i = end; i >= c->col + width; i--)
                        vt_row(t, c->row)[i] = vt_row(t, c->row)[i - width];
        vt_row(t, c->row)[c->col] = code;
        if (width == 2 && c->col < end)
                vt_row(t, c->row)[c->col + 1] = 0;
        c->col += width;
        if (c->col > end) {
                c->col = end;
                c->is_pending = t->has_wrap;
        }
        t->last = code;
}

static void vt_tab(struct vt *t, int n, bool is_back)
{
        int end = is_back ? vt_left(t) : vt_right(t);
        for (; n > 0 && t->at.col != end; n--)
                do
                        t->at.col += is_back ? -1 : 1;
                while (t->at.col != end && !t->tabs[t->at.col]);
        t->at.is_pending = t->at.is_pending && !is_back;
}

static void vt_back(struct vt *t)
{
        struct vt_cursor *c = &t->at;
        if (c->col == vt_left(t) && t->has_back_wrap && t->has_wrap) {
                c->row = c->row ? c->row - 1 : t->rows - 1; /* the worst that a terminal does */
                c->col = vt_right(t);
        } else {
                c->col = c->col > vt_left(t) ? c->col - 1 : c->col;
                c->is_pending = false;
        }
}

static void vt_control(struct vt *t, uint8_t b)
{
        switch (b) {
        case '\n':
        case '\v':
        case '\f':
                vt_down(t);
                if (t->has_newline)
                        t->at.col = vt_left(t);
                break;
        case '\r':
                t->at.col = vt_left(t);
                t->at.is_pending = false;
                break;
        case '\b':
                vt_back(t);
                break;
        case '\t':
                vt_tab(t, 1, false);
                break;
        default:
                break;
        }
}

static void vt_vertical(struct vt *t, int n, bool is_up)
{
        struct vt_cursor *c = &t->at;
        bool is_free = t->kind & VT_DOWN_FREELY && c->row < t->top;
        int end = is_up ? (c->row >= t->top ? t->top : 0)
                        : (c->row <= t->bottom && !is_free ? t->bottom : t->rows - 1);
        int to = is_up ? c->row - n : c->row + n;
        c->row = is_up ? (to < end ? end : to) : vt_least(to, end);
        c->is_pending = false;
}

static void vt_erase(struct vt *t, int what)
{
        for (int row = 0; row < t->rows; row++) {
                bool is_whole = what == 2 || (what == 0 && row > t->at.row) ||
                                (what == 1 && row < t->at.row);
                if (is_whole)
                        vt_blank(t, row, 0, t->cols);
        }
        if (what == 0)
                vt_blank(t, t->at.row, t->at.col, t->cols);
        else if (what == 1)
                vt_blank(t, t->at.row, 0, t->at.col + 1);
}

static void vt_mode(struct vt *t, int mode, bool is_on)
{
        switch (mode) {
        case 6:
                t->at.is_origin = is_on;
                vt_go(t, 0, 0);
                break;
        case 7:
                t->has_wrap = is_on;
                t->at.is_pending = t->at.is_pending && is_on;
                break;
        case 45:
                t->has_back_wrap = is_on;
                break;
        case 69:
                t->has_sides = is_on;
                t->left = 0;
                t->right = t->cols - 1;
                break;
        case 1048:
                if (is_on)
                        t->saved[t->is_alt] = t->at;
                else
                        t->at = t->saved[t->is_alt];
                break;
        case 47:
        case 1047:
        case 1049:
                if (mode == 1049 && is_on)
                        t->saved[t->is_alt] = t->at;
                if (mode == 1049 && is_on && !t->is_alt)
                        memset(t->cell[1], 0, sizeof t->cell[1]);
                t->is_alt = is_on;
                if (mode == 1049 && !is_on)
                        t->at = t->saved[0];
                break;
        default:
                break;
        }
}

static void vt_rectangle(struct vt *t, const int *v, uint32_t with)
{
        int a = v[0] ? v[0] : 1, b = v[2] && v[2] < t->rows ? v[2] : t->rows;
        int l = v[1] ? v[1] : 1, r = v[3] && v[3] < t->cols ? v[3] : t->cols;
        for (int row = a - 1; row < b; row++)
                for (int col = l - 1; col < r; col++)
                        vt_row(t, row)[col] = with;
}

static void vt_csi(struct vt *t)
{
        int v[VT_NUMBERS] = {0};
        size_t n = 1, i = 0, end = t->held_n - 1;
        char final = t->held[end], prefix = 0, between = 0;
        if (end && t->held[0] >= '<' && t->held[0] <= '?')
                prefix = t->held[i++];
        for (; i < end; i++) {
                if (t->held[i] == ';' && n < VT_NUMBERS)
                        n++;
                else if (t->held[i] >= '0' && t->held[i] <= '9' && v[n - 1] < 100000)
                        v[n - 1] = v[n - 1] * 10 + t->held[i] - '0';
                else if (t->held[i] < 0x30)
                        between = t->held[i];
        }
        struct vt_cursor *c = &t->at;
        int k = v[0] ? v[0] : 1;
        if (between == '!' && final == 'p') {
                int row = c->row, col = c->col;
                *c = t->saved[0] = t->saved[1] = (struct vt_cursor){0};
                c->row = row;
                c->col = col;
                t->top = 0;
                t->bottom = t->rows - 1;
                t->has_insert = t->has_sides = false;
                t->left = 0;
                t->right = t->cols - 1;
                t->has_wrap = true;
                return;
        }
        if (between == '$' && strchr("xz{", final)) {
                vt_rectangle(t, v + (final == 'x'), final == 'x' ? (uint32_t)v[0] : 0);
                return;
        }
        if (between == '#' && strchr("{p", final) && t->pens_n < 10)
                t->pens[t->pens_n++] = c->pen;
        else if (between == '#' && strchr("}q", final) && t->pens_n)
                c->pen = t->pens[--t->pens_n];
        if (between)
                return;
        if (final == 'h' || final == 'l') {
                for (i = 0; i < n; i++) {
                        if (prefix == '?')
                                vt_mode(t, v[i], final == 'h');
                        else if (!prefix && v[i] == 4)
                                t->has_insert = final == 'h';
                        else if (!prefix && v[i] == 20)
                                t->has_newline = final == 'h';
                }
                return;
        }
        if (final == 'J' && (!prefix || prefix == '?'))
                vt_erase(t, v[0]);
        if (prefix)
                return;
        bool is_inside = c->row >= t->top && c->row <= t->bottom;
        switch (final) {
        case 'A':
        case 'F':
                vt_vertical(t, k, true);
                if (final == 'F')
                        c->col = vt_left(t);
                break;
        case 'B':
        case 'E':
                vt_vertical(t, k, false);
                if (final == 'E')
                        c->col = vt_left(t);
                break;
        case 'C':
        case 'a':
                c->col = vt_least(c->col + k, vt_right(t));
                c->is_pending = false;
                break;
        case 'D': {
                int left = vt_left(t);
                c->col = c->col - k > left ? c->col - k : left;
                c->is_pending = false;
                break;
        }
        case 'G':
        case '`': {
                int row = c->row;
                vt_go(t, 0, k - 1);
                c->row = row;
                break;
        }
        case 'H':
        case 'f':
                vt_go(t, k - 1, n > 1 && v[1] ? v[1] - 1 : 0);
                break;
        case 'd':
                vt_go(t, k - 1, c->col - (c->is_origin && t->has_sides ? t->left : 0));
                break;
        case 'e':
                vt_go(t, c->row - (c->is_origin ? t->top : 0) + k,
                      c->col - (c->is_origin && t->has_sides ? t->left : 0));
                break;
        case 'I':
                vt_tab(t, k, false);
                break;
        case 'Z':
                vt_tab(t, k, true);
                break;
        case 'K':
                vt_blank(t, c->row, v[0] == 0 ? c->col : 0, v[0] == 1 ? c->col + 1 : t->cols);
                break;
        case 'X':
                vt_blank(t, c->row, c->col, c->col + k);
                break;
        case 'L':
        case 'M':
                if (!is_inside)
                        break;
                vt_scroll(t, c->row, final == 'L' ? -k : k);
                c->is_pending = false;
                if (t->kind & VT_LINES_HOME)
                        c->col = vt_left(t);
                break;
        case 'S':
                vt_scroll(t, t->top, k);
                break;
        case 'T':
                vt_scroll(t, t->top, -k);
                break;
        case 'b':
                for (k = vt_least(k, 99999); k > 0 && t->last; k--)
                        vt_print(t, t->last);
                break;
        case 'g':
                if (v[0] == 0)
                        t->tabs[c->col] = false;
                else if (v[0] == 3)
                        memset(t->tabs, 0, sizeof t->tabs);
                break;
        case 'm':
                screen_pen_set(&c->pen, (const uint8_t *)t->held, t->held_n - 1);
                break;
        case 'n':
                t->reports_n += v[0] == 6;
                break;
        case 'r': {
                int bottom = n > 1 && v[1] && v[1] < t->rows ? v[1] : t->rows;
                if (k >= bottom)
                        break;
                t->top = k - 1;
                t->bottom = bottom - 1;
                vt_go(t, 0, 0);
                break;
        }
        case 's':
                if (t->has_sides) {
                        int right = n > 1 && v[1] && v[1] < t->cols ? v[1] : t->cols;
                        if (k >= right)
                                break;
                        t->left = k - 1;
                        t->right = right - 1;
                        vt_go(t, 0, 0);
                } else {
                        t->saved[t->is_alt] = *c;
                }
                break;
        case 'u':
                *c = t->saved[t->is_alt];
                break;
        default:
                break;
        }
}

static void vt_esc(struct vt *t)
{
        if (t->held_n == 2 && t->held[0] == '#' && t->held[1] == '8') {
                t->top = 0;
                t->bottom = t->rows - 1;
                t->left = 0;
                t->right = t->cols - 1;
                t->at.is_origin = false;
                for (int row = 0; row < t->rows; row++)
                        for (int col = 0; col < t->cols; col++)
                                vt_row(t, row)[col] = 'E';
                vt_go(t, 0, 0);
        }
        if (t->held_n != 1)
                return;
        switch (t->held[0]) {
        case '7':
                t->saved[t->is_alt] = t->at;
                break;
        case '8':
                t->at = t->saved[t->is_alt];
                break;
        case 'D':
                vt_down(t);
                break;
        case 'E':
                vt_down(t);
                t->at.col = vt_left(t);
                break;
        case 'M':
                t->at.is_pending = false;
                if (t->at.row == t->top)
                        vt_scroll(t, t->top, -1);
                else if (t->at.row)
                        t->at.row--;
                break;
        case 'c':
                vt_reset(t);
                break;
        case 'H':
                t->tabs[t->at.col] = true;
                break;
        case '6':
        case '9': {
                int end = t->held[0] == '6' ? vt_left(t) : vt_right(t);
                t->at.col += t->at.col == end ? 0 : t->held[0] == '6' ? -1 : 1;
                t->at.is_pending = false;
                break;
        }
        default:
                break;
        }
}

static void vt_hold(struct vt *t, uint8_t b)
{
        if (t->held_n < sizeof t->held - 1)
                t->held[t->held_n++] = (char)b;
        t->held[t->held_n] = 0;
}

/* vt_string(t): an image moves the cursor down: here by three rows. */
static void vt_string(struct vt *t)
{
        if (t->held[0] != 'P' || t->held[1] == '+')
                return;
        for (int i = 0; i < 3; i++)
                vt_down(t);
        t->at.col = vt_least(2, t->cols - 1);
}

static void vt_byte(struct vt *t, uint8_t b)
{
        if (t->state == 0 && t->need) {
                t->code = t->code << 6 | (b & 0x3f);
                if (--t->need == 0)
                        vt_print(t, t->code);
        } else if (t->state == 0 && b == 0x1b) {
                t->state = 1;
                t->held_n = 0;
        } else if (t->state == 0 && b < 0x20) {
                vt_control(t, b);
        } else if (t->state == 0 && b < 0x80) {
                vt_print(t, b);
        } else if (t->state == 0) {
                t->need = b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
                t->code = b & (0x3fu >> t->need);
        } else if (t->state == 1) {
                vt_hold(t, b);
                if (b == '[' && t->held_n == 1) {
                        t->state = 2;
                        t->held_n = 0;
                } else if (t->held_n == 1 && strchr("]P", b)) {
                        t->state = 3;
                } else if (b >= 0x30) {
                        t->state = 0;
                        vt_esc(t);
                }
        } else if (t->state == 2) {
                vt_hold(t, b);
                if (b >= 0x40) {
                        t->state = 0;
                        vt_csi(t);
                }
        } else if (t->state == 3) {
                if (b == 0x1b)
                        t->state = 4;
                else
                        vt_hold(t, b);
        } else if (b == '\\') {
                t->state = 0;
                vt_string(t);
        }
}

static void vt_feed(struct vt *t, const void *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                vt_byte(t, ((const uint8_t *)bytes)[i]);
}

/* vt_resize(t, rows, cols, row): as terminals do: rows below the cursor go first; on a main screen
 * whose width changes the cursor ends up in ${row}, because lines are broken anew. */
static inline void vt_resize(struct vt *t, int rows, int cols, int row)
{
        struct vt_cursor *c = &t->at;
        if (rows == t->rows && cols == t->cols)
                return;
        int off = c->row >= rows ? c->row - rows + 1 : 0;
        int pulled = rows > t->rows && t->kind & VT_PULLS && !t->is_alt ? (rows - t->rows) / 2 : 0;
        uint32_t(*cells)[VT_COLS] = t->cell[t->is_alt];
        if (off)
                memmove(cells, cells + off, sizeof *cells * (size_t)(VT_ROWS - off));
        if (pulled) {
                memmove(cells + pulled, cells, sizeof *cells * (size_t)(VT_ROWS - pulled));
                memset(cells, 0, sizeof *cells * (size_t)pulled);
        }
        c->row += pulled - off;
        if (cols != t->cols && !t->is_alt)
                c->row = row % rows;
        t->rows = rows;
        t->cols = cols;
        for (int i = 0; i < 2; i++)
                for (int r = 0; r < VT_ROWS; r++)
                        for (int k = 0; k < VT_COLS; k++)
                                if (r >= rows || k >= cols)
                                        t->cell[i][r][k] = 0;
        t->top = t->left = 0;
        t->bottom = rows - 1;
        t->right = cols - 1;
        c->col = vt_least(c->col, cols - 1);
        c->is_pending = false;
        for (int i = 0; i < 2; i++) {
                t->saved[i].row = vt_least(t->saved[i].row, rows - 1);
                t->saved[i].col = vt_least(t->saved[i].col, cols - 1);
                t->saved[i].is_pending = false;
        }
}

#endif
