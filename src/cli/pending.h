/* pending.h - running again where an earlier box still holds changes that were not applied: they
 * are continued or asked about, never hidden. Used by run and shell. */
#ifndef CLI_PENDING_H
#define CLI_PENDING_H

#include <stdbool.h>

struct session_opts;
struct store;

/* A box that has ended and still holds changes of the workspace. */
struct pending {
        char *id;
        char *words;   /* "claude, \"claude -p fix\", ended 2h ago": whose it is, for one line */
        bool is_other; /* it is another agent's than the one that is asked for */
        bool is_alive; /* it runs, so that nothing can go on in it; of pending_last only */
};
void pending_free(struct pending *);
#define _cleanup_pending_ __attribute__((cleanup(pending_free)))

/* pending_box(store, opts, p): the newest box that has ended, whose workspace is the one that ${opts}
 * speak of, and that holds changes of it which were not applied; one of the agent that ${opts} name
 * before one of another. False: there is none. */
bool pending_box(const struct store *, const struct session_opts *, struct pending *);

/* pending_last(store, opts, p): for --resume where no such box holds changes: the newest box of the
 * workspace in which what ${opts} ask for may run, whether it holds something or not. One that runs is
 * found too, before those that have ended. False: there is none. */
bool pending_last(const struct store *, const struct session_opts *, struct pending *);

enum pending_choice { PENDING_NEW, PENDING_CONTINUE, PENDING_QUIT };

/* pending_ask(p): on a terminal: go on in that box, a new one, or neither; shows the changes when
 * asked to. To go on is offered only where it runs what was asked for. */
enum pending_choice pending_ask(const struct pending *);

#endif
