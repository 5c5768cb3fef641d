/* door.c - writing and reading one line of the log as it travels from egress to audit. See door.h.
 * The reader checks every length; it must never trust what a string says. */
#include "wire/door.h"

#include "base/buf.h"
#include "base/cur.h"

#include <string.h>

/* The strings of a record in the order in which they travel, and the most that each may hold. */
static const struct {
        size_t at;
        uint32_t max;
} strings_of[] = {
        {offsetof(struct door_record, kind), 32},
        {offsetof(struct door_record, verdict), 32},
        {offsetof(struct door_record, rule), 1024},
        {offsetof(struct door_record, protocol), 32},
        {offsetof(struct door_record, host), 512},
        {offsetof(struct door_record, address), 128},
        {offsetof(struct door_record, method), 64},
        {offsetof(struct door_record, path), 17 << 10},
        {offsetof(struct door_record, note), DOOR_NOTE_MAX},
        {offsetof(struct door_record, cure), 8192},
        {offsetof(struct door_record, secrets), 2048},
        {offsetof(struct door_record, exe), 1024},
};

enum { STRINGS_N = sizeof strings_of / sizeof *strings_of };

/* put_cut(b, s, max): not in the middle of a UTF-8 character, or the log would be no text. */
static void put_cut(struct buf *b, const char *s, uint32_t max)
{
        static const char more[] = "...";
        size_t len = s ? strlen(s) : 0;
        if (len <= max) {
                buf_put_u32(b, (uint32_t)len);
                if (len)
                        buf_put(b, s, len);
                return;
        }
        size_t keep = max - (sizeof more - 1);
        while (keep > 0 && ((unsigned char)s[keep] & 0xc0) == 0x80)
                keep--;
        buf_put_u32(b, (uint32_t)(keep + sizeof more - 1));
        buf_put(b, s, keep);
        buf_put(b, more, sizeof more - 1);
}

void door_record_put(struct buf *b, const struct door_record *r)
{
        buf_put_u64(b, r->time_us);
        buf_put_u32(b, r->port);
        buf_put_u32(b, r->status);
        buf_put_u64(b, r->bytes_up);
        buf_put_u64(b, r->bytes_down);
        buf_put_u64(b, r->wait_us);
        buf_put_u64(b, r->total_us);
        buf_put_u32(b, r->source_port);
        buf_put_u32(b, r->pid);
        buf_put_u32(b, r->ppid);
        buf_put_u64(b, r->cpu_us);
        buf_put_u64(b, r->peak_kib);
        for (size_t i = 0; i < STRINGS_N; i++) {
                const char *s;
                memcpy(&s, (const char *)r + strings_of[i].at, sizeof s);
                put_cut(b, s, strings_of[i].max);
        }
}

int door_record_get(struct cur *c, struct door_record *r, struct buf *strings)
{
        size_t at[STRINGS_N];
        struct cur probe = *c;
        *r = (struct door_record){0};
        strings->len = 0;
        if (cur_u64(&probe, &r->time_us) < 0 || cur_u32(&probe, &r->port) < 0 ||
            cur_u32(&probe, &r->status) < 0 || cur_u64(&probe, &r->bytes_up) < 0 ||
            cur_u64(&probe, &r->bytes_down) < 0 || cur_u64(&probe, &r->wait_us) < 0 ||
            cur_u64(&probe, &r->total_us) < 0 || cur_u32(&probe, &r->source_port) < 0 ||
            cur_u32(&probe, &r->pid) < 0 || cur_u32(&probe, &r->ppid) < 0 ||
            cur_u64(&probe, &r->cpu_us) < 0 || cur_u64(&probe, &r->peak_kib) < 0)
                return -1;
        for (size_t i = 0; i < STRINGS_N; i++) {
                uint32_t n;
                const uint8_t *p;
                if (cur_u32(&probe, &n) < 0 || n > strings_of[i].max ||
                    cur_bytes(&probe, n, &p) < 0 || (n && memchr(p, 0, n)))
                        return -1;
                at[i] = strings->len;
                if (n)
                        buf_put(strings, p, n);
                buf_put_u8(strings, 0);
        }
        if (strings->is_broken)
                return -1;
        /* Only now: the buffer does not move any more. */
        for (size_t i = 0; i < STRINGS_N; i++) {
                const char *s = (const char *)strings->data + at[i];
                memcpy((char *)r + strings_of[i].at, &s, sizeof s);
        }
        *c = probe;
        return 0;
}
