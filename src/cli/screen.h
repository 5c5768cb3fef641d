/* screen.h - a model of the user's terminal while a box draws on it: where the cursor is, margins,
 * attributes, both screens. Not the characters: nothing here needs to know them.
 *
 * It exists so that the last rows of the terminal can be ours for a while (row.h). Without such rows
 * the box's bytes pass untouched and are only followed. With them every movement is bounded to the
 * rows that the box has, and what erases or resets the whole terminal is followed by a repaint. We
 * never save or restore the terminal's cursor and never ask where it is: both belong to the box.
 *
 * The row of the cursor is an interval: nobody tells us where it stood when the box began, or after
 * a resize. Text and line feeds narrow it; before rows become ours, the lines above the cursor are
 * scrolled away by as much as is uncertain (screen_paint.c), after which it is known.
 *
 * Input is the output of the escape filter (filter.h), never raw bytes. Called by sink.c and row.c. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        SCREEN_BELOW_MAX = 8, /* rows of ours */
        SCREEN_ROWS_MIN = 2, /* the box keeps at least so many: terminals take no smaller margins */
        SCREEN_COLS_MIN = 16,  /* in less there is nothing to read */
        SCREEN_TABS_MAX = 2048 /* columns whose tab stops are known */
};

#define SCREEN_JOINED '\001' /* begins a line that continues the one above */

struct screen_colour {
        uint8_t kind; /* 0 the terminal's own, 5 of the palette, 2 red green blue */
        uint32_t value;
};

struct screen_pen {
        uint16_t on;       /* bit n: SGR n */
        uint8_t underline; /* style, 0 to 5 */
        bool is_overlined;
        struct screen_colour fg, bg, line;
};

struct screen_cursor {
        unsigned lo, hi; /* the row is one of these; equal when it is known */
        unsigned col;
        bool is_adrift;  /* the column is not known */
        bool is_pending; /* the last column was written: the next character wraps */
        bool is_origin;  /* DECOM */
        bool is_protected;
        uint8_t shift; /* which of the four sets letters come from */
        char sets[4];
        struct screen_pen pen;
};

enum screen_state { SCREEN_TEXT, SCREEN_ESC, SCREEN_CSI, SCREEN_STRING, SCREEN_SIXEL };

struct screen {
        unsigned rows, cols; /* that the box has */
        unsigned below;      /* ours, below them */
        char *lines[SCREEN_BELOW_MAX];

        struct screen_cursor at, saved[2];
        /* The row of the first screen that text is in, counted as at.hi is: what the box drew below
         * its cursor. */
        unsigned lowest;
        struct screen_pen pens[10]; /* XTPUSHSGR */
        size_t pens_n;
        unsigned top, bottom, left, right; /* margins, within the box's rows */
        bool is_alt;
        bool has_sides; /* DECLRMM: left and right count */
        bool has_wrap, has_insert, has_newline, has_back_wrap;
        bool has_size_reports; /* mode 2048: the terminal types its size when it changes */
        bool has_palette;      /* the box changed colours */
        bool is_wrap_off;      /* the terminal was told not to wrap, by us */
        bool is_last_ours;     /* the character that was drawn last is not the box's */
        uint8_t shift_once;    /* ESC N or O came, and no character yet */
        char last[32];         /* the character that was drawn last, with its marks, and how */
        uint8_t last_n, last_width;
        struct screen_pen last_pen;
        uint8_t tabs[SCREEN_TABS_MAX / 8];
        bool is_tabs_lost; /* one was set or cleared at a column that is not known */
        char link[2100];   /* OSC 8 that is open: "params;address" */

        struct buf typed; /* answers for the box, as the terminal would type them */
        struct buf *out;  /* where sequences go while rows are ours, else NULL */
        enum screen_state state;
        bool is_sixel_dropped, is_sixel_end;
        uint8_t need; /* bytes of a character that are missing */
        size_t held_n;
        uint8_t held[4608]; /* a whole sequence of the filter */
};

/* screen_init(s, rows, cols): a terminal whose cursor is anywhere. screen_free releases. */
void screen_init(struct screen *, unsigned rows, unsigned cols);
void screen_free(struct screen *);

/* screen_feed(s, bytes, n, out): what the filter let pass; appends what the terminal gets. */
void screen_feed(struct screen *, const void *, size_t, struct buf *out);

/* screen_may_reserve(s): is the terminal high enough for a row of ours? */
bool screen_may_reserve(const struct screen *);
/* screen_reserve(s, lines, n, out): make the last ${n} rows ours and show ${lines} there, which are
 * printable ASCII (or SCREEN_JOINED in front); 0 gives all back. As many as fit are taken. The box must then be told that it
 * has s->rows. */
void screen_reserve(struct screen *, const char *const *lines, size_t n, struct buf *out);
/* screen_resize(s, rows, cols, out): the terminal has this size now, ours included. */
void screen_resize(struct screen *, unsigned rows, unsigned cols, struct buf *out);
/* screen_lost(s): somebody else wrote to the terminal (we were stopped): anything may be. Only
 * while no row is ours. */
void screen_lost(struct screen *);
/* screen_deep(s): how many rows the box drew below its cursor, at most. For who writes after it. */
unsigned screen_deep(const struct screen *);
/* screen_undo(s, out, cap): the bytes that give our rows back, at most ${cap} (SCREEN_UNDO_MAX is
 * enough); returns how many. Safe in a signal handler. */
#define SCREEN_UNDO_MAX 512
size_t screen_undo(const struct screen *, char *out, size_t cap);

/* Parts, by file.
 * screen_csi.c: a whole sequence is in s->held. */
void screen_csi(struct screen *);
void screen_esc(struct screen *);
void screen_string(struct screen *);
/* screen_move.c: the cursor. A line feed, a character, positions within margins. */
void screen_text(struct screen *, const uint8_t *, size_t n, unsigned width);
void screen_control(struct screen *, uint8_t);
void screen_down(struct screen *, bool is_return, const char *as);
void screen_reverse(struct screen *);
void screen_go(struct screen *, unsigned row, unsigned col); /* as CUP: counted from 0 */
void screen_vertical(struct screen *, unsigned n, bool is_up);
void screen_sideways(struct screen *, unsigned n, bool is_back);
void screen_tab(struct screen *, unsigned n, bool is_back);
void screen_tabs_usual(struct screen *);
void screen_margins_usual(struct screen *);
void screen_say_place(struct screen *);   /* CUP to where the cursor is */
void screen_settle_wrap(struct screen *); /* below the margins lines must not wrap by themselves */
struct screen_cursor screen_cursor_usual(void);
/* screen_paint.c */
void screen_refresh(struct screen *); /* margins, our rows, and the cursor as the box has it */
void screen_bring(struct screen *, const struct screen_cursor *); /* the saved one */
void screen_switch(struct screen *, unsigned mode, bool is_alt, const struct screen_cursor *to);
void screen_reset(struct screen *, bool is_hard);
/* screen_pen.c */
void screen_pen_set(struct screen_pen *, const uint8_t *, size_t n); /* parameters of SGR */
void screen_pen_print(const struct screen_pen *, struct buf *);
/* screen_width.c: 0, 1 or 2 columns */
unsigned screen_width(uint32_t code_point);

/* screen_say(s, format, ...): to the terminal while rows are ours; nothing otherwise. */
void screen_say(struct screen *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
