/* fetch.h - what a box committed, taken over as from a remote that is not trusted.
 *
 * The box's repositories are read by git in a box without network (call.h); what comes out is a
 * list of refs, which is checked name by name, and a self-contained pack. A confined
 * `index-pack --strict` writes the pack into a quarantine: an object directory of ours beside the
 * box. Everything that is told of commits is then read by the host's git from there, with the
 * user's objects as alternate: no replace refs, no grafts, no configuration of the box. Nothing of
 * the user's repository is written here; git/land.h does that.
 *
 *     struct git_fetch f = {0};
 *     if (git_fetch(&f, &want, err) < 0) ...
 *     for (size_t i = 0; i < f.n; i++) ... f.v[i].refs ...
 *     git_fetch_free(&f); */
#ifndef GIT_FETCH_H
#define GIT_FETCH_H

#include "base/strs.h"
#include "git/call.h"
#include "policy/file_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum { GIT_ID_MAX = 64 }; /* hexadecimal digits: 40 or 64 */

/* A path that a commit, tag, stash or the index would bring. */
struct git_path {
        char *path;               /* from the top of the work tree; any bytes but NUL */
        char what;                /* 'A', 'M', 'D', 'T' as git says */
        unsigned mode;            /* after: 0100644, 0100755, 0120000, 0160000; 0: it goes */
        char id[GIT_ID_MAX + 1];  /* after; zeros when it goes */
        char was[GIT_ID_MAX + 1]; /* before; zeros when it is new. Of a merge: the first parent's */
        bool is_converted; /* the box's work tree has it as git checks it out there: with other line
                              ends, another encoding (convert.c) */
        struct file_class_verdict class;
        char commit[GIT_ID_MAX + 1]; /* the newest new commit that touches it; "" for a comparison
                                        of two trees */
};
struct git_paths {
        struct git_path *v; /* sorted by bytes of the path, each once */
        size_t n;
};
/* git_paths_find(p, path): NULL when it is not among them. */
const struct git_path *git_paths_find(const struct git_paths *, const char *path);
void git_paths_free(struct git_paths *);

struct git_commit {
        char id[GIT_ID_MAX + 1];
        char *subject, *author; /* any bytes: quote them */
        int64_t when_s;
};

enum git_ref_kind { GIT_REF_HEAD, GIT_REF_TAG, GIT_REF_STASH };

struct git_ref {
        enum git_ref_kind kind;
        char *name;  /* the box's: "refs/heads/main", "refs/tags/v1", "stash@{0}", "HEAD",
                        "worktrees/PATH/HEAD" */
        char *local; /* where it lands: "refs/ostiary/BOX/heads/main", ".../stash/0"; a HEAD that is
                        detached and new: "refs/ostiary/BOX/HEAD", of a linked work tree
                        ".../worktrees/PATH/HEAD". NULL: its name is refused */
        char *tree;  /* of a detached HEAD: its work tree in the box, absolute; else NULL */
        char tip[GIT_ID_MAX + 1];    /* pinned: what is shown is what lands */
        char host[GIT_ID_MAX + 1];   /* the host's ref of that name; "" when it has none */
        char landed[GIT_ID_MAX + 1]; /* what ${local} is on the host; "" when it is not there */
        struct git_commit *commits;  /* reachable from the tip and from no ref of the host; newest
                                        first; at most GIT_COMMITS_MAX are listed */
        size_t commits_n, commits_all;
        char *tag; /* the objects of a new annotated tag with their messages; else NULL. Any bytes but
                      NUL: quote them */
        struct git_paths paths; /* all that these commits bring, each by its own class; a path
                                      that came and went is there too */
        enum file_class worst;  /* the most dangerous class of ${paths}, and of what else the
                                      tip would bring to the branch it stands for */
        bool is_new;            /* something of it is not on the host yet: commits, or a tag
                                      object, or a name, or a move other than backwards, that
                                      ${local} does not have. Only then are commits and paths read
                                    */
        char *refused; /* a sentence: why nothing of it can be taken (a bad object, a bad name) */
};
enum { GIT_COMMITS_MAX = 500, GIT_REFS_MAX = 10000, GIT_PATHS_MAX = 2000000 };

/* Has the host the box's HEAD by now? */
enum git_held {
        GIT_HELD_NOT,
        GIT_HELD_MERGED, /* a branch of the host's own contains it */
        GIT_HELD_TAKEN,  /* that, and it was fetched from this box before */
};

/* A work tree of the box that is a repository there. */
struct git_repo {
        char *path;        /* from the top of the workspace: "", "lib/sub" */
        char *dir;         /* the same absolute: a box sees its workspace where the host has it */
        char *host_git;    /* the host's git directory for this work tree (git rev-parse
                           --absolute-git-dir), NULL: only the box has this repository */
        char *host_common; /* the directory that all of its work trees share */
        bool is_module;    /* a submodule: its git directory lies in another one's */
        bool shares;       /* its refs are those of an earlier repo in the list (a linked work
                              tree): ${refs} is empty here */
        size_t owner;      /* which that is; its own number otherwise */
        bool is_spare;     /* a linked work tree that only the box has: its refs are those of a
                              repository of the list, and its files stay with it */
        char *waits;       /* a sentence: why nothing of it can be taken now (no git here, another
                              owner, shallow and partial beyond what works, ...); NULL: none */
        char *quarantine;  /* its object directory with what was fetched; NULL: nothing was. A
                              bare repository of ours is around it */
        struct git_ref *refs;
        size_t refs_n;

        /* The work tree's HEAD. */
        char *head;                   /* the box's branch, "refs/heads/main"; NULL: detached */
        char head_id[GIT_ID_MAX + 1]; /* "" before the first commit */
        char *host_head;
        char host_head_id[GIT_ID_MAX + 1];
        char base_id[GIT_ID_MAX + 1]; /* common ancestor of both; "" when there is none */
        bool is_ff; /* the same branch, and the host's commit is an ancestor of the box's (or the
                       host has none yet) and not the same */
        enum git_held held;
        struct git_paths head_tree; /* of held.h: all of the box's HEAD, once it was asked for */
        bool is_head_read;
        struct git_paths
                touched;         /* what the box's HEAD has otherwise than the host's, with classes:
                                     these paths land with commits or not at all */
        uint64_t *sizes;         /* of ${touched}, once blob.h was asked for one; else NULL */
        uint64_t *head_sizes;    /* of ${head_tree}, likewise */
        uint64_t *staged_sizes;  /* of ${staged}, by the box's word; NULL: not told */
        struct git_paths staged; /* in the box's index otherwise than in its HEAD. What its work
                                     tree has as well is no news: committed_is_in_tree. Shown,
                                     never taken */
        struct strs config; /* `git config ...` commands that would make what the box changed in
                               its configuration; shown, never run */
        uint64_t notes_n;   /* other refs that changed and never land: notes, replacements,
                               remote-tracking refs, ... */
        char *box_common; /* the box's word for its git directory, absolute: hostile. NULL: none */
};

struct git_fetch {
        struct git_repo *v; /* submodules and nested ones before what contains them */
        size_t n;
        char *waits; /* for all: "there is no git on this machine", ... */
        /* The caller's: what must stay as long as the quarantines are read; closed and removed by
         * git_fetch_free. */
        int lock_fd;   /* held; 0: none */
        char *private; /* a directory of this fetch alone, or NULL */
};

enum git_in_tree {
        GIT_IN_TREE_SAME,  /* the same content and mode, byte by byte */
        GIT_IN_TREE_FILE,  /* a regular file with that mode, of another content, not too large for
                              git to convert it */
        GIT_IN_TREE_OTHER, /* nothing, or something else */
};

struct git_want {
        const struct git_inside *inside;
        const char *box;          /* its name, as it stands in refs/ostiary/NAME */
        const char *workspace;    /* absolute */
        const struct strs *trees; /* candidates: work trees, from the top of the workspace ("" is
                                     the top); those that are none are passed over, submodules
                                     that the host or the box names, and linked work trees that
                                     the host has there, are added */
        const struct file_classes *classes;
        const char *scratch; /* a directory of ours (0700) for quarantines: SCRATCH/N/objects. What
                                is there from an earlier fetch is used again if it fits */
        int (*confine)(void *arg, const struct git_call *, const char *writable,
                       const struct strs *readable, struct err *); /* run git confined: no
                                network, writes to ${writable} alone, reads ${readable} and the
                                system; from session/errand.h */
        void *confine_arg;
        /* What a path of the workspace is there for, by everything that the host has: links, hook
         * directories, included configuration; may be NULL. */
        void (*judge)(void *arg, const char *path, struct file_class_verdict *);
        void *judge_arg;
        /* What the box's work tree has where its HEAD or index has an entry; NULL: nobody can tell. */
        enum git_in_tree (*in_tree)(void *arg, struct git_repo *, const struct git_path *);
        void *in_tree_arg;
        /* git_fetch_pending, when it says 0: what git_landed_holds can check later; is_broken: nothing.
         * NULL: nobody asks. */
        struct buf *landed;
        bool wants_tree; /* fill git_path.is_converted: for who shows what is not committed */
};

/* git_fetch(f, want, err): 0; -1 when the whole cannot be told. What is wrong with one repository
 * or one ref is told in it. */
int git_fetch(struct git_fetch *, const struct git_want *, struct err *);
void git_fetch_free(struct git_fetch *);

/* git_fetch_pending(want, err): cheaper: 1 when some ref of the box is not on the host yet (what
 * git_ref.is_new says), or notes, or content that is in its index alone; 0, -1. */
int git_fetch_pending(const struct git_want *, struct err *);

#endif
