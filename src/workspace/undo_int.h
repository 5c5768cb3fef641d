/* undo_int.h - what the files of undo share among themselves and with apply: fields of records, the
 * list of numbers, and the landing of many paths at once. Nobody else includes it. */
#ifndef WORKSPACE_UNDO_INT_H
#define WORKSPACE_UNDO_INT_H

#include "workspace/undo.h"

/* undo_path_is_fit(path): relative, without "", "." or ".." as a component. */
bool undo_path_is_fit(const char *path);

/* undo_field(&rest): the next field of a line, its escapes undone in place; NULL at the end.
 * undo_field_put(b, text): escaped. */
char *undo_field(char **rest);
void undo_field_put(struct buf *, const char *text);

/* undo_numbers(undo_fd, numbers, n, err): of all records, newest first; the caller frees. */
int undo_numbers(int undo_fd, uint64_t **numbers, size_t *n, struct err *);

#endif
