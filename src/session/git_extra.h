/* git_extra.h - what a box changed in its git directory besides refs, objects, index and configuration:
 * hooks above all. Nothing of it ever lands; it is mentioned, so that nobody wonders. */
#ifndef SESSION_GIT_EXTRA_H
#define SESSION_GIT_EXTRA_H

struct changes;
struct git_repo;
struct strs;

/* git_extra_list(c, repo, names): names from the git directory on ("hooks/pre-commit"), any bytes but NUL,
 * at most GIT_EXTRA_MAX; of files that the box made, changed or removed there. Touched and equal ones
 * and the samples of `git init` are none. */
enum { GIT_EXTRA_MAX = 1000 };
void git_extra_list(const struct changes *, const struct git_repo *, struct strs *names);

#endif
