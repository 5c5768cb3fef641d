/* undo_refs.h - git refs in records of undo: written before they move, moved back with the files.
 * Joins workspace/undo.h, which knows records, and git/land.h, which knows refs. */
#ifndef SESSION_UNDO_REFS_H
#define SESSION_UNDO_REFS_H

#include "git/land.h"
#include "workspace/undo.h"

struct err;

/* undo_refs_note(undo_fd, head, tree, moves, n, &record, err): that these refs of the repository at
 * ${tree} will move, in record ${record}, or in a new one with ${head} when that is 0. On disk when
 * it returns 0. */
int undo_refs_note(int undo_fd, const struct undo_head *, const char *tree, const struct git_move *,
                   size_t n, uint64_t *record, struct err *);

struct undo_refs_hooks {
        void (*on_done)(void *arg, const struct undo_ref *, bool is_removed);
        void (*on_left)(void *arg, const struct undo_ref *, const char *why);
        void *arg;
};
/* undo_refs_back(undo_fd, of, is_dry, hooks, &by, err): move back what record ${of} says, the last
 * one first, as far as each is where the record put it. ${by} is the record of this undo, 0 when
 * there is none yet: one is made when a ref moves. */
int undo_refs_back(int undo_fd, const struct undo_record *of, bool is_dry,
                   const struct undo_refs_hooks *, uint64_t *by, struct err *);

/* undo_refs_locked(undo_fd, git_dir, err): that the index of that git directory is being replaced, on
 * disk before it is. undo_refs_recover(undo_fd): whatever a killed apply or undo left of that, in any
 * repository: an index half replaced, a lock. What is not provably ours stays. */
int undo_refs_locked(int undo_fd, const char *git_dir, struct err *);
void undo_refs_recover(int undo_fd);

#endif
