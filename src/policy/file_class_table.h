/* file_class_table.h - the rows by which a path is judged: data/classes, compiled in by
 * tools/gen_classes.sh. Read by file_class.c and file_class_trail.c alone. */
#ifndef POLICY_FILE_CLASS_TABLE_H
#define POLICY_FILE_CLASS_TABLE_H

#include "policy/file_class.h"

/* What a pattern means is told at the top of data/classes. */
struct file_class_row {
        enum file_class class;
        const char *pattern;
        const char *why;
};
/* Anywhere; the first row that holds decides. file_class_row_at(i): the i-th, or NULL. */
extern const struct file_class_row file_class_rows[];
extern const size_t file_class_rows_n;
const struct file_class_row *file_class_row_at(size_t i);

/* Within a git directory, by the path from there; nothing there is taken back by a user's row. */
extern const struct file_class_row file_class_git_rows[];
extern const size_t file_class_git_rows_n;

extern const char *const file_class_ignored[];
extern const size_t file_class_ignored_n;

#endif
