/* landed.h - a note that the host has all that a box's refs name, which costs a box of its own to find
 * out, and whether it still holds: the host can lose refs again (undo, branch -D, a new clone). */
#ifndef GIT_LANDED_H
#define GIT_LANDED_H

#include <stdbool.h>

/* git_landed_holds(note, box): has every repository that ${note} names (git_want.landed) still what it
 * says? One call of the host's git for each whose refs are as they were then; a few where they moved.
 * false: not, or it names
 * none, or it cannot be told; then ask git_fetch_pending again. ${box}: as in refs/ostiary/BOX. */
bool git_landed_holds(const char *note, const char *box);

#endif
