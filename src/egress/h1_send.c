/* h1_send.c - see h1.h: a body of HTTP/1 on its way out, to an origin (h1_client.c) as to the box
 * (h1_server_out.c): as it is, or in chunks. Nothing is copied that the connection does not copy.
 */
#include "egress/h1.h"

#include "base/buf.h"
#include "egress/conn.h"

#include <string.h>

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

static bool suspect_part(const char *p, size_t n)
{
        /* P is the rarest of its letters in text and in base64 no more frequent than the others. */
        for (const char *end = p + n, *at = p; at < end; at++) {
                at = memchr(at, 'P', (size_t)(end - at));
                if (!at)
                        return false;
                if (at - p >= 3 && end - at >= 2 && memcmp(at - 3, "HTTP/", 5) == 0)
                        return true;
        }
        return false;
}

bool h1_suspect(struct h1_suspect *s, const char *p, size_t n)
{
        char seam[8];
        size_t head = n < 4 ? n : 4;
        memcpy(seam, s->tail, s->tail_n);
        memcpy(seam + s->tail_n, p, head);
        size_t seam_n = s->tail_n + head;
        bool is_found = suspect_part(seam, seam_n) || suspect_part(p, n);
        const char *from = n >= 4 ? p + n : seam + seam_n;
        s->tail_n = n >= 4 || seam_n > 4 ? 4 : seam_n;
        memmove(s->tail, from - s->tail_n, s->tail_n);
        return is_found;
}
