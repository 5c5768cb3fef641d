/* git_blob_fuzz.c - any bytes as a git index, and as a pack with its index: objects may come out of
 * a box with an earlier apply, so none of them may lead the reader out of its buffers. */
#include "workspace/git_blob.h"

/* Its inner functions are what reads; the one it exports is linked already. */
#define git_pack_blob git_pack_blob_here
#include "workspace/git_pack.c" /* NOLINT(bugprone-suspicious-include) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char hex[41];
        int64_t changed_ns;
        if (git_blob_entry(data, size, "a/b", hex, &changed_ns) && strlen(hex) != 40)
                abort();
        if (size < 2)
                return 0;
        /* the first byte says where the pack begins and where in it the object */
        size_t cut = size * data[0] / 256;
        struct pack k = {.idx = {data, cut}, .pack = {data + cut, size - cut}, .max = 1 << 16};
        static const uint8_t sha[20];
        uint64_t at;
        (void)find(&k, sha, &at);
        struct buf out = {0};
        if (object(&k, data[1], 0, &out) && out.len >= k.max)
                abort();
        buf_free(&out);

        struct buf base = {.data = (uint8_t *)(uintptr_t)data, .len = cut}, made = {0};
        struct buf delta = {.data = (uint8_t *)(uintptr_t)data + cut, .len = size - cut};
        if (patch(&base, &delta, 1 << 16, &made) && made.len >= 1 << 16)
                abort();
        buf_free(&made);
        return 0;
}
