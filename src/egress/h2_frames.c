/* h2_frames.c - what each frame means to its stream: the functions that nghttp2 calls while it
 * reads and writes. See h2_common.h. They call exchanges through h2_ops and queue; none of them
 * sends. */
#include "base/str.h"
#include "egress/h2_common.h"

enum { COST_ERROR = 8 };

static struct h2_stream *find(struct h2 *h, int32_t id)
{
        return id ? nghttp2_session_get_stream_user_data(h->session, id) : NULL;
}

/* Which of the last 64 streams a client could have opened it did open. */
static void note_opened(struct h2 *h, int32_t id)
{
        int32_t step = (id - h->last_id) / 2;
        h->opened = step < 64 ? h->opened << step : 0;
        h->opened |= 1;
        h->last_id = id;
}

/* A stream that was passed over is closed for good; nghttp2 would ignore what comes on it. */
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *f, void *ctx)
{
        struct h2 *h = ctx;
        int32_t behind = (h->last_id - f->stream_id) / 2;
        if (h->is_server && f->type == NGHTTP2_HEADERS && (f->stream_id & 1) && behind > 0 &&
            behind < 64 && !(h->opened >> behind & 1))
                nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
        return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
        struct h2 *h = ctx;
        struct h2_stream *s = find(h, f->hd.stream_id);
        if (!s && h->is_server && f->headers.cat == NGHTTP2_HCAT_REQUEST) {
                s = h2_stream_new(h, f->hd.stream_id);
                note_opened(h, s->id);
                nghttp2_session_set_stream_user_data(session, s->id, s);
                h->is_changed = true;
        }
        if (s)
                h2_in_begin(&s->in);
        return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *ctx)
{
        struct h2_stream *s = find(ctx, f->hd.stream_id);
        (void)session, (void)flags;
        if (!s || !h2_stream_may_grow(s, name_len + value_len + 2) ||
            h2_in_field(&s->in, (const char *)name, name_len, (const char *)value, value_len) < 0)
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        return 0;
}

static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name,
                             size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                             void *ctx)
{
        struct h2_stream *s = find(ctx, f->hd.stream_id);
        (void)session, (void)flags, (void)name, (void)name_len, (void)value, (void)value_len;
        if (s)
                h2_stream_reset(s, NGHTTP2_PROTOCOL_ERROR);
        return 0;
}

static void on_headers(struct h2 *h, struct h2_stream *s, const nghttp2_frame *f)
{
        bool is_end = f->hd.flags & NGHTTP2_FLAG_END_STREAM;
        if (s->is_reset)
                return;
        h2_stream_charge(s);
        if (!s->is_head_done) {
                h->ops->head(s, is_end);
                if (is_end)
                        s->is_in_ended = s->is_end_told = true;
                return;
        }
        if (h2_in_trailers(&s->in, NULL) < 0 || !is_end) {
                h2_stream_reset(s, NGHTTP2_PROTOCOL_ERROR);
                return;
        }
        s->has_trailers = s->in.head.fields_n > 0;
        h2_stream_in_end(s);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
        struct h2 *h = ctx;
        struct h2_stream *s = find(h, f->hd.stream_id);
        (void)session;
        h2_calm_frame(h, f);
        if (f->hd.type == NGHTTP2_HEADERS && s)
                on_headers(h, s, f);
        else if (f->hd.type == NGHTTP2_DATA && s && (f->hd.flags & NGHTTP2_FLAG_END_STREAM))
                h2_stream_in_end(s);
        else if (f->hd.type == NGHTTP2_SETTINGS)
                h->is_greeted = h->is_changed = true;
        else if (f->hd.type == NGHTTP2_GOAWAY)
                h->is_changed = true;
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *ctx)
{
        struct h2_stream *s = find(ctx, id);
        (void)flags;
        if (s && !s->is_reset && !s->is_lingering) {
                h2_stream_take(s, p, n);
                return 0;
        }
        nghttp2_session_consume(session, id, n);
        if (s && s->is_lingering && (s->lingered += n) > H2_LINGER_MAX)
                h2_stream_reset(s, NGHTTP2_NO_ERROR);
        return 0;
}

static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *f, int code, void *ctx)
{
        (void)session, (void)f, (void)code;
        h2_calm_take(ctx, COST_ERROR);
        return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
        struct h2 *h = ctx;
        if (f->hd.type == NGHTTP2_RST_STREAM) {
                uint32_t code = f->rst_stream.error_code;
                if (code != NGHTTP2_NO_ERROR && code != NGHTTP2_CANCEL &&
                    code != NGHTTP2_INTERNAL_ERROR)
                        h2_calm_take(h, COST_ERROR);
                return 0;
        }
        bool ends = (f->hd.type == NGHTTP2_DATA || f->hd.type == NGHTTP2_HEADERS) &&
                    (f->hd.flags & NGHTTP2_FLAG_END_STREAM);
        if (f->hd.type == NGHTTP2_DATA)
                h->updates = h->updates > 2 ? h->updates - 2 : 0;
        /* The whole answer is out: what the client still wants to send is of no use to anybody. But
         * a reset now would make many a client forget the answer, so it may go on for a while. */
        struct h2_stream *s = ends && h->is_server ? find(h, f->hd.stream_id) : NULL;
        if (s && nghttp2_session_get_stream_remote_close(session, s->id) == 0)
                s->is_lingering = h->is_changed = true;
        return 0;
}

static int on_not_sent(nghttp2_session *session, const nghttp2_frame *f, int code, void *ctx)
{
        struct h2 *h = ctx;
        struct h2_stream *s = find(h, f->hd.stream_id);
        (void)session, (void)code;
        if (!s || f->hd.type != NGHTTP2_HEADERS)
                return 0;
        if (h->is_server)
                h2_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
        else
                s->is_unsent = f->headers.cat == NGHTTP2_HCAT_REQUEST; /* nghttp2 closes it */
        return 0;
}

static int send_data(nghttp2_session *session, nghttp2_frame *f, const uint8_t *frame_head,
                     size_t n, nghttp2_data_source *source, void *ctx)
{
        struct h2 *h = ctx;
        struct h2_stream *s = source->ptr;
        (void)session, (void)f;
        if (conn_is_full(h->conn))
                return NGHTTP2_ERR_WOULDBLOCK;
        h2_put(h, frame_head, 9);
        if (n)
                h2_put(h, s->out.data + s->out_at, n);
        h2_stream_sent(s, n);
        return 0;
}

void h2_stream_close(struct h2_stream *s, uint32_t code)
{
        struct h2 *h = s->h2;
        if (h->session && s->held.len && !h->is_server)
                nghttp2_session_consume_connection(h->session, s->held.len);
        h->ops->closed(s, code);
        h2_stream_free(s);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *ctx)
{
        struct h2 *h = ctx;
        struct h2_stream *s = find(h, id);
        if (!s)
                return 0;
        nghttp2_session_set_stream_user_data(session, id, NULL);
        if (code == NGHTTP2_NO_ERROR)
                h2_calm_give(h);
        if (code == NGHTTP2_NO_ERROR && s->x && s->is_in_ended && !s->is_end_told)
                s->is_shut = true; /* all of it is here; the exchange had no room yet */
        else
                h2_stream_close(s, code);
        h->is_changed = true;
        return 0;
}

nghttp2_session_callbacks *h2_frames_callbacks(void)
{
        static nghttp2_session_callbacks *c;
        if (c)
                return c;
        if (nghttp2_session_callbacks_new(&c) != 0)
                str_no_memory();
        nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(c, on_header);
        nghttp2_session_callbacks_set_on_invalid_header_callback(c, on_invalid_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, on_invalid_frame);
        nghttp2_session_callbacks_set_on_frame_send_callback(c, on_sent);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(c, on_not_sent);
        nghttp2_session_callbacks_set_send_data_callback(c, send_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
        return c;
}
