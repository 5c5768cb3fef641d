/* boxhere.h - which box is meant when none is named, by commands that change or show a workspace:
 * one of the workspace that the current directory lies in, and never another project's. */
#ifndef CLI_BOXHERE_H
#define CLI_BOXHERE_H

#include "cli/boxarg.h"

/* boxhere_find(b, err): open the store and find the box. Of several boxes of this workspace the one
 * that holds changes that were not applied is meant, or the newest if none does. E_ABSENT when no
 * box has worked here, E_USAGE with their names when more than one holds changes. */
int boxhere_find(struct boxarg *, struct err *);

/* boxhere_workspace(store, dir, &workspace, err): the innermost workspace of any box that ${dir} is
 * or lies in, or NULL; the caller frees. */
int boxhere_workspace(const struct store *, const char *dir, char **workspace, struct err *);

#endif
