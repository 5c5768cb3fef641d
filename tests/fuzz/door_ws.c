/* door_ws.c - any bytes as WebSocket frames, in two cuts: the same frames come out, and they pass
 * once more as they are. */
#include "base/buf.h"
#include "egress/ws.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ws whole = {0}, cut = {0}, again = {0}, client = {.is_from_client = true};
        struct buf a = {0}, b = {0}, c = {0}, d = {0};
        int r = ws_feed(&whole, data, size, &a, NULL), q = 0;
        for (size_t i = 0; i < size && q == 0; i++)
                q = ws_feed(&cut, data + i, 1, &b, NULL);
        if (r != q || (r == 0 && (a.len != b.len || (a.len && memcmp(a.data, b.data, a.len) != 0))))
                abort();
        if (r == 0 && ws_feed(&again, a.data, a.len, &c, NULL) < 0)
                abort();
        ws_feed(&client, data, size, &d, NULL);
        buf_free(&a);
        buf_free(&b);
        buf_free(&c);
        buf_free(&d);
        return 0;
}
