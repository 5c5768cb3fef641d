/* spread.h - on which processors the processes of a start run.
 *
 * The kernel begins a child on its parent's processor and wakes a relative there, where one of them
 * waits for the other although another processor has nothing to do: that costs a box 0.3 to 1.7 of
 * the 5 ms that it takes to start on a machine with two. So until its first program runs, whoever
 * works beside the way to it is kept off the processor of who is on it.
 *
 * Never beyond the processors that we were given, and nothing at all where that is one. Whatever
 * fails here makes a start slower and nothing else, so nobody is told. */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include <stdbool.h>
#include <sys/types.h>

/* spread_off(pid): keep ${pid}, a process of our user, off the processor that we run on. */
void spread_off(pid_t pid);

/* spread_back(): let ourselves run again wherever we might before the first spread_off, of ours or
 * of the process that we were forked from. */
void spread_back(void);

/* spread_patient(is_patient): while it is on, a child that we make waits for us instead of taking
 * our processor at once, and stays so: time to send it elsewhere. */
void spread_patient(bool is_patient);

#endif
