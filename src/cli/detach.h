/* detach.h - the key that speaks to ostiary and not to the box: a prefix (Ctrl-] unless told
 * otherwise), then d to leave, or a letter that answers what waits (row.h).
 *
 * Looks at what the user types on its way into the box. Recognises the key as a plain byte, in the
 * kitty keyboard encoding and in xterm's modifyOtherKeys, because the program inside may have
 * switched those on; never inside a bracketed paste. The prefix twice sends it once, and so does any
 * key that means nothing now. What the terminal says by itself, like the place of the cursor, passes
 * in between and is no key. Also corrects the size that a terminal types of itself while its last
 * rows are ours. */
#ifndef CLI_DETACH_H
#define CLI_DETACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct detach {
        bool is_off;
        uint8_t key;       /* the plain byte: 0x1d for Ctrl-] */
        uint32_t base;     /* the character of the key without Ctrl: ']' */
        const char *takes; /* letters that mean something behind the prefix, besides d; or NULL */
        unsigned below;    /* rows at the end of the terminal that the box does not have */
        bool is_armed;     /* the prefix was typed */
        bool is_paste;
        char rest;          /* a report was cut here: '[', or the letter of a string; 0: none */
        bool was_escape;    /* in that string */
        char pressed;       /* a letter that was ours: the box does not hear that it is let go of */
        uint8_t prefix[32]; /* how it was typed, to pass it on if it was not meant */
        size_t prefix_n;
};

enum detach_event {
        DETACH_NOTHING,
        DETACH_PREFIX, /* the prefix was typed: say now what d->takes */
        DETACH_LETTER, /* then one of d->takes */
        DETACH_OTHER,  /* then something else, which goes to the box */
        DETACH_LEAVE,  /* then d */
};

/* detach_parse("ctrl-]", d): "ctrl-X", "^X", or "none". 0 or -1. */
int detach_parse(const char *, struct detach *);

/* detach_feed(d, bytes, n, out, &event, &letter): append what goes to the box, up to the first key
 * that is ours. Returns how many bytes that was; ${letter} is set with DETACH_LETTER. */
size_t detach_feed(struct detach *, const uint8_t *, size_t, struct buf *out, enum detach_event *,
                   char *letter);

#endif
