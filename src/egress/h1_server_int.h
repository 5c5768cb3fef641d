/* h1_server_int.h - HTTP/1 with a program in the box, for the two files that speak it: h1_server.c
 * (requests in, and the connection's life) and h1_server_out.c (answers out). Nobody else looks in
 * here. */
#ifndef EGRESS_H1_SERVER_INT_H
#define EGRESS_H1_SERVER_INT_H

#include "egress/conn.h"
#include "egress/door.h"
#include "egress/h1.h"
#include "egress/idle.h"

enum h1_server_state {
        H1_READ_HEAD,
        H1_READ_LENGTH, /* a body of so many bytes */
        H1_READ_CHUNKS,
        H1_READ_NOTHING, /* the request is whole; its answer is not */
        H1_READ_FRAMES,  /* WebSocket */
};

struct h1_server {
        struct door *door;
        struct conn *conn;
        struct origin origin;
        struct loop_timer timer;
        struct exchange *x;
        struct idle idle; /* while nothing is asked */
        size_t charged;   /* for ${in} and the head */
        struct buf in;    /* what came and could not be used yet */
        enum h1_server_state state;
        uint64_t left;
        struct h1_chunks chunks;
        struct head head; /* of the request being read */
        int minor;
        bool is_persistent, is_paused, is_pumping, is_over;
        bool is_head_begun; /* its time limit runs */
        unsigned burst;     /* requests in this round */
        bool is_answer_chunked, is_answer_to_close;
};

/* h1_server_close_now(s), h1_server_close_soon(s): soon lets what is queued go out first. */
void h1_server_close_now(struct h1_server *);
void h1_server_close_soon(struct h1_server *);
/* h1_server_pump(s): use what is in the buffer as far as it goes. */
void h1_server_pump(struct h1_server *);
/* h1_server_side: what an exchange answers by (h1_server_out.c). */
extern const struct side_ops h1_server_side;

#endif
