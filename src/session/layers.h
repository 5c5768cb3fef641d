/* layers.h - the directories behind a box's writable mounts: made before it starts, judged and
 * cleared after it ended. */
#ifndef SESSION_LAYERS_H
#define SESSION_LAYERS_H

#include <stdbool.h>

struct box_meta;
struct err;
struct profile;
struct session_opts;
struct session_plan;
struct store;

/* layers_make(plan, dir_fd, err): root/ and layers/NAME/{upper,work} in the box's directory. On a
 * box that ran before, uppers are kept and work directories made anew (an overlay with `volatile`
 * refuses to be mounted over the old one). The plan knows the frozen layers already. Returns 1 when
 * the home is new and wants its seeds, 0 when it was there, -1 on failure. */
int layers_make(const struct session_plan *, int dir_fd, struct err *);

/* layers_have_changes(plan): did the box, or one it was made from, write to any copy-on-write
 * layer but its home? */
bool layers_have_changes(const struct session_plan *);

/* layers_were_written(plan): the same of this life of the box alone. */
bool layers_were_written(const struct session_plan *);

/* layers_accept_home(plan, store, err): take the profile's kept paths of the home over. */
int layers_accept_home(const struct session_plan *, const struct store *, struct err *);

/* layers_fill_meta(meta, plan, opts, id): what is known at the start. Strings are the meta's own.
 */
void layers_fill_meta(struct box_meta *, const struct session_plan *, const struct session_opts *,
                      const char *id);

#endif
