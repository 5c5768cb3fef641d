/* h2_session.c - one HTTP/2 connection: bytes to frames and back, and what each frame means to its
 * stream. See h2_common.h. Called by conn; the engines behind h2_ops know what is a request and
 * what an answer. */
#include "base/loop.h"
#include "base/str.h"
#include "egress/door.h"
#include "egress/h2_common.h"

#include <stdlib.h>
#include <string.h>

/* Windows: how much may be on its way to us before we have passed it on. The box is next door;
 * origins are far, and a window is what they may send in one round trip. The connection's window
 * bounds what all streams together can make us hold. */
enum {
        WINDOW_SERVER = 128 << 10,
        WINDOW_SERVER_ALL = 1 << 20,
        WINDOW_CLIENT = 512 << 10,
        WINDOW_CLIENT_ALL = 8 << 20,
        COST_ERROR = 8,
};

/* Frames gather here until a TLS record is full; used only within flush. */
static uint8_t gathered[CONN_READ];
static size_t gathered_n;

static void put(struct h2 *h, const void *p, size_t n)
{
        const uint8_t *at = p;
        while (n) {
                size_t room = sizeof gathered - gathered_n, part = n < room ? n : room;
                memcpy(gathered + gathered_n, at, part);
                gathered_n += part;
                at += part;
                n -= part;
                if (gathered_n == sizeof gathered) {
                        conn_write(h->conn, gathered, gathered_n);
                        gathered_n = 0;
                }
        }
}

static struct h2_stream *find(struct h2 *h, int32_t id)
{
        return id ? nghttp2_session_get_stream_user_data(h->session, id) : NULL;
}

/* --- called by nghttp2 --- */

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
        if (!s ||
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
        else if (f->hd.type == NGHTTP2_SETTINGS || f->hd.type == NGHTTP2_GOAWAY)
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
        put(h, frame_head, 9);
        if (n)
                put(h, s->out.data + s->out_at, n);
        h2_stream_sent(s, n);
        return 0;
}

static void close_stream(struct h2_stream *s, uint32_t code)
{
        struct h2 *h = s->h2;
        if (h->session && s->held.len)
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
                close_stream(s, code);
        h->is_changed = true;
        return 0;
}

/* --- called by conn --- */

static void over(struct h2 *h, const char *why)
{
        if (h->is_over)
                return;
        h->why = h->why ? h->why : why;
        h2_close_all(h, NGHTTP2_CANCEL);
        h->ops->gone(h, h->why);
}

/* False when that was the last that will be sent. */
static bool flush(struct h2 *h)
{
        const uint8_t *p;
        ssize_t n = 0;
        while (!conn_is_full(h->conn) && (n = nghttp2_session_mem_send(h->session, &p)) > 0)
                put(h, p, (size_t)n);
        conn_write(h->conn, gathered, gathered_n);
        gathered_n = 0;
        if (n < 0)
                return false;
        /* Whoever is sent away and does not even read that is not waited for. */
        if (h->why && conn_is_full(h->conn))
                return false;
        return nghttp2_session_want_read(h->session) || nghttp2_session_want_write(h->session);
}

/* Room that came up while sending, and data that waited for an exchange. Its calls queue more. */
static void work(struct h2 *h)
{
        while (h->has_work) {
                h->has_work = false;
                for (struct h2_stream *s = h->streams, *next; s; s = next) {
                        next = s->next;
                        h2_stream_work(s);
                        if (s->is_unborn || (s->is_shut && (s->is_end_told || !s->x)))
                                close_stream(s, s->is_unborn ? NGHTTP2_REFUSED_STREAM
                                                             : NGHTTP2_NO_ERROR);
                }
        }
}

static void on_later(void *ctx)
{
        struct h2 *h = ctx;
        if (h->is_over)
                return;
        h->is_working = true;
        work(h);
        bool goes_on = flush(h);
        h->is_working = false;
        if (!goes_on) {
                over(h, "the other end broke the rules of HTTP/2");
                return;
        }
        if (h->has_work)
                h2_later(h);
        if (h->is_changed) {
                h->is_changed = false;
                h->ops->changed(h); /* may free it */
        }
}

void h2_later(struct h2 *h)
{
        if (!h->is_working && !h->is_over)
                conn_later(h->conn);
}

void h2_feed(struct h2 *h, const void *p, size_t n)
{
        ssize_t r = nghttp2_session_mem_recv(h->session, p, n);
        if (r < 0 && !h->why) {
                h->why = nghttp2_strerror((int)r);
                nghttp2_session_terminate_session(h->session, r == NGHTTP2_ERR_FLOODED
                                                                      ? NGHTTP2_ENHANCE_YOUR_CALM
                                                                      : NGHTTP2_PROTOCOL_ERROR);
        }
}

static void on_readable(void *ctx)
{
        struct h2 *h = ctx;
        char *scratch = h->door->scratch;
        ssize_t r;
        if (h->is_over)
                return;
        h->is_working = true; /* one flush for all of it, below */
        while ((r = conn_read(h->conn, scratch, CONN_READ)) > 0) {
                h2_feed(h, scratch, (size_t)r);
                if (h->why)
                        break;
        }
        h->is_working = false;
        if (r == 0) {
                flush(h);
                over(h, "the connection was closed");
        } else {
                on_later(h);
        }
}

static void on_drained(void *ctx)
{
        on_later(ctx);
}

static void on_closed(void *ctx, const char *why)
{
        over(ctx, why);
}

static void on_ready(void *ctx)
{
        (void)ctx; /* the handshake was over before we came */
}

static const struct conn_ops conn_ops = {.ready = on_ready,
                                         .readable = on_readable,
                                         .drained = on_drained,
                                         .closed = on_closed,
                                         .later = on_later};

/* --- life --- */

static nghttp2_session_callbacks *callbacks(void)
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

static nghttp2_option *options(void)
{
        static nghttp2_option *o;
        if (o)
                return o;
        if (nghttp2_option_new(&o) != 0)
                str_no_memory();
        nghttp2_option_set_no_auto_window_update(o, 1);
        nghttp2_option_set_max_outbound_ack(o, H2_CALM_MAX);
        nghttp2_option_set_max_deflate_dynamic_table_size(o, 4096);
        return o;
}

static int settle(struct h2 *h)
{
        nghttp2_settings_entry server[] = {
                {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS_MAX},
                {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_SERVER},
                {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEAD_BYTES_MAX},
                {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
        };
        nghttp2_settings_entry client[] = {
                {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_CLIENT},
                {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEAD_BYTES_MAX},
        };
        int r = h->is_server ? nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, server, 4)
                             : nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, client, 3);
        if (r != 0)
                return -1;
        return nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0,
                                                     h->is_server ? WINDOW_SERVER_ALL
                                                                  : WINDOW_CLIENT_ALL);
}

struct h2 *h2_new(struct door *d, struct conn *c, bool is_server, const struct h2_ops *ops,
                  void *owner)
{
        struct h2 *h = calloc(1, sizeof *h);
        if (!h)
                str_no_memory();
        *h = (struct h2){.door = d,
                         .conn = c,
                         .is_server = is_server,
                         .ops = ops,
                         .owner = owner,
                         .calm = H2_CALM_MAX,
                         .calm_at = loop_now(d->loop)};
        int r = is_server ? nghttp2_session_server_new2(&h->session, callbacks(), h, options())
                          : nghttp2_session_client_new2(&h->session, callbacks(), h, options());
        if (r != 0 || settle(h) < 0)
                str_no_memory();
        conn_take_over(c, &conn_ops, h);
        h2_later(h);
        return h;
}

void h2_close_all(struct h2 *h, uint32_t code)
{
        h->is_over = true;
        h->why = h->why ? h->why : "it is not needed any more";
        while (h->streams) {
                struct h2_stream *s = h->streams;
                if (s->id)
                        nghttp2_session_set_stream_user_data(h->session, s->id, NULL);
                h2_stream_hurry(s);
                close_stream(s, code);
        }
}

void h2_free(struct h2 *h)
{
        if (!h->is_over && !h->streams) {
                nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR);
                flush(h);
        }
        h->is_over = true;
        while (h->streams)
                h2_stream_free(h->streams);
        nghttp2_session_del(h->session);
        conn_finish_free(h->conn);
        free(h);
}
