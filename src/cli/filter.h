/* filter.h - the escape filter between a box's output and the user's terminal (case 80).
 *
 * A terminal obeys what is written to it: it can put text on the clipboard, type an answer back,
 * print, retitle the window, read a file for an image. The filter lets through what draws (text,
 * colours, cursor, alternate screen, paste and mouse modes, harmless questions that screens need
 * answered) and drops the rest; what it does not know it drops. It works on a stream: a sequence
 * may be split anywhere, and no sequence makes it hold more than FILTER_HOLD bytes.
 *
 * It also remembers which modes the box left on, so that they can be switched off at the end.
 * Called by stream.c and cmd_logs.c, in the CLI; allocates nothing of its own. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define FILTER_HOLD 4096

struct filter_policy {
        bool is_raw;        /* let everything through, only remember modes */
        bool may_title;     /* OSC 0 and 2, cleaned */
        bool may_link;      /* OSC 8 to http and https */
        bool may_query;     /* questions the terminal answers by typing: DA, cursor, colours */
        bool may_colour;    /* OSC 4, 10-12: palette */
        bool may_image;     /* sixel */
        bool may_notify;    /* OSC 9, 777, 99 */
        bool may_clipboard; /* OSC 52, writing only */
        bool may_bidi;      /* bidirectional controls */
        bool may_move;      /* cursor movement and modes at all; without it only text and colours */
};

/* filter_policy_parse("normal,notify", p): "strict", "normal" or "raw", then names of what to allow
 * besides: title link colour image notify clipboard. 0 or -1. */
int filter_policy_parse(const char *, struct filter_policy *);
struct filter_policy filter_normal(void);
/* filter_text(): for logs: text and colours, nothing that moves the cursor up or asks. */
struct filter_policy filter_text(void);

/* Modes that outlive the program which set them. */
struct filter_modes {
        uint64_t on;      /* bit i: entry i of the table in filter_modes.c differs from usual */
        bool has_kitty;   /* kitty keyboard flags */
        bool has_keys;    /* xterm's modifyOtherKeys */
        bool has_colour;  /* palette was changed */
        bool has_charset; /* line drawing was selected */
        bool has_region;  /* a scroll region */
        bool has_style;   /* cursor shape */
        bool has_keypad;
        bool has_insert; /* insert or newline mode */
        bool has_title;  /* the title was pushed and not popped */
        bool is_dirty;   /* an escape sequence was seen at all */
};

enum filter_state {
        FILTER_GROUND,
        FILTER_UTF8,
        FILTER_ESC,
        FILTER_CSI,
        FILTER_CSI_SKIP,   /* too long: drop up to its end */
        FILTER_STRING,     /* OSC, DCS, APC ... being held */
        FILTER_STRING_ESC, /* ESC inside it */
        FILTER_SKIP,       /* a string that is dropped */
        FILTER_SKIP_ESC,
        FILTER_SIXEL, /* a string that is passed on as it comes */
        FILTER_SIXEL_ESC,
};

/* Where a sixel image is drawn, and the number that is being read. */
struct filter_sixel {
        unsigned x, y, number;
        unsigned repeat; /* of the next column; 0: nothing was said */
        bool has_number;
        char command; /* '!' repeat, '"' size, '#' colour: what numbers belong to; or 0 */
};

struct filter {
        struct filter_policy policy;
        struct filter_modes modes;
        enum filter_state state;
        char string_kind; /* ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS, 'k' screen title */
        uint8_t utf8_need;
        struct filter_sixel sixel;
        size_t held_n;
        uint8_t held[FILTER_HOLD];
};

void filter_init(struct filter *, const struct filter_policy *);

/* filter_feed(f, bytes, n, out): append what may pass to ${out}. */
void filter_feed(struct filter *, const void *, size_t, struct buf *out);

/* filter_reset(modes, out, cap): the bytes that put the terminal back to what a shell expects, at
 * most
 * ${cap} (FILTER_RESET_MAX is enough); returns how many. Safe in a signal handler. */
#define FILTER_RESET_MAX 512
size_t filter_reset(const struct filter_modes *, char *out, size_t cap);

/* Parts, by file: each decides about one whole sequence and appends it, or a tamed form, or
 * nothing. */
void filter_csi(struct filter *, struct buf *out); /* held: parameters, intermediates, final */
void filter_esc(struct filter *, struct buf *out); /* held: intermediates, final */
void filter_osc(struct filter *, struct buf *out); /* held: the text without its end */
bool filter_dcs_is_sixel(const struct filter *);   /* held: up to and with the final 'q' */
void filter_dcs(struct filter *, struct buf *out);
/* filter_sixel(f, c, out): one byte of an image; filter_sixel_end(f, out): it is over, or cut. */
void filter_sixel(struct filter *, uint8_t, struct buf *out);
void filter_sixel_end(struct filter *, struct buf *out);
/* filter_numbers(p, n, out): copy; a number that no screen has is cut to 9999. */
void filter_numbers(const uint8_t *, size_t, struct buf *out);
/* filter_mode(modes, number, is_on): may this private mode be changed? Remembers it if so. */
bool filter_mode(struct filter_modes *, unsigned number, bool is_on);

#endif
