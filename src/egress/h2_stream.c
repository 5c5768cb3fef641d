/* h2_stream.c - one stream's data, both ways, with back-pressure. See h2_common.h. Calls exchanges;
 * never reads from or writes to the connection. */
#include "base/str.h"
#include "egress/door.h"
#include "egress/h2_common.h"

#include <stdlib.h>
#include <string.h>

/* Windows and H2_OUT_HIGH bound one stream and one connection; the account bounds a box that opens
 * thousands and reads nothing. */
void h2_stream_charge(struct h2_stream *s)
{
        size_t heads = s->in.head.store.cap + s->in.cookies.cap;
        account_set(&s->h2->door->account, &s->charged,
                    sizeof *s + heads + s->held.cap + s->out.cap);
}

static void hold(struct h2_stream *s, struct buf *b, const void *p, size_t n)
{
        if (!account_put(&s->h2->door->account, &s->charged, b, p, n))
                h2_stream_reset(s, NGHTTP2_ENHANCE_YOUR_CALM);
}

bool h2_stream_may_grow(struct h2_stream *s, size_t n)
{
        h2_stream_charge(s);
        size_t more = buf_more(&s->in.head.store, n) + buf_more(&s->in.cookies, n);
        if (account_grow(&s->h2->door->account, &s->charged, more))
                return true;
        h2_stream_reset(s, NGHTTP2_ENHANCE_YOUR_CALM);
        return false;
}

struct h2_stream *h2_stream_new(struct h2 *h, int32_t id)
{
        struct h2_stream *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        s->h2 = h;
        s->id = id;
        head_init(&s->in.head);
        s->next = h->streams;
        if (s->next)
                s->next->prev = &s->next;
        s->prev = &h->streams;
        h->streams = s;
        h->streams_n++;
        h2_stream_charge(s);
        return s;
}

void h2_stream_free(struct h2_stream *s)
{
        *s->prev = s->next;
        if (s->next)
                s->next->prev = s->prev;
        s->h2->streams_n--;
        account_set(&s->h2->door->account, &s->charged, 0);
        h2_in_free(&s->in);
        buf_free(&s->held);
        buf_free(&s->out);
        if (s->out_trailers)
                head_free(s->out_trailers);
        free(s->out_trailers);
        free(s);
}

/* --- in --- */

static void pass_on(struct h2_stream *s, const void *p, size_t n)
{
        struct h2 *h = s->h2;
        bool has_room = s->x ? h->ops->data(s, p, n) : true;
        if (!h->is_server)
                nghttp2_session_consume_connection(h->session, n);
        if (has_room) {
                nghttp2_session_consume_stream(h->session, s->id, n);
        } else {
                s->is_full = true;
                s->owed += n;
        }
}

/* Of a connection of the box the window is opened again at once: bodies that wait for their turn
 * (exchange_queue.c) would use it up, and the one whose turn it is would get nothing. What is held for
 * them is bounded by their own windows and by the account. */
void h2_stream_take(struct h2_stream *s, const void *p, size_t n)
{
        if (s->h2->is_server)
                nghttp2_session_consume_connection(s->h2->session, n);
        if (!s->is_full && s->held.len == 0)
                pass_on(s, p, n);
        else
                hold(s, &s->held, p, n); /* no more than the stream's window */
}

static void tell_end(struct h2_stream *s)
{
        if (!s->is_in_ended || s->is_end_told || s->held.len || !s->x)
                return;
        s->is_end_told = true;
        s->h2->ops->end(s, s->has_trailers ? &s->in.head : NULL);
}

void h2_stream_in_end(struct h2_stream *s)
{
        s->is_in_ended = true;
        tell_end(s);
}

void h2_stream_resume(void *stream, struct exchange *x)
{
        struct h2_stream *s = stream;
        (void)x;
        s->is_resumed = true;
        s->h2->has_work = true;
        h2_later(s->h2);
}

/* --- out --- */

static size_t waiting(const struct h2_stream *s)
{
        return s->out.len - s->out_at;
}

static void wake(struct h2_stream *s)
{
        if (s->is_deferred && nghttp2_session_resume_data(s->h2->session, s->id) == 0)
                s->is_deferred = false;
        h2_later(s->h2);
}

bool h2_stream_data(void *stream, struct exchange *x, const void *p, size_t n)
{
        struct h2_stream *s = stream;
        (void)x;
        if (s->is_reset || s->is_out_ended)
                return true;
        if (s->out_at == s->out.len)
                s->out.len = s->out_at = 0;
        hold(s, &s->out, p, n);
        wake(s);
        /* Where memory is short streams say sooner that they are full. */
        bool is_tight = account_is_tight(&s->h2->door->account);
        s->has_said_full = waiting(s) >= (is_tight ? 1 : H2_OUT_HIGH);
        return !s->has_said_full;
}

void h2_stream_end(void *stream, struct exchange *x, const struct head *trailers)
{
        struct h2_stream *s = stream;
        (void)x;
        if (s->is_out_ended)
                return;
        s->is_out_ended = true;
        if (trailers && trailers->fields_n) {
                s->out_trailers = calloc(1, sizeof *s->out_trailers);
                if (!s->out_trailers)
                        str_no_memory();
                head_init(s->out_trailers);
                for (size_t i = 0; i < trailers->fields_n; i++) {
                        const struct field *f = &trailers->fields[i];
                        head_add(s->out_trailers, head_str(trailers, f->name), f->name_len,
                                 head_str(trailers, f->value), f->value_len, NULL);
                }
        }
        wake(s);
}

static ssize_t read_out(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                        uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
        struct h2_stream *s = source->ptr;
        size_t n = waiting(s);
        (void)to, (void)ctx;
        if (n == 0 && !s->is_out_ended) {
                s->is_deferred = true;
                return NGHTTP2_ERR_DEFERRED;
        }
        *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
        if (n > room)
                return (ssize_t)room;
        if (s->is_out_ended) {
                *flags |= NGHTTP2_DATA_FLAG_EOF;
                if (s->out_trailers) {
                        struct h2_out o;
                        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                        h2_out_trailers(&o, s->out_trailers);
                        if (nghttp2_submit_trailer(session, id, o.nv, o.n) != 0)
                                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
                }
        }
        return (ssize_t)n;
}

nghttp2_data_provider h2_stream_source(struct h2_stream *s)
{
        s->is_out_begun = true;
        return (nghttp2_data_provider){.source = {.ptr = s}, .read_callback = read_out};
}

void h2_stream_sent(struct h2_stream *s, size_t n)
{
        s->out_at += n;
        if (s->out_at == s->out.len) {
                s->out.len = s->out_at = 0;
                if (s->out.cap > H2_OUT_LOW)
                        buf_free(&s->out);
                h2_stream_charge(s);
        } else if (s->out_at > H2_OUT_HIGH) {
                buf_drop(&s->out, s->out_at);
                s->out_at = 0;
        }
        if (s->has_said_full && waiting(s) <= H2_OUT_LOW) {
                s->has_said_full = false;
                s->is_drained = s->h2->has_work = true;
        }
}

void h2_stream_reset(struct h2_stream *s, uint32_t code)
{
        if (s->is_reset)
                return;
        s->is_reset = true;
        nghttp2_submit_rst_stream(s->h2->session, NGHTTP2_FLAG_NONE, s->id, code);
        h2_later(s->h2);
}

/* --- what was put off --- */

/* deliver(s, is_all): what was held, as long as there are room and a turn for it, or ${is_all}. */
static void deliver(struct h2_stream *s, bool is_all)
{
        struct buf held = s->held;
        size_t at = 0;
        s->held = (struct buf){0};
        while (at < held.len && (is_all || (!s->is_full && !work_is_spent(&s->h2->door->work)))) {
                size_t left = held.len - at, part = left < WORK_PIECE ? left : WORK_PIECE;
                pass_on(s, held.data + at, part);
                at += part;
        }
        buf_drop(&held, at);
        if (held.len == 0)
                buf_free(&held);
        s->held = held;
        h2_stream_charge(s);
        if (s->held.len && !s->is_full) { /* in the next turn */
                s->is_resumed = s->h2->has_work = true;
                h2_later(s->h2);
        }
        tell_end(s);
}

void h2_stream_work(struct h2_stream *s)
{
        if (s->is_drained) {
                s->is_drained = false;
                if (s->x)
                        exchange_drained(s->x, s);
        }
        if (!s->is_resumed)
                return;
        s->is_resumed = s->is_full = false;
        nghttp2_session_consume_stream(s->h2->session, s->id, s->owed);
        s->owed = 0;
        deliver(s, false);
}

void h2_stream_hurry(struct h2_stream *s)
{
        if (s->is_in_ended && !s->is_end_told && s->x)
                deliver(s, true);
}
