/* apply.h - what the files of `ostiary apply` share: the changes of a box as a list, each judged,
 * chosen or left, and told. Included by cmd_apply.c and apply_*.c only. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "base/buf.h"
#include "session/changes.h"
#include "workspace/apply.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

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

/* apply_name(j, item): how its path is told, quoted; the caller frees. */
char *apply_name(const struct apply_job *, const struct apply_item *);
/* apply_tell(j): what was done and what was not; returns the exit code. */
int apply_tell(struct apply_job *);

#endif
