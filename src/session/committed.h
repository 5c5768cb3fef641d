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

/* committed_touches(fetch, change, &repo): does a new commit of the box's branch speak of it? The same
 * without reading the file. */
bool committed_touches(const struct git_fetch *, const struct ws_change *, struct git_repo **);

/* committed_is_held(fetch, change, applied): is it, byte by byte, what the box committed, in a commit that a branch of
 * the host's own has by now, where the host went on since? To offer it again would be to take back what
 * the person made of it. */
struct applied;
bool committed_is_held(const struct git_fetch *, const struct ws_change *, const struct applied *);

/* committed_in_tree(root, repo, path): what the box's work tree has at ${path}, an entry of its HEAD or
 * index. committed_is_in_tree: the same content, or one that git makes the same. ${root} is the
 * workspace. */
enum git_in_tree committed_in_tree(const struct ws_root *, struct git_repo *,
                                   const struct git_path *);
bool committed_is_in_tree(const struct ws_root *, struct git_repo *, const struct git_path *);

#endif
