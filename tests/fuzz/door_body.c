/* door_body.c - any bytes as a body of any type and coding: reading ends, finds nothing outside its
 * bytes, and what was unreadable shows nothing. */
#include "egress/body.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *ctx, const char *value, size_t len)
{
        size_t *sum = ctx;
        for (size_t i = 0; i < len; i++)
                *sum += (unsigned char)value[i];
        *sum += 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const types[] = {"application/json", "application/x-www-form-urlencoded",
                                            "application/x-git-receive-pack-request"};
        static const char *const codings[] = {"",        "",   "",     "gzip",
                                              "deflate", "br", "zstd", "gzip, br"};
        static const char *const names[] = {"", "/a", "/a/b", "/0", "/1/a", "a", "ref", "new"};
        size_t sum = 0;
        if (size < 1)
                return 0;
        struct body *b = body_read(types[data[0] % 3], codings[data[0] / 32], data + 1, size - 1);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                body_each(b, RULE_JSON, names[i], true, visit, &sum);
                body_each(b, RULE_FORM, names[i], true, visit, &sum);
        }
        if (sum && body_state(b) != REQUEST_BODY_READ)
                abort();
        body_free(b);
        return 0;
}
