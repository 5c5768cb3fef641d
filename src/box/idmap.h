/* idmap.h - by root only: copies of the plan's directories in which the owner's id on disk appears
 * as the box's high id, so that the box can work on root's files without being root to the kernel.
 */
#ifndef BOX_IDMAP_H
#define BOX_IDMAP_H

struct box_plan;
struct err;

struct idmap_fds {
        int *sources, *layers; /* one per mount of the plan, -1 where there is none */
        int **lowers;          /* for each mount as many as it has; ends with -1 */
        unsigned n;
};

/* idmap_sources(plan, fds, err): detached mounts for every source, layer and frozen layer. Sources
 * that are written (copy-on-write, live) are idmapped from the workspace owner's ids. */
int idmap_sources(const struct box_plan *, struct idmap_fds *, struct err *);
void idmap_free(struct idmap_fds *);

#endif
