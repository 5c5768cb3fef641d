/* secret_shape_fuzz.c - any bytes: what is found lies inside and the search ends; a stand-in has
 * its value's length and shape; a replaced writing has exactly the length it must have, and the
 * writing of a text is found in the writing of whatever the text stands in. */
#include "base/buf.h"
#include "policy/secret_forms.h"
#include "policy/secret_shape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(const char *text, size_t n)
{
        for (size_t from = 0; from < n;) {
                size_t len = 0, at = secret_shape_find(text, n, from, &len);
                if (at < from || at > n || len > n - at || (at < n) != (len > 0))
                        abort();
                from = at + len;
                if (at == n)
                        break;
        }
}

static void stand_in(const char *value, size_t n)
{
        struct buf b = {0};
        uint8_t *random = malloc(n + 1);
        for (size_t i = 0; i < n; i++)
                random[i] = (uint8_t)(i * 37 + 11);
        const char *name = secret_shape_name(value, n);
        if (secret_shape_stand_in(value, n, random, n, &b) == 0) {
                if (b.len != n)
                        abort();
                if (name && secret_shape_name((const char *)b.data, n) != name)
                        abort();
        } else if (b.len) {
                abort();
        }
        free(random);
        buf_free(&b);
}

static void forms(const char *text, size_t n, size_t before)
{
        for (int c = 0; c < SECRET_CODINGS; c++) {
                struct buf a = {0}, b = {0};
                enum secret_coding coding = (enum secret_coding)c;
                bool has = secret_form_put(coding, text, n, &a);
                if (has != (a.len > 0) || (has && a.len < 8))
                        abort();
                secret_form_replace(coding, text, n, a.len + before, &b);
                if (b.len != a.len + before || (has && memcmp(a.data, b.data, a.len) != 0))
                        abort();
                buf_free(&a);
                buf_free(&b);
        }
        struct buf whole = {0}, all = {0}, part = {0};
        for (size_t i = 0; i < before; i++)
                buf_put_u8(&whole, (uint8_t)(i * 91));
        buf_put(&whole, text, n);
        buf_put_str(&whole, "after");
        secret_form_put(SECRET_BASE64_0, (const char *)whole.data, whole.len, &all);
        if (secret_form_put((enum secret_coding)(SECRET_BASE64_0 + before % 3), text, n, &part) &&
            !memmem(all.data, all.len, part.data, part.len))
                abort();
        buf_free(&whole);
        buf_free(&all);
        buf_free(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2)
                return 0;
        const char *text = (const char *)data + 1;
        find(text, size - 1);
        stand_in(text, size - 1);
        forms(text, size - 1, data[0] % 7);
        return 0;
}
