/* der.c - see der.h. Pure. */
#include "keeper/der.h"

#include <stdio.h>
#include <string.h>

struct der der_in(uint8_t *room, size_t n)
{
        return (struct der){.start = room, .at = room + n, .end = room + n};
}

const uint8_t *der_mark(const struct der *d)
{
        return d->at;
}

void der_raw(struct der *d, const void *p, size_t n)
{
        if (!d->at || (size_t)(d->at - d->start) < n) {
                d->at = NULL;
                return;
        }
        d->at -= n;
        memcpy(d->at, p, n);
}

void der_wrap(struct der *d, uint8_t tag, const uint8_t *mark)
{
        if (!d->at || !mark)
                return;
        size_t n = (size_t)(mark - d->at);
        uint8_t head[4] = {tag};
        size_t head_len = 2;
        if (n < 0x80) {
                head[1] = (uint8_t)n;
        } else if (n < 0x100) {
                head[1] = 0x81;
                head[2] = (uint8_t)n;
                head_len = 3;
        } else if (n < 0x10000) {
                head[1] = 0x82;
                head[2] = (uint8_t)(n >> 8);
                head[3] = (uint8_t)n;
                head_len = 4;
        } else {
                d->at = NULL;
                return;
        }
        der_raw(d, head, head_len);
}

void der_put(struct der *d, uint8_t tag, const void *p, size_t n)
{
        const uint8_t *mark = der_mark(d);
        der_raw(d, p, n);
        der_wrap(d, tag, mark);
}

void der_time(struct der *d, time_t t)
{
        /* By hand: gmtime may want to read a time zone, and the keeper can open no file. */
        int64_t days = (int64_t)t / 86400, left = (int64_t)t % 86400;
        int64_t z = days + 719468, era = z / 146097, doe = z - era * 146097;
        int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
        int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        int64_t mp = (5 * doy + 2) / 153;
        unsigned day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
        unsigned month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
        unsigned year = (unsigned)(yoe + era * 400 + (month <= 2));
        char text[40];
        snprintf(text, sizeof text, "%04u%02u%02u%02u%02u%02uZ", year, month, day,
                 (unsigned)(left / 3600), (unsigned)(left / 60 % 60), (unsigned)(left % 60));
        /* RFC 5280: two digits of the year until 2049, four from then on. */
        if (year < 2050)
                der_put(d, DER_UTC_TIME, text + 2, strlen(text) - 2);
        else
                der_put(d, DER_TIME, text, strlen(text));
}

size_t der_len(const struct der *d)
{
        return d->at ? (size_t)(d->end - d->at) : 0;
}
