/* cur.c - see cur.h. */
#include "base/cur.h"

#include <stdlib.h>
#include <string.h>

int cur_bytes(struct cur *c, size_t n, const uint8_t **out)
{
        if (n > c->left)
                return -1;
        *out = c->p;
        c->p += n;
        c->left -= n;
        return 0;
}

int cur_u8(struct cur *c, uint8_t *out)
{
        const uint8_t *p;
        if (cur_bytes(c, 1, &p) < 0)
                return -1;
        *out = *p;
        return 0;
}

int cur_u32(struct cur *c, uint32_t *out)
{
        const uint8_t *p;
        if (cur_bytes(c, 4, &p) < 0)
                return -1;
        *out = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        return 0;
}

int cur_u64(struct cur *c, uint64_t *out)
{
        uint32_t hi, lo;
        if (c->left < 8 || cur_u32(c, &hi) < 0 || cur_u32(c, &lo) < 0)
                return -1;
        *out = (uint64_t)hi << 32 | lo;
        return 0;
}

int cur_lstr(struct cur *c, size_t max, char **out)
{
        struct cur probe = *c;
        uint32_t n;
        const uint8_t *p;
        if (cur_u32(&probe, &n) < 0 || n > max || cur_bytes(&probe, n, &p) < 0)
                return -1;
        if (n && memchr(p, 0, n))
                return -1;
        char *s = malloc((size_t)n + 1);
        if (!s)
                return -1;
        memcpy(s, p, n);
        s[n] = 0;
        *out = s;
        *c = probe;
        return 0;
}
