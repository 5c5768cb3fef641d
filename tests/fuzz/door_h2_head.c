/* door_h2_head.c - any fields as the head of a request in HTTP/2: what is accepted can be written
 * as HTTP/1 and is read back as the same request, so that nothing hides in the translation (cases
 * E3, H2.CL, H2.TE). */
#include "base/err.h"
#include "egress/h1.h"
#include "egress/h2_head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* name NUL value NUL ..., a byte of flags first. Names that nghttp2 would not pass on are left out.
 */
static bool fill(struct h2_in *in, const char *p, size_t n)
{
        const char *end = p + n;
        while (p < end) {
                const char *value = memchr(p, '\0', (size_t)(end - p));
                if (!value)
                        break;
                size_t name_len = (size_t)(value - p);
                value++;
                const char *stop = memchr(value, '\0', (size_t)(end - value));
                size_t value_len = (size_t)((stop ? stop : end) - value);
                if (h2_in_field(in, p, name_len, value, value_len) < 0)
                        return false;
                p = value + value_len + (stop ? 1 : 0);
        }
        return true;
}

static void compare(const struct head *a)
{
        struct buf text = {0};
        struct head b;
        struct err err = {0};
        int status = 0;
        head_init(&b);
        h1_put_request(&text, a, true);
        if (text.is_broken)
                abort();
        ssize_t used = h1_request((const char *)text.data, text.len, &b, &status, &err);
        if (used != (ssize_t)text.len)
                abort();
        if (!host_name_equal(&a->host, &b.host) || a->path.len != b.path.len ||
            memcmp(a->path.text, b.path.text, a->path.len) != 0 ||
            strcmp(head_str(a, a->method), head_str(&b, b.method)) != 0 ||
            a->query_len != b.query_len || a->fields_n != b.fields_n || a->body != b.body)
                abort();
        for (size_t i = 0; i < a->fields_n; i++)
                if (strcmp(head_str(a, a->fields[i].name), head_str(&b, b.fields[i].name)) != 0 ||
                    strcmp(head_str(a, a->fields[i].value), head_str(&b, b.fields[i].value)) != 0)
                        abort();
        buf_free(&text);
        head_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct h2_in in = {0};
        struct err err = {0};
        int status = 0;
        if (size < 1)
                return 0;
        bool is_end = data[0] & 1;
        head_init(&in.head);
        h2_in_begin(&in);
        if (data[0] & 2) {
                h2_in_field(&in, ":method", 7, "POST", 4);
                h2_in_field(&in, ":scheme", 7, "https", 5);
                h2_in_field(&in, ":authority", 10, "a.example", 9);
                h2_in_field(&in, ":path", 5, "/x", 2);
        }
        if (fill(&in, (const char *)data + 1, size - 1)) {
                if (h2_in_request(&in, true, is_end, &status, &err) == 0) {
                        if (!in.head.is_websocket)
                                compare(&in.head);
                } else if (status < 400 || !err.text[0]) {
                        abort();
                }
        }
        h2_in_free(&in);
        return 0;
}
