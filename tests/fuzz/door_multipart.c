/* door_multipart.c - any bytes as a form in parts: reading ends, stays within them, and what is found
 * exactly is found loosely too. */
#include "base/str.h"
#include "policy/body_readers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *ctx, const char *value, size_t len)
{
        size_t *n = ctx;
        for (size_t i = 0; value && i < len; i++)
                n[1] += (unsigned char)value[i];
        n[0]++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char type[] = "multipart/form-data; boundary=b";
        static const char *const names[] = {"", "a", "a.filename"};
        if (memchr(data, 0, size))
                size = strnlen((const char *)data, size);
        char *text = str_fmt("%.*s", (int)size, (const char *)data);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                size_t exact[2] = {0}, loose[2] = {0};
                bool is_read = body_multipart_each(type, text, size, names[i], false, visit, exact);
                if (body_multipart_each(type, text, size, names[i], true, visit, loose) !=
                            is_read ||
                    loose[0] < exact[0])
                        abort();
        }
        /* The boundary is the sender's too. */
        size_t any[2] = {0};
        body_multipart_each(text, text, size, "a", true, visit, any);
        free(text);
        return 0;
}
