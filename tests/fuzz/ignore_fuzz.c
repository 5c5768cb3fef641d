/* ignore_fuzz.c - any bytes as an ignore file and as a path: nothing is read that is not there, the
 * last line that fits decides whatever came before it, and no pattern takes long. */
#include "workspace/ignore.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* with(data, n, more): the rules with one line more. */
static enum ignore_says with(const uint8_t *data, size_t n, const char *more, const char *path,
                             bool is_dir)
{
        char *text = malloc(n + strlen(more) + 1);
        memcpy(text, data, n);
        memcpy(text + n, more, strlen(more) + 1);
        struct ignore *ig = ignore_parse(text, n + strlen(more));
        free(text);
        enum ignore_says says = ignore_match(ig, path, is_dir);
        ignore_free(ig);
        return says;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2)
                return 0;
        bool is_dir = data[0] & 1;
        size_t path_len = data[1] < size - 2 ? data[1] : size - 2;
        char *path = calloc(path_len + 2, 1);
        memcpy(path, data + 2, path_len);
        data += 2 + path_len;
        size -= 2 + path_len;
        if (!*path || path[strlen(path) - 1] == '/')
                strcat(path, "x");

        /* A name longer than any path here fits none of them, whatever the fuzzer learns of it. */
        char beyond[UINT8_MAX + 16] = "\n";
        memset(beyond + 1, 'n', UINT8_MAX + 2);
        strcat(beyond, "/**/x");

        enum ignore_says says = with(data, size, "", path, is_dir);
        if (with(data, size, "\n# nothing\n\n", path, is_dir) != says ||
            with(data, size, "\n*", path, is_dir) != IGNORE_YES ||
            with(data, size, "\n!*\n", path, is_dir) != IGNORE_NO ||
            with(data, size, beyond, path, is_dir) != says)
                abort();
        free(path);
        return 0;
}
