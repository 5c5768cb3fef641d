/* text_merge_fuzz.c - three texts of any bytes: with one side unchanged the other comes out, and
 * without a conflict the sides can be swapped. */
#include "base/buf.h"
#include "workspace/text_diff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct buf *got, const struct text_lines *want)
{
        if (got->len != want->len || (got->len && memcmp(got->data, want->data, got->len) != 0))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2)
                return 0;
        size_t one = 2 + (size - 2) * data[0] / 256, two = one + (size - one) * data[1] / 256;
        struct text_lines base, ours, theirs;
        const char *text = (const char *)data;
        text_lines_of(&base, text + 2, one - 2);
        text_lines_of(&ours, text + one, two - one);
        text_lines_of(&theirs, text + two, size - two);
        struct buf x = {0}, y = {0}, v = {0}, w = {0};
        if (text_merge(&base, &ours, &base, &x) || text_merge(&base, &base, &theirs, &y))
                abort();
        same(&x, &ours);
        same(&y, &theirs);
        size_t n = text_merge(&base, &ours, &theirs, &v), m = text_merge(&base, &theirs, &ours, &w);
        if (n != m || (n == 0 && (v.len != w.len || (v.len && memcmp(v.data, w.data, v.len) != 0))))
                abort();
        buf_free(&x);
        buf_free(&y);
        buf_free(&v);
        buf_free(&w);
        text_lines_free(&base);
        text_lines_free(&ours);
        text_lines_free(&theirs);
        return 0;
}
