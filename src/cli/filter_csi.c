/* filter_csi.c - what a whole CSI or ESC sequence may do. An allow-list, as data: what is not in
 * the table does not reach the terminal. */
#include "cli/filter.h"

#include "base/buf.h"

#include <string.h>

/* A sequence by its private prefix ('<' '=' '>' '?' or 0), intermediate byte (or 0) and final. */
enum what {
        DRAW,     /* colours and attributes: allowed everywhere */
        MOVE,     /* cursor, erasing, scrolling */
        REGION,   /* margins */
        MODE_ON,  /* h: each mode is looked up */
        MODE_OFF, /* l */
        ASK,      /* the terminal answers by typing */
        STATUS,   /* n: only some questions */
        KEYBOARD, /* kitty keyboard, modifyOtherKeys */
        STYLE,    /* cursor shape */
        WINDOW,   /* t: only some */
};

static const struct rule {
        const char *finals;
        enum what what;
        char prefix, between;
} rules[] = {
        {"m", DRAW, 0, 0},
        {"@ABCDEFGHIJKLMPSTXZ`abdefgsu", MOVE, 0, 0},
        {"r", REGION, 0, 0},
        {"h", MODE_ON, 0, 0},
        {"l", MODE_OFF, 0, 0},
        {"n", STATUS, 0, 0},
        {"c", ASK, 0, 0}, /* DA1 */
        {"t", WINDOW, 0, 0},
        {"h", MODE_ON, '?', 0},
        {"l", MODE_OFF, '?', 0},
        {"JKm", MOVE, '?', 0}, /* selective erase, key options; not s and r, which bring back
                                  modes that nobody wrote down */
        {"n", STATUS, '?', 0},
        {"u", ASK, '?', 0}, /* which kitty keyboard flags are on */
        {"S", ASK, '?', 0}, /* sixel colours and size */
        {"p", ASK, '?', '$'},
        {"p", ASK, 0, '$'}, /* is this mode on? */
        {"c", ASK, '>', 0}, /* DA2 */
        {"q", ASK, '>', 0}, /* name and version */
        {"mnf", KEYBOARD, '>', 0},
        {"u", KEYBOARD, '>', 0},
        {"u", KEYBOARD, '<', 0},
        {"u", KEYBOARD, '=', 0},
        {"q", STYLE, 0, ' '},
        {"@A", MOVE, 0, ' '},     /* scroll left and right */
        {"}~", MOVE, 0, '\''},    /* insert and delete columns */
        {"q", DRAW, 0, '"'},      /* protected characters */
        {"p", MOVE, 0, '!'},      /* soft reset */
        {"rtvxz{", MOVE, 0, '$'}, /* rectangles: fill, copy, erase. Not their checksum: it reads the
                                     screen */
        {"x", MOVE, 0, '*'},
        {"{}pqPQ", DRAW, 0, '#'}, /* push and pop of attributes and colours */
};

/* number(f, &at): the decimal at ${at}, 0 when there is none; stops behind its digits. */
static unsigned number(const struct filter *f, size_t *at)
{
        unsigned v = 0;
        while (*at < f->held_n && f->held[*at] >= '0' && f->held[*at] <= '9') {
                v = v < 100000 ? v * 10 + (f->held[*at] - '0') : v;
                ++*at;
        }
        return v;
}

static void pass(const struct filter *f, struct buf *out)
{
        buf_put_str(out, "\033[");
        filter_numbers(f->held, f->held_n, out);
}

/* modes(f, is_private, is_on): pass on those of the list that may be changed. */
static void modes(struct filter *f, bool is_private, bool is_on, struct buf *out)
{
        char kept[300];
        size_t n = 0, at = is_private ? 1 : 0;
        while (at < f->held_n) {
                size_t from = at;
                unsigned mode = number(f, &at);
                /* Of the public ones only insert (4) and newline (20): 2 locks the keyboard, 12
                 * switches what is echoed. */
                bool may =
                        is_private ? filter_mode(&f->modes, mode, is_on) : mode == 4 || mode == 20;
                if (at > from && may) {
                        f->modes.has_insert |= !is_private && is_on;
                        if (n)
                                kept[n++] = ';';
                        memcpy(kept + n, f->held + from, at - from);
                        n += at - from;
                }
                at++; /* the separator, or the final */
        }
        if (n) {
                buf_put_str(out, is_private ? "\033[?" : "\033[");
                buf_put(out, kept, n);
                buf_put_u8(out, f->held[f->held_n - 1]);
        }
}

/* status(f): 5 and 6 (are you there, where is the cursor) and ?996 (dark or light). The others tell
 * of printers, locators and memory checksums. */
static bool is_good_status(const struct filter *f, bool is_private)
{
        size_t at = is_private ? 1 : 0;
        unsigned v = number(f, &at);
        if (at + 1 != f->held_n)
                return false;
        return is_private ? v == 6 || v == 996 : v == 5 || v == 6;
}

/* window(f): 14, 16, 18 ask for sizes; 22 and 23 push and pop the title. Never 20 and 21, which
 * type the title back, nor anything that moves, resizes or hides the window. */
static void window(struct filter *f, struct buf *out)
{
        size_t at = 0;
        unsigned v = number(f, &at);
        bool is_size = v == 14 || v == 16 || v == 18;
        if (v == 22 && f->policy.may_title)
                f->modes.has_title = true;
        else if (v == 23 && f->policy.may_title)
                f->modes.has_title = false;
        else if (!is_size || !f->policy.may_query)
                return;
        pass(f, out);
}

static const struct rule *find(const struct filter *f)
{
        char final = (char)f->held[f->held_n - 1];
        char prefix = f->held[0] >= '<' && f->held[0] <= '?' ? (char)f->held[0] : 0;
        char between = 0;
        for (size_t i = prefix ? 1 : 0; i + 1 < f->held_n; i++) {
                uint8_t c = f->held[i];
                if (c >= '<' || between)
                        return NULL; /* a prefix in the middle, bytes behind an intermediate */
                if (c < 0x30)
                        between = (char)c;
        }
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
                if (rules[i].prefix == prefix && rules[i].between == between &&
                    strchr(rules[i].finals, final))
                        return &rules[i];
        return NULL;
}

void filter_csi(struct filter *f, struct buf *out)
{
        const struct rule *r = find(f);
        if (!r || (!f->policy.may_move && r->what != DRAW))
                return;
        switch (r->what) {
        case DRAW:
        case MOVE:
                break;
        case REGION:
                f->modes.has_region = f->held_n > 1;
                break;
        case MODE_ON:
        case MODE_OFF:
                modes(f, r->prefix == '?', r->what == MODE_ON, out);
                return;
        case STATUS:
                if (!f->policy.may_query || !is_good_status(f, r->prefix == '?'))
                        return;
                break;
        case ASK:
                if (!f->policy.may_query)
                        return;
                break;
        case KEYBOARD:
                if (f->held[f->held_n - 1] == 'u')
                        f->modes.has_kitty = true;
                else
                        f->modes.has_keys = true;
                break;
        case STYLE:
                f->modes.has_style = true;
                break;
        case WINDOW:
                window(f, out);
                return;
        }
        pass(f, out);
}

void filter_esc(struct filter *f, struct buf *out)
{
        if (!f->policy.may_move)
                return;
        uint8_t first = f->held[0], last = f->held[f->held_n - 1];
        if (f->held_n == 1) {
                /* save, restore, keypad, index, tab, margins, single shifts, locking shifts, reset.
                 * Not Z (identify), l and m (memory lock), nor a stray end of string. */
                if (!strchr("6789=>DEHMNOcno", last))
                        return;
                if (last == '=')
                        f->modes.has_keypad = true;
                if (last == '>')
                        f->modes.has_keypad = false;
                if (last == 'n' || last == 'o')
                        f->modes.has_charset = true;
                if (last == 'c')
                        f->modes = (struct filter_modes){.is_dirty = true};
        } else if (f->held_n == 2 && strchr("()*+", first)) {
                f->modes.has_charset = true;
        } else if (!(f->held_n == 2 && first == '#' && strchr("34568", last))) {
                return; /* also "ESC % @", which would leave UTF-8, and 8-bit answers */
        }
        buf_put_u8(out, 0x1b);
        buf_put(out, f->held, f->held_n);
}
