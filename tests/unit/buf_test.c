/* buf_test.c - a buffer grows up to its ceiling and breaks once, for good. */
#include "unit/check.h"

#include "base/buf.h"

#include <string.h>

int main(void)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u8(&b, 7);
        buf_put_u32(&b, 0x01020304);
        buf_put_u64(&b, 0x0506070809101112ull);
        static const uint8_t want[] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x11, 0x12};
        CHECK("numbers are big-endian", b.len == sizeof want && !memcmp(b.data, want, sizeof want));
        buf_drop(&b, 1);
        CHECK("drop forgets the front", b.len == 12 && b.data[0] == 1);
        buf_drop(&b, 1000);
        CHECK("dropping more than there is empties it", b.len == 0);
        buf_put_lstr(&b, "abc");
        CHECK("lstr is length and bytes", b.len == 7 && !memcmp(b.data, "\0\0\0\3abc", 7));
        buf_drop(&b, 7);
        buf_put_str(&b, "x");
        buf_put_fmt(&b, "%s-%d", "y", 5);
        CHECK("words", !strcmp(buf_cstr(&b), "xy-5"));
        CHECK("cstr adds nothing", b.len == 4);

        _cleanup_buf_ struct buf small = {.max = 10};
        buf_put(&small, "0123456789", 10);
        CHECK("full to the ceiling", !small.is_broken && small.len == 10);
        buf_put_u8(&small, 1);
        CHECK("one more breaks it", small.is_broken && small.len == 10);
        CHECK("a broken buffer reads as empty", !strcmp(buf_cstr(&small), ""));
        buf_put(&small, "", 0);
        CHECK("it stays broken", small.is_broken && !buf_room(&small, 0));

        _cleanup_buf_ struct buf huge = {0};
        buf_put_u8(&huge, 1);
        CHECK("sums do not overflow", !buf_room(&huge, SIZE_MAX) && huge.is_broken);
        buf_free(&huge);
        buf_put_u8(&huge, 1);
        CHECK("free makes it new", huge.len == 1 && !huge.is_broken);
        return check_end();
}
