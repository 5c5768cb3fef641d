/* git_user.h - the user's own git settings on the host, read by us: ~/.gitconfig and its companion,
 * or what GIT_CONFIG_GLOBAL names. Includes are not followed. */
#ifndef WORKSPACE_GIT_USER_H
#define WORKSPACE_GIT_USER_H

#include "policy/git_config.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct git_user {
        struct {
                char *path; /* through links: where it really is */
                struct git_config config;
        } v[2]; /* in git's order: the later one counts */
        size_t n;
        char *home, *config_dir; /* "" when there is no home */
};
void git_user_open(struct git_user *);
void git_user_free(struct git_user *);
#define _cleanup_git_user_ __attribute__((cleanup(git_user_free)))

/* git_user_last(u, key): the value that counts, or NULL. git_user_path(u, value, beside): "~/" is
 * the home; with ${beside} a relative one is meant from that file's directory; the caller's to
 * free. git_user_bytes(path, max, b): a regular file that the user names, wherever that leads. */
const char *git_user_last(const struct git_user *, const char *key);
char *git_user_path(const struct git_user *, const char *value, const char *beside);
int git_user_bytes(const char *path, size_t max, struct buf *);

#endif
