/* screen_pen.c - colours and attributes of the box: read from its SGR sequences, and printed again
 * after our rows were painted in their own. */
#include "cli/screen.h"

enum { PARTS_MAX = 64 };

/* One number of SGR, and whether a colon stood before it: then it belongs to the one in front. */
struct part {
        unsigned v;
        bool is_sub;
};

static size_t pen_parts(const uint8_t *p, size_t n, struct part *parts)
{
        size_t k = 0;
        parts[0] = (struct part){0};
        for (size_t i = 0; i < n; i++) {
                if (p[i] == ';' || p[i] == ':') {
                        if (++k == PARTS_MAX)
                                return k;
                        parts[k] = (struct part){.is_sub = p[i] == ':'};
                } else if (p[i] >= '0' && p[i] <= '9' && parts[k].v < 100000) {
                        parts[k].v = parts[k].v * 10 + (p[i] - '0');
                }
        }
        return k + 1;
}

/* pen_colour(parts, n, c): behind 38, 48 or 58; returns how many parts it took. With colons the
 * colour space may stand between "2" and red. */
static size_t pen_colour(const struct part *p, size_t n, struct screen_colour *c)
{
        size_t sub_n = 0;
        while (sub_n < n && p[sub_n].is_sub)
                sub_n++;
        size_t had = sub_n ? sub_n : n;
        unsigned kind = had ? p[0].v : 0;
        if (kind == 5 && had >= 2) {
                *c = (struct screen_colour){5, p[1].v & 0xff};
                return sub_n ? sub_n : 2;
        }
        if (kind == 2 && had >= 4) {
                const struct part *rgb = p + (sub_n >= 5 ? 2 : 1);
                *c = (struct screen_colour){2, (rgb[0].v & 0xff) << 16 | (rgb[1].v & 0xff) << 8 |
                                                       (rgb[2].v & 0xff)};
                return sub_n ? sub_n : 4;
        }
        return sub_n ? sub_n : had ? 1 : 0;
}

static void pen_attribute(struct screen_pen *pen, unsigned v)
{
        if (v == 0)
                *pen = (struct screen_pen){0};
        else if (v == 4 || v == 21 || v == 24)
                pen->underline = v == 4 ? 1 : v == 21 ? 2 : 0;
        else if (v < 10)
                pen->on |= (uint16_t)(1u << v);
        else if (v == 22)
                pen->on &= (uint16_t) ~(1u << 1 | 1u << 2);
        else if (v == 25)
                pen->on &= (uint16_t) ~(1u << 5 | 1u << 6);
        else if (v == 23 || (v >= 27 && v <= 29))
                pen->on &= (uint16_t) ~(1u << (v - 20));
        else if (v >= 30 && v <= 37)
                pen->fg = (struct screen_colour){5, v - 30};
        else if (v >= 90 && v <= 97)
                pen->fg = (struct screen_colour){5, v - 90 + 8};
        else if (v == 39)
                pen->fg = (struct screen_colour){0};
        else if (v >= 40 && v <= 47)
                pen->bg = (struct screen_colour){5, v - 40};
        else if (v >= 100 && v <= 107)
                pen->bg = (struct screen_colour){5, v - 100 + 8};
        else if (v == 49)
                pen->bg = (struct screen_colour){0};
        else if (v == 53 || v == 55)
                pen->is_overlined = v == 53;
        else if (v == 59)
                pen->line = (struct screen_colour){0};
}

void screen_pen_set(struct screen_pen *pen, const uint8_t *p, size_t n)
{
        struct part parts[PARTS_MAX];
        size_t k = pen_parts(p, n, parts);
        for (size_t i = 0; i < k;) {
                unsigned v = parts[i++].v;
                if (v == 38)
                        i += pen_colour(parts + i, k - i, &pen->fg);
                else if (v == 48)
                        i += pen_colour(parts + i, k - i, &pen->bg);
                else if (v == 58)
                        i += pen_colour(parts + i, k - i, &pen->line);
                else if (v == 4 && i < k && parts[i].is_sub)
                        pen->underline = parts[i].v <= 5 ? (uint8_t)parts[i].v : 1;
                else
                        pen_attribute(pen, v);
                while (i < k && parts[i].is_sub)
                        i++;
        }
}

/* pen_say(out, which, c): 38, 48 or 58. The first sixteen in the form that every terminal knows. */
static void pen_say(struct buf *out, unsigned which, const struct screen_colour *c)
{
        unsigned base = which - 8; /* 30 or 40 */
        if (c->kind == 5 && c->value < 8 && which != 58)
                buf_put_fmt(out, ";%u", base + c->value);
        else if (c->kind == 5 && c->value < 16 && which != 58)
                buf_put_fmt(out, ";%u", base + 60 + c->value - 8);
        else if (c->kind == 5 && which == 58)
                buf_put_fmt(out, ";58:5:%u", c->value);
        else if (c->kind == 5)
                buf_put_fmt(out, ";%u;5;%u", which, c->value);
        else if (c->kind == 2 && which == 58)
                buf_put_fmt(out, ";58:2::%u:%u:%u", c->value >> 16, c->value >> 8 & 0xff,
                            c->value & 0xff);
        else if (c->kind == 2)
                buf_put_fmt(out, ";%u;2;%u;%u;%u", which, c->value >> 16, c->value >> 8 & 0xff,
                            c->value & 0xff);
}

void screen_pen_print(const struct screen_pen *pen, struct buf *out)
{
        buf_put_str(out, "\033[0");
        for (unsigned v = 1; v < 10; v++)
                if (pen->on & 1u << v)
                        buf_put_fmt(out, ";%u", v);
        if (pen->underline == 1)
                buf_put_str(out, ";4");
        else if (pen->underline)
                buf_put_fmt(out, ";4:%u", pen->underline);
        if (pen->is_overlined)
                buf_put_str(out, ";53");
        pen_say(out, 38, &pen->fg);
        pen_say(out, 48, &pen->bg);
        pen_say(out, 58, &pen->line);
        buf_put_u8(out, 'm');
}
