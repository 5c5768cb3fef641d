/* detach.h - the key that leaves a box: a prefix (Ctrl-] unless told otherwise), then d.
 *
 * Looks at what the user types on its way into the box. Recognises the key as a plain byte, in the
 * kitty keyboard encoding and in xterm's modifyOtherKeys, because the program inside may have
 * switched those on; never inside a bracketed paste. The prefix twice sends it once. The prefix,
 * then f answers a question, when there is one. */
#ifndef CLI_DETACH_H
#define CLI_DETACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct detach {
        bool is_off;
        uint8_t key;      /* the plain byte: 0x1d for Ctrl-] */
        uint32_t base;    /* the character of the key without Ctrl: ']' */
        bool is_armed;    /* the prefix was typed */
        bool is_asked;    /* a question is open: the prefix, then f, says yes to it */
        bool is_answered; /* and that was typed */
        bool is_paste;
        uint8_t prefix[32]; /* how it was typed, to pass it on if it was not meant */
        size_t prefix_n;
};

/* detach_parse("ctrl-]", d): "ctrl-X", "^X", or "none". 0 or -1. */
int detach_parse(const char *, struct detach *);

/* detach_feed(d, bytes, n, out): append what goes to the box. true when the user asked to leave;
 * what came after that key is dropped. */
bool detach_feed(struct detach *, const uint8_t *, size_t, struct buf *out);

#endif
