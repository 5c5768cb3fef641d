/* pending.h - running again where an earlier box still holds changes that were not applied: they
 * are continued or asked about, never hidden. Used by run and shell. */
#ifndef CLI_PENDING_H
#define CLI_PENDING_H

#include <stdbool.h>

struct session_opts;
struct store;

/* pending_box(store, opts): the newest box that has ended, whose workspace is the one that ${opts}
 * speak of, and that holds changes of it which were not applied. The caller frees; NULL: none. */
char *pending_box(const struct store *, const struct session_opts *);

enum pending_choice { PENDING_NEW, PENDING_CONTINUE, PENDING_QUIT };

/* pending_ask(id): on a terminal: go on in that box, a new one, or neither; shows the changes when
 * asked to. */
enum pending_choice pending_ask(const char *id);

#endif
