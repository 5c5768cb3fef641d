/* policy.h - all rules that hold for a box, in layers, and the verdict on one request.
 *
 * Order: every deny! of any layer; then run time, project, user, profile, system; within a layer
 * the first line that matches; at the end deny. A policy without lines, or without layers, denies
 * everything (cases 84, E11). A project's file came with a clone, so its layer can only take away:
 * its allow means "no objection", and what the layers below say still holds.
 *
 * Pure. A layer is parsed whole or not at all, so a broken file changes nothing (E12): build a new
 * policy, then swap the pointer. A policy that is not being changed may be read by anybody. */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "policy/match.h"
#include "policy/rule.h"

#include <stddef.h>

struct err;

enum policy_rank {
        POLICY_RUN_TIME, /* what was said while the box ran, or with a flag */
        POLICY_PROJECT,  /* the project's .ostiary, once trusted; narrows only */
        POLICY_USER,     /* ~/.config/ostiary/policy and --policy FILE */
        POLICY_PROFILE,  /* what the agent needs */
        POLICY_SYSTEM, /* /etc/ostiary/policy: the administrator's last word, and deny! the first */
};

struct policy_layer {
        enum policy_rank rank;
        char *name; /* "user policy": what stands before ":12" in a verdict */
        struct rule_line *lines;
        size_t lines_n;
};

struct policy_index;

struct policy {
        struct policy_layer *layers; /* in the order in which they are asked */
        size_t layers_n;
        struct policy_index *index; /* NULL, or what policy_index_make made of them */
};

/* policy_layer_parse(rank, name, text, len, layer, err): a whole file. On failure -1, ${err} says
 * "NAME, line L, column C: ...", and ${layer} is empty. A project's layer may hold neither secret
 * nor bind nor to= nor ca=. */
int policy_layer_parse(enum policy_rank, const char *name, const char *text, size_t len,
                       struct policy_layer *, struct err *);

/* policy_layer_add(layer, text, err): one more line at the end, without a number: for flags,
 * profiles and run time. ${layer} may be zeroed but for rank and name; unchanged on failure. */
int policy_layer_add(struct policy_layer *, const char *text, struct err *);
void policy_layer_free(struct policy_layer *);
#define _cleanup_policy_layer_ __attribute__((cleanup(policy_layer_free)))

/* policy_put(policy, layer): take ${layer} over, behind those of the same rank. ${layer} is
 * emptied, and an index is dropped. */
void policy_put(struct policy *, struct policy_layer *);
void policy_free(struct policy *);
#define _cleanup_policy_ __attribute__((cleanup(policy_free)))

enum policy_verdict {
        POLICY_DENY, /* first, so that a zeroed decision refuses */
        POLICY_ALLOW,
        POLICY_ASK,
        POLICY_TCP,
        POLICY_SPLICE,
        POLICY_NEEDS_BODY, /* read the body (bounded), fill request.body, decide again */
};

enum policy_why {
        POLICY_BY_DEFAULT,    /* no line spoke */
        POLICY_BY_LINE,       /* decision.line did */
        POLICY_BY_AMBIGUITY,  /* decision.line speaks of only one reading of the request */
        POLICY_BY_UNREADABLE, /* decision.line wants a body that cannot be read */
};

struct policy_decision {
        enum policy_verdict verdict;
        enum policy_why why;
        const struct policy_layer *layer; /* NULL by default */
        const struct rule_line *line;     /* for a grant: the rule with to=, ca=, rate=, ... */
};

void policy_decide(const struct policy *, const struct request *, struct policy_decision *);

/* policy_words(decision): "allowed by user policy:12", "denied by default"; for logs and refusals.
 * The caller frees. */
char *policy_words(const struct policy_decision *);

/* policy_cure(decision, request): the line that would allow what was denied, if it stood before the
 * one that decided; NULL when nothing can (deny!) or nothing is to be cured. The caller frees. */
char *policy_cure(const struct policy_decision *, const struct request *);

#endif
