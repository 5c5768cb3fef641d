/* classify_int.h - what a repository's settings and the user's own say about other files: where
 * hooks are, which files a configuration includes, and which a setting makes git run. Shared by
 * classify.c and classify_said.c. */
#ifndef WORKSPACE_CLASSIFY_INT_H
#define WORKSPACE_CLASSIFY_INT_H

#include "base/strs.h"
#include "workspace/box_roots.h"
#include "workspace/git_words.h"

struct buf;
struct file_class_verdict;

struct classify_said {
        struct strs hooks;   /* directories, from the root */
        struct strs linked;  /* what links among the host's hooks lead to */
        struct strs configs; /* files */
        /* What settings that run something name: as in struct git_words, but from the root. */
        struct git_words named;
        struct strs tops; /* of work trees of the host whose settings were read */
        char *real;       /* where the root really is, or NULL */
        size_t seen_n;    /* what the views said */
        bool is_over;     /* more than is kept: then everything asks */
};
/* classify_said_host(s, root): what the repositories of the host say that the root is or lies in: a
 * linked work tree, a submodule, a sub-folder. Before the others. */
void classify_said_host(struct classify_said *, const struct ws_root *);
/* classify_said_at(s, root, path, len): the same for the directory of the root that the first ${len}
 * bytes of ${path} name, if the host has a repository there. */
void classify_said_at(struct classify_said *, const struct ws_root *, const char *path, size_t len);
/* classify_said_read(s, root, view): add what .git/config and .git/hooks of the root say; a view
 * without layers says nothing. */
void classify_said_read(struct classify_said *, const struct ws_root *, const struct ws_view *);
/* classify_said_user(s, root): what the user's own git settings name within the root: hooks by a
 * relative core.hooksPath, files that they include or run, and themselves, if they are links into it. */
void classify_said_user(struct classify_said *, const struct ws_root *);
/* classify_said_judge(s, path, verdict): replace a verdict when the settings name this path. */
void classify_said_judge(const struct classify_said *, const char *path,
                         struct file_class_verdict *);
void classify_said_free(struct classify_said *);

/* classify_read(view, path, text): the whole of a regular file of at most GIT_CONFIG_MAX bytes. */
int classify_read(const struct ws_view *, const char *path, struct buf *text);

#endif
