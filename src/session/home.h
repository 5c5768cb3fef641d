/* home.h - what outlives a box of its home: accepted layers, one line of versions per profile.
 *
 *   $XDG_DATA_HOME/ostiary/homes/PROFILE/  lock  current -> N   1/ 2/ ... N/
 *
 * A version never changes once `current` names it: a new one is a clone by hard links plus what the
 * box changed, so running boxes keep the version they were started over. */
#ifndef SESSION_HOME_H
#define SESSION_HOME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct strs;

/* home_current(data_dir, profile): the directory to use as the lower of a home (absolute; the
 * caller frees), or NULL when nothing was accepted yet. ${data_dir} is store.data. */
char *home_current(const char *data_dir, const char *profile);

/* home_hold(dir, err): a descriptor that keeps home_gc away from ${dir} while it is open (the
 * supervisor keeps it as long as its box lives), or -1. */
int home_hold(const char *dir, struct err *);

struct home_accept {
        const char *data_dir;
        const char *profile;
        const struct strs *persist; /* paths below the home, as in struct profile */
        int upper_fd;               /* the home layer's upper directory; hostile */
        uid_t owner;                /* who the files shall belong to (plan.disk_uid) */
        gid_t group;
};

/* home_accept(a, notes, err): at the end of a box, make a new version from the current one and what
 * the box changed below the persist paths. Files, directories and symlinks that stay inside the
 * home are taken; the rest is named in ${notes} ("what\nwhy"). Nothing changed: no new version.
 * Boxes that end at once wait for each other. On failure -1 and the current version stays. */
int home_accept(const struct home_accept *, struct strs *notes, struct err *);

/* home_gc(data_dir, removed_n, err): remove versions that are neither current nor held, and
 * left-overs of accepts that were killed. */
int home_gc(const char *data_dir, size_t *removed_n, struct err *);

#endif
