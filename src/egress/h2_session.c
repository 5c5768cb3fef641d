/* h2_session.c - one HTTP/2 connection: its bytes, its windows, its beginning and its end. See
 * h2_common.h. Called by conn; h2_frames.c says what the frames mean. */
#include "base/loop.h"
#include "base/str.h"
#include "egress/door.h"
#include "egress/h2_common.h"

#include <stdlib.h>
#include <string.h>

/* Windows: how much may be on its way to us before we have passed it on. The box is next door;
 * origins are far, and a window is what they may send in one round trip. The window of a connection
 * with an origin bounds what all its streams together can make us hold. */
enum {
        WINDOW_SERVER = 128 << 10,
        WINDOW_SERVER_ALL = 1 << 20,
        WINDOW_CLIENT = 512 << 10,
        WINDOW_CLIENT_ALL = 8 << 20,
};

/* What nghttp2 has for a connection: tables of header compression, queues. */
enum { H2_COST = 12 << 10 };

/* Frames gather here until a TLS record is full; used only within flush. */
static uint8_t gathered[CONN_READ];
static size_t gathered_n;

void h2_put(struct h2 *h, const void *p, size_t n)
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
                h2_put(h, p, (size_t)n);
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
        while (h->has_work && !work_is_spent(&h->door->work)) {
                h->has_work = false;
                for (struct h2_stream *s = h->streams, *next; s; s = next) {
                        next = s->next;
                        h2_stream_work(s);
                        if (s->is_unborn || (s->is_shut && (s->is_end_told || !s->x)))
                                h2_stream_close(s, s->is_unborn ? NGHTTP2_REFUSED_STREAM
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
        int r = is_server ? nghttp2_session_server_new2(&h->session, h2_frames_callbacks(), h,
                                                        options())
                          : nghttp2_session_client_new2(&h->session, h2_frames_callbacks(), h,
                                                        options());
        if (r != 0 || settle(h) < 0)
                str_no_memory();
        account_set(&d->account, &h->charged, H2_COST);
        d->conns_held += H2_COST;
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
                h2_stream_close(s, code);
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
        account_set(&h->door->account, &h->charged, 0);
        h->door->conns_held -= H2_COST;
        conn_finish_free(h->conn);
        free(h);
}
