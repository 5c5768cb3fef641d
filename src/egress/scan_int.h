/* scan_int.h - what the scanner's files share: scan_set.c (what is looked for), scan_find.c (where
 * it is in some bytes), scan_escape.c (one escape), scan_view.c (the same bytes with escapes
 * undone), scan.c (streams). Nobody else includes it. */
#ifndef EGRESS_SCAN_INT_H
#define EGRESS_SCAN_INT_H

#include "base/buf.h"
#include "egress/scan.h"

/* One writing of one text. Its bytes are not here, only what knows them again. */
struct scan_writing {
        uint64_t tail, whole;
        uint32_t tag, len;
        uint32_t next_hint, next_first; /* others with the same hint; with the same first byte */
        uint16_t hint;
        uint8_t first[4]; /* small letters where is_folded; of texts that we have alone */
        uint8_t coding;
        bool is_folded;
        bool is_local;     /* found only where the set's lens says so */
        uint8_t *stand_in; /* ${len} bytes, or NULL: it stays as it is */
};

struct scan_table {
        bool is_secret; /* it has fingers: nobody may learn what is compared */
        uint8_t key[16];
        struct scan_writing *writings;
        uint32_t writings_n, writings_cap;
        uint32_t longest;
        uint64_t hints[1024];                     /* a bit for each hint that a writing has */
        uint32_t by_hint[1 << 12], by_first[256]; /* heads of lists, index + 1; 0: none */
        uint64_t pairs[1024];                     /* a bit for each pair of first two bytes */
        uint32_t alphabet[256]; /* a bit for each coding whose writings can have this byte */
};

/* What is looked for, and where that is: a table, which may have several lenses. */
struct scan_set {
        struct scan_table *table;
        bool is_lens; /* the table is somebody else's */
        scan_may *may;
        const void *ctx;
};

/* What was found in a window: bytes [start, end) of it, to be written over. */
struct scan_match {
        int64_t start; /* below 0: it began before the window */
        int64_t end;
        uint32_t writing;
        uint8_t *own;  /* malloced: what is written over it, when that is not the writing's own */
        bool is_large; /* where case means nothing: it was in large letters */
};

struct scan_matches {
        struct scan_match *list;
        size_t n, cap;
};
void scan_matches_add(struct scan_matches *, struct scan_match);
void scan_matches_clear(struct scan_matches *);
void scan_matches_free(struct scan_matches *);

/* scan_find(set, p, n, fn, ctx): every place at which a writing ends. */
typedef void scan_found(void *ctx, uint32_t writing, size_t start, size_t end);
void scan_find(const struct scan_set *, const uint8_t *, size_t, scan_found *, void *ctx);

/* scan_live(set, p, n, is_strong): the first place from which to the end these bytes may be the
 * beginning of a writing that is longer; ${n} when there is none. Where the texts are secret, the
 * bytes are not compared with any: only whether a writing can have such letters, and how long the
 * longest is, counts. Were they, who has his own guesses sent back would learn by the delay how a
 * value begins (B6). ${is_strong} is set when there are more than SCAN_FEW. */
enum { SCAN_FEW = 3 };
size_t scan_live(const struct scan_set *, const uint8_t *, size_t, bool *is_strong);

/* An escape as it was read: %73, \u0073, &#115; and so on. */
struct scan_escape {
        size_t len;   /* 0: it is none */
        uint8_t c;    /* what it stands for */
        bool is_open; /* the bytes end before it is decided */
};
/* scan_escape_read(p, n, is_line): the one that begins at ${p}, where scan_escape_next found it;
 * ${is_line}: a line of base64 may end there (scan_is_line). */
struct scan_escape scan_escape_read(const uint8_t *, size_t, bool is_line);
/* scan_is_line(p, at, before): do so many letters of base64 stand before ${at} that a line may end? */
bool scan_is_line(const uint8_t *, size_t at, size_t before);
/* scan_escape_next(p, from, n, before, cache): where the next byte is that may begin an escape;
 * ${n}: nowhere. ${cache} begins as SCAN_NONE. ${before}: how many letters of base64 stood before
 * ${p}, or SCAN_NO_LINES: line ends are nothing but line ends. */
enum { SCAN_ESCAPES = 4, SCAN_LINE_MIN = 16 };
#define SCAN_NONE                                                                                  \
        {                                                                                          \
                SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX                                             \
        }
#define SCAN_NO_LINES SIZE_MAX
size_t scan_escape_next(const uint8_t *, size_t from, size_t n, size_t before,
                        size_t cache[SCAN_ESCAPES]);
/* scan_base64_run(p, at, before): how many letters of base64 stand before ${at}, at the most
 * SCAN_LINE_MIN. */
size_t scan_base64_run(const uint8_t *, size_t at, size_t before);
/* scan_escape_write(u, len, c, is_large): make the escape in ${u} stand for ${c}, in as many bytes.
 * Where that cannot be said it is filled: what stood there must go in any case. ${is_large}: with
 * large digits. */
void scan_escape_write(uint8_t *u, size_t len, uint8_t c, bool is_large);

/* Bytes with escapes undone, and where each came from: byte i from [off[i], off[i + 1]). */
struct scan_view {
        uint8_t *bytes;
        uint32_t *off;
        size_t n, cap;
};
void scan_view_free(struct scan_view *);

/* scan_views(set, p, n, before, is_end, view, matches, hold): look for what is escaped in a window,
 * behind ${before} letters of base64. Adds to ${matches}; lowers ${hold} to where what may go on
 * begins, and never leaves it inside an escape.
 */
void scan_views(const struct scan_set *, const uint8_t *, size_t, size_t before, bool is_end,
                struct scan_view view[2], struct scan_matches *, size_t *hold, bool *is_strong);

/* scan_wide(set, p, n, is_end, view, matches, hold, is_strong): the same for letters of two bytes
 * (UTF-16 of either order). */
void scan_wide(const struct scan_set *, const uint8_t *, size_t, bool is_end, struct scan_view *,
               struct scan_matches *, size_t *hold, bool *is_strong);
void scan_view_room(struct scan_view *, size_t n);

#endif
