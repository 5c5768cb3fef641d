/* door_pack.c - any bytes as a body in which something may be packed, in two cuts: each turn does
 * something, it ends within as many steps as its length allows, and all memory is given back. 0xfd,
 * 0xfe and 0xff plant the magic of zip, gzip and zstd. */
#include "base/buf.h"
#include "egress/account.h"
#include "egress/pack.h"
#include "egress/work.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[16] = "0123456789abcdef";

static void run(const struct buf *in, const struct scan_set *set, size_t step)
{
        /* What is unpacked may be as much as all of a bomb, and of each byte a member may begin. */
        uint64_t cost = 0, most = ((uint64_t)1 << 20) + (uint64_t)in->len * (1 << 20);
        struct work_budget w = {0};
        struct account a = {.limit = 64 << 20};
        struct pack *pk = pack_new(&w, &a);
        struct scan_hit hit = {0};
        enum pack_said said = PACK_READY;
        for (size_t at = 0; at <= in->len && said == PACK_READY; at += step) {
                size_t part = in->len - at < step ? in->len - at : step;
                if (part)
                        pack_put(pk, in->data + at, part);
                do {
                        said = pack_run(pk, set, part < step, &hit);
                        cost += w.round;
                        if (said == PACK_LATER && w.round == 0)
                                abort(); /* it waits for nothing */
                        work_round(&w);
                        if (cost > most)
                                abort();
                } while (said == PACK_LATER);
        }
        if (w.longest_bytes > WORK_TURN + 4 * WORK_PIECE)
                abort();
        pack_free(pk);
        if (a.now != 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct scan_set *set;
        static const char text[] = "fake-Packed-Value-01";
        struct buf in = {0};
        if (size < 2 || size > 4000)
                return 0;
        if (!set) {
                set = scan_set_new(key);
                scan_set_text(set, 1, text, strlen(text));
        }
        for (size_t i = 1; i < size; i++) {
                if (data[i] == 0xfd)
                        buf_put(&in, "PK\3\4", 4);
                else if (data[i] == 0xfe)
                        buf_put(&in, "\x1f\x8b\x08", 3);
                else if (data[i] == 0xff)
                        buf_put(&in, "\x28\xb5\x2f\xfd", 4);
                else
                        buf_put_u8(&in, data[i]);
        }
        run(&in, set, in.len + 1);
        run(&in, set, 1 + data[0] % 64);
        buf_free(&in);
        return 0;
}
