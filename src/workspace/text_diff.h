/* text_diff.h - which lines of two texts differ, and three texts made one. Pure functions on bytes:
 * no files, no terminal. Myers' algorithm, with a bound on its work after which the rest counts as
 * replaced: a hostile pair of files costs time linear in its size. */
#ifndef WORKSPACE_TEXT_DIFF_H
#define WORKSPACE_TEXT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct text_lines {
        const char *data;
        size_t len;
        size_t *at; /* where each line begins; n + 1 of them */
        size_t n;
        bool lacks_newline; /* the last line has no newline */
};
/* text_lines_of(l, data, len): the bytes are borrowed. */
void text_lines_of(struct text_lines *, const char *data, size_t len);
void text_lines_free(struct text_lines *);

/* text_is_binary(data, len): a NUL among the first 8000 bytes, as git decides. */
bool text_is_binary(const char *, size_t);

/* One place where they differ: lines [a, a + a_n) of the first became [b, b + b_n) of the second.
 */
struct text_edit {
        size_t a, a_n, b, b_n;
};
struct text_edits {
        struct text_edit *v;
        size_t n;
};
void text_diff(const struct text_lines *a, const struct text_lines *b, struct text_edits *);
void text_edits_free(struct text_edits *);

/* A hunk: edits [first, first + n) with ${context} lines around, as in a unified diff. */
struct text_hunk {
        size_t first, n;
        size_t a, a_n, b, b_n; /* lines with context; 0-based */
};
struct text_hunks {
        struct text_hunk *v;
        size_t n;
};
void text_hunks_of(const struct text_edits *, size_t a_lines, size_t b_lines, size_t context,
                   struct text_hunks *);
void text_hunks_free(struct text_hunks *);

/* text_take(a, b, edits, hunks, taken, out): ${a} with only those hunks of which taken[i] is true:
 * apply --hunks. */
void text_take(const struct text_lines *a, const struct text_lines *b, const struct text_edits *,
               const struct text_hunks *, const bool *taken, struct buf *out);

/* text_merge(base, ours, theirs, out): three-way, appended to ${out}; places changed on both sides
 * and differently, or side by side, are marked as git does, with the labels "host" (ours) and "box"
 * (theirs). Returns how many such conflicts there are. The result is no larger than all three
 * texts and the marks; ${out} may be broken by its ceiling. */
size_t text_merge(const struct text_lines *base, const struct text_lines *ours,
                  const struct text_lines *theirs, struct buf *out);

#endif
