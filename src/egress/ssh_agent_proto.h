/* ssh_agent_proto.h - the agent's protocol (draft-ietf-sshm-ssh-agent) as a pure state machine: one
 * message in, one answer or one question to the keeper out. ssh_agent.c gives it bytes.
 *
 * Two requests have an answer of their own: which keys are there, and a signature for a login to a
 * server that showed itself (session-bind@openssh.com). Nothing is ever added, removed or locked.
 */
#ifndef EGRESS_SSH_AGENT_PROTO_H
#define EGRESS_SSH_AGENT_PROTO_H

#include "base/buf.h"
#include "role/ssh_proof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { AGENT_MESSAGE_MAX = 32 << 10 }; /* behind its length */

struct agent_host {
        char *name;
        uint32_t port;
        struct buf key;
};

/* A key that was granted: its public half, and the servers it may be shown to. */
struct agent_key {
        struct agent_key *next;
        uint32_t number;
        bool is_gone; /* revoked or expired: it is not listed any more */
        struct buf blob;
        char *comment;
        struct agent_host *hosts;
        size_t hosts_n;
};
void agent_key_free(struct agent_key *);

/* What one connection has shown of its server. */
struct agent_state {
        bool is_bound;
        bool is_spoilt; /* a forwarded agent, or a proof that was none: nothing is signed any more
                         */
        struct buf host_key, session, signature;
};
void agent_state_free(struct agent_state *);
/* agent_state_bind(s): what it was shown; points into ${s}. */
struct ssh_bind agent_state_bind(const struct agent_state *);

enum agent_verdict {
        AGENT_ANSWERED, /* nothing that has to be told */
        AGENT_REFUSED,  /* answered with a failure; `why` says it */
        AGENT_SIGN,     /* no answer yet: the keeper is to be asked */
};

struct agent_outcome {
        enum agent_verdict verdict;
        const struct agent_key *key;   /* that was asked for, or NULL */
        const struct agent_host *host; /* whose server it is, or NULL */
        struct ssh_bytes data;         /* SIGN: points into the message */
        uint32_t flags;
        char user[SSH_WORDS];
        char why[256];
};

/* agent_message(keys, s, message, answer, out): one message, without its length; the answer, with
 * it, is appended to ${answer} unless the verdict is AGENT_SIGN. */
void agent_message(const struct agent_key *keys, struct agent_state *, const struct ssh_bytes *,
                   struct buf *answer, struct agent_outcome *out);

/* agent_put_signed(answer, signature), agent_put_failure(answer): what the keeper led to. */
void agent_put_signed(struct buf *answer, const struct ssh_bytes *signature);
void agent_put_failure(struct buf *answer);

#endif
