/* override.h - the verdict on a request and on everything that its own headers and fields may make
 * of it.
 *
 * Some servers let X-HTTP-Method-Override, X-Original-URL, X-Forwarded-Host or a field _method
 * replace what the request line says. Which of them do is not known here, so a request passes only
 * if it passes as it is and as each of those. Pure; egress and `ostiary why` both ask here. */
#ifndef POLICY_OVERRIDE_H
#define POLICY_OVERRIDE_H

#include "policy/policy.h"

struct override {
        struct policy_decision decision;
        char *why;  /* "its header x-original-url makes it GET a.org/private": NULL when the request
                     * as it is decided; owned */
        char *cure; /* then: the line that would allow that, or NULL; owned */
        size_t judged; /* how many requests it may be were held against the policy */
};

/* override_decide(policy, request, is_open, o): ${is_open}: what no line speaks of passes (level
 * learn). For requests of HTTP. Release ${o} with override_free. */
void override_decide(const struct policy *, const struct request *, bool is_open,
                     struct override *);
void override_free(struct override *);

/* The fields of a query or a body that stand for the method. */
enum { OVERRIDE_FIELDS = 7 };
extern const char *const override_fields[OVERRIDE_FIELDS];

/* override_moves(name): may a header of this name, in small letters, make another path of a
 * request? */
bool override_moves(const char *name);

#define _cleanup_override_ __attribute__((cleanup(override_free)))

#endif
