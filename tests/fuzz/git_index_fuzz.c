/* git_index_fuzz.c - any bytes as a git index: nothing is read past the end, and what was
 * understood is sorted, so that looking up finds it. */
#include "workspace/git_index.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct git_index x;
        if (git_index_parse(&x, data, size) < 0) {
                if (x.hashes || x.n)
                        abort();
                return 0;
        }
        for (size_t i = 1; i < x.n; i++)
                if (x.hashes[i - 1] > x.hashes[i])
                        abort();
        (void)git_index_has(&x, "a/b");
        git_index_free(&x);
        return 0;
}
