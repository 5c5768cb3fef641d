/* secret_mask.h - secrets that lie in the workspace are not in the box: it sees a copy of such a
 * file with stand-ins of the same shape and length. The host's file is never changed.
 *
 * Copy-on-write: the copy lies in the upper layer before the box starts. --live: it is bound over
 * the file, read-only. What was done is in the file `masked` of the box's directory:
 *
 *   masked LAYER<TAB>SHA256<TAB>COUNT<TAB>NAMES<TAB>PATH   a copy; NAMES of granted secrets in it
 *   listed WHY<TAB>PATH                                    told of and shown as it is
 *   made LAYER<TAB>PATH                                    a directory that only leads to a copy
 *
 * Whoever writes changes of a box back must leave out a path that is `masked` here: its content in
 * the box is not the user's. */
#ifndef SESSION_SECRET_MASK_H
#define SESSION_SECRET_MASK_H

#include "base/strs.h"

#include <stdbool.h>

struct err;
struct session_plan;

/* secret_mask_prepare(plan, dir_fd, is_shown, err): once the layers exist and before the supervisor
 * is forked: look through the workspace, and hide what is found; ${is_shown} (--no-mask) only lists
 * it. A file that the box has changed since an earlier start is the box's own and stays. */
int secret_mask_prepare(struct session_plan *, int dir_fd, bool is_shown, struct err *);

/* secret_mask_settings(plan, dir_fd, err): the same for settings that were copied into a fresh
 * home, before any credential file is written there. */
int secret_mask_settings(struct session_plan *, int dir_fd, struct err *);

/* secret_mask_grant(plan, dir_fd, err): the keeper has answered: where a variable has the name of a
 * granted secret, or a URL leads to one of its places, its placeholder stands in the copy. */
int secret_mask_grant(struct session_plan *, int dir_fd, struct err *);

/* secret_mask_end(dir_fd): the box is over, and the caller has its lock: copies that it did not
 * touch go, so that only its own changes are left. */
void secret_mask_end(int dir_fd);

/* secret_mask_strip(dir_fd, entry_fd): the same in a copy of the box's layers (one tree per layer
 * name in ${entry_fd}). */
void secret_mask_strip(int dir_fd, int entry_fd);

/* secret_mask_tell(plan): for explain: a note for every file that a start would hide. */
void secret_mask_tell(struct session_plan *);

/* secret_mask_words(dir_fd, words): one line for the user per file ("masked 3 values in .env"). */
void secret_mask_words(int dir_fd, struct strs *words);

/* secret_mask_beneath(dir_fd, workspace, path, found): copies in the workspace that are ${path} (in
 * the box; absolute, or from the workspace) or lie below it, as paths from the workspace. */
void secret_mask_beneath(int dir_fd, const char *workspace, const char *path, struct strs *found);

#endif
