/* committed.h - is a change of a box in its commits already? */
#ifndef SESSION_COMMITTED_H
#define SESSION_COMMITTED_H

#include "git/fetch.h"
#include "workspace/change.h"

enum committed {
        COMMITTED_NOT_TOUCHED, /* no new commit of the box's branch speaks of the path */
        COMMITTED_WHOLLY,      /* the box's file is what its HEAD has */
        COMMITTED_AND_CHANGED, /* a commit touches it, and the box's file is another one */
};

/* committed_of(fetch, change, &repo): of a change of the workspace. ${repo} is the repository that
 * the path lies in, or NULL; it may be NULL itself. */
enum committed committed_of(const struct git_fetch *, const struct ws_change *, struct git_repo **);

/* committed_is_in_tree(root, repo, path): has the box's work tree what ${path}, an entry of its index,
 * says? ${root} is the workspace. */
bool committed_is_in_tree(const struct ws_root *, const struct git_repo *, const struct git_path *);

#endif
