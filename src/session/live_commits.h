/* live_commits.h - commits made in a live workspace: its git directory is the host's own, so they
 * are there at once. What they bring is judged and told when the run is over. */
#ifndef SESSION_LIVE_COMMITS_H
#define SESSION_LIVE_COMMITS_H

#include "git/fetch.h"

struct err;

/* live_commits_begin(workspace, dir_fd, err): remember in the box's directory (`git-tips`) what the
 * refs of the workspace's repository name; no repository, or no git: nothing. */
int live_commits_begin(const char *workspace, int dir_fd, struct err *);

/* live_commits_since(workspace, dir_fd, classes, &commits_n, paths, err): what was committed since. */
int live_commits_since(const char *workspace, int dir_fd, const struct file_classes *,
                       size_t *commits_n, struct git_paths *, struct err *);

#endif
