/* frozen.h - frozen layers as a session uses them (workspace/stack.h): where they lie, which of
 * them a box is mounted over, what is written down of a box's directories at its first start, and
 * making many of them one. */
#ifndef SESSION_FROZEN_H
#define SESSION_FROZEN_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct session_plan;
struct store;
struct strs;

/* frozen_open(store, err): the directory of frozen layers, made when missing; a descriptor or -1.
 */
int frozen_open(const struct store *, struct err *);

/* frozen_lowers(plan, store, id, dir_fd, err): put the box's frozen layers under the plan's mounts.
 * A list that is damaged, or a layer that is missing, is told with what can be done. The caller has
 * the box's lock. Very many are squashed first. */
int frozen_lowers(struct session_plan *, const struct store *, const char *id, int dir_fd,
                  struct err *);

/* frozen_view(plan, store, id, dir_fd, err): the same for somebody who only looks and need not have
 * the lock: nothing is squashed. */
int frozen_view(struct session_plan *, const struct store *, const char *id, int dir_fd,
                struct err *);

/* frozen_roots(plan, dir_fd, err): `roots` (workspace/box_roots.h), unless it is there already;
 * directories that are new to the box are added to it. */
int frozen_roots(const struct session_plan *, int dir_fd, struct err *);

/* frozen_have_changes(dir_fd): does a frozen layer of this box hold a part of its workspace? */
bool frozen_have_changes(int dir_fd);

/* Turns: `turn` in the box's directory says what ran since the last one was frozen.
 * frozen_turn_note(dir_fd, argv): a command begins. frozen_turn(store, dir_fd, err): all are over,
 * and the caller has the box's lock: what they changed becomes a frozen layer of its own; nothing
 * to do is fine. */
void frozen_turn_note(int dir_fd, const struct strs *argv);
bool frozen_turn_is_open(int dir_fd);
/* frozen_turn_open(dir_fd): what runs, or ran last, in the turn that is not over; the caller frees.
 * NULL: none is open. */
char *frozen_turn_open(int dir_fd);
int frozen_turn(const struct store *, int dir_fd, struct err *);

/* frozen_squash_later(store, id, n): when ${n} layers are too many, a process of its own makes them
 * fewer, in its own time. What it needs is copied; returns at once. */
void frozen_squash_later(const struct store *, const char *id, size_t n);
/* frozen_squash(store, id, err): the same now; 1 done, 0 nothing to do or the box is alive, -1. */
int frozen_squash(const struct store *, const char *id, struct err *);

#endif
