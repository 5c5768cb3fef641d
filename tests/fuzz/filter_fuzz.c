/* filter_fuzz.c - any bytes through the escape filter, cut by the first byte. Whatever goes in,
 * what comes out must pass a second filter unchanged (it holds only allowed sequences), be the same
 * however the input is cut, and hold none of the bytes and openers that never may pass. */
#include "base/buf.h"
#include "cli/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void feed(const struct filter_policy *p, const uint8_t *in, size_t n, size_t step,
                 struct buf *out)
{
        static struct filter f;
        filter_init(&f, p);
        for (size_t i = 0; i < n; i += step)
                filter_feed(&f, in + i, n - i < step ? n - i : step, out);
        if (f.state == FILTER_SIXEL || f.state == FILTER_SIXEL_ESC)
                filter_feed(&f, "\x18", 1, out);
        char reset[FILTER_RESET_MAX];
        if (filter_reset(&f.modes, reset, sizeof reset) > sizeof reset)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        if (n < 2)
                return 0;
        static const char *const names[] = {"normal", "strict", "normal,clipboard,notify"};
        struct filter_policy p;
        filter_policy_parse(names[data[0] % 3], &p);
        size_t step = 1 + data[1] % 7;
        data += 2;
        n -= 2;

        struct buf whole = {0}, cut = {0}, again = {0};
        feed(&p, data, n, n ? n : 1, &whole);
        feed(&p, data, n, step, &cut);
        if (whole.len != cut.len || (whole.len && memcmp(whole.data, cut.data, cut.len) != 0))
                abort();
        feed(&p, whole.data, whole.len, whole.len ? whole.len : 1, &again);
        if (whole.len != again.len || (whole.len && memcmp(whole.data, again.data, again.len) != 0))
                abort();
        for (size_t i = 0; i + 1 < whole.len; i++)
                if (whole.data[i] == 0x1b && strchr("_^Xk", whole.data[i + 1]))
                        abort();
        for (size_t i = 0; i < whole.len; i++)
                if (whole.data[i] == 5 || whole.data[i] == 0 || whole.data[i] == 0x7f)
                        abort();
        buf_free(&whole);
        buf_free(&cut);
        buf_free(&again);
        return 0;
}
