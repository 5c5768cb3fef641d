/* policy_index.h - the lines of a policy that could speak of one host, in their order.
 *
 * With an index that is a look-up per label of the name, without one all lines; what comes out may
 * differ only by lines that speak of another host. Used by policy.c and policy_dial.c; whoever
 * holds a policy for long calls policy_index_make once it is whole. Pure. */
#ifndef POLICY_POLICY_INDEX_H
#define POLICY_POLICY_INDEX_H

#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy;
struct policy_layer;
struct rule_line;
struct policy_index;

/* policy_index_make(p): ten thousand lines cost as little as ten. Changing the policy drops it. */
void policy_index_make(struct policy *);
void policy_index_free(struct policy_index *);

/* The name itself, what it is below, and the lines for every host. */
enum { POLICY_WALK_MAX = HOST_TEXT_MAX / 2 + 3 };

struct policy_walk {
        const struct policy *policy;
        size_t layer, line;             /* without an index: where we are */
        uint32_t next[POLICY_WALK_MAX]; /* with one: the next line of each list */
        size_t lists_n;
};

void policy_walk_begin(struct policy_walk *, const struct policy *, const struct host_name *);
/* policy_walk_next(w, &layer, &line): only lines with a verdict. False at the end. */
bool policy_walk_next(struct policy_walk *, const struct policy_layer **,
                      const struct rule_line **);

#endif
