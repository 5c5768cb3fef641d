/* pack.h - what is packed inside a body that does not say so: files of gzip, zlib and zstd, members of
 * zip (stored, deflate, zstd), wherever their magic stands (a tar.gz, a layer in a tar, a file in a
 * form), one in another at most PACK_DEPTH deep. It is unpacked and searched beside the body, whose
 * bytes it never changes: who calls holds them back until it has looked.
 *
 * Bounded like content codings (undo.h): each step is one of the turn, each window and buffer is
 * charged to the account, and nothing may grow beyond measure. What is broken, encrypted or of
 * another kind (bzip2, xz, 7z) is left alone. Pure but for memory. */
#ifndef EGRESS_PACK_H
#define EGRESS_PACK_H

#include "egress/scan.h"

struct account;
struct pack;
struct work_budget;

enum { PACK_DEPTH = 2 };

/* pack_new(work, account): both may be NULL, and must outlive it. */
struct pack *pack_new(struct work_budget *, struct account *);
void pack_free(struct pack *);

/* pack_put(pk, p, n): more of the body. Nothing is to be put before pack_run said PACK_READY. */
void pack_put(struct pack *, const void *, size_t);

enum pack_said {
        PACK_READY, /* all that was put has been looked at */
        PACK_LATER, /* the turn is over, ask again in the next one */
        PACK_FOUND, /* one of the texts is in it: the first is in ${hit} */
        PACK_SHORT, /* the account has no room for a decoder, or for what was put */
        PACK_BOMB,  /* it grows beyond all measure */
};
/* pack_run(pk, set, is_end, hit): go on with what was put; ${is_end}: nothing more will be. After
 * PACK_FOUND it may be asked to go on. */
enum pack_said pack_run(struct pack *, const struct scan_set *, bool is_end, struct scan_hit *);

/* pack_is_open(pk): something is or was unpacked: the bytes of the body should lag behind. */
bool pack_is_open(const struct pack *);

/* How far it was unpacked at one time. pack_mark(pk): now. pack_is_past(pk, m): no text is open any
 * more that may have begun before then, so that the bytes of the body up to there may go on. */
struct pack_mark {
        uint64_t member[PACK_DEPTH], fed[PACK_DEPTH];
};
struct pack_mark pack_mark(const struct pack *);
bool pack_is_past(const struct pack *, const struct pack_mark *);

/* A body that lags behind. pack_lag_free(lag, len, most): of ${len} bytes that wait, how many may go
 * on so that ${most} stay. They are then taken off. */
struct pack_lag {
        bool is_marked;
        struct pack_mark mark;
        size_t marked; /* of what waits: bytes before the mark */
};
size_t pack_lag_free(struct pack_lag *, const struct pack *, size_t len, size_t most);

#endif
