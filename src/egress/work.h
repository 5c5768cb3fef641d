/* work.h - one budget for the work that the door does in one go, so that nobody's bytes keep the
 * loop from anybody else.
 *
 * A turn is one call by the loop on behalf of one connection, timer or job; a round is all turns
 * between two looks at the supervisor. Whatever is done to bytes is a step: a read, a frame, a call
 * of a decoder, a search. How a stage uses it:
 *
 *      while (there is more to do) {
 *              if (work_is_spent(w)) {
 *                      work_again(w, &stage->job);     // called back in a turn of its own
 *                      return;                         // and says "full" to whoever feeds it
 *              }
 *              n = do a piece of at most WORK_PIECE bytes;
 *              work_step(w, bytes in + bytes out);
 *      }
 *
 * A step that moves nothing still costs WORK_STEP, so that empty members, frames and events are
 * bounded like bytes. The longest turn is then WORK_TURN and one piece. Jobs are served in the
 * order in which they asked. Pure: no descriptor, no clock. NULL for ${w} is a budget without end
 * (tests, and tools that serve one caller only). */
#ifndef EGRESS_WORK_H
#define EGRESS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        WORK_PIECE = 16 << 10,
        WORK_STEP = 256,
        WORK_TURN = 256 << 10,
        WORK_ROUND = 1 << 20, /* then the supervisor, the keeper and dial are heard */
};

/* A stage that has more to do: a member of it, zeroed, with fn and ctx set by its owner. */
struct work_job {
        void (*fn)(void *ctx);
        void *ctx;
        struct work_job *next, **prev;
};

struct work_budget {
        uint64_t turn, round; /* spent so far */
        uint64_t turn_bytes, turn_steps;
        struct work_job *jobs, **jobs_end;

        /* since the door was opened */
        uint64_t longest_bytes, longest_steps; /* of any turn */
        uint64_t longest_round;
        uint64_t turns, yields; /* how many there were; how often a stage was sent back */
};

/* work_round(w), work_turn(w): a new one begins. */
void work_round(struct work_budget *);
void work_turn(struct work_budget *);
/* work_step(w, bytes): something was done that moved so many bytes, in and out together. */
void work_step(struct work_budget *, size_t bytes);
/* work_is_spent(w): it is somebody else's turn. */
bool work_is_spent(const struct work_budget *);

/* work_again(w, job): call it in one of the next turns; once, however often it is asked for. With
 * NULL for ${w} it is called at once. work_drop(w, job): not any more. */
void work_again(struct work_budget *, struct work_job *);
void work_drop(struct work_budget *, struct work_job *);
/* work_jobs(w): give each that waits a turn, as long as the round lasts. True: some still wait. */
bool work_jobs(struct work_budget *);

#endif
