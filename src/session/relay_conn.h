/* relay_conn.h - one connection that the relay carries: two sockets, a bounded piece of memory in
 * each direction, and nothing else. */
#ifndef SESSION_RELAY_CONN_H
#define SESSION_RELAY_CONN_H

#include "base/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_conn;

struct relay_side {
        struct relay_conn *conn;
        int fd;
        struct loop_src *src;
        uint8_t *data; /* read from this side, not yet written to the other; NULL when empty */
        size_t at, len;
        bool is_over; /* it has no more to say */
        bool is_shut; /* and has been told that the other has no more to say */
};

struct relay_conn {
        uint32_t id, listener;
        struct loop *loop;
        struct relay_side side[2]; /* host, box */
        void (*on_end)(struct relay_conn *);
        struct relay_conn *next;
};

/* relay_conn_new(loop, host_fd, on_end): owns ${host_fd}; reads nothing until it has its other
 * side.
 * ${on_end} must call relay_conn_free. */
struct relay_conn *relay_conn_new(struct loop *, int host_fd, void (*on_end)(struct relay_conn *));
/* relay_conn_join(c, box_fd): owns ${box_fd}; begins to copy. 0, or -1 when it cannot be watched.
 */
int relay_conn_join(struct relay_conn *, int box_fd);
void relay_conn_free(struct relay_conn *);
/* relay_conn_reset(c): let the host's side hear that nobody is there, when it is closed. */
void relay_conn_reset(struct relay_conn *);

#endif
