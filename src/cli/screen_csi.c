/* screen_csi.c - what whole sequences do to the model, and in which form the terminal gets them
 * while rows are ours: positions and margins within the box's rows, one mode at a time, and nothing
 * that could hide our rows. */
#include "cli/screen.h"

#include <string.h>

enum { NUMBERS_MAX = 16 };

/* A CSI sequence: private prefix or 0, numbers (0 when left out), intermediate or 0, final. */
struct csi {
        char prefix, between, final;
        unsigned v[NUMBERS_MAX];
        size_t n;
};

static struct csi csi_read(const struct screen *s)
{
        struct csi c = {.final = (char)s->held[s->held_n - 1], .n = 1};
        size_t i = 0, end = s->held_n - 1;
        if (end && s->held[0] >= '<' && s->held[0] <= '?')
                c.prefix = (char)s->held[i++];
        for (; i < end; i++) {
                uint8_t b = s->held[i];
                if (b < 0x30)
                        c.between = (char)b;
                else if (b == ';' && c.n < NUMBERS_MAX)
                        c.n++;
                else if (b >= '0' && b <= '9' && c.v[c.n - 1] < 100000)
                        c.v[c.n - 1] = c.v[c.n - 1] * 10 + (b - '0');
        }
        return c;
}

static unsigned csi_count(const struct csi *c, size_t i)
{
        return c->v[i] ? c->v[i] : 1;
}

/* csi_pass(s): as the box wrote it. */
static void csi_pass(struct screen *s)
{
        if (!s->out)
                return;
        buf_put_str(s->out, "\033[");
        buf_put(s->out, s->held, s->held_n);
}

/* --- saving, modes ------------------------------------------------------------------------------ */

static void csi_save(struct screen *s, const char *as)
{
        s->saved[s->is_alt] = s->at;
        screen_say(s, "%s", as);
}

/* csi_bring(s): the saved place may be one that the box no longer has. */
static void csi_bring(struct screen *s)
{
        struct screen_cursor to = s->saved[s->is_alt];
        to.lo = to.lo < s->rows ? to.lo : s->rows - 1;
        to.hi = to.hi < s->rows ? to.hi : s->rows - 1;
        if (s->out)
                screen_bring(s, &to);
        else
                s->at = to;
}

/* csi_switch(s, mode, is_on): to the alternate screen or back; 1049 keeps the cursor meanwhile. */
static void csi_switch(struct screen *s, unsigned mode, bool is_on)
{
        struct screen_cursor to = s->at;
        if (mode == 1049 && is_on)
                s->saved[s->is_alt] = s->at;
        else if (mode == 1049)
                to = s->saved[0];
        if (s->out) {
                screen_switch(s, mode, is_on, &to);
                return;
        }
        s->is_alt = is_on;
        s->at = to;
}

static void csi_private(struct screen *s, unsigned mode, bool is_on)
{
        switch (mode) {
        case 6:
                s->at.is_origin = is_on;
                screen_say(s, "\033[?6%c", is_on ? 'h' : 'l');
                screen_go(s, 0, 0);
                return;
        case 7: /* told by screen_settle_wrap */
                s->has_wrap = is_on;
                s->at.is_pending = s->at.is_pending && is_on;
                return;
        case 45:
                s->has_back_wrap = is_on;
                return;
        case 69:
                s->has_sides = is_on;
                s->left = 0;
                s->right = s->cols - 1;
                break;
        case 47:
        case 1047:
        case 1049:
                csi_switch(s, mode, is_on);
                return;
        case 1048:
                if (is_on)
                        csi_save(s, "\033[?1048h");
                else
                        csi_bring(s);
                return;
        case 2026: /* would hold our rows back as well, and leave a likeness of them to be seen */
                return;
        case 2048:
                s->has_size_reports = is_on;
                break;
        default:
                break;
        }
        screen_say(s, "\033[?%u%c", mode, is_on ? 'h' : 'l');
}

static void csi_modes(struct screen *s, const struct csi *c)
{
        bool is_on = c->final == 'h';
        for (size_t i = 0; i < c->n; i++) {
                if (c->prefix == '?') {
                        csi_private(s, c->v[i], is_on);
                        screen_settle_wrap(s);
                        continue;
                }
                if (c->v[i] == 4)
                        s->has_insert = is_on;
                else if (c->v[i] == 20)
                        s->has_newline = is_on;
                screen_say(s, "\033[%u%c", c->v[i], is_on ? 'h' : 'l');
        }
}

/* --- margins, rectangles, repetition -------------------------------------------------------------- */

static void csi_margins(struct screen *s, const struct csi *c)
{
        unsigned top = csi_count(c, 0) - 1;
        unsigned bottom = c->n > 1 && c->v[1] && c->v[1] < s->rows ? c->v[1] - 1 : s->rows - 1;
        if (top >= bottom)
                return; /* as terminals do */
        s->top = top;
        s->bottom = bottom;
        screen_say(s, "\033[%u;%ur", top + 1, bottom + 1);
        screen_go(s, 0, 0);
}

static void csi_sides(struct screen *s, const struct csi *c)
{
        unsigned left = csi_count(c, 0) - 1;
        unsigned right = c->n > 1 && c->v[1] && c->v[1] < s->cols ? c->v[1] - 1 : s->cols - 1;
        if (left >= right)
                return;
        s->left = left;
        s->right = right;
        screen_say(s, "\033[%u;%us", left + 1, right + 1);
        screen_go(s, 0, 0);
}

/* csi_rectangle(s, c): filled, erased or changed; its lower edge is the box's. Where the edges are
 * counted from the margins, and for copies, there is none while rows are ours. */
static void csi_rectangle(struct screen *s, const struct csi *c)
{
        size_t first = c->final == 'x' ? 1 : 0;
        if (!s->out || s->at.is_origin || c->final == 'v')
                return;
        unsigned v[NUMBERS_MAX];
        memcpy(v, c->v, sizeof v);
        size_t n = c->n > first + 4 ? c->n : first + 4;
        if (v[first] > s->rows)
                return;
        if (v[first + 2] == 0 || v[first + 2] > s->rows)
                v[first + 2] = s->rows;
        if (v[first + 3] == 0)
                v[first + 3] = s->cols;
        screen_say(s, "\033[");
        for (size_t i = 0; i < n; i++)
                screen_say(s, "%s%u", i ? ";" : "", v[i]);
        screen_say(s, "$%c", c->final);
}

/* csi_repeat(s, n): the last character again. After a repaint the terminal would repeat ours, so the
 * first is written out. More than a screen of them is a screen of them. */
static void csi_repeat(struct screen *s, unsigned n)
{
        unsigned most = s->rows * s->cols < 9999 ? s->rows * s->cols : 9999;
        uint8_t c[sizeof s->last];
        size_t c_n = s->last_n;
        unsigned width = s->last_width;
        n = s->out && n > most ? most : n;
        if (!s->out &&
            s->is_last_ours) { /* our rows are gone, and the terminal repeats a letter of them */
                s->at.is_adrift = true;
                s->at.hi = s->rows - 1;
                return;
        }
        if (!c_n)
                return;
        memcpy(c, s->last, c_n);
        struct buf *out = s->out;
        while (n > 0) {
                bool is_written = s->is_last_ours || s->is_wrap_off;
                s->out = is_written ? out : NULL;
                screen_text(s, c, c_n, width);
                n--;
                s->out = out;
                if (is_written)
                        continue;
                /* the terminal does the rest: between the margins, where nothing can go wrong */
                screen_say(s, "\033[%ub", n + 1);
                s->out = NULL;
                for (; n > 0; n--)
                        screen_text(s, c, c_n, width);
                s->out = out;
        }
}

/* csi_between(s, c): those with an intermediate byte. */
static void csi_between(struct screen *s, const struct csi *c)
{
        if (c->between == '!' && c->final == 'p') {
                screen_reset(s, false);
                return;
        }
        if (c->between == '$' && c->final != 'p') {
                csi_rectangle(s, c);
                return;
        }
        if (c->between == '"' && c->final == 'q')
                s->at.is_protected = c->v[0] == 1;
        if (c->between == '#' && (c->final == 'P' || c->final == 'Q')) {
                s->has_palette = true;
                return; /* the palette is the terminal's own while rows are ours */
        }
        if (c->between == '#' && (c->final == '{' || c->final == 'p')) {
                if (s->pens_n < sizeof s->pens / sizeof *s->pens)
                        s->pens[s->pens_n++] = s->at.pen;
        } else if (c->between == '#' && s->pens_n) {
                s->at.pen = s->pens[--s->pens_n];
        }
        csi_pass(s);
}

/* --- the table of plain ones ----------------------------------------------------------------------- */

/* csi_columns(s, c): movements along the line; they pass as they are. */
static bool csi_columns(struct screen *s, const struct csi *c)
{
        unsigned n = csi_count(c, 0);
        switch (c->final) {
        case 'C':
        case 'a':
                screen_sideways(s, n, false);
                break;
        case 'D':
                screen_sideways(s, n, true);
                break;
        case 'G':
        case '`': {
                struct buf *out = s->out;
                s->out = NULL;
                struct screen_cursor before = s->at;
                screen_go(s, 0, n - 1);
                s->at.lo = before.lo;
                s->at.hi = before.hi;
                s->out = out;
                break;
        }
        case 'I':
                screen_tab(s, n, false);
                break;
        case 'Z':
                screen_tab(s, n, true);
                break;
        default:
                return false;
        }
        csi_pass(s);
        if (s->out && s->at.is_adrift) { /* by a tab */
                s->at.is_adrift = false;
                screen_say_place(s);
        }
        return true;
}

/* csi_rows(s, c): movements up and down; they leave as positions. */
static bool csi_rows(struct screen *s, const struct csi *c)
{
        unsigned n = csi_count(c, 0);
        switch (c->final) {
        case 'A':
                screen_vertical(s, n, true);
                return true;
        case 'B':
                screen_vertical(s, n, false);
                return true;
        case 'E':
        case 'F':
                screen_vertical(s, n, c->final == 'F');
                screen_control(s, '\r');
                return true;
        case 'H':
        case 'f':
                screen_go(s, n - 1, csi_count(c, c->n > 1 ? 1 : 2) - 1);
                return true;
        case 'd':
        case 'e': {
                unsigned col = s->at.col - (s->at.is_origin && s->has_sides ? s->left : 0);
                bool is_adrift = s->at.is_adrift;
                unsigned lo = s->at.lo, hi = s->at.hi;
                screen_go(s, c->final == 'd' ? n - 1 : lo - (s->at.is_origin ? s->top : 0) + n,
                          col);
                s->at.is_adrift = is_adrift;
                if (c->final == 'e' && !s->out && hi > lo)
                        s->at.hi = hi + n < s->rows ? hi + n : s->rows - 1;
                return true;
        }
        default:
                return false;
        }
}

/* csi_size(s, c): "how large are you" is answered by us while the box has fewer rows. */
static void csi_size(struct screen *s, const struct csi *c)
{
        if (s->out && c->v[0] == 18)
                buf_put_fmt(&s->typed, "\033[8;%u;%ut", s->rows, s->cols);
        else
                csi_pass(s);
}

static void csi_plain(struct screen *s, const struct csi *c)
{
        switch (c->final) {
        case 'b':
                csi_repeat(s, csi_count(c, 0));
                return;
        case 'g':
                s->is_tabs_lost = c->v[0] != 3 && (s->is_tabs_lost || s->at.is_adrift);
                if (c->v[0] == 3)
                        memset(s->tabs, 0, sizeof s->tabs);
                else if (c->v[0] == 0 && s->at.col < SCREEN_TABS_MAX)
                        s->tabs[s->at.col / 8] &= (uint8_t) ~(1u << (s->at.col % 8));
                break;
        case 'm':
                screen_pen_set(&s->at.pen, s->held, s->held_n - 1);
                break;
        case 'r':
                csi_margins(s, c);
                return;
        case 's':
                if (s->has_sides)
                        csi_sides(s, c);
                else
                        csi_save(s, "\033[s");
                return;
        case 'u':
                csi_bring(s);
                return;
        case 't':
                csi_size(s, c);
                return;
        case 'J':
                csi_pass(s);
                if (!s->is_alt && (c->v[0] == 0 || c->v[0] == 2))
                        s->lowest = s->at.hi;
                if (s->out && c->v[0] != 1)
                        screen_refresh(s);
                return;
        case 'L':
        case 'M': /* some terminals move to the left margin, others do not */
                csi_pass(s);
                s->at.is_adrift = !s->out;
                s->at.is_pending = false;
                screen_say_place(s);
                return;
        default:
                break;
        }
        csi_pass(s);
}

void screen_csi(struct screen *s)
{
        struct csi c = csi_read(s);
        if (c.between) {
                csi_between(s, &c);
        } else if ((c.final == 'h' || c.final == 'l') && (c.prefix == '?' || !c.prefix)) {
                csi_modes(s, &c);
        } else if (c.prefix) {
                csi_pass(s);
                if (s->out && c.prefix == '?' && c.final == 'J' && c.v[0] != 1)
                        screen_refresh(s);
        } else if (!csi_columns(s, &c) && !csi_rows(s, &c)) {
                csi_plain(s, &c);
        }
}

void screen_esc(struct screen *s)
{
        char first = (char)s->held[0], final = (char)s->held[s->held_n - 1];
        if (s->held_n == 2 && first == '#' && final == '8') { /* alignment test */
                screen_margins_usual(s);
                s->at.is_origin = false;
                s->at.lo = s->at.hi = s->at.col = 0;
                s->at.is_pending = s->at.is_adrift = false;
                screen_say(s, "\033#8");
                if (s->out)
                        screen_refresh(s);
                return;
        }
        const char *sets = "()*+", *set = s->held_n == 2 ? strchr(sets, first) : NULL;
        if (set)
                s->at.sets[set - sets] = final;
        if (s->held_n == 1) {
                switch (final) {
                case '7':
                        csi_save(s, "\0337");
                        return;
                case '8':
                        csi_bring(s);
                        return;
                case 'D':
                        screen_down(s, false, "\033D");
                        return;
                case 'E':
                        screen_down(s, true, "\033E");
                        return;
                case 'M':
                        screen_reverse(s);
                        return;
                case 'c':
                        screen_reset(s, true);
                        return;
                case 'H':
                        s->is_tabs_lost |= s->at.is_adrift;
                        if (s->at.col < SCREEN_TABS_MAX)
                                s->tabs[s->at.col / 8] |= (uint8_t)(1u << (s->at.col % 8));
                        break;
                case '6':
                        screen_sideways(s, 1, true);
                        break;
                case '9':
                        screen_sideways(s, 1, false);
                        break;
                case 'N':
                case 'O':
                        s->shift_once = (uint8_t) final;
                        break;
                case 'n':
                case 'o':
                        s->at.shift = final == 'n' ? 2 : 3;
                        break;
                default:
                        break;
                }
        }
        if (s->out) {
                buf_put_u8(s->out, 0x1b);
                buf_put(s->out, s->held, s->held_n);
        }
}

/* screen_string(s): an OSC or DCS without its end. Colours of the terminal stay as they are while
 * rows are ours: a box could make them unreadable. */
void screen_string(struct screen *s)
{
        s->held[s->held_n < sizeof s->held ? s->held_n : sizeof s->held - 1] = 0;
        const char *text = (const char *)s->held;
        if (strncmp(text, "]8;", 3) == 0) {
                size_t n = s->held_n - 3;
                bool is_open = n < sizeof s->link && text[s->held_n - 1] != ';';
                memcpy(s->link, text + 3, is_open ? n : 0);
                s->link[is_open ? n : 0] = 0;
        }
        bool is_colour = strncmp(text, "]4;", 3) == 0 || strncmp(text, "]10;", 4) == 0 ||
                         strncmp(text, "]11;", 4) == 0 || strncmp(text, "]12;", 4) == 0;
        /* A question has numbers and "?" alone; every colour has a letter or a "#". */
        bool is_set = is_colour && strspn(text + 1, "0123456789;?") + 1 != s->held_n;
        s->has_palette |= is_set;
        if (!s->out || is_set)
                return;
        buf_put_u8(s->out, 0x1b);
        buf_put(s->out, s->held, s->held_n);
        buf_put_str(s->out, "\033\\");
}
