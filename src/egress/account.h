/* account.h - the memory that the door holds for its box, as one number with a limit
 * (`limit door-memory=`), so that nothing a box or an origin sends can make it grow further.
 *
 * How a stage uses it. What one request can be refused for is asked for before it is allocated:
 *
 *      if (!account_take(a, n))
 *              answer 503 with ACCOUNT_FULL; everything else goes on
 *      ...
 *      account_give(a, n);
 *
 * A library that allocates by itself (zlib, brotli, zstd) is given account_alloc and account_free,
 * so a decoder's window is charged before it exists. A buffer that grows and shrinks with what
 * waits in it keeps how much it has charged beside it:
 *
 *      account_set(a, &stage->charged, stage->buf.cap);
 *
 * which never says no: the stage looks at account_is_full and takes no more. NULL for ${a} is an
 * account without a limit (tests, tools). Pure. */
#ifndef EGRESS_ACCOUNT_H
#define EGRESS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCOUNT_FULL                                                                               \
        "the door of this box holds as much memory as it may; try again, or give it more with "    \
        "--limit door-memory=SIZE when the box is started"

struct account {
        uint64_t limit; /* 0: none */
        uint64_t now, peak, refused;
};

bool account_take(struct account *, size_t n);
void account_give(struct account *, size_t n);
/* account_set(a, &charged, n): what was charged for one thing is now ${n}. */
void account_set(struct account *, size_t *charged, size_t n);
/* account_is_full(a): nobody should begin anything that needs more. */
bool account_is_full(const struct account *);

/* account_alloc(a, n): like malloc; NULL when the account says no. account_free(a, p): NULL is
 * fine. Their types are those that brotli and zstd want. */
void *account_alloc(void *account, size_t n);
void account_free(void *account, void *);

#endif
