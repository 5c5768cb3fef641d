/* exchange_int.h - the inside of an exchange, for the files that carry it: exchange.c (its life and
 * its record), exchange_request.c (toward the origin), exchange_answer.c (back), exchange_ask.c
 * (questions, and rules that change). Nobody else looks in here. */
#ifndef EGRESS_EXCHANGE_INT_H
#define EGRESS_EXCHANGE_INT_H

#include "egress/body.h"
#include "egress/custody.h"
#include "egress/custody_body.h"
#include "egress/custody_body_ws.h"
#include "egress/custody_request.h"
#include "egress/door.h"
#include "egress/exchange.h"
#include "egress/gate.h"
#include "egress/scrub.h"
#include "egress/websocket.h"

/* Of all requests together, whose bodies cannot be passed on yet. */
enum { EXCHANGE_HELD_MAX = 32 << 20 };

enum state {
        X_NEW,
        X_BODY,  /* a rule wants the body before it decides */
        X_LOOK,  /* it may not pass; its body is looked through before it hears so */
        X_ASKED, /* a person is asked */
        X_KEYS,  /* the keeper is asked for what is to be shown */
        X_WAIT,  /* for an upstream */
        X_OPEN,
        X_LOCAL, /* the door answers itself */
        X_DONE,
};

struct exchange {
        struct door *door;
        struct exchange *next, **prev;
        struct origin origin;
        const struct side_ops *client, *up;
        void *client_side, *up_side;
        enum state state;
        bool is_dead, is_recorded;

        struct head req;
        struct host_name host; /* the one it is for */
        struct head *trailers; /* of the request, until they can be sent */
        struct buf early;      /* of its body, until it can be sent */
        struct body *body;     /* once it has been read for policy */
        enum request_body body_state;
        struct work_job reading;       /* it, in turns */
        bool is_reading, is_cut;       /* only its beginning is there */
        bool is_end_here, is_end_sent; /* the request's */
        bool is_client_paused;         /* it was told to stop sending */
        size_t held_n;                 /* its part of door.held_n */
        size_t charged;                /* for what it holds */
        /* exchange_queue.c */
        struct exchange *queue_next, **queue_prev;
        size_t expected;     /* length of its body; 0: it is not among those that are read */
        uint64_t fed_ms;     /* when some of it came last */
        uint64_t wait_until; /* its waits end then; 0: it has not waited */
        bool is_waiting;     /* until there is room for it */
        bool is_last;        /* and until nobody else is read */
        uint8_t retries_n;
        bool has_answer, was_approved, sent_continue;
        bool is_upgraded;    /* both ends agreed on a WebSocket */
        unsigned interims_n; /* 1xx answers so far */

        struct gate gate;
        uint64_t question;
        struct loop_timer timer;
        struct websocket *ws;
        struct scan_set *values; /* what exchange_values found, and as seen from where */
        struct custody_from at;
        struct scrub *scrub;                /* of the answer, when the box has secrets */
        struct custody_request *keys;       /* NULL when the box has no secrets */
        struct custody_body *filter;        /* of the request's body, then */
        struct exchange_messages *messages; /* of a WebSocket's client, as rules see them */
        struct custody_ws *tap;             /* of a WebSocket's frames, then */
        struct custody_body *watch;         /* of the body of one that may not pass */
        char *leak;                         /* the sentence about a placeholder that was found */
        bool is_watched;                    /* it was begun; or there is nothing to look through */
        bool is_watch_over;                 /* to its end, or it is looked through elsewhere */
        struct buf made;                    /* a short body, while secrets are written into it */
        bool is_collecting, is_filtered;
        bool is_token;            /* its body is wanted whole: it goes to a token endpoint */
        struct token_call *token; /* the keeper is asked whether it answers */
        bool is_up_full; /* it said so when a signed chunk was sent, until it has drained */

        /* for the record */
        uint64_t began_us, wait_us, bytes_up, bytes_down;
        int status;
        const char *verdict;
        char *note;
        char address[64];
};

/* exchange.c */
void exchange_note(struct exchange *, const char *words);
/* exchange_record(x): into the log, once. */
void exchange_record(struct exchange *);
/* exchange_settle(x): nobody need answer its question any more. */
void exchange_settle(struct exchange *);
/* exchange_leave_upstream(x): whatever it had to do with one is over. */
void exchange_leave_upstream(struct exchange *);
/* exchange_answer_self(x, status, words, why, cure): the door answers; cuts off what has begun. */
void exchange_answer_self(struct exchange *, int status, const char *words, const char *why,
                          const char *cure);
/* exchange_refuse_by_rule(x): the gate's verdict as an answer. */
void exchange_refuse_by_rule(struct exchange *);
/* exchange_frames(x): frames of a WebSocket that came are steps too. */
void exchange_frames(struct exchange *);
/* exchange_charge(x): what it holds, for the account. */
void exchange_charge(struct exchange *);
/* exchange_no_room(x): the door holds all that it may; this one is told so, the others go on. */
void exchange_no_room(struct exchange *);
/* exchange_touch(x): something came; the time limit begins anew. */
void exchange_touch(struct exchange *);

/* exchange_request.c */
/* exchange_go(x): allowed; on to an upstream. */
void exchange_go(struct exchange *);
/* exchange_send_early(x): what was kept of the request goes up; false when the upstream is full. */
bool exchange_send_early(struct exchange *);
/* exchange_let_go(x): its part of what the door holds is given back. */
void exchange_let_go(struct exchange *);

/* exchange_read_on(x): there is room for its body. */
void exchange_read_on(struct exchange *);

/* exchange_queue.c */
/* exchange_queue(x): may more of its body be read now? False: not before exchange_read_on.
 * exchange_queue_last(x): there was no room for it: shall it try again when nobody else is read?
 * exchange_queue_leave(x): its body is not held any more, or nobody waits for it. */
bool exchange_queue(struct exchange *);
bool exchange_queue_last(struct exchange *);
void exchange_queue_leave(struct exchange *);

/* exchange_scrub.c */
/* exchange_scrub(x): what its answer has to go through from now on; NULL for a box without secrets,
 * and for calls that the keeper makes itself. */
struct scrub *exchange_scrub(struct exchange *);
/* exchange_answer_done(x, trailers): everything has gone to the client. */
void exchange_answer_done(struct exchange *, struct head *trailers);
/* exchange_values(x): what is looked for in what comes down to it, or NULL. */
const struct scan_set *exchange_values(struct exchange *);

/* exchange_keys.c */
/* exchange_trip(x): is a placeholder in its head where it has no business? It is refused then,
 * whatever the rules say of it. */
bool exchange_trip(struct exchange *);
/* exchange_keys(x): secrets are put where they belong, then on to an upstream. */
void exchange_keys(struct exchange *);
/* exchange_keys_begin(x): the same for one that is no call for a token. */
void exchange_keys_begin(struct exchange *);
/* exchange_again(x): a request without a body that no origin has looked at goes up once more. Its
 * secrets are asked for anew: one may have ended, or have another value, since it was sent. */
void exchange_again(struct exchange *);
/* exchange_keys_body(x): the request is here to its end while it waits for that. */
void exchange_keys_body(struct exchange *);
/* exchange_keys_takes(x): how much of a body may be kept meanwhile. */
size_t exchange_keys_takes(const struct exchange *);
/* exchange_keys_trailers(x): are there secrets in its trailers? It is refused then. */
bool exchange_keys_trailers(struct exchange *);
/* exchange_wake_client(x): it was told to stop sending, and may go on. */
void exchange_wake_client(struct exchange *);
/* exchange_keys_sign(x, p, n, is_end): more of a body whose chunks are signed anew. */
bool exchange_keys_sign(struct exchange *, const void *, size_t, bool is_end);
/* exchange_go_up(x): find an upstream. exchange_send_up(x, p, n): bytes of the body, as they shall
 * be, to it. exchange_end_up(x): and that they end here. */
void exchange_go_up(struct exchange *);
bool exchange_send_up(struct exchange *, const void *, size_t);
void exchange_end_up(struct exchange *);
/* exchange_say_continue(x): the client holds its body back until it hears that it is wanted. */
void exchange_say_continue(struct exchange *);

/* exchange_watch.c */
/* exchange_watch(x): one that is refused or asked about: is a placeholder in its body? True: it is
 * answered, or it waits (X_LOOK) until enough of the body is here; exchange_judge is called then.
 * exchange_watch_data, _end: more of it, also after the answer. */
bool exchange_watch(struct exchange *);
bool exchange_watch_data(struct exchange *, const void *, size_t); /* false: full */
void exchange_watch_end(struct exchange *);
/* exchange_judge(x): ask the gate, and do what it says. */
void exchange_judge(struct exchange *);

/* exchange_token.c */
/* exchange_token(x): does it go to a token endpoint of the box's secrets? Then it waits for its
 * body and for the keeper. exchange_token_ask(x): the body is here. */
bool exchange_token(struct exchange *);
void exchange_token_ask(struct exchange *);

/* exchange_messages.c */
/* exchange_messages_side: what a WebSocket writes its client's frames to; they reach the upstream, or
 * the tap before it, when the rules let them. */
extern const struct side_ops exchange_messages_side;
/* exchange_messages_end(x): does the end of what the client sends wait for a message? */
bool exchange_messages_end(struct exchange *);
/* exchange_messages_answered(x, is_yes, why): false: the question was not about a message. */
bool exchange_messages_answered(struct exchange *, bool is_yes, const char *why);
/* exchange_messages_changed(x): the rules are others now. */
void exchange_messages_changed(struct exchange *);
/* exchange_messages_stop(x): nothing of it is judged any more. */
void exchange_messages_stop(struct exchange *);
void exchange_messages_free(struct exchange_messages *);
/* exchange_close_ws(x, why): the end of a WebSocket, said to its client and in the log. */
void exchange_close_ws(struct exchange *, const char *why);

/* exchange_ask.c */
/* exchange_ask(x): park it and have a person asked. */
void exchange_ask(struct exchange *);

#endif
