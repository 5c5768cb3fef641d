/* boxarg.h - commands that name a box: from the word to an id or a connection, the same way
 * everywhere.
 */
#ifndef CLI_BOXARG_H
#define CLI_BOXARG_H

#include "session/store.h"

struct err;

struct boxarg {
        struct store store;
        char *id;
};

/* boxarg_find(b, word, err): open the store and find the box; an empty word means the newest one.
 */
int boxarg_find(struct boxarg *, const char *word, struct err *);
void boxarg_free(struct boxarg *);
#define _cleanup_boxarg_ __attribute__((cleanup(boxarg_free)))

/* boxarg_connect(b, err): a client socket; a box that has ended and was kept is woken first. */
int boxarg_connect(struct boxarg *, struct err *);
/* boxarg_is_asleep(b, sock): after the first question: wait for the answer to come, and see whether
 * it is that the box has just gone to sleep; then connect and ask again. */
bool boxarg_is_asleep(struct boxarg *, int sock);
/* boxarg_meta(b, m, err): its facts. */
int boxarg_meta(const struct boxarg *, struct box_meta *, struct err *);

#endif
