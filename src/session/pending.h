/* pending.h - does a box still hold something that was neither applied nor thrown away? The one
 * answer for everybody who says or decides so: ps, rm, gc, --filter changes=, apply's last
 * sentence. box_meta.was_written is no answer: it stays after an apply. */
#ifndef SESSION_PENDING_H
#define SESSION_PENDING_H

#include <stdbool.h>

struct box_meta;
struct err;
struct store;
struct strs;

/* pending_any(store, id, err): 1, 0, or -1 when it cannot be told. Stops at the first change it
 * finds; build output that is ignored counts as long as nothing of the box was ever applied; our
 * own stand-ins and the home never do; a commit that the host does not have does. */
int pending_any(const struct store *, const char *id, struct err *);

/* pending_repos(store, id, repos): repositories with commits that only the box has, below directories
 * that are ignored, as their user writes them: apply does not bring them by itself. They count above. */
void pending_repos(const struct store *, const char *id, struct strs *repos);

/* pending_holds(store, m): the same for lists of boxes: looks at the layers only where something
 * was written, and believes what an earlier look found out about commits. What cannot be told of a
 * box that has ended counts as held. */
bool pending_holds(const struct store *, const struct box_meta *);

/* pending_is_written(store, id): is there a difference at all, without asking git? For the end of a
 * run: files that were written again with what they held are none. */
bool pending_is_written(const struct store *, const char *id);

#endif
