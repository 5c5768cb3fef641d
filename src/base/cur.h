/* cur.h - a bounded cursor: the one door through which untrusted bytes are read.
 *
 * Every getter returns 0 and moves on, or -1 and leaves the cursor where it was. No struct is ever
 * cast from a wire. */
#ifndef BASE_CUR_H
#define BASE_CUR_H

#include <stddef.h>
#include <stdint.h>

struct cur {
        const uint8_t *p;
        size_t left;
};

static inline struct cur cur_of(const void *p, size_t len)
{
        return (struct cur){.p = p, .left = len};
}

int cur_u8(struct cur *, uint8_t *);
int cur_u32(struct cur *, uint32_t *); /* big-endian */
int cur_u64(struct cur *, uint64_t *);
/* cur_bytes(c, n, &p): ${p} points at ${n} bytes inside the buffer. */
int cur_bytes(struct cur *, size_t n, const uint8_t **);
/* cur_lstr(c, max, &s): a u32 length and that many bytes, none of them NUL, at most ${max}; ${s} is
 * a fresh NUL-terminated copy, the caller's to free. */
int cur_lstr(struct cur *, size_t max, char **);

#endif
