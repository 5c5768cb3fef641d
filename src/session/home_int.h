/* home_int.h - what the files of home share. Included by session/home*.c only. */
#ifndef SESSION_HOME_INT_H
#define SESSION_HOME_INT_H

#include "session/home.h"

#include <stdbool.h>
#include <sys/stat.h>

/* One run of home_accept: bounds that hold for all persist paths together. */
struct home_run {
        const struct home_accept *a;
        struct strs *notes;
        size_t files_left;
        uint64_t bytes_left;
};

void home_note(struct home_run *, const char *path, const char *why);

/* home_node.c - one thing in a tree that may be hostile, held by an O_PATH descriptor. */
struct home_node {
        int fd;
        struct stat st;
};
/* home_node_open(dir_fd, name, n): 0, or -1 with errno. Never follows a link. */
int home_node_open(int dir_fd, const char *name, struct home_node *);
void home_node_close(struct home_node *);
#define _cleanup_node_ __attribute__((cleanup(home_node_close)))
bool home_node_is_whiteout(const struct home_node *);
bool home_node_is_opaque(const struct home_node *);
/* home_node_reopen(n, flags): a real descriptor of the same thing; makes it readable for us first
 * if its mode forbids it. -1 with errno. */
int home_node_reopen(const struct home_node *, int flags);

/* home_own(run, dir_fd, name): the file belongs to the box from now on. */
int home_own(const struct home_run *, int dir_fd, const char *name, struct err *);

/* home_dir(run, root_fd, path, err): make ${path} below ${root_fd} of ours; its descriptor or -1.
 */
int home_dir(const struct home_run *, int root_fd, const char *path, struct err *);

/* home_clone.c - put ${from}/name into ${to} by hard links. Both are ours. Absent is success. */
int home_clone(const struct home_run *, int from_fd, const char *name, int to_fd, int depth,
               struct err *);

/* home_merge.c - bring what the box did to ${path} (upper) into the new version (root_fd). */
int home_merge(struct home_run *, int root_fd, const char *path, struct err *);
/* home_is_touched(upper_fd, path): does the upper say anything about ${path} at all? */
bool home_is_touched(int upper_fd, const char *path);

#endif
