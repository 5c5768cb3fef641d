/* links.h - by which other names a file of a root is reached: `.envrc -> scripts/env` makes
 * scripts/env what a shell runs. Found by looking at the links of all layers, the host's first;
 * nothing in a layer is followed by opening it. A link of the host that leaves the root may come back
 * through others that lie beyond it.
 *
 * Links within installed packages are left out: they lead to every package of a workspace that has
 * several, and those are code like any other. */
#ifndef WORKSPACE_LINKS_H
#define WORKSPACE_LINKS_H

#include "workspace/box_roots.h"

#include <stdbool.h>

struct links;

/* links_new(root): never NULL; reads the names of the whole tree once. */
struct links *links_new(const struct ws_root *);
void links_free(struct links *);
size_t links_n(const struct links *);
/* links_is_lost(l): some of them lead through each other for so long that nobody went to the end: any
 * path may be reached by any of their names. */
bool links_is_lost(const struct links *);

/* links_at(l, path, len, first): how many links lead to ${path} (its first ${len} bytes), through
 * others or not; links_as(l, i) for i from ${first} on is where such a link lies. ${is_exact}: it
 * passes through a link at ${path} on its way: what is below ${path} is not meant. */
size_t links_at(const struct links *, const char *path, size_t len, size_t *first);
const char *links_as(const struct links *, size_t i, bool *is_exact);

#endif
