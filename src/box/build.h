/* build.h - carry out a plan, step by step, in fresh namespaces. */
#ifndef BOX_BUILD_H
#define BOX_BUILD_H

struct build;
struct err;

/* build_box(b, err): run every step. 0 when all walls are up and were read back; -1 with the step's
 * name and reason, and the process must end. */
int build_box(struct build *, struct err *);

#endif
