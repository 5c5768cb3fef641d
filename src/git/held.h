/* held.h - is what the box committed the host's already? Then nothing of it is offered again. Asks the
 * host's git over the user's own repository; of the box only its HEAD counts. */
#ifndef GIT_HELD_H
#define GIT_HELD_H

#include "git/fetch.h"

/* git_held_entry(repo, path): what the box's HEAD, which the host has (repo->held), has at ${path}, from
 * the top of the work tree; NULL: nothing, or it cannot be told. The repository's own. */
const struct git_path *git_held_entry(struct git_repo *, const char *path);

#endif
