/* text_diff_fuzz.c - two texts of any bytes: the edits make the second of the first, hunks taken
 * one by one too; and any bytes shown on a terminal hold no control byte but tab and newline. */
#include "base/buf.h"
#include "base/str.h"
#include "workspace/print.h"
#include "workspace/text_diff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pair(const char *x, size_t x_len, const char *y, size_t y_len, size_t context)
{
        struct text_lines a, b;
        struct text_edits e;
        struct text_hunks h;
        text_lines_of(&a, x, x_len);
        text_lines_of(&b, y, y_len);
        text_diff(&a, &b, &e);
        text_hunks_of(&e, a.n, b.n, context, &h);
        bool *taken = calloc(h.n + 1, 1);
        struct buf none = {0}, all = {0};
        text_take(&a, &b, &e, &h, taken, &none);
        memset(taken, 1, h.n);
        text_take(&a, &b, &e, &h, taken, &all);
        if (none.len != x_len || (x_len && memcmp(none.data, x, x_len) != 0) || all.len != y_len ||
            (y_len && memcmp(all.data, y, y_len) != 0))
                abort();
        buf_free(&none);
        buf_free(&all);
        free(taken);
        text_hunks_free(&h);
        text_edits_free(&e);
        text_lines_free(&a);
        text_lines_free(&b);
}

static void shown(const char *bytes, size_t n)
{
        struct buf out = {0};
        ws_print_shown(&out, bytes, n, false);
        for (size_t i = 0; i < out.len; i++)
                if ((out.data[i] < 0x20 && out.data[i] != '\t' && out.data[i] != '\n') ||
                    out.data[i] == 0x7f)
                        abort();
        /* What a reader of UTF-8 finds in it is seen, too. */
        for (const char *p = buf_cstr(&out); *p;) {
                size_t len = *p == '\t' || *p == '\n' || *p == '\\' ? 1 : str_seen(p);
                if (len == 0)
                        abort();
                p += len;
        }
        buf_free(&out);
}

static void named(const char *name)
{
        struct buf out = {0};
        ws_print_name(&out, "a/", name);
        for (size_t i = 0; i < out.len; i++)
                if (out.data[i] < 0x20 || out.data[i] >= 0x7f)
                        abort();
        buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2)
                return 0;
        char *text = malloc(size + 1);
        memcpy(text, data, size);
        text[size] = 0;
        size_t cut = 2 + data[0] % (size - 1);
        if (cut > size)
                cut = size;
        pair(text + 2, cut - 2, text + cut, size - cut, data[1] % 5);
        shown(text, size);
        named(text);
        free(text);
        return 0;
}
