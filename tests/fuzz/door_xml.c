/* door_xml.c - any bytes as XML: reading ends, stays within them, and an element that follows what was
 * read is found. */
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
        size = strnlen((const char *)data, size);
        char *text = str_fmt("%.*s", (int)size, (const char *)data);
        char *more = str_fmt("%s<a>x</a>", text);
        size_t first[2] = {0}, second[2] = {0};
        bool is_read = body_xml_each(text, strlen(text), "a", visit, first);
        if (is_read && (!body_xml_each(more, strlen(more), "a", visit, second) ||
                        second[0] != first[0] + 1 || second[1] != first[1] + 'x'))
                abort();
        free(text);
        free(more);
        return 0;
}
