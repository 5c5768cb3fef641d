/* door_custody.c - the two structs that egress and keeper exchange besides plain fields: where a
 * request goes, and one writing of a value. See door.h. The reader checks every length. */
#include "wire/door.h"

#include "base/buf.h"
#include "base/cur.h"

#include <string.h>

enum { METHOD_MAX = 64, HOST_MAX = 512, PATH_MAX_ = 64 << 10 };

void door_toward_put(struct buf *b, const struct door_toward *t)
{
        buf_put_lstr(b, t->method);
        buf_put_lstr(b, t->host);
        buf_put_u32(b, t->port);
        buf_put_u32(b, t->is_tls);
        buf_put_lstr(b, t->path);
}

/* take(c, max, strings, &at): one string into ${strings}, behind what is there. */
static int take(struct cur *c, uint32_t max, struct buf *strings, size_t *at)
{
        uint32_t n;
        const uint8_t *p;
        if (cur_u32(c, &n) < 0 || n > max || cur_bytes(c, n, &p) < 0 || (n && memchr(p, 0, n)))
                return -1;
        *at = strings->len;
        if (n)
                buf_put(strings, p, n);
        buf_put_u8(strings, 0);
        return strings->is_broken ? -1 : 0;
}

int door_toward_get(struct cur *c, struct door_toward *t, struct buf *strings)
{
        struct cur probe = *c;
        size_t method, host, path;
        uint32_t port, is_tls;
        *t = (struct door_toward){0};
        strings->len = 0;
        if (take(&probe, METHOD_MAX, strings, &method) < 0 ||
            take(&probe, HOST_MAX, strings, &host) < 0 || cur_u32(&probe, &port) < 0 ||
            cur_u32(&probe, &is_tls) < 0 || take(&probe, PATH_MAX_, strings, &path) < 0 ||
            port > UINT16_MAX || is_tls > 1)
                return -1;
        const char *base = (const char *)strings->data; /* it does not move any more */
        *t = (struct door_toward){.method = base + method,
                                  .host = base + host,
                                  .path = base + path,
                                  .port = (uint16_t)port,
                                  .is_tls = is_tls};
        *c = probe;
        return 0;
}

void door_finger_put(struct buf *b, const struct door_finger *f)
{
        buf_put_u8(b, f->coding);
        buf_put_u8(b, f->inner);
        buf_put_u32(b, f->len);
        buf_put_u8(b, (uint8_t)(f->hint >> 8));
        buf_put_u8(b, (uint8_t)f->hint);
        buf_put_u64(b, f->tail);
        buf_put_u64(b, f->whole);
}

int door_finger_get(struct cur *c, struct door_finger *f)
{
        struct cur probe = *c;
        uint8_t high, low;
        *f = (struct door_finger){0};
        if (cur_u8(&probe, &f->coding) < 0 || cur_u8(&probe, &f->inner) < 0 ||
            cur_u32(&probe, &f->len) < 0 || cur_u8(&probe, &high) < 0 || cur_u8(&probe, &low) < 0 ||
            cur_u64(&probe, &f->tail) < 0 || cur_u64(&probe, &f->whole) < 0)
                return -1;
        f->hint = (uint16_t)(high << 8 | low);
        *c = probe;
        return 0;
}
