/* undo_conf.h - how long what was replaced is kept: by default thirty days and 2 GiB, or what the
 * file `undo` in the user's configuration directory says:
 *
 *   days 30
 *   size 2G
 */
#ifndef CLI_UNDO_CONF_H
#define CLI_UNDO_CONF_H

#include <stdint.h>

struct err;
struct store;

/* undo_conf_prune(store, undo_fd, removed_n, freed, err): by the user's rules. A file that makes no
 * sense is an error, and nothing is removed. */
int undo_conf_prune(const struct store *, int undo_fd, uint64_t *removed_n, uint64_t *freed,
                    struct err *);

/* undo_conf_gc(store, ...): the same for gc, which has nothing to do where nothing was applied. */
int undo_conf_gc(const struct store *, uint64_t *removed_n, uint64_t *freed, struct err *);

/* undo_conf_prune_now_and_then(store, undo_fd, added_bytes): after an apply: when much was added or
 * a day has passed. Says what goes wrong; never fails what was done. */
void undo_conf_prune_now_and_then(const struct store *, int undo_fd, uint64_t added_bytes);

#endif
