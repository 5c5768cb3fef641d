/* boxpick.h - which boxes ps, stop and rm speak of: names, patterns ('try-*'), --all and --filter.
 *
 * A word without * ? [ is a box as everywhere (boxarg.h). Patterns, --all and --filter choose among
 * the boxes that are there; every filter must hold. */
#ifndef CLI_BOXPICK_H
#define CLI_BOXPICK_H

#include "base/strs.h"

#include <stdbool.h>
#include <stddef.h>

struct args;
struct box_meta;
struct err;
struct store;

struct boxpick {
        bool is_all;
        struct strs filters; /* KEY=VALUE, as written */
};

#define BOXPICK_FILTER(p)                                                                          \
        ARG_LIST(0, "filter", &(p)->filters, "KEY=VALUE",                                          \
                 "only boxes with state=running, agent=claude, workspace=DIR, older=7d, "          \
                 "younger=1h, changes=yes; repeatable")

/* boxpick_check(p, a): are the filters well formed? 0, or -1 after args_bad. */
int boxpick_check(const struct boxpick *, struct args *);

/* boxpick_fits(p, s, m): do all filters hold of ${m}? They were checked. */
bool boxpick_fits(const struct boxpick *, const struct store *, const struct box_meta *);

/* boxpick_is_wide(p, words): may it mean boxes that were not named? */
bool boxpick_is_wide(const struct boxpick *, const struct strs *words);

/* boxpick_ids(p, words, s, ids, err): add the boxes to ${ids}, each once: named ones as they are
 * written, the others by id. A pattern that fits no box is E_ABSENT. */
int boxpick_ids(const struct boxpick *, const struct strs *words, const struct store *,
                struct strs *ids, struct err *);

void boxpick_free(struct boxpick *);
#define _cleanup_boxpick_ __attribute__((cleanup(boxpick_free)))

#endif
