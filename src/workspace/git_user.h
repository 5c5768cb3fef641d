/* git_user.h - the git settings on the host that hold for every repository of the user, read by us:
 * the machine's /etc/gitconfig (or what GIT_CONFIG_SYSTEM names; none with GIT_CONFIG_NOSYSTEM),
 * ~/.gitconfig and its companion, or what GIT_CONFIG_GLOBAL names; and what these include, each file
 * once, whatever the condition of an include says: it may hold by the time git runs. */
#ifndef WORKSPACE_GIT_USER_H
#define WORKSPACE_GIT_USER_H

#include "policy/git_config.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct git_user_file {
        char *path;       /* through links: where it really is */
        char *as;         /* how git names it: what it includes is meant from there */
        bool is_included; /* by another one of the list, maybe under a condition */
        struct git_config config;
};
struct git_user {
        struct git_user_file *v; /* in git's order: the later one counts; what a file includes
                                    follows all that are read by themselves */
        size_t n;
        char *home, *config_dir; /* "" when there is no home */
};
enum { GIT_USER_FILES_MAX = 64 };
void git_user_open(struct git_user *);
void git_user_free(struct git_user *);
#define _cleanup_git_user_ __attribute__((cleanup(git_user_free)))

/* git_user_also(u, path): one file more that git reads, of a repository, and what it includes. */
void git_user_also(struct git_user *, const char *path);

/* git_user_is_include(key): does the value name a file that git reads too? */
bool git_user_is_include(const char *key);

/* git_user_last(u, key): the value that counts, or NULL; included files have no say, because nobody
 * asked git whether their conditions hold. git_user_path(u, value, beside): "~/" is
 * the home, "~NAME/" that of another user; with ${beside} a relative one is meant from that file's
 * directory; the caller's to free. git_user_bytes(path, max, b): a regular file that the user names,
 * wherever that leads; nothing else is opened. */
const char *git_user_last(const struct git_user *, const char *key);
char *git_user_path(const struct git_user *, const char *value, const char *beside);
int git_user_bytes(const char *path, size_t max, struct buf *);

#endif
