/* undo.h - undoing the content coding of an answer as it comes: gzip, deflate, br, zstd, at most
 * three of them one inside the other, and the chunks in which S3 takes its uploads (aws-chunked).
 * What comes out is taken in small pieces, so that a body that grows beyond all measure is held up
 * by whoever reads it and never lies in our memory. Pure.
 *
 * A body that is broken, cut off or followed by something else is an error: whoever calls passes
 * nothing of it on from there. */
#ifndef EGRESS_UNDO_H
#define EGRESS_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct undo;

/* undo_new(coding, &u, err): ${coding} as Content-Encoding has it. 0 and NULL when there is nothing
 * to undo; -1 and a sentence when it cannot be undone. */
int undo_new(const char *coding, struct undo **, struct err *);
void undo_free(struct undo *);

/* undo_put(u, p, n): more of the body as it came. */
void undo_put(struct undo *, const void *, size_t);
/* undo_take(u, is_end, to, n, err): the next decoded bytes. 0: there are none until more is put, or
 * with ${is_end} (nothing more will be put): none at all. -1 and a sentence. */
ssize_t undo_take(struct undo *, bool is_end, void *, size_t n, struct err *);

/* undo_knows(name, n): can this one coding be undone? identity can. */
bool undo_knows(const char *name, size_t n);

#endif
