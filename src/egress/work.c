/* work.c - see work.h. Called by conn.c (reads), undo.c (decoders), scrub.c and custody_body.c
 * (searching), and by egress.c between two rounds. */
#include "egress/work.h"

static void work_note(struct work_budget *w)
{
        if (w->turn_bytes > w->longest_bytes)
                w->longest_bytes = w->turn_bytes;
        if (w->turn_steps > w->longest_steps)
                w->longest_steps = w->turn_steps;
}

void work_turn(struct work_budget *w)
{
        work_note(w);
        w->turns++;
        w->turn = w->turn_bytes = w->turn_steps = 0;
}

void work_round(struct work_budget *w)
{
        if (w->round > w->longest_round)
                w->longest_round = w->round;
        w->round = 0;
        work_turn(w);
}

void work_step(struct work_budget *w, size_t bytes)
{
        if (!w)
                return;
        w->turn_bytes += bytes;
        w->turn_steps++;
        w->turn += bytes + WORK_STEP;
        w->round += bytes + WORK_STEP;
        work_note(w);
}

bool work_is_spent(const struct work_budget *w)
{
        return w && (w->turn >= WORK_TURN || w->round >= WORK_ROUND);
}

void work_again(struct work_budget *w, struct work_job *job)
{
        if (!w) {
                job->fn(job->ctx);
                return;
        }
        if (job->prev)
                return;
        if (!w->jobs)
                w->jobs_end = &w->jobs;
        job->next = NULL;
        job->prev = w->jobs_end;
        *w->jobs_end = job;
        w->jobs_end = &job->next;
        w->yields++;
}

void work_drop(struct work_budget *w, struct work_job *job)
{
        if (!w || !job->prev)
                return;
        *job->prev = job->next;
        if (job->next)
                job->next->prev = job->prev;
        else
                w->jobs_end = job->prev;
        job->next = NULL;
        job->prev = NULL;
}

bool work_jobs(struct work_budget *w)
{
        /* Jobs that ask again stand behind the last of now, and have their turn in the next round.
         * The last of now may be dropped by another's turn, so they are counted instead. */
        size_t n = 0;
        for (const struct work_job *j = w->jobs; j; j = j->next)
                n++;
        while (n-- > 0 && w->jobs && w->round < WORK_ROUND) {
                struct work_job *job = w->jobs;
                work_drop(w, job);
                work_turn(w);
                job->fn(job->ctx);
        }
        return w->jobs != NULL;
}
