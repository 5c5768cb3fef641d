/* audit_fuzz.c - whatever a writer sends becomes one line that reads back as what was logged; and
 * whatever a log's line is, reading it is safe. */
#include "audit/audit_query.h"
#include "audit/chain.h"
#include "audit/refused.h"
#include "base/cur.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void write_and_read(const uint8_t *data, size_t n)
{
        struct cur c = cur_of(data, n);
        _cleanup_buf_ struct buf strings = {0}, line = {0}, back = {0};
        struct door_record r;
        struct audit_record got;
        struct chain chain;
        chain_begin(&chain);
        for (uint64_t i = 1; door_record_get(&c, &r, &strings) == 0; i++) {
                struct chain_process who = {.pid = (uint32_t)i, .exe = r.note};
                line.len = 0;
                chain_put(&chain, "box", &r, &who, &line);
                if (memchr(line.data, '\n', line.len) != line.data + line.len - 1)
                        abort();
                if (audit_record_parse((const char *)line.data, line.len - 1, &got, &back) < 0)
                        abort();
                /* Only the door counts bytes. */
                bool has_bytes = !r.pid && strcmp(r.kind, "box") != 0;
                if (got.seq != i || got.port != r.port ||
                    got.bytes_up != (has_bytes ? r.bytes_up : 0) || got.cpu_us != r.cpu_us)
                        abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        struct audit_record r;
        struct refused list;
        uint64_t seq;
        _cleanup_buf_ struct buf strings = {0};
        write_and_read(data, n);
        audit_record_parse((const char *)data, n, &r, &strings);
        chain_seq((const char *)data, n, &seq);
        struct cur c = cur_of(data, n);
        if (refused_get(&c, &list) == 0)
                refused_free(&list);
        return 0;
}
