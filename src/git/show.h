/* show.h - commits as `git log --stat` tells them, read from a quarantine by the host's git. */
#ifndef GIT_SHOW_H
#define GIT_SHOW_H

#include "git/fetch.h"

struct buf;
struct err;

/* git_show_log(repo, ref, told, with_patch, out, err): the commits of ${ref} that are new to the
 * host and that no tip in ${told} reaches (may be NULL), newest first, at most GIT_COMMITS_MAX. Names and messages in ${out} are the box's: each line is
 * to be made safe before it is printed. */
int git_show_log(const struct git_repo *, const struct git_ref *, const struct strs *told,
                 bool with_patch, struct buf *out, struct err *);

#endif
