/* errand_mask.h - an errand sees nothing that its box did not see: over every file of the workspace
 * that may hold a secret lies one without content. The stand-ins that the box had are gone when it
 * has ended, and a file may be new since. Files in git directories stay: git wants to read them.
 *
 * The same lies over every FIFO that the box made, in git directories too: git would wait in each one
 * that it opens (`.gitattributes`, an object, a file that a configuration includes). */
#ifndef SESSION_ERRAND_MASK_H
#define SESSION_ERRAND_MASK_H

#include "base/strs.h"

struct err;
struct session_plan;
struct store;

struct errand_mask {
        char *dir;           /* holds a layer for each mount; NULL: none is needed */
        struct strs targets; /* mounts that get one: its number is the layer's name */
};

/* errand_mask_make(m, plan, store, id, dir_fd, err): look for what is to be hidden, and make the
 * layers; E_REFUSED when the box has more FIFOs than anybody needs. errand_mask_show(m, plan): they
 * lie over everything else of their mounts.
 * errand_mask_drop(m): remove and free. */
int errand_mask_make(struct errand_mask *, const struct session_plan *, const struct store *,
                     const char *id, int dir_fd, struct err *);
void errand_mask_show(const struct errand_mask *, struct session_plan *);
void errand_mask_drop(struct errand_mask *);

#endif
