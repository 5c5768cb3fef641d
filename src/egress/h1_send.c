/* h1_send.c - see h1.h: a body of HTTP/1 on its way out, to an origin (h1_client.c) as to the box
 * (h1_server_out.c): as it is, or in chunks. Nothing is copied that the connection does not copy.
 */
#include "egress/h1.h"

#include "base/buf.h"
#include "egress/conn.h"

bool h1_send_data(struct conn *c, bool is_chunked, const void *p, size_t n)
{
        if (is_chunked) {
                _cleanup_buf_ struct buf b = {0};
                h1_put_chunk_head(&b, n);
                conn_gather(c, b.data, b.len);
        }
        conn_gather(c, p, n);
        if (is_chunked)
                conn_gather(c, "\r\n", 2);
        return !conn_is_full(c);
}

void h1_send_last(struct conn *c, const struct head *trailers)
{
        _cleanup_buf_ struct buf b = {0};
        h1_put_last(&b, trailers);
        conn_gather(c, b.data, b.len);
}
