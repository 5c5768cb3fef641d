/* buf.h - a growing byte buffer with a ceiling. Everything that is built piece by piece (frames,
 * JSON, messages) is built here; an append beyond the ceiling makes the buffer `is_broken` and
 * later appends do nothing, so that callers check once at the end. Out of memory ends the process,
 * as elsewhere (str.h): half of a text must never pass for the whole. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
        uint8_t *data;
        size_t len;
        size_t cap;
        size_t max; /* ceiling in bytes; 0 means BUF_DEFAULT_MAX */
        bool is_broken;
};

#define BUF_DEFAULT_MAX ((size_t)64 << 20)

void buf_free(struct buf *);
#define _cleanup_buf_ __attribute__((cleanup(buf_free)))

/* buf_more(b, n): by how much its memory will grow when ${n} more bytes are put. 0: there is room,
 * or they will not be put at all. */
size_t buf_more(const struct buf *, size_t n);
/* buf_room(b, n): make room for ${n} more bytes; returns where they go, or NULL and broken. */
uint8_t *buf_room(struct buf *, size_t n);
void buf_put(struct buf *, const void *, size_t);
void buf_put_str(struct buf *, const char *);
void buf_put_fmt(struct buf *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_put_u8(struct buf *, uint8_t);
void buf_put_u32(struct buf *, uint32_t); /* big-endian, as everything on our wires */
void buf_put_u64(struct buf *, uint64_t);
/* buf_put_lstr(b, s): length (u32) and bytes without NUL: what cur_lstr reads back. */
void buf_put_lstr(struct buf *, const char *);
/* buf_drop(b, n): forget the first ${n} bytes. */
void buf_drop(struct buf *, size_t n);
/* buf_cstr(b): NUL-terminated view of the content, valid until the next change; "" when broken. */
const char *buf_cstr(struct buf *);

#endif
