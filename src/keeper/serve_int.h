/* serve_int.h - what the files of the keeper's loop (keeper.c, serve_*.c) share and handlers do not
 * need. */
#ifndef KEEPER_SERVE_INT_H
#define KEEPER_SERVE_INT_H

#include "keeper/keeper_int.h"

#include <poll.h>

/* serve_io_begin(k): the locked buffers. serve_io_end wipes them and drops what waits. */
void serve_io_begin(struct keeper *);
void serve_io_end(struct keeper *);
/* serve_queue_push(fd, q): send what the socket takes now. -1 when the peer is gone. */
int serve_queue_push(int fd, struct serve_queue *);

/* serve_frame(k, table, f): let the handler that ${table} names answer it. -1: nobody may, or it
 * makes no sense. */
int serve_frame(struct keeper *, const struct keeper_entry *table, struct frame *);

/* Values that are on their way (serve_secret.c). */
enum { SERVE_READINGS_MAX = DOOR_SECRETS_MAX };
/* serve_readings_poll(k, p): one entry per source; how many. serve_readings_ready(k, p, n): read
 * what came. -1 when the supervisor is gone. */
size_t serve_readings_poll(const struct keeper *, struct pollfd *);
int serve_readings_ready(struct keeper *, const struct pollfd *, size_t n);
/* serve_readings_drop(k, number): nobody wants it any more; DOOR_SECRET_ALL: none of them. */
void serve_readings_drop(struct keeper *, uint32_t number);

void serve_revoke_end(struct keeper *);

#endif
