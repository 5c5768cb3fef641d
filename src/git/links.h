/* links.h - symbolic links of a tree, so that a class follows them: a changed file that a classed
 * name leads to has the class of that name (case 66). Pure; targets are taken by their text. A limit
 * that is reached makes nothing plain: a box can make any number of links. */
#ifndef GIT_LINKS_H
#define GIT_LINKS_H

#include "policy/file_class.h"

struct git_link {
        char *at; /* the link's own path */
        char *to; /* what it leads to, from the top of the tree; "" is the top itself */
};
struct git_links {
        struct git_link *v;
        size_t n, cap;
        bool is_sorted;
        size_t names_n; /* that were looked at, of all paths */
        bool is_lost; /* more than can be held, or one whose way its text does not tell: `..` after
                         what may be a link itself */
};
void git_links_free(struct git_links *);

/* git_links_add(l, at, target, top): a link with the text ${target}; one that leads out of ${top},
 * the tree's absolute place, is left out. */
void git_links_add(struct git_links *, const char *at, const char *target, const char *top);

/* git_links_leaves(at, target, repo, workspace): does a link lead out of the workspace? ${repo} is where
 * its repository lies in it. */
bool git_links_leaves(const char *at, const char *target, const char *repo, const char *workspace);

/* git_links_class(l, table, path, is_link, verdict): make ${verdict} worse if ${path} is reached
 * under another name that says more; ${is_link}: it is a link itself. More names than are looked at
 * are as bad as the worst. */
void git_links_class(struct git_links *, const struct file_classes *, const char *path,
                     bool is_link, struct file_class_verdict *);

#endif
