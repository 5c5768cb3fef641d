/* git_host.h - what the host's own repositories say of other files: where hooks are, which files are
 * configuration, and which are run because a setting names them. git has several places for its
 * settings: the directory that all work trees of a repository share, that of one work tree (a linked
 * one or a submodule has a `.git` file that names it), the user's and the machine's files, and
 * whatever any of these include.
 *
 * Reads on the host, by name and through links, small regular files only. A live box may have written
 * them: nothing here is believed, it only makes more files ask. Runs no git. */
#ifndef WORKSPACE_GIT_HOST_H
#define WORKSPACE_GIT_HOST_H

#include "base/strs.h"
#include "workspace/git_words.h"

#include <stdbool.h>

/* Absolute paths, as they are said and where that really leads; with ".." in them, perhaps. */
struct git_host {
        struct strs hooks;      /* directories */
        struct strs linked;     /* what links in them lead to */
        struct strs configs;    /* files */
        struct git_words named; /* by settings that run something */
        size_t looked_n;        /* entries of directories: bounded */
};
void git_host_free(struct git_host *);
#define _cleanup_git_host_ __attribute__((cleanup(git_host_free)))

/* git_host_has(top): is there a `.git`, or is it a git directory itself? */
bool git_host_has(const char *top);
/* git_host_read(h, top): append what the repository there says, its submodules, and what it says in
 * its other work trees; nothing when there is none. */
void git_host_read(struct git_host *, const char *top);
/* git_host_real(path): where it leads, also when nothing is there yet; the caller's to free. */
char *git_host_real(const char *path);

#endif
