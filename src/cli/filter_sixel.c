/* filter_sixel.c - numbers that a terminal would believe: those of sequences, and the size of a
 * sixel image.
 *
 * A terminal repeats, scrolls and allocates as often and as much as a number says, so "repeat two
 * thousand million times" in fifteen bytes hangs the user's terminal. Numbers beyond what a screen
 * has are cut to what one could have; an image is cut at its right and lower edge. */
#include "cli/filter.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

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
                s->repeat = s->number ? s->number : 1;
        else if (s->command) /* else it belongs to nothing */
                buf_put_fmt(out, "%u", s->number);
        s->has_number = false;
        s->number = 0;
}

/* sixel_draw(f, c, out): a column of six pixels, as often as was said before it, up to the edge. */
static void sixel_draw(struct filter *f, uint8_t c, struct buf *out)
{
        struct filter_sixel *s = &f->sixel;
        unsigned left = s->y < IMAGE_MOST ? IMAGE_MOST - s->x : 0;
        unsigned times = s->repeat ? s->repeat : 1;
        times = times < left ? times : left;
        if (times && s->repeat)
                buf_put_fmt(out, "!%u", times);
        if (times)
                buf_put_u8(out, c);
        s->x += times;
        s->command = 0;
        s->repeat = 0;
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
        /* What means nothing here, line ends too, is dropped before it could end a number: the digits
         * behind it would join those in front. */
        if (!(c >= '?' && c <= '~') && !(c && strchr(";!\"#$-", c)))
                return;
        sixel_flush(f, out);
        if (c >= '?' && c <= '~') {
                sixel_draw(f, c, out);
                return;
        }
        if (c == '!') { /* told when its column comes, whatever stands between */
                s->command = '!';
                s->repeat = 1;
                return;
        }
        if (c == ';') { /* between two numbers; a repeat has one */
                if (s->command && s->command != '!')
                        buf_put_u8(out, c);
                return;
        }
        s->command = c == '"' || c == '#' ? (char)c : 0;
        if (c == '-' && s->y < IMAGE_MOST)
                s->y += 6; /* the next six rows */
        else if (c == '-')
                return;
        if (c == '$' || c == '-')
                s->x = 0;
        buf_put_u8(out, c);
}

void filter_sixel_end(struct filter *f, struct buf *out)
{
        sixel_flush(f, out);
        f->sixel = (struct filter_sixel){0};
        buf_put_str(out, "\033\\");
}
