/* file_class_trail.h - a path against the tables, one component at a time, so that in the order of a
 * walk each component is judged once, however deep the tree is (case 78). Pure: no I/O. */
#ifndef POLICY_FILE_CLASS_TRAIL_H
#define POLICY_FILE_CLASS_TRAIL_H

#include "policy/file_class.h"

#include <stdint.h>

struct file_trail;

/* file_trail_new(t): ${t} is borrowed, NULL: the built-in tables. */
struct file_trail *file_trail_new(const struct file_classes *);
void file_trail_free(struct file_trail *);

/* file_trail_judge(f, path, verdict): as file_class_of. What ${path} shares with the path before is
 * known already. */
void file_trail_judge(struct file_trail *, const char *path, struct file_class_verdict *);
/* file_trail_judge_git(f, path, verdict): as file_class_in_git. */
void file_trail_judge_git(struct file_trail *, const char *path, struct file_class_verdict *);

/* file_trail_steps(f): how many rows were held against a component until now; for tests. */
uint64_t file_trail_steps(const struct file_trail *);

#endif
