/* land_index.h - the host's git index, changed for some paths and nothing else. */
#ifndef GIT_LAND_INDEX_H
#define GIT_LAND_INDEX_H

#include "git/fetch.h"

struct err;

/* The index of a work tree, locked as git locks it: by the file index.lock beside it. */
struct land_index {
        char *tree;  /* the work tree */
        char *path;  /* the index */
        char *lock;  /* its lock, ours; NULL: none is held */
        int lock_fd; /* held by flock: a lock of ours that nobody holds is of a run that was
                        killed, and is taken over */
        char *next;  /* what it is to become */
        char *was;   /* a copy of the index as it was, while something may still fail */
};

/* land_index_lock(x, tree, git_dir, ref, id, err): -1 and a sentence when git, or an editor that asks
 * it, is at work there. ${ref} and ${id} are what makes the next index the right one: the branch, and
 * where it will be ("": gone). */
int land_index_lock(struct land_index *, const char *tree, const char *git_dir, const char *ref,
                    const char *id, struct err *);

/* land_index_sparse(x, paths, err): when the files have landed: those of ${paths} that a sparse
 * checkout leaves out, and that the work tree has not, are no deleted files. land_index_entry(b, path):
 * a line for `update-index -z --index-info`. */
void land_index_entry(struct buf *, const struct git_path *);
int land_index_sparse(struct land_index *, const struct git_paths *, struct err *);

/* land_index_set(x, paths, err): entries of ${paths} become what the paths say (mode 0: gone), in
 * the next index. land_index_swap(x, err): that becomes the index, and what it was is kept.
 * land_index_back(x): what it was is put back. land_index_free(x): unlocks. */
int land_index_set(struct land_index *, const struct git_paths *, struct err *);
int land_index_swap(struct land_index *, struct err *);
void land_index_back(struct land_index *);
void land_index_free(struct land_index *);

#endif
