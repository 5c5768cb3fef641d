/* custody_body_way.h - the way to the value that is being read in a JSON text, compared with the
 * pointers of slots as it goes. Pure but for memory; for custody_body_json.c. */
#ifndef EGRESS_CUSTODY_BODY_WAY_H
#define EGRESS_CUSTODY_BODY_WAY_H

#include "egress/custody_body_slots.h"

enum { CUSTODY_STEPS_MAX = 16 };

struct custody_way {
        struct custody_pointer {
                char *steps[CUSTODY_STEPS_MAX];
                size_t n;
                size_t matched; /* how many steps the way to the present value has taken */
                bool seen[CUSTODY_STEPS_MAX]; /* that step was in the container that is open */
        } pointers[CUSTODY_BODY_SLOTS_MAX];
        size_t n;
};

void custody_way_begin(struct custody_way *, const char *const *pointers, size_t n);
void custody_way_end(struct custody_way *);
/* custody_way_enter(w, depth): a container begins inside of ${depth} others;
 * custody_way_leave(w, depth): one ended, and ${depth} are open. */
void custody_way_enter(struct custody_way *, size_t depth);
void custody_way_leave(struct custody_way *, size_t depth);
/* custody_way_step(w, at, name, n): the member or element of that name begins in container ${at},
 * from 0. False: on the way to a slot it is there for the second time. */
bool custody_way_step(struct custody_way *, size_t at, const char *name, size_t n);
/* custody_way_is_slot(w, depth, &which): does a slot stand where the present value begins? */
bool custody_way_is_slot(const struct custody_way *, size_t depth, size_t *which);

#endif
