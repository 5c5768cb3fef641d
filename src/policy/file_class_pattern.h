/* file_class_pattern.h - the patterns of file_class_table.h and of a user's rows. */
#ifndef POLICY_FILE_CLASS_PATTERN_H
#define POLICY_FILE_CLASS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct file_parts;

/* file_pattern_holds(pattern, parts, from, is_odd): for the parts from ${from} on? ${is_odd} is set
 * when only the folded names are right. */
bool file_pattern_holds(const char *pattern, const struct file_parts *, size_t from, bool *is_odd);

/* file_pattern_wrong(pattern): why it cannot be one, as words that follow "line 3", or NULL. */
const char *file_pattern_wrong(const char *pattern);

#endif
