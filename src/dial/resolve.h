/* resolve.h - names to addresses: the hosts file, answers we remember, then the name servers.
 *
 * Called only for names that the policy lets through (E8): a question is itself a message. Each
 * look-up has sockets of its own, so that an answer to one cannot be forged with what was learned
 * from another. */
#ifndef DIAL_RESOLVE_H
#define DIAL_RESOLVE_H

#include "dial/addr.h"

#include <stdbool.h>

struct host_name;
struct loop;
struct resolver;
struct resolve_wait;

/* How a look-up ended: addresses, or none and a sentence. */
struct answer {
        struct addr_list addrs;
        const char *words; /* NULL when there are addresses */
};

typedef void resolve_fn(void *ctx, const struct answer *);

struct resolver *resolver_new(struct loop *);
/* resolver_conf(r, resolv, hosts): what the files say now; NULL leaves a part as it is. What is
 * remembered is forgotten, and look-ups under way begin again with the new servers. */
void resolver_conf(struct resolver *, const char *resolv, const char *hosts);

/* resolve_known(r, name, a): true when the hosts file or memory has the answer. */
bool resolve_known(struct resolver *, const struct host_name *, struct answer *);
/* resolve_start(r, name, fn, ctx): ask. ${fn} is called once, later, unless resolve_cancel comes
 * before. Who asks for the same name meanwhile shares the answer. */
struct resolve_wait *resolve_start(struct resolver *, const struct host_name *, resolve_fn *,
                                   void *ctx);
/* resolve_cancel(&w): also drops the question when nobody else waits for it. */
void resolve_cancel(struct resolve_wait **);

#endif
