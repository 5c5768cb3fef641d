/* dial_int.h - what the files of this room share: the process, and one call of egress to it. */
#ifndef DIAL_DIAL_INT_H
#define DIAL_DIAL_INT_H

#include "dial/race.h"
#include "dial/resolve.h"
#include "dial/tunnel.h"
#include "policy/policy.h"
#include "wire/door.h"

struct reply;

enum {
        CALLS_MAX = 256,    /* at once; more are told to come again */
        REPLIES_MAX = 4096, /* that egress has not read: then it is not egress any more */
        CALL_LIMIT_MS = 30000,
};

struct dial {
        struct loop *loop;
        int egress_fd; /* -1 before DOOR_BEGIN */
        struct loop_src *egress_src;
        struct policy policy;
        enum door_level level;
        struct tunnel_proxy proxy;
        struct resolver *resolver;
        struct call *calls;
        size_t calls_n;
        struct reply *replies, **replies_end; /* what the socket did not take yet */
        size_t replies_n;
};

/* reply_dialled(d, id, addr, fd): takes ${fd}. The words of a failure stand after "failed: " in
 * what egress says, so they begin small and end without a full stop. */
void reply_dialled(struct dial *, uint32_t id, const char *addr, int fd);
void reply_failed(struct dial *, uint32_t id, enum door_dial_fault, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* reply_flush(d): the socket takes some again. */
void reply_flush(struct dial *);

/* call_begin(d, id, kind, host, port): decide, look up, connect, answer. */
void call_begin(struct dial *, uint32_t id, enum request_kind, const struct host_name *,
                uint16_t port);
/* call_cancel(d, id): nothing is answered any more. It may have been answered already. */
void call_cancel(struct dial *, uint32_t id);
bool call_exists(const struct dial *, uint32_t id);
/* call_recheck(d): the policy is another one now; what it does not allow ends. */
void call_recheck(struct dial *);

#endif
