/* h2_server.h - the HTTP/2 engine that talks to the box. */
#ifndef EGRESS_H2_SERVER_H
#define EGRESS_H2_SERVER_H

#include <stddef.h>

struct conn;
struct door;
struct h2_server;
struct origin;

/* h2_server_new(door, conn, origin, early, early_n): the connection becomes the engine's, after
 * ALPN agreed on h2 or because it began with HTTP/2's preface; ${early} is what was read of it
 * already.
 * ${origin} is copied. The engine frees itself when the connection ends. */
struct h2_server *h2_server_new(struct door *, struct conn *, const struct origin *,
                                const void *early, size_t early_n);

#endif
