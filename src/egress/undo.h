/* undo.h - undoing the content coding of a body as it comes: gzip, deflate, br, zstd, at most two of
 * them one inside the other, and around them the chunks in which S3 takes its uploads
 * (aws-chunked). What comes out is taken in small pieces, so that a body that grows beyond all
 * measure is held up by whoever reads it and never lies in our memory. Pure.
 *
 * Three bounds hold whatever is put. Each call of a decoder is a step of the turn (work.h). Every
 * window and table is charged before it is allocated (account.h). And no coding may grow by more
 * than UNDO_RATIO, once it has grown by UNDO_FREE, nor beyond UNDO_TOTAL.
 *
 * A body that is broken, cut off or followed by something else is an error: whoever calls passes
 * nothing of it on from there. */
#ifndef EGRESS_UNDO_H
#define EGRESS_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct account;
struct err;
struct undo;
struct work_budget;

enum { UNDO_FREE = 16 << 20, UNDO_RATIO = 256 };
#define UNDO_TOTAL ((uint64_t)16 << 30)

/* undo_new(coding, work, account, &u, err): ${coding} as Content-Encoding has it. 0 and NULL when
 * there is nothing to undo; -1 and a sentence when it cannot be undone. ${work} and ${account} may
 * be NULL; both must outlive it. */
int undo_new(const char *coding, struct work_budget *, struct account *, struct undo **,
             struct err *);
void undo_free(struct undo *);
/* undo_strictly(u): only what every program undoes in the same way: no deflate without its zlib head,
 * no second member of gzip or frame of zstd, none of S3's chunks. Call it before anything is put; 0,
 * or -1 when its codings are none of that kind. */
int undo_strictly(struct undo *);

/* undo_one(kind, work, account): one thing by itself, without a name: a member of gzip, a frame of
 * zstd, a stream of zlib or of deflate. What stands behind its end is not touched. */
enum undo_kind { UNDO_GZIP, UNDO_ZLIB, UNDO_DEFLATE, UNDO_ZSTD };
struct undo *undo_one(enum undo_kind, struct work_budget *, struct account *);
/* undo_again(u): the same for another such thing, with the memory that its decoder has. */
void undo_again(struct undo *);
/* undo_is_over(u, rest): has that one thing come to its end? Then ${rest} of the bytes that were put
 * stand behind it. */
bool undo_is_over(const struct undo *, size_t *rest);

/* undo_put(u, p, n): more of the body as it came. When the account has no room for it, the next
 * undo_take says so. */
void undo_put(struct undo *, const void *, size_t);
/* undo_take(u, is_end, to, n, err): the next decoded bytes. 0: there are none until more is put, or
 * with ${is_end} (nothing more will be put): none at all. UNDO_LATER: the turn is over, ask again
 * in the next one. -1 and a sentence. */
enum { UNDO_LATER = -2 };
ssize_t undo_take(struct undo *, bool is_end, void *, size_t n, struct err *);
/* undo_is_short(u): after -1: it was the account that said no, and not what was put. */
bool undo_is_short(const struct undo *);
/* undo_is_bomb(u): after -1: it was what is decoded that grew beyond all measure. */
bool undo_is_bomb(const struct undo *);

/* undo_knows(name, n): can this one coding be undone? identity can. */
bool undo_knows(const char *name, size_t n);

#endif
