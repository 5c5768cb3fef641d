/* filter_sixel.c - numbers that a terminal would believe: those of sequences, and the size of a
 * sixel image.
 *
 * A terminal repeats, scrolls and allocates as often and as much as a number says, so "repeat two
 * thousand million times" in fifteen bytes hangs the user's terminal. Numbers beyond what a screen
 * has are cut to what one could have; an image is cut at its right and lower edge. */
#include "cli/filter.h"

#include "base/buf.h"

#include <stdio.h>

enum {
        CSI_MOST = 9999,  /* programs say 999 and 9999 to find the last column */
        IMAGE_MOST = 4096 /* pixels, each way */
};

static bool sixel_is_digit(uint8_t c)
{
        return c >= '0' && c <= '9';
}

void filter_numbers(const uint8_t *p, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n;) {
                if (!sixel_is_digit(p[i])) {
                        buf_put_u8(out, p[i++]);
                        continue;
                }
                unsigned v = 0;
                size_t from = i;
                for (; i < n && sixel_is_digit(p[i]); i++)
                        v = v <= CSI_MOST ? v * 10 + (p[i] - '0') : v;
                if (v <= CSI_MOST && i - from <= 5)
                        buf_put(out, p + from, i - from); /* as it was written, zeros and all */
                else
                        buf_put_fmt(out, "%u", v <= CSI_MOST ? v : (unsigned)CSI_MOST);
        }
}

/* sixel_flush(f, out): the number that was being read is complete. */
static void sixel_flush(struct filter *f, struct buf *out)
{
        struct filter_sixel *s = &f->sixel;
        if (!s->has_number)
                return;
        if (s->command == '!')
                s->repeat = s->number;
        buf_put_fmt(out, "%u", s->number);
        s->has_number = false;
        s->number = 0;
}

/* sixel_draw(f, c, out): a column of six pixels, as often as was said before it. */
static void sixel_draw(struct filter *f, uint8_t c, struct buf *out)
{
        struct filter_sixel *s = &f->sixel;
        unsigned times = s->command == '!' ? s->repeat : 1;
        /* "!5" is out already and must have its column: it is blank beyond the edge. */
        bool is_inside = s->x + times <= IMAGE_MOST && s->y < IMAGE_MOST;
        if (is_inside)
                s->x += times;
        if (is_inside || s->command == '!')
                buf_put_u8(out, is_inside ? c : '?');
        s->command = 0;
}

void filter_sixel(struct filter *f, uint8_t c, struct buf *out)
{
        struct filter_sixel *s = &f->sixel;
        if (sixel_is_digit(c)) {
                unsigned v = s->number * 10 + (c - '0');
                s->number = v < IMAGE_MOST ? v : IMAGE_MOST;
                s->has_number = true;
                return;
        }
        sixel_flush(f, out);
        if (c >= '?' && c <= '~') {
                sixel_draw(f, c, out);
                return;
        }
        if (c == '-') { /* the next six rows */
                s->y += 6;
                if (s->y >= IMAGE_MOST)
                        return;
        }
        if (c == '$' || c == '-')
                s->x = 0;
        if (c == '!' || c == '"' || c == '#') {
                s->command = (char)c;
                s->repeat = 1;
        } else if (c != ';') {
                s->command = 0;
        }
        if (c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f))
                buf_put_u8(out, c);
}

void filter_sixel_end(struct filter *f, struct buf *out)
{
        sixel_flush(f, out);
        f->sixel = (struct filter_sixel){0};
        buf_put_str(out, "\033\\");
}
