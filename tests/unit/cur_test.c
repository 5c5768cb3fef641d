/* cur_test.c - a cursor fails when short, stays where it was, and refuses NUL in strings. */
#include "unit/check.h"

#include "base/cur.h"

#include <stdlib.h>
#include <string.h>

int main(void)
{
        static const uint8_t raw[] = {9, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 2, 'h', 'i'};
        struct cur c = cur_of(raw, sizeof raw);
        uint8_t a;
        uint32_t b;
        uint64_t d;
        char *s = NULL;
        CHECK("u8", cur_u8(&c, &a) == 0 && a == 9);
        CHECK("u32", cur_u32(&c, &b) == 0 && b == 0x102);
        CHECK("u64", cur_u64(&c, &d) == 0 && d == 0x103);
        CHECK("lstr", cur_lstr(&c, 2, &s) == 0 && !strcmp(s, "hi") && c.left == 0);
        free(s);

        bool is_still = true;
        for (size_t n = 0; n < 8; n++) {
                struct cur k = cur_of(raw, n);
                is_still &= cur_u64(&k, &d) == -1 && k.left == n && k.p == raw;
                if (n < 4)
                        is_still &= cur_u32(&k, &b) == -1 && k.left == n && k.p == raw;
        }
        CHECK("short reads leave the cursor where it was", is_still);

        static const uint8_t nul[] = {0, 0, 0, 3, 'a', 0, 'b'};
        c = cur_of(nul, sizeof nul);
        CHECK("a NUL inside is refused", cur_lstr(&c, 10, &s) == -1 && c.left == sizeof nul);
        static const uint8_t lie[] = {0xff, 0xff, 0xff, 0xff, 'a'};
        c = cur_of(lie, sizeof lie);
        CHECK("a length beyond the end is refused", cur_lstr(&c, SIZE_MAX, &s) == -1);
        c = cur_of(raw + 13, 6);
        CHECK("a length beyond the ceiling is refused", cur_lstr(&c, 1, &s) == -1 && c.left == 6);
        static const uint8_t none[] = {0, 0, 0, 0};
        c = cur_of(none, sizeof none);
        CHECK("an empty string", cur_lstr(&c, 0, &s) == 0 && !*s);
        free(s);
        c = cur_of(NULL, 0);
        CHECK("an empty cursor", cur_u8(&c, &a) == -1);
        return check_end();
}
