/* policy_dial.h - may anybody connect to this host and port at all?
 *
 * dial's own question, asked before a name is looked up: egress has decided on the whole request,
 * and dial, which sees none of it, checks again what it can see. Pure. */
#ifndef POLICY_POLICY_DIAL_H
#define POLICY_POLICY_DIAL_H

#include "policy/policy.h"

/* policy_may_dial(p, kind, host, port, d): ${d} is a grant when a line could grant some request of
 * ${kind} there and none refuses all of them before it; d->line is then that line, or a later one
 * that could grant too and says to=: where a host is does not depend on what is asked of it.
 * Otherwise POLICY_DENY, by a line, or by default when no line speaks of all requests there (the
 * door's level decides then). A line matches an address only when it writes it. */
void policy_may_dial(const struct policy *, enum request_kind, const struct host_name *,
                     uint16_t port, struct policy_decision *);

#endif
