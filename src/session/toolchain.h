/* toolchain.h - where the command and the user's tools really live, and which directories a box
 * must see for them to work: package and toolchain directories only, never a parent that holds
 * keys.
 *
 * Called by session/plan.c on every start, so the common case (a command below /usr) costs some
 * tens of microseconds. Reads the host, changes nothing, runs nothing. */
#ifndef SESSION_TOOLCHAIN_H
#define SESSION_TOOLCHAIN_H

#include "base/strs.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum toolchain_kind {
        TOOLCHAIN_TREE, /* directory, read-only: BOX_MOUNT_TREE with source = target = path */
        TOOLCHAIN_FILE, /* one file, read-only: BOX_MOUNT_FILE with source = target = path */
        TOOLCHAIN_LINK, /* a symlink to be made at path, with content `link`; see seed_links() for
                           those below the home, plan.links for the rest */
};

struct toolchain_item {
        enum toolchain_kind kind;
        char *path; /* absolute; TREE and FILE: resolved, no symlink in it */
        char *link; /* LINK: what it points to, as on the host */
        char *why;  /* "toolchain: nvm", "command: claude", ... */
};

struct toolchain_set {
        struct toolchain_item *items; /* sorted by path, so parents come before children; no TREE or
                                         FILE lies in another TREE */
        size_t items_n;
        char *exe;            /* path to execute in the box; NULL before toolchain_resolve */
        bool is_moved;        /* the word itself would not lead to exe inside: execute exe */
        struct strs path;     /* directories of PATH inside, in order */
        struct strs env;      /* NAME=VALUE that these toolchains need */
        struct strs left_out; /* "PATH entry\nreason" for explain */
};

struct toolchain_query {
        const char *path_env;  /* the caller's PATH */
        const char *home;      /* the caller's home, as in HOME */
        const char *workspace; /* resolved; visible in the box anyway; may be NULL */
        const char *cwd;       /* where a relative command ("./x") starts; NULL: the workspace */
        char *const *env;      /* the caller's environment (PYENV_ROOT, NVM_DIR ...); may be NULL */
        const char *const *extra; /* NULL-terminated directories visible besides the fixed trees
                                     (binds); may be NULL */
        const char *const *never; /* NULL-terminated directories of ours (store.state, data, config)
                                     that no exposure may hold or lie in; may be NULL */
};

/* toolchain_path(q, set, err): go through PATH: expose what belongs to a known toolchain, work out
 * PATH for the inside and the toolchains' variables. Call once, before toolchain_resolve. Never
 * fails for a strange PATH: what cannot be shown is in `left_out`. */
int toolchain_path(const struct toolchain_query *, struct toolchain_set *, struct err *);

/* toolchain_resolve(q, word, set, err): find ${word} (a name, or a path with a slash) and expose
 * what it needs, through symlinks, shebangs and shims; fills set->exe. E_NOCMD when it is not on
 * PATH, with how to install it if a profile knows; E_NOEXEC when it is there and not executable.
 * May be called for several words; set->exe is the last one's. */
int toolchain_resolve(const struct toolchain_query *, const char *word, struct toolchain_set *,
                      struct err *);

void toolchain_free(struct toolchain_set *);
#define _cleanup_toolchain_ __attribute__((cleanup(toolchain_free)))

/* toolchain_path_env(set): "a:b:c" for PATH inside; the caller frees. */
char *toolchain_path_env(const struct toolchain_set *);

/* toolchain_is_visible(path): does ${path} lie in the trees that every box sees (/usr /bin /sbin
 * /lib* /opt)? */
bool toolchain_is_visible(const char *path);

#endif
