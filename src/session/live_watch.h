/* live_watch.h - the process that watches a live workspace while a box writes to it, and takes away
 * what is new and dangerous (case 64). It has the user's rights and listens to nobody: the
 * directories tell it by inotify, the supervisor only when to end.
 *
 * It tells the supervisor, a line each: "R" (it watches), "Q PATH<TAB>WORDS" (moved to quarantine),
 * "T WORDS" (something else that the user should know), "E" (the last look is done). Paths are
 * quoted. */
#ifndef SESSION_LIVE_WATCH_H
#define SESSION_LIVE_WATCH_H

#include "session/live.h"

struct live_watch {
        pid_t pid;  /* 0: there is none */
        int out_fd; /* its lines */
        int end_fd; /* closed: look through everything once more, and end */
};
#define LIVE_WATCH_NONE ((struct live_watch){0, -1, -1})

/* live_watch_start(live, dir_fd, watch, err): returns when everything is being watched. */
int live_watch_start(struct live *, int dir_fd, struct live_watch *, struct err *);

/* live_take(tree, dir_fd, path, verdict): move one file into quarantine/ of the box. 1 moved,
 * 0 it is not there any more, -1 it could not be (errno). */
int live_take(struct live_tree *, int dir_fd, const char *path, const struct file_class_verdict *);

/* At most so many are kept; then the box is told to end by whoever reads the lines. */
enum { LIVE_TAKEN_MAX = 1000 };

#endif
