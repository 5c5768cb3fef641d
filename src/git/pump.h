/* pump.h - the three pipes of one git process: its input is fed, its output taken up to a limit,
 * the end of its complaints kept, until it ends or its time is over. Who the process is, and how it
 * is known that it ended, is the caller's: the host's git (call.c) or one in a box (session). */
#ifndef GIT_PUMP_H
#define GIT_PUMP_H

#include "git/call.h"

#include <signal.h>

struct git_pump {
        const struct git_call *call;
        int in_fd, out_fd, err_fd; /* our ends */
        size_t in_at;
        uint64_t out_n;
        uint64_t until_ms;
        struct sigaction pipe_was;
        char words[1024]; /* the end of what it complained */
        size_t words_len;
};

/* git_pump_open(p, call, theirs, err): make the pipes; ${theirs} are for the process, close-on-exec
 * and the caller's. From here to git_pump_close a write to a closed pipe is no signal. */
int git_pump_open(struct git_pump *, const struct git_call *, int theirs[3], struct err *);

/* git_pump_wait(p, end_fd, err): pump until ${end_fd} is readable: 0. -1 when it took too long or
 * printed too much: the caller ends the process. */
int git_pump_wait(struct git_pump *, int end_fd, struct err *);

/* git_pump_rest(p, err): the process has ended: what is still in the pipes, without waiting. */
int git_pump_rest(struct git_pump *, struct err *);

/* git_pump_words(p, err): its last complaint, quoted, as the story. Returns -1. */
int git_pump_words(struct git_pump *, struct err *);

void git_pump_close(struct git_pump *);

#endif
