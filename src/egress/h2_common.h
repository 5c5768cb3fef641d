/* h2_common.h - one HTTP/2 connection and its streams, as the two engines share them: h2_server.c
 * towards the box, h2_client.c towards origins. nghttp2 does the frames.
 *
 * Two rules keep it safe. Nothing is sent from inside a call by an exchange or by nghttp2: it is
 * noted, and done between two rounds (h2_later). And a stream is freed in one place only, when
 * nghttp2 says that it is closed, which happens while frames are read or written and never inside a
 * call by an exchange.
 *
 * Back-pressure: what comes in is acknowledged (WINDOW_UPDATE) only when the exchange took it; what
 * it has no room for stays here, inside the windows. What goes out waits per stream, and the
 * exchange is told when that is more than H2_OUT_HIGH. */
#ifndef EGRESS_H2_COMMON_H
#define EGRESS_H2_COMMON_H

#include "base/buf.h"
#include "egress/conn.h"
#include "egress/exchange.h"
#include "egress/h2_head.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct door;
struct h2;
struct h2_stream;

enum {
        H2_STREAMS_MAX = 100,
        H2_OUT_HIGH = 64 << 10,
        H2_OUT_LOW = 16 << 10,
        H2_LINGER_MAX = 8 << 20,
        H2_LINGER_MS = 1000,
        H2_CALM_MAX = 400,       /* odd frames in a row before the other end is sent away */
        H2_CALM_PER_SECOND = 50, /* so many are forgiven each second */
        H2_UPDATES_MAX = 1000,   /* window updates for which no data were sent */
};

/* What differs between the two ends. */
struct h2_ops {
        /* s->in holds a whole head that is not a trailer. */
        void (*head)(struct h2_stream *, bool is_end);
        /* As exchange_request_data and exchange_answer_data, _end. */
        bool (*data)(struct h2_stream *, const void *, size_t);
        void (*end)(struct h2_stream *, struct head *trailers);
        /* The stream is closed and about to be freed: let go of its exchange. ${code} as in
         * RST_STREAM; 0 when both sides ended it. */
        void (*closed)(struct h2_stream *, uint32_t code);
        /* Something may have changed that decides about room or idleness. */
        void (*changed)(struct h2 *);
        /* The connection is over; every stream is closed already. h2_free, now or later. */
        void (*gone)(struct h2 *, const char *why);
};

struct h2_stream {
        struct h2 *h2;
        struct h2_stream *next, **prev;
        int32_t id;
        struct exchange *x; /* NULL when it was let go */

        struct h2_in in; /* the head being read; then trailers */
        struct buf held; /* data that came while the exchange was full */
        size_t charged;  /* for what it holds */
        size_t owed;     /* bytes that it took last and that are not acknowledged yet */
        bool is_head_done, is_full, is_resumed;
        bool is_in_ended, is_end_told, has_trailers;

        struct buf out;
        size_t out_at;
        struct head *out_trailers;
        bool is_out_begun, is_out_ended, is_deferred, has_said_full, is_drained;
        bool is_reset; /* RST_STREAM is queued */
        /* Of a client: never told to nghttp2; told and never sent; closed, with data held. */
        bool is_unborn, is_unsent, is_shut;
        /* Of a server: everything was answered, and the request goes on. */
        bool is_lingering;
        size_t lingered;
};

struct h2 {
        struct door *door;
        struct conn *conn;
        nghttp2_session *session;
        const struct h2_ops *ops;
        void *owner;
        struct h2_stream *streams;
        size_t streams_n;
        bool is_server, is_working, is_over, has_work, is_changed;
        bool is_greeted; /* SETTINGS came: the other end speaks HTTP/2 indeed */
        const char *why; /* it is over */

        int32_t last_id; /* of a server: the newest stream, and which of those before it there were
                          */
        uint64_t opened;

        size_t charged;
        int calm; /* what is left of H2_CALM_MAX */
        uint64_t calm_at;
        unsigned updates;
};

/* h2_new(door, conn, is_server, ops, owner): takes the connection over and queues our SETTINGS. */
struct h2 *h2_new(struct door *, struct conn *, bool is_server, const struct h2_ops *, void *owner);
/* h2_free(h): a connection without streams says GOAWAY; what is queued is still sent. Streams are
 * freed without telling anybody. Not from inside a call by nghttp2. */
void h2_free(struct h2 *);
/* h2_feed(h, p, n): bytes that came. */
void h2_feed(struct h2 *, const void *, size_t);
/* h2_later(h): something is to be sent. */
void h2_later(struct h2 *);
/* h2_close_all(h, code): every stream that is left is closed, as if reset with ${code}, and nothing
 * is sent any more. */
void h2_close_all(struct h2 *, uint32_t code);

/* h2_stream_new(h, id): id 0 until it has one. */
struct h2_stream *h2_stream_new(struct h2 *, int32_t id);
void h2_stream_free(struct h2_stream *);

/* h2_stream_source(s): the data that will follow a head. */
nghttp2_data_provider h2_stream_source(struct h2_stream *);
/* What an exchange asks of a stream, for struct side_ops. */
bool h2_stream_data(void *stream, struct exchange *, const void *, size_t);
void h2_stream_end(void *stream, struct exchange *, const struct head *trailers);
void h2_stream_resume(void *stream, struct exchange *);
/* h2_stream_reset(s, code): queue RST_STREAM, once. */
void h2_stream_reset(struct h2_stream *, uint32_t code);

/* h2_put(h, p, n): bytes of frames; only from within a flush, by nghttp2's leave. */
void h2_put(struct h2 *, const void *, size_t);
/* h2_frames_callbacks(): for a new session. */
nghttp2_session_callbacks *h2_frames_callbacks(void);
/* h2_stream_close(s, code): tell its engine, and free it. */
void h2_stream_close(struct h2_stream *, uint32_t code);

/* For h2_frames.c and h2_session.c: data that came, its end, and what was put off. */
void h2_stream_take(struct h2_stream *, const void *, size_t);
void h2_stream_in_end(struct h2_stream *);
void h2_stream_work(struct h2_stream *);
/* h2_stream_hurry(s): the connection is over; if all of the message is here, deliver it, room or
 * not.
 */
void h2_stream_hurry(struct h2_stream *);
/* h2_stream_charge(s): what it holds, for the account. */
void h2_stream_charge(struct h2_stream *);
/* h2_stream_may_grow(s, n): ask for a field of ${n} bytes. False: there is no room, and the stream is
 * reset. */
bool h2_stream_may_grow(struct h2_stream *, size_t n);
/* h2_stream_sent(s, n): so many bytes of out are on their way. */
void h2_stream_sent(struct h2_stream *, size_t n);

/* h2_calm.c: h2_calm_take(h, cost): the other end did something that costs us and gives nobody
 * anything. When it does that too often the connection ends with ENHANCE_YOUR_CALM. */
void h2_calm_take(struct h2 *, int cost);
void h2_calm_give(struct h2 *);
void h2_calm_frame(struct h2 *, const nghttp2_frame *);

#endif
