/* str_fuzz.c - any string: quoted it is printable and can be read back, as JSON it is valid and
 * holds no control byte. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* unquote(q): undo \xNN; nothing else may follow a backslash. */
static char *unquote(const char *q)
{
        char *out = malloc(strlen(q) + 1), *o = out;
        while (*q) {
                if (*q != '\\') {
                        *o++ = *q++;
                        continue;
                }
                char hex[3] = {q[1] == 'x' ? q[2] : 'z', 0, 0};
                if (hex[0])
                        hex[1] = q[3];
                char *end;
                *o++ = (char)strtoul(hex, &end, 16);
                if (end != hex + 2)
                        abort();
                q += 4;
        }
        *o = 0;
        return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *in = malloc(size + 1);
        memcpy(in, data, size);
        in[size] = 0;

        char *quoted = str_quote(in), *back = unquote(quoted);
        for (const unsigned char *p = (unsigned char *)quoted; *p; p++)
                if (*p < 0x20 || *p == 0x7f)
                        abort();
        if (strcmp(back, in) != 0)
                abort();

        struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '[');
        json_str(&j, NULL, in);
        json_close(&j, ']');
        json_t *t = json_loads(buf_cstr(&b), 0, NULL);
        if (!t)
                abort();
        for (size_t i = 0; i < b.len; i++)
                if (b.data[i] < 0x20 || b.data[i] == 0x7f)
                        abort();
        uint64_t n;
        (void)str_size(in, &n);
        (void)str_duration(in, &n);
        static const char *const names[] = {"run", "explain"};
        (void)str_suggest(in, names, 2);
        json_decref(t);
        buf_free(&b);
        free(quoted);
        free(back);
        free(in);
        return 0;
}
