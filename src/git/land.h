/* land.h - from a quarantine into the user's repository: objects, refs, index entries. Only what
 * was fetched (fetch.h), and only the ids that were shown.
 *
 * The order is one that a kill anywhere leaves usable: objects first, which nothing names yet; then
 * the caller lands the files of the work tree; then the index; then all refs in one transaction. A
 * repository whose refs did not move yet is fetched and landed again by the next apply. */
#ifndef GIT_LAND_H
#define GIT_LAND_H

#include "git/fetch.h"

struct err;
struct git_land;

struct git_move {
        char *ref;
        char from[GIT_ID_MAX + 1]; /* "": it is made */
        char to[GIT_ID_MAX + 1];   /* "": it is removed */
        bool is_kept;              /* made to keep what another ref was before */
        char *failed;              /* after git_land_commit: why it did not move; or NULL */
};

/* What the box's own layer has at a path, from the top of the work tree, beside the host's file. */
enum git_land_box {
        GIT_LAND_BOX_NONE,  /* nothing: the box sees the host's file */
        GIT_LAND_BOX_SAME,  /* the same as the host */
        GIT_LAND_BOX_OTHER, /* something else, which lands with the commits */
};
typedef enum git_land_box git_land_box_fn(void *arg, const char *path);

/* git_land_obstacle(repo, box, arg, why, err): can the host's branch be fast-forwarded to the box's?
 * ${why} is NULL when it can, else a sentence, which the caller frees: a path that the commits touch
 * is staged or changed on the host, also where git does not look (land_dirty.h), a merge or rebase is
 * under way, another work tree has the branch checked out, git is at work there. */
int git_land_obstacle(const struct git_repo *, git_land_box_fn *box, void *arg, char **why,
                      struct err *);

/* git_land_is_as_head(repo, path): of a path that the commits touch: has the host's file the content
 * that the host's HEAD has, as it is or as git would add it? */
bool git_land_is_as_head(const struct git_repo *, const char *path);

/* git_land_begin(repo, takes, takes_head, known, err): bring the objects of the refs that
 * ${takes}[i] says, and lock the index when the work tree's branch moves too (${takes_head}).
 * ${known}: refs below refs/ostiary/BOX that this box's own applies made; any other there is of an
 * older box with that name, and is removed. A repository that the host does not have is made. NULL
 * and a story on failure: then nothing but objects that nobody names is new. */
struct git_land *git_land_begin(struct git_repo *, const char *box, const bool *takes,
                                bool takes_head, const struct strs *known, struct err *);
/* git_land_moves(land, n): what will move, for the record of undo. */
const struct git_move *git_land_moves(const struct git_land *, size_t *n);
/* git_land_commit(land, err): the index, then the refs: all at once, or, when one of them cannot be
 * made, each by itself. -1 when the work tree's branch could not move: the index is as it was then. */
int git_land_commit(struct git_land *, struct err *);
/* git_land_end(land): unlocks what is still locked, and frees; NULL is fine. */
void git_land_end(struct git_land *);

/* git_land_recover(git_dir): what a run of ours left there that was killed: see land_lock.h. */
int git_land_recover(const char *git_dir);

/* git_land_back(tree, move, why, err): of an undo: move one ref from move->to back to move->from,
 * and, if it is the branch that is checked out in ${tree}, the index entries of what lies between
 * as far as they are as the move left them. 1: done; 0: left, ${why} is a sentence that the caller
 * frees; -1. */
int git_land_back(const char *tree, const struct git_move *, bool is_dry, char **why, struct err *);

#endif
