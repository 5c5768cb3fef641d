/* refused.h - which hosts were refused, how often, and the line that would allow each: counted by
 * the role as records pass, told to the user at the end. Bounded, because the box decides how many
 * names there are. */
#ifndef AUDIT_REFUSED_H
#define AUDIT_REFUSED_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct cur;

enum { REFUSED_MAX = 64, REFUSED_HOST_MAX = 255, REFUSED_CURE_MAX = 400 };

struct refused_host {
        char *host;
        uint32_t port;
        uint64_t n;
        char *cure; /* a rule line, or "" */
};

struct refused {
        struct refused_host hosts[REFUSED_MAX];
        size_t hosts_n;
        char *alarmed[REFUSED_MAX]; /* hosts of alarms */
        size_t alarmed_n;
        uint64_t more; /* refusals of hosts that found no room */
};

void refused_free(struct refused *);
#define _cleanup_refused_ __attribute__((cleanup(refused_free)))

/* refused_alarm(r, host): a secret's placeholder was on its way there: it is told of, and nothing
 * is said that would open it, whatever was or will be refused there besides. */
void refused_alarm(struct refused *, const char *host);
/* refused_add(r, host, port, cure): one more. ${cure} counts when there was none yet; NULL is "".
 */
void refused_add(struct refused *, const char *host, uint32_t port, const char *cure);

/* The body of MSG_REFUSED: u64 more, u32 count, then lstr host, u32 port, u64 n, lstr cure each. At
 * most FRAME_INLINE_MAX bytes. refused_get returns 0 or -1. */
void refused_put(struct buf *, const struct refused *);
int refused_get(struct cur *, struct refused *);

#endif
