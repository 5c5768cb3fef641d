/* judge_int.h - what the judge's parts share: a sequence that is being judged, and what apply said
 * of it. Included by judge*.c alone. */
#ifndef TESTS_MODEL_JUDGE_INT_H
#define TESTS_MODEL_JUDGE_INT_H

#include "model.h"

#include "workspace/apply.h"

/* Not wrong, and nothing more can be seen in this sequence. */
enum { STOP = 2 };

struct judge {
        struct stage stage;
        const struct seq *seq;
        struct dice dice;
        struct tree at_start; /* the host's when the box began */
        struct tree host;     /* the host's when the box was done */
        struct tree box;      /* the mounted view */
        struct tree now;      /* the host's as it was last read; nobody else writes there */
        bool has_host_ops;
        char *why;
        size_t why_size;
};

/* fails(j, fmt, ...): say why; returns 1. */
int fails(struct judge *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- judge_diff.c --- */
/* check_diff(j, changes, before, after, when): what was told is the difference, in an order that
 * can be followed. check_part: a part of the tree, asked for by its path, is told as among all.
 * diff_now: walk, and hold it against the host as it is now. */
int check_diff(struct judge *, const struct ws_changes *, const struct tree *before,
               const struct tree *after, const char *when);
int check_part(struct judge *, const struct ws_root *, const struct ws_changes *all);
int diff_now(struct judge *, const struct ws_roots *, struct ws_changes *, const char *when);

/* --- judge_apply.c --- */
struct told {
        struct strs conflicts, refused;
        char odd[700]; /* refused without a reason that lasts */
        bool is_shut;  /* a read-only directory stays one, with what would be in it */
};
void told_free(struct told *);
/* choose(j, changes, percent, with_bytes): so many of them; some with bytes of ours instead. */
struct apply_choice *choose(struct judge *, const struct ws_changes *, unsigned percent,
                            bool with_bytes);
int apply(struct judge *, const struct ws_roots *, struct apply_choice *, size_t n,
          uint64_t *record, struct told *, const char *when);
/* check_again: nothing is pending but what was told, and the box sees what it saw. check_view(j,
 * want, when): what is mounted shows the same files. */
int check_again(struct judge *, const struct ws_roots *, const struct told *);
int check_view(struct judge *, const struct tree *want, const char *when);
/* put_fault(j, over): a file that nobody asked for, or one of these paths overwritten. */
void put_fault(struct judge *, const struct strs *over);

/* --- judge_undo.c --- */
/* undo(j, n, want, by, when): ${by} is the undo's own record, may be NULL. */
int undo(struct judge *, uint64_t n, const struct tree *want, uint64_t *by, const char *when);

#endif
