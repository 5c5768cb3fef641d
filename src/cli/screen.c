/* screen.c - finds the sequences in what the escape filter let pass; see screen.h. The filter has
 * cut them already as terminals do, so this knows only whole ones, controls and valid UTF-8. What
 * does not fit that is dropped while rows are ours. */
#include "cli/screen.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { ESC = 0x1b };

void screen_init(struct screen *s, unsigned rows, unsigned cols)
{
        *s = (struct screen){.rows = rows ? rows : 1, .cols = cols ? cols : 1, .has_wrap = true};
        s->at = s->saved[0] = s->saved[1] = screen_cursor_usual();
        s->at.hi = s->rows - 1;
        screen_tabs_usual(s);
        screen_margins_usual(s);
}

void screen_free(struct screen *s)
{
        for (size_t i = 0; i < SCREEN_BELOW_MAX; i++) {
                free(s->lines[i]);
                s->lines[i] = NULL;
        }
        s->below = 0;
        buf_free(&s->typed);
}

static void screen_begin(struct screen *s, enum screen_state state)
{
        s->state = state;
        s->held_n = 0;
}

static bool screen_hold(struct screen *s, uint8_t c)
{
        if (s->held_n < sizeof s->held)
                s->held[s->held_n++] = c;
        return s->held_n < sizeof s->held;
}

/* screen_character(s): a whole one is held. */
static void screen_character(struct screen *s)
{
        enum { UTF8_MAX = 4 };
        size_t n = s->held_n < UTF8_MAX ? s->held_n : UTF8_MAX;
        uint32_t c = s->held[0] & (0x7fu >> n);
        for (size_t i = 1; i < n; i++)
                c = c << 6 | (s->held[i] & 0x3fu);
        screen_text(s, s->held, s->held_n, screen_width(c));
        s->held_n = 0;
}

static void screen_ground(struct screen *s, uint8_t c)
{
        if (s->need) {
                if ((c & 0xc0) == 0x80) {
                        screen_hold(s, c);
                        if (--s->need == 0)
                                screen_character(s);
                        return;
                }
                s->need = 0;
                s->held_n = 0;
        }
        if (c == ESC)
                screen_begin(s, SCREEN_ESC);
        else if (c < 0x20)
                screen_control(s, c);
        else if (c < 0x7f)
                screen_text(s, &c, 1, 1);
        else if (c >= 0xc2 && c <= 0xf4) {
                s->held[0] = c;
                s->held_n = 1;
                s->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        }
}

static void screen_after_esc(struct screen *s, uint8_t c)
{
        if (c == '[' && s->held_n == 0) {
                screen_begin(s, SCREEN_CSI);
        } else if ((c == ']' || c == 'P') && s->held_n == 0) {
                screen_begin(s, SCREEN_STRING);
                screen_hold(s, c);
        } else if (c < 0x20 || c >= 0x7f) {
                screen_begin(s, SCREEN_TEXT);
                screen_ground(s, c);
        } else if (screen_hold(s, c) && c >= 0x30) {
                s->state = SCREEN_TEXT;
                screen_esc(s);
                s->held_n = 0;
        }
}

static void screen_in_csi(struct screen *s, uint8_t c)
{
        if (c < 0x20 || c >= 0x7f || !screen_hold(s, c)) {
                screen_begin(s, SCREEN_TEXT);
                screen_ground(s, c);
        } else if (c >= 0x40) {
                s->state = SCREEN_TEXT;
                screen_csi(s);
                s->held_n = 0;
        }
}

unsigned screen_deep(const struct screen *s)
{
        return !s->is_alt && s->lowest > s->at.hi ? s->lowest - s->at.hi : 0;
}

/* screen_image(s): ESC P and parameters up to q are held. An image is drawn over as many rows as it
 * has, and no terminal agrees with another about margins then: there is none while rows are ours. */
static void screen_image(struct screen *s)
{
        s->is_sixel_dropped = s->out != NULL;
        s->is_sixel_end = false;
        screen_begin(s, SCREEN_SIXEL);
}

static void screen_in_string(struct screen *s, uint8_t c)
{
        bool is_image = s->held[0] == 'P' && c == 'q';
        for (size_t i = 1; is_image && i < s->held_n; i++)
                is_image = s->held[i] == ';' || (s->held[i] >= '0' && s->held[i] <= '9');
        if (is_image) {
                screen_image(s);
        } else if (c == '\\' && s->held[s->held_n - 1] == ESC) {
                s->held_n--;
                s->state = SCREEN_TEXT;
                screen_string(s);
                s->held_n = 0;
        } else if (!screen_hold(s, c)) {
                screen_begin(s, SCREEN_TEXT);
        }
}

/* screen_in_image(s, c): up to ESC \. The image moved the cursor down, nobody knows how far. */
static void screen_in_image(struct screen *s, uint8_t c)
{
        bool is_end = s->is_sixel_end && c == '\\';
        s->is_sixel_end = c == ESC;
        if (!is_end)
                return;
        screen_begin(s, SCREEN_TEXT);
        if (s->is_sixel_dropped)
                return;
        s->at.hi = s->rows - 1;
        s->at.is_adrift = true;
        s->at.is_pending = false;
}

static void screen_one(struct screen *s, uint8_t c)
{
        switch (s->state) {
        case SCREEN_TEXT:
                screen_ground(s, c);
                break;
        case SCREEN_ESC:
                screen_after_esc(s, c);
                break;
        case SCREEN_CSI:
                screen_in_csi(s, c);
                break;
        case SCREEN_STRING:
                screen_in_string(s, c);
                break;
        case SCREEN_SIXEL:
                screen_in_image(s, c);
                break;
        }
}

void screen_feed(struct screen *s, const void *bytes, size_t n, struct buf *out)
{
        const uint8_t *p = bytes;
        size_t i = 0;
        s->out = s->below ? out : NULL;
        /* Of an image that ended for the terminal when our rows came, the rest would be text. */
        while (i < n && s->state == SCREEN_SIXEL && s->is_sixel_dropped)
                screen_one(s, p[i++]);
        if (!s->out && i < n)
                buf_put(out, p + i, n - i);
        for (; i < n; i++) {
                screen_one(s, p[i]);
                screen_settle_wrap(s);
        }
        s->out = NULL;
}
