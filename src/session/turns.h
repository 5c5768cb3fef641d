/* turns.h - taking one turn of a box back. */
#ifndef SESSION_TURNS_H
#define SESSION_TURNS_H

struct err;
struct stack_back;
struct store;

/* turns_undo(store, id, n, how, err): the n-th turn (from 1) of a box in which no command runs: its
 * changes are gone from the box, but for paths that something later changed too; those are told as
 * kept. The turn that was not frozen yet is frozen first. Nothing on the host is touched. */
int turns_undo(const struct store *, const char *id, unsigned n, const struct stack_back *how,
               struct err *);

#endif
