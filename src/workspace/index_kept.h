/* index_kept.h - what the git index of a root said when the box began, or when we last wrote it.
 *
 * `git status` on the host, or an editor that asks for it, rewrites the index without changing what
 * it says: that is no conflict with a commit made in the box, and no reason to refuse an undo. The
 * file `indexes` in the box's directory has a line per root, the last one counts:
 *
 *   index NAME<TAB>MEANING                 git_index_meaning
 *
 * Without a line the file's times decide, as for every other file. */
#ifndef WORKSPACE_INDEX_KEPT_H
#define WORKSPACE_INDEX_KEPT_H

#include "workspace/box_roots.h"

#include <stdbool.h>

/* index_kept_begin(box_dir_fd): when a box has just been started for the first time: look at the
 * index of each root. One that was touched since the start is left out. */
void index_kept_begin(int box_dir_fd);

/* index_kept_load(box_dir_fd, roots): fill index_meaning of each. */
void index_kept_load(int box_dir_fd, struct ws_roots *);

/* index_kept_is_index(root_name, path): is this path the index of that root? */
bool index_kept_is_index(const char *root_name, const char *path);

/* index_kept_is_same(root, path): is it the root's index, and does the host's still say the same?
 */
bool index_kept_is_same(const struct ws_root *, const char *path);

/* index_kept_landed(box_dir_fd, root_name, root_fd, path): we have just written it. */
void index_kept_landed(int box_dir_fd, const char *root_name, int root_fd, const char *path);

/* index_kept_is_object(objects_fd, hex, root_name, root_fd, path): is it an index that says the
 * same as the one that is kept under that name? */
bool index_kept_is_object(int objects_fd, const char *hex, const char *root_name, int root_fd,
                          const char *path);

#endif
