/* publish.h - "[HOST:]PORT[:BOXPORT]": which port of the box is to be had at which port of the
 * host. Parsed by the CLI, to complain early, and by the supervisor, which keeps it as text. */
#ifndef SESSION_PUBLISH_H
#define SESSION_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct err;

enum { PUBLISH_WORDS = 64 }; /* room for "[address]:port" */

struct publish {
        struct sockaddr_storage at; /* on the host; its port may be 0: any free one */
        socklen_t at_len;
        uint16_t box_port;
        bool is_exact;    /* the host's port was named apart from the box's: it or nothing */
        bool is_loopback; /* only programs on this machine reach it */
};

/* publish_parse(text, p, err): HOST is localhost or an address, one of IPv6 in brackets; without it
 * 127.0.0.1. PORT alone is the wanted port on both sides; a free one is taken when it is in use.
 * PORT 0 before BOXPORT takes any free one. 0 or -1. */
int publish_parse(const char *text, struct publish *, struct err *);

/* publish_listen(p, err): a listening socket of the host, non-blocking; ${p->at} gets what was
 * taken. -1 and a story otherwise. */
int publish_listen(struct publish *, struct err *);

/* publish_words(p, buf): "127.0.0.1:3000"; returns ${buf}. */
const char *publish_words(const struct publish *, char buf[PUBLISH_WORDS]);
uint16_t publish_port(const struct publish *);

#endif
