/* apply_base.h - the text that a box and the host both started from, for a merge: from the host's
 * git repository if its index knows the file as it was before the box started, or from what undo
 * kept. A wrong base would undo the user's work, so one that may be younger is none. */
#ifndef WORKSPACE_APPLY_BASE_H
#define WORKSPACE_APPLY_BASE_H

#include "workspace/apply.h"

struct buf;

/* apply_base_find(change, applied, undo_fd, base): true when there is one. At most base->max bytes.
 */
bool apply_base_find(const struct ws_change *, const struct applied *, int undo_fd, struct buf *);

/* apply_base_read(view, path, to): a regular file of a view, as far as to->max allows. */
bool apply_base_read(const struct ws_view *, const char *path, struct buf *to);

#endif
