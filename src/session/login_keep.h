/* login_keep.h - a rotated token goes back to where the host keeps it, so that host and box both
 * stay logged in: a refresh token that was used is worthless, and using it again ends the whole
 * login.
 *
 * Whoever refreshes holds the lock from reading the old token to writing the new one: other boxes
 * of this user (a lock of ours) and the agent itself on the host (the lock it uses: a directory
 * beside its own, which counts as forgotten when it has not been touched for some seconds). */
#ifndef SESSION_LOGIN_KEEP_H
#define SESSION_LOGIN_KEEP_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct login_lock {
        int fd;    /* -1: not held */
        char *dir; /* the agent's own lock, if we made it */
};
#define LOGIN_UNLOCKED                                                                             \
        {                                                                                          \
                .fd = -1                                                                           \
        }

/* login_lock_try(l, state_dir, home, name, err): 1 when it is ours, 0 when somebody else has it, -1
 * and a story. ${name} is the agent's, or of a source that is no agent's a word for its lock. */
int login_lock_try(struct login_lock *, const char *state_dir, const char *home, const char *name,
                   struct err *);
/* login_lock_touch(l): it takes longer; the agent must not think us gone. */
void login_lock_touch(const struct login_lock *);
void login_unlock(struct login_lock *);

/* login_keep(home, name, json, n, err): put access, refresh and expires (seconds) of ${json} into
 * the agent's file, and leave everything else in it as it is. The file is replaced whole or not at
 * all. */
int login_keep(const char *home, const char *name, const char *json, size_t n, struct err *);
/* login_keep_file(path, json, n, err): the same for a file of the user's that holds a refresh
 * token: as plain text, or as JSON with refresh_token. */
int login_keep_file(const char *path, const char *json, size_t n, struct err *);

#endif
