/* msg_fuzz.c - the readers of message bodies: what they accept they write again as the same bytes,
 * flags apart, and everything else is refused without a leak. */
#include "base/buf.h"
#include "wire/msg.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct buf *b, const uint8_t *data, size_t size)
{
        if (b->is_broken || b->len != size || memcmp(b->data + 2, data + 2, size - 2) != 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct msg_spawn spawn;
        struct msg_ended ended;
        struct msg_info info;
        if (size < 3)
                return 0;
        struct cur c = cur_of(data + 1, size - 1);
        struct buf b = {0};
        switch (data[0] % 3) {
        case 0:
                if (msg_spawn_get(&c, &spawn) < 0)
                        return 0;
                msg_spawn_put(&b, &spawn);
                same(&b, data + 1, size - 1);
                msg_spawn_free(&spawn);
                break;
        case 1:
                if (msg_ended_get(&c, &ended) < 0)
                        return 0;
                if (msg_ended_exit_code(&ended) < 0 || msg_ended_exit_code(&ended) > 255)
                        abort();
                msg_ended_put(&b, &ended);
                if (b.len != size - 1)
                        abort();
                msg_ended_free(&ended);
                break;
        default:
                if (msg_info_get(&c, &info) < 0)
                        return 0;
                msg_info_put(&b, &info);
                same(&b, data + 1, size - 1);
                msg_info_free(&info);
                break;
        }
        buf_free(&b);
        return 0;
}
