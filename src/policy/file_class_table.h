/* file_class_table.h - the rows by which a path is judged, as data. Read by file_class.c alone. */
#ifndef POLICY_FILE_CLASS_TABLE_H
#define POLICY_FILE_CLASS_TABLE_H

#include "policy/file_class.h"

/* A pattern holds at any depth unless it begins with /. "name" is the last component; "name/" any
 * component, so the directory (or a link in its place) and all below it; * and ? stay within a
 * component, ** is any number of components. A leading = asks for exactly this case, where another
 * spelling is an ordinary name ("BUILD", "build"). The first row that holds decides. */
struct file_class_row {
        enum file_class class;
        const char *pattern;
        const char *why;
};
extern const struct file_class_row file_class_agent_rows[], file_class_open_rows[],
        file_class_build_rows[], file_class_tools_rows[];
extern const size_t file_class_agent_rows_n, file_class_open_rows_n, file_class_build_rows_n,
        file_class_tools_rows_n;
/* file_class_row_at(i): the i-th row of all tables in the order in which they are asked, or NULL.
 */
const struct file_class_row *file_class_row_at(size_t i);

/* Within a git directory, by the path from there; nothing there is taken back by a user's row. */
extern const struct file_class_row file_class_git_rows[];
extern const size_t file_class_git_rows_n;

extern const char *const file_class_ignored[];
extern const size_t file_class_ignored_n;

#endif
