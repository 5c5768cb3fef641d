/* submounts.h - trees that have other filesystems mounted inside them.
 *
 * In a user namespace such a tree cannot be an overlay's layer as a whole: the kernel will not let
 * us peel a mount off and see what is under it. The tree is then shown child by child, and what is
 * mounted in it is left out. Used by trees.c. */
#ifndef BOX_SUBMOUNTS_H
#define BOX_SUBMOUNTS_H

#include <stdbool.h>

struct build;
struct err;

/* What is said of a copy-on-write directory that has such mounts. */
#define SUBMOUNTS_WORDS                                                                            \
        "has other filesystems mounted below it, which cannot be copy-on-write; use --live, or "   \
        "unmount them"

/* submounts_below(dir): is anything mounted strictly below ${dir}? */
bool submounts_below(const char *dir);

/* submounts_tree(b, source, target, err): show ${source} read-only at ${target} without the mounts
 * inside: plain children as overlays, files and links copied, folders on the way to a mount made by
 * hand. */
int submounts_tree(struct build *, const char *source, const char *target, struct err *);

#endif
