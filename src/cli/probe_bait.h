/* probe_bait.h - what `probe` lays out on the host for its attempts to find, and takes away again.
 */
#ifndef CLI_PROBE_BAIT_H
#define CLI_PROBE_BAIT_H

#include "base/strs.h"

#include <stdbool.h>

struct err;
struct store;

struct probe_bait {
        char *exe;       /* this program, by its resolved path */
        char *workspace; /* a throw-away project */
        char *canary;    /* a file of the user's */
        int loopback_fd, abstract_fd, leak_fd;
        struct strs args; /* for the inner half: where to look */
};

/* probe_bait_lay(b, store, err): make all of it. On failure -1; call probe_bait_clear either way.
 */
int probe_bait_lay(struct probe_bait *, const struct store *, struct err *);
/* probe_bait_is_whole(b): is the project on the host as it was? */
bool probe_bait_is_whole(const struct probe_bait *);
void probe_bait_clear(struct probe_bait *);

#endif
