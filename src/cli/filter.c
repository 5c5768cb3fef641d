/* filter.c - the state machine of the escape filter: finds where sequences begin and end, in a
 * stream that may be cut anywhere. What a whole sequence may do is decided in filter_csi.c and
 * filter_osc.c.
 *
 * It follows what terminals do (the VT500 parser): C0 bytes inside a sequence act at once, CAN and
 * SUB cancel it, ESC begins a new one; so there is no input that we and the terminal cut
 * differently. */
#include "cli/filter.h"

#include "base/buf.h"

#include <string.h>

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b };

void filter_init(struct filter *f, const struct filter_policy *p)
{
        memset(f, 0, sizeof *f);
        f->policy = *p;
}

/* What a control byte may do: ring, move on the line or to the next, switch character sets. ENQ
 * makes old terminals type their answerback; the others do nothing that a program needs. */
static void control(struct filter *f, uint8_t c, struct buf *out)
{
        switch (c) {
        case 0x0e: /* SO, SI: line drawing */
                if (!f->policy.may_move)
                        return;
                f->modes.has_charset = true;
                break;
        case 0x0f:
                if (!f->policy.may_move)
                        return;
                break;
        case BEL:
        case '\b':
        case '\t':
        case '\n':
        case '\v':
        case '\f':
        case '\r':
                break;
        default:
                return;
        }
        buf_put_u8(out, c);
}

static bool hold(struct filter *f, uint8_t c)
{
        if (f->held_n >= sizeof f->held)
                return false;
        f->held[f->held_n++] = c;
        return true;
}

static void go(struct filter *f, enum filter_state s)
{
        f->state = s;
        f->held_n = 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool is_bidi(uint32_t cp)
{
        return cp == 0x061c || cp == 0x200e || cp == 0x200f || (cp >= 0x202a && cp <= 0x202e) ||
               (cp >= 0x2066 && cp <= 0x2069);
}

static void finish_utf8(struct filter *f, struct buf *out)
{
        const uint8_t *h = f->held;
        size_t n = f->held_n;
        uint32_t cp = h[0] & (0x7fu >> n);
        for (size_t i = 1; i < n; i++)
                cp = cp << 6 | (h[i] & 0x3fu);
        bool is_bad = (n == 3 && cp < 0x800) || (n == 4 && cp < 0x10000) || cp > 0x10ffff ||
                      (cp >= 0xd800 && cp <= 0xdfff);
        if (is_bad)
                buf_put_str(out, replacement);
        else if (cp < 0xa0)
                ; /* C1 in two bytes: several terminals obey it */
        else if (!is_bidi(cp) || f->policy.may_bidi)
                buf_put(out, h, n);
        go(f, FILTER_GROUND);
}

static void ground(struct filter *f, uint8_t c, struct buf *out)
{
        if (c == ESC) {
                go(f, FILTER_ESC);
        } else if (c < 0x20) {
                control(f, c, out);
        } else if (c < 0x7f) {
                buf_put_u8(out, c);
        } else if (c >= 0xc2 && c <= 0xf4) {
                go(f, FILTER_UTF8);
                hold(f, c);
                f->utf8_need = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        } else if (c >= 0xa0) {
                buf_put_str(out, replacement);
        }
        /* left: DEL and raw C1 bytes, which mean nothing in UTF-8 and an escape elsewhere */
}

/* --- sequences -------------------------------------------------------------------------------- */

static void esc(struct filter *f, uint8_t c, struct buf *out)
{
        f->modes.is_dirty = true;
        if (c < 0x20) {
                control(f, c, out);
        } else if (f->held_n == 0 && c == '[') {
                go(f, FILTER_CSI);
        } else if (f->held_n == 0 && strchr("]P_^Xk", c)) {
                go(f, FILTER_STRING);
                f->string_kind = (char)c;
        } else if (c < 0x30) {
                if (f->held_n < 4)
                        hold(f, c);
        } else if (c < 0x7f) {
                hold(f, c);
                filter_esc(f, out);
                go(f, FILTER_GROUND);
        } else if (c > 0x7f) {
                go(f, FILTER_GROUND);
                ground(f, c, out);
        }
}

static void csi(struct filter *f, uint8_t c, struct buf *out)
{
        if (c < 0x20) {
                control(f, c, out);
        } else if (c >= 0x40 && c < 0x7f) {
                if (f->state == FILTER_CSI) {
                        hold(f, c);
                        filter_csi(f, out);
                }
                go(f, FILTER_GROUND);
        } else if (c < 0x40) {
                if (f->state == FILTER_CSI && (f->held_n >= 256 || !hold(f, c)))
                        go(f, FILTER_CSI_SKIP);
        } else if (c > 0x7f) {
                /* No terminal agrees with another about this; the sequence is given up. */
                go(f, FILTER_GROUND);
                ground(f, c, out);
        }
}

static void end_string(struct filter *f, struct buf *out)
{
        if (f->string_kind == ']')
                filter_osc(f, out);
        else if (f->string_kind == 'P')
                filter_dcs(f, out);
        go(f, FILTER_GROUND);
}

static void string(struct filter *f, uint8_t c, struct buf *out)
{
        if (c == ESC) {
                f->state = FILTER_STRING_ESC;
        } else if (c == BEL && f->string_kind == ']') {
                end_string(f, out);
        } else if (c < 0x20 && f->string_kind == ']') {
                ; /* not part of an OSC */
        } else if (!hold(f, c)) {
                go(f, FILTER_SKIP);
        } else if (f->string_kind == 'P' && c == 'q' && filter_dcs_is_sixel(f)) {
                if (!f->policy.may_image) {
                        go(f, FILTER_SKIP);
                        return;
                }
                buf_put_str(out, "\033P");
                filter_numbers(f->held, f->held_n, out);
                f->sixel = (struct filter_sixel){0};
                go(f, FILTER_SIXEL);
        }
}

/* sixel: data bytes only; whatever ends it, the terminal is told that it ended. */
static void sixel(struct filter *f, uint8_t c, struct buf *out)
{
        if (c == ESC)
                f->state = FILTER_SIXEL_ESC;
        else
                filter_sixel(f, c, out);
}

/* after_esc(f, c): ESC came inside a string. "\" ends it; anything else began a new sequence. */
static void after_esc(struct filter *f, uint8_t c, struct buf *out)
{
        enum filter_state was = f->state;
        if (was == FILTER_SIXEL_ESC)
                filter_sixel_end(f, out);
        if (c == '\\') {
                if (was == FILTER_STRING_ESC)
                        end_string(f, out);
                go(f, FILTER_GROUND);
                return;
        }
        go(f, FILTER_ESC);
        if (c == ESC)
                return;
        esc(f, c, out);
}

static void cancel(struct filter *f, struct buf *out)
{
        if (f->state == FILTER_SIXEL || f->state == FILTER_SIXEL_ESC)
                filter_sixel_end(f, out);
        go(f, FILTER_GROUND);
}

static void one(struct filter *f, uint8_t c, struct buf *out)
{
        if (f->state == FILTER_UTF8) {
                if ((c & 0xc0) == 0x80) {
                        hold(f, c);
                        if (f->held_n == f->utf8_need)
                                finish_utf8(f, out);
                        return;
                }
                buf_put_str(out, replacement);
                go(f, FILTER_GROUND);
        }
        if (c == CAN || c == SUB) {
                cancel(f, out);
                return;
        }
        switch (f->state) {
        case FILTER_UTF8:
        case FILTER_GROUND:
                ground(f, c, out);
                break;
        case FILTER_ESC:
                if (c == ESC)
                        go(f, FILTER_ESC);
                else
                        esc(f, c, out);
                break;
        case FILTER_CSI:
        case FILTER_CSI_SKIP:
                if (c == ESC)
                        go(f, FILTER_ESC);
                else
                        csi(f, c, out);
                break;
        case FILTER_STRING:
                string(f, c, out);
                break;
        case FILTER_SKIP:
                if (c == ESC)
                        f->state = FILTER_SKIP_ESC;
                else if (c == BEL && f->string_kind == ']')
                        go(f, FILTER_GROUND);
                break;
        case FILTER_SIXEL:
                sixel(f, c, out);
                break;
        case FILTER_STRING_ESC:
        case FILTER_SKIP_ESC:
        case FILTER_SIXEL_ESC:
                after_esc(f, c, out);
                break;
        }
}

/* plain(p, n): how many bytes from here are printable ASCII or line ends: the usual case, copied at
 * once. */
static size_t plain(const uint8_t *p, size_t n)
{
        size_t i = 0;
        while (i < n && ((p[i] >= 0x20 && p[i] < 0x7f) || p[i] == '\n' || p[i] == '\r'))
                i++;
        return i;
}

void filter_feed(struct filter *f, const void *bytes, size_t n, struct buf *out)
{
        const uint8_t *p = bytes;
        struct buf none = {0};
        struct buf *to = f->policy.is_raw ? &none : out;
        for (size_t i = 0; i < n;) {
                size_t run = f->state == FILTER_GROUND ? plain(p + i, n - i) : 0;
                if (run) {
                        buf_put(to, p + i, run);
                        i += run;
                } else {
                        one(f, p[i++], to);
                }
        }
        if (f->policy.is_raw) {
                buf_put(out, bytes, n);
                buf_free(&none);
        }
}
