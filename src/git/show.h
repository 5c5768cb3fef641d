/* show.h - commits as `git log --stat` tells them, read from a quarantine by the host's git. */
#ifndef GIT_SHOW_H
#define GIT_SHOW_H

#include "git/fetch.h"

struct buf;
struct err;

/* What is left of the time that telling a box's commits may cost, of all of them together. */
struct git_show_left {
        int64_t cpu_ms, wall_ms;
};
struct git_show_left git_show_all(void);

/* git_show_log(repo, ids, with_patch, left, out, err): these commits, in this order, by one call; each
 * begins with the line "commit ID". ${out} NULL: only whether they can be told. 0 or -1. Names and
 * messages in ${out} are the box's: each line is to be made safe before it is printed. */
int git_show_log(const struct git_repo *, const struct strs *ids, bool with_patch,
                 struct git_show_left *, struct buf *out, struct err *);

/* git_show_prove(fetch): of every new ref whose commits cannot be told, say so in ref->refused: for who
 * takes them without having seen them. */
void git_show_prove(struct git_fetch *);

/* For who tells many refs: commits that were told already. */
struct git_show_seen {
        void *root;
};
/* git_show_new(ref, seen, ids): those of ref->commits that were not told, which count as told now. */
void git_show_new(const struct git_ref *, struct git_show_seen *, struct strs *ids);
void git_show_seen_free(struct git_show_seen *);
enum { GIT_SHOW_MANY = 500 }; /* commits are asked for at one time, if refs have few each */

/* git_show_env(repo, env): for the host's git over the quarantine and the user's objects; over the
 * quarantine alone where only the box has the repository. */
void git_show_env(const struct git_repo *, struct strs *env);

#endif
