/* apply.h - what the files of `ostiary apply` share: the changes of a box as a list, each judged,
 * chosen or left, and told. Included by cmd_apply.c and apply_*.c only. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "session/landing.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct apply_job {
        struct landing l;
        bool is_json, is_3way, with_all;
        struct ws_changes *lists; /* one per root */
        uint64_t ignored_n;       /* left out: build output */
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

/* apply_git_asks(j): the questions about commits (apply_git.c). */
void apply_git_asks(struct apply_job *);

/* apply_git_tell(j): in words. apply_git_json(j, w): as a key of the object. apply_git_left(j): did
 * something stay that nobody declined: a ref, or a branch of the host's that could have moved?
 * apply_git_has_news(j): was there any ref to speak of? (apply_git_tell.c) */
void apply_git_tell(const struct apply_job *);
bool apply_git_left(const struct apply_job *);
struct json;
void apply_git_json(const struct apply_job *, struct json *);
bool apply_git_has_news(const struct apply_job *);
/* apply_git_list(r, ref): its commits and what of them is not plain, on standard error. */
void apply_git_list(const struct git_repo *, const struct git_ref *);

/* apply_fate_name(j, fate): one word for programs, of a change or a ref; NULL: nothing to tell. */
const char *apply_fate_name(const struct apply_job *, enum landing_fate);
/* apply_tell(j): what was done and what was not; returns the exit code. */
int apply_tell(struct apply_job *);

#endif
