/* buf.c - see buf.h. */
#include "base/buf.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *b)
{
        free(b->data);
        *b = (struct buf){.max = b->max};
}

/* buf_need(b, n, &need): its length with ${n} more bytes; false beyond the ceiling. */
static bool buf_need(const struct buf *b, size_t n, size_t *need)
{
        size_t max = b->max ? b->max : BUF_DEFAULT_MAX;
        return !b->is_broken && !__builtin_add_overflow(b->len, n, need) && *need <= max;
}

/* buf_cap(b, need): twice as much each time; what is large grows by a quarter, so that it does not
 * take much more than it holds. */
static size_t buf_cap(const struct buf *b, size_t need)
{
        enum { LARGE = 1 << 20 };
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need)
                cap += cap < LARGE ? cap : cap / 4;
        return cap;
}

size_t buf_more(const struct buf *b, size_t n)
{
        size_t need;
        return buf_need(b, n, &need) && need > b->cap ? buf_cap(b, need) - b->cap : 0;
}

uint8_t *buf_room(struct buf *b, size_t n)
{
        size_t need;
        if (!buf_need(b, n, &need)) {
                b->is_broken = true;
                return NULL;
        }
        if (need > b->cap) {
                size_t cap = buf_cap(b, need);
                uint8_t *p = realloc(b->data, cap);
                if (!p)
                        str_no_memory();
                b->data = p;
                b->cap = cap;
        }
        uint8_t *at = b->data + b->len;
        b->len = need;
        return at;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
        if (n == 0)
                return;
        uint8_t *at = buf_room(b, n);
        if (at)
                memcpy(at, p, n);
}

void buf_put_str(struct buf *b, const char *s)
{
        buf_put(b, s, strlen(s));
}

void buf_put_fmt(struct buf *b, const char *fmt, ...)
{
        char *text = NULL;
        va_list ap;
        va_start(ap, fmt);
        int n = vasprintf(&text, fmt, ap);
        va_end(ap);
        if (n < 0)
                str_no_memory();
        buf_put(b, text, (size_t)n);
        free(text);
}

void buf_put_u8(struct buf *b, uint8_t v)
{
        buf_put(b, &v, 1);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
        uint8_t w[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
        buf_put(b, w, sizeof w);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
        buf_put_u32(b, (uint32_t)(v >> 32));
        buf_put_u32(b, (uint32_t)v);
}

void buf_put_lstr(struct buf *b, const char *s)
{
        size_t n = strlen(s);
        if (n > UINT32_MAX) {
                b->is_broken = true;
                return;
        }
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, s, n);
}

void buf_drop(struct buf *b, size_t n)
{
        if (n > b->len)
                n = b->len;
        if (n == 0)
                return;
        memmove(b->data, b->data + n, b->len - n);
        b->len -= n;
}

const char *buf_cstr(struct buf *b)
{
        uint8_t *at = buf_room(b, 1);
        if (!at)
                return "";
        *at = 0;
        b->len--;
        return (const char *)b->data;
}
