/* explain.h - a plan in words and as JSON: what `ostiary explain` prints. Reads the plan, decides
 * nothing. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <stddef.h>

struct box_limits;
struct box_mount;
struct session_plan;

/* One limit in words. */
struct explain_limit {
        const char *name;
        char value[32]; /* "8.0 GiB", or "none" */
        const char *by; /* what enforces it */
};
enum { EXPLAIN_LIMITS = 9 };

/* explain_limits(limits, cgroup_kind, out): every limit, also those that are not set. */
void explain_limits(const struct box_limits *, int cgroup_kind,
                    struct explain_limit out[EXPLAIN_LIMITS]);

/* explain_mode(m): "read-only", "copy-on-write", ... */
const char *explain_mode(const struct box_mount *);

/* The namespaces of every box, and what each keeps away. Ends with a NULL name. */
struct explain_namespace {
        const char *name, *why;
};
extern const struct explain_namespace explain_namespaces[];

/* The layers besides namespaces and files. Ends with a NULL name. */
extern const struct explain_namespace explain_walls[];

void explain_text(const struct session_plan *);
int explain_json(const struct session_plan *); /* returns the exit code */

#endif
