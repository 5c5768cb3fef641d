/* door_custody_json.c - any bytes as JSON and as a form with slots, whole and byte by byte: the
 * same verdict, the same bytes; and without a slot that is taken, what went in comes out. */
#include "base/buf.h"
#include "egress/custody_body_slots.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct got {
        struct buf out;
        size_t taken;
        bool takes;
};

static void on_pass(void *ctx, const void *p, size_t n)
{
        struct got *g = ctx;
        buf_put(&g->out, p, n);
}

static bool on_slot(void *ctx, size_t which, const char *text, size_t n)
{
        struct got *g = ctx;
        if (!g->takes || n == 0)
                return false;
        g->taken++;
        buf_put_fmt(&g->out, "<%zu:%.*s>", which, (int)n, text);
        return true;
}

static const char *const pointers[] = {"/a", "/b/0/c", "/a/a"};

static int run(bool is_json, const char *p, size_t n, size_t step, struct got *g)
{
        const struct custody_sink sink = {.pass = on_pass, .slot = on_slot, .ctx = g};
        struct custody_json *j = custody_json_new(pointers, 3, 16, &sink);
        struct custody_form *f = custody_form_new(pointers, 3, 16, &sink);
        int r = 0;
        for (size_t at = 0; at < n && r == 0;) {
                size_t part = n - at < step ? n - at : step;
                ssize_t used = is_json ? custody_json_feed(j, p + at, part, NULL)
                                       : custody_form_feed(f, p + at, part, NULL);
                if (used < 0)
                        r = -1;
                else
                        at += (size_t)used;
        }
        if (r == 0)
                r = is_json ? custody_json_end(j, NULL) : custody_form_end(f, NULL);
        custody_json_free(j);
        custody_form_free(f);
        return r < 0 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *p = (const char *)data;
        for (int is_json = 0; is_json < 2; is_json++) {
                struct got a = {.takes = true}, b = {.takes = true}, c = {0};
                int x = run(is_json, p, size, size ? size : 1, &a);
                int y = run(is_json, p, size, 1, &b);
                int z = run(is_json, p, size, 3, &c);
                if (x != y || x != z)
                        abort();
                if (x == 0 && (a.taken != b.taken || a.out.len != b.out.len ||
                               (a.out.len && memcmp(a.out.data, b.out.data, a.out.len) != 0)))
                        abort();
                if (x == 0 && (c.out.len != size || (size && memcmp(c.out.data, p, size) != 0)))
                        abort();
                buf_free(&a.out);
                buf_free(&b.out);
                buf_free(&c.out);
        }
        return 0;
}
