/* glob.h - patterns with stars, for paths and for values. Linear in both lengths, whatever the
 * pattern: the text comes from the box.
 *
 * In a path * stays within a segment and ** crosses; a star itself is written %2A, and %2F in a
 * pattern holds for an encoded and for a bare slash. In a value * is any text and nothing is
 * encoded. */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct buf;

enum { GLOB_MAX = 1024 };

enum glob_kind { GLOB_PATH, GLOB_VALUE };

struct glob {
        char *code; /* bytes, with stars as bytes that no text holds; owned */
        size_t len;
        enum glob_kind kind;
        char *folded; /* the same folded (fold.h); NULL when that is the same; owned */
        size_t folded_len;
};

/* glob_parse(kind, s, len, g, err): on failure -1, a sentence, and ${g} is empty. A path begins
 * with / and has no dot segments; control bytes are refused. */
int glob_parse(enum glob_kind, const char *s, size_t len, struct glob *, struct err *);
void glob_free(struct glob *);
bool glob_equal(const struct glob *, const struct glob *);

/* glob_matches(g, text, len): for a path ${text} is one reading (path_canon.h). */
bool glob_matches(const struct glob *, const char *text, size_t len);

/* glob_matches_folded(g, text, len): the same for a folded ${text} (readings.h). */
bool glob_matches_folded(const struct glob *, const char *text, size_t len);

/* glob_print(g, b): the canonical spelling; parsing it gives ${g} again. */
void glob_print(const struct glob *, struct buf *);

#endif
