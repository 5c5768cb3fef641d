/* policy_check.h - what would become of a request, in words or as JSON: for `ostiary policy check`
 * and `ostiary why`. */
#ifndef CLI_POLICY_CHECK_H
#define CLI_POLICY_CHECK_H

#include "wire/door.h"

#include <stdbool.h>

struct policy;
struct policy_request;

struct policy_check_how {
        bool is_json;
        const char *box;       /* whose rules they are, for the cure; NULL for no box */
        enum door_level level; /* what holds where no line speaks; STRICT without a box */
};

/* policy_check(policy, how, request): print which line decides and return the exit code: 0 when the
 * request would pass, 1 when not. */
int policy_check(const struct policy *, const struct policy_check_how *,
                 const struct policy_request *);

#endif
