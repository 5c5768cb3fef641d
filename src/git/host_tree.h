/* host_tree.h - the files of one commit of the host's, asked for by path. */
#ifndef GIT_HOST_TREE_H
#define GIT_HOST_TREE_H

#include "git/fetch_int.h"

struct host_entry {
        const char *path, *id; /* point into the tree's text */
        unsigned mode;
};
struct host_tree {
        char commit[GIT_ID_MAX + 1];
        struct buf text;
        struct host_entry *v; /* sorted by path */
        size_t n;
        bool is_read; /* else nothing is known of it */
};
void host_tree_free(struct host_tree *);
#define _cleanup_host_tree_ __attribute__((cleanup(host_tree_free)))

/* host_tree_load(t, f, commit): nothing is done when it is that one already. A tree that cannot be
 * read has nothing. */
void host_tree_load(struct host_tree *, struct fetch *, const char *commit);

/* host_tree_has(t, raw): is the tree at that path already as the entry leaves it? */
bool host_tree_has(const struct host_tree *, const struct git_raw *);

#endif
