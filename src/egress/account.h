/* account.h - the memory that the door holds for its box, as one number with a limit
 * (`limit door-memory=`), so that nothing a box or an origin sends can make it grow further.
 *
 * How a stage uses it. What is fed from outside is asked for before it is allocated, and beyond the
 * limit the one request that it is for ends; everything else goes on:
 *
 *      if (!account_put(a, &stage->charged, &stage->buf, p, n))
 *              answer 503 with ACCOUNT_FULL, or cut off what has begun
 *
 * A library that allocates by itself (zlib, brotli, zstd) is given account_alloc and account_free,
 * so a decoder's window is charged before it exists. When a buffer has shrunk, or for what has a
 * fixed size of its own:
 *
 *      account_set(a, &stage->charged, sizeof *stage + stage->buf.cap);
 *
 * which never says no and must never be the only thing that counts what somebody outside can make
 * grow. The last eighth of the account is for what is small (ACCOUNT_SMALL): a few who hold much
 * cannot keep out everybody who asks for little. NULL for ${a} is an account without a limit (tests,
 * tools). Pure. */
#ifndef EGRESS_ACCOUNT_H
#define EGRESS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define ACCOUNT_FULL                                                                               \
        "the door of this box holds as much memory as it may; try again, or give it more with "    \
        "--limit door-memory=SIZE when the box is started"

/* A thing that does not become larger than this may use all of the account. */
enum { ACCOUNT_SMALL = 16 << 10 };

struct account {
        uint64_t limit; /* 0: none */
        uint64_t now, peak, refused;
        uint64_t allocs; /* how often account_alloc was asked */
};

bool account_take(struct account *, size_t n);
void account_give(struct account *, size_t n);
/* account_grow(a, &charged, more): may the thing that ${charged} was charged for take ${more} bytes
 * more? True: they are charged. False: nothing has changed, and they must not be allocated. */
bool account_grow(struct account *, size_t *charged, size_t more);
/* account_put(a, &charged, b, p, n): append to a buffer whose memory is part of ${charged}, and ask
 * before it grows. False: nothing was put, for want of room here or below the buffer's own ceiling.
 * account_room(a, &charged, b, n): the same for buf_room; NULL: there is none. */
bool account_put(struct account *, size_t *charged, struct buf *, const void *, size_t n);
uint8_t *account_room(struct account *, size_t *charged, struct buf *, size_t n);
/* account_set(a, &charged, n): what was charged for one thing is now ${n}. */
void account_set(struct account *, size_t *charged, size_t n);
/* account_is_tight(a): more than half of it is used. */
bool account_is_tight(const struct account *);
/* account_is_full(a): nobody should begin anything that needs more. */
bool account_is_full(const struct account *);

/* account_alloc(a, n): like malloc; NULL when the account says no. account_free(a, p): NULL is
 * fine. Their types are those that brotli and zstd want. */
void *account_alloc(void *account, size_t n);
void account_free(void *account, void *);

#endif
