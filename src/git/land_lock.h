/* land_lock.h - the file index.lock as ours: made whole in one step, held by flock, and recognized when
 * its holder was killed. Anybody else's is left alone. */
#ifndef GIT_LAND_LOCK_H
#define GIT_LAND_LOCK_H

/* land_lock_take(git_dir, ref, id): a descriptor that holds the lock until it is closed and the file
 * removed; -1 and errno, EEXIST when somebody has it. One that a killed run of ours left is recovered
 * first. ${ref}, ${id}: where the branch will be when the index was replaced ("": it will be gone). */
int land_lock_take(const char *git_dir, const char *ref, const char *id);

/* land_lock_recover(git_dir): finish what a killed run of ours left: the index as it was before, unless
 * the branch has moved already, and no lock. 1: a run of ours is at work there; 0: it is not, whoever
 * else is. */
int land_lock_recover(const char *git_dir);

#endif
