/* apply.h - what the files of `ostiary apply` share: the changes of a box as a list, each judged,
 * chosen or left, and told. Included by cmd_apply.c and apply_*.c only. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "base/buf.h"
#include "base/strs.h"
#include "git/fetch.h"
#include "git/land.h"
#include "session/changes.h"
#include "workspace/apply.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;

/* What became, or will become, of a change. */
enum apply_fate {
        FATE_OPEN,     /* nobody has decided */
        FATE_TAKE,     /* is to be applied */
        FATE_APPLIED,  /* was */
        FATE_CONFLICT, /* the host changed it too */
        FATE_REFUSED,  /* never applied, or the host would not have it */
        FATE_UNASKED,  /* of a class that nobody approved, and nobody could be asked */
        FATE_DECLINED, /* the user said no */
        FATE_IMPLIED,  /* a directory that is made with what is in it */
        FATE_MASKED,   /* a stand-in of ours, untouched: nothing to speak of */
        FATE_UNIT,     /* belongs to commits that nobody has decided about */
        FATE_WAITS,    /* stays in the box with the commits it belongs to */
};

struct apply_item {
        const struct ws_change *change;
        size_t root; /* index in the box's roots */
        enum apply_fate fate;
        enum apply_conflict conflict;
        const char *why; /* FATE_REFUSED; a note for FATE_CONFLICT */
        enum apply_how how;
        struct buf bytes; /* APPLY_BYTES, APPLY_MERGE */
        char host_sha[SHA256_HEX_LEN + 1];
        char shown[SHA256_HEX_LEN + 1]; /* the content that was shown, or "" */
        size_t unit; /* index plus one in the job's units: commits touch the path; 0: none do */
};

/* What a repository of the box brings: its refs, and the files that belong to its commits. */
struct apply_unit {
        struct git_repo *repo;
        enum apply_fate
                *refs;    /* one per ref: OPEN, TAKE, APPLIED, UNASKED, DECLINED, REFUSED; WAITS:
                                  nothing of it is new */
        bool takes_head;  /* the host's branch moves, and its files land */
        char *waits;      /* why it does not; or NULL */
        char *items_wait; /* the same for its files, one by one */
        bool is_here;     /* its commits are on the host, or will be: a merge brings them in */
        struct git_land *land;
        bool is_done;
        struct strs kept; /* refs that keep what others were before */
};

struct apply_job {
        struct changes *c;
        bool is_dry, is_json, is_hunks, is_3way, with_all;
        bool has_yes;               /* --yes: plain ones without a question */
        bool yes[FILE_CLASS_COUNT]; /* --yes=CLASS */
        bool has_terminal;          /* somebody can be asked */
        struct ws_changes *lists;   /* one per root */
        struct apply_item *v;       /* of all roots, in the order of the walk */
        size_t n;
        uint64_t ignored_n;           /* left out: build output */
        struct apply_result *results; /* one per root */
        bool is_over;                 /* the user wants no further question */
        const struct store *store;
        bool is_files;         /* --files: files without commits */
        struct strs git_trees; /* work trees whose git directories the box touched */
        struct git_fetch fetch;
        struct apply_unit *units; /* one per repository of ${fetch} */
};

/* apply_items_find(j, err): walk the roots, judge what was found. */
int apply_items_find(struct apply_job *, struct err *);
void apply_items_free(struct apply_job *);
/* apply_items_settle(j): directories follow what is in them. */
void apply_items_settle(struct apply_job *);
/* apply_items_run(j, undo_fd, err): what was chosen, root by root. */
int apply_items_run(struct apply_job *, int undo_fd, struct err *);

/* apply_ask(j): a question per class; sets every open fate. apply_hunks(j): a question per hunk
 * instead. apply_answer(question, letters): one small letter of ${letters}, the first at the end of
 * the input. */
void apply_ask(struct apply_job *);
void apply_hunks(struct apply_job *);
char apply_answer(const char *question, const char *letters);

/* apply_merge(j, undo_fd): conflicts of text with a known base become merges where both sides
 * agree. */
void apply_merge(struct apply_job *, int undo_fd);

/* Commits (apply_git.c), in this order: apply_git_fetch(j, err): what the box committed, by the work
 * trees that were found. apply_git_find(j): which items belong to it. apply_git_ask(j): a question per ref; sets the fates of refs and of
 * the items that belong to them. apply_git_begin(j): objects and locks; what cannot be had waits.
 * apply_git_end(j, undo_fd): when the files have landed: index and refs, or the files back.
 * apply_git_free(j). */
int apply_git_fetch(struct apply_job *, struct err *);
void apply_git_find(struct apply_job *);
void apply_git_ask(struct apply_job *);
void apply_git_begin(struct apply_job *);
void apply_git_end(struct apply_job *, int undo_fd);
void apply_git_free(struct apply_job *);

/* apply_git_tell(j): in words. apply_git_json(j, w): as a key of the object. apply_git_left(j): were
 * refs left that could have been taken? apply_git_is_here(j): is every branch that files wait for
 * on the host by now, below refs/ostiary? apply_git_has_news(j): was there any ref to speak of?
 * (apply_git_tell.c) */
void apply_git_tell(const struct apply_job *);
bool apply_git_left(const struct apply_job *);
bool apply_git_is_here(const struct apply_job *);
struct json;
void apply_git_json(const struct apply_job *, struct json *);
bool apply_git_has_news(const struct apply_job *);
/* apply_git_list(r, ref): its commits and what of them is not plain, on standard error. */
void apply_git_list(const struct git_repo *, const struct git_ref *);

/* apply_name(j, item): how its path is told, quoted; the caller frees. */
char *apply_name(const struct apply_job *, const struct apply_item *);
/* apply_fate_name(j, fate): one word for programs, of a change or a ref; NULL: nothing to tell. */
const char *apply_fate_name(const struct apply_job *, enum apply_fate);
/* apply_tell(j): what was done and what was not; returns the exit code. */
int apply_tell(struct apply_job *);

#endif
