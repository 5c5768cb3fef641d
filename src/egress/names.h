/* names.h - the synthetic address of each name the box asked for, and back. Stable for the life of
 * the box; bounded in number and in how fast new ones come. Pure but for the time it is told. */
#ifndef EGRESS_NAMES_H
#define EGRESS_NAMES_H

#include "policy/host_name.h"

struct names;

/* names_new(): the door's own lives as long as its process. names_free(n): for whoever makes
 * several, as tests and fuzzers do. */
struct names *names_new(void);
void names_free(struct names *);

/* names_address(n, host, now_ms, &addr): the address (host order) of ${host}, made up when it is
 * new. -1 when new names come too fast or there are too many; NXDOMAIN then. */
int names_address(struct names *, const struct host_name *, uint64_t now_ms, uint32_t *addr);

/* names_hold(n, is_held): no new names are taken while ${is_held}: there is no memory for them. */
void names_hold(struct names *, bool is_held);
/* names_held(n): bytes of memory. */
size_t names_held(const struct names *);

/* names_find(n, addr): whom ${addr} (host order) stands for, or NULL: never given out. */
const struct host_name *names_find(const struct names *, uint32_t addr);

#endif
