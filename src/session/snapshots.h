/* snapshots.h - snapshots of boxes, and boxes made from them.
 *
 *   $XDG_STATE_HOME/ostiary/snapshots/NAME   one file: which frozen layers (workspace/stack.h), and
 *                                            what a box needs besides: its options, directories,
 *                                            masks, placeholders. No secret is in it: placeholders
 *                                            have no value
 *
 * A box in which nothing runs is frozen, in constant time; a busy one stands still while what it
 * wrote since the last freeze is copied. */
#ifndef SESSION_SNAPSHOTS_H
#define SESSION_SNAPSHOTS_H

#include "session/store.h"
#include "workspace/stack.h"

struct err;
struct session_opts;

struct snapshot {
        char *name, *box, *workspace, *profile, *command;
        time_t made;
        bool is_live; /* the workspace itself was written to, and is not in the snapshot */
        struct stack stack;
        struct strs files; /* "NAME\tCONTENT" */
};
void snapshot_free(struct snapshot *);
#define _cleanup_snapshot_ __attribute__((cleanup(snapshot_free)))

/* How it was done. */
struct snapshot_taken {
        bool is_copied;    /* the box goes on; else it is frozen, and sleeps */
        uint64_t still_us; /* how long the box stood still, or could not be woken */
        struct stack stack;
};

/* snapshots_take(store, id, name, kind, label, taken, err): of a box, whatever it is doing. ${name}
 * is the snapshot's, or NULL for none (a fork): then the caller holds stack_hold until it has used
 * ${taken}. A name in use is refused. On failure the box is as before. */
int snapshots_take(const struct store *, const char *id, const char *name, const char *kind,
                   const char *label, struct snapshot_taken *, struct err *);

/* snapshots_clock(): monotonic microseconds, for telling how long it took. */
uint64_t snapshots_clock(void);

/* snapshots_freeze(store, id, dir_fd, name, kind, label, stack, err): of a box whose lock the
 * caller holds and in which nothing runs. */
int snapshots_freeze(const struct store *, const char *id, int dir_fd, const char *name,
                     const char *kind, const char *label, struct stack *, struct err *);
/* snapshots_copy(...): of a box whose processes stand still. */
int snapshots_copy(const struct store *, const char *id, int dir_fd, const char *name,
                   const char *kind, const char *label, struct stack *, struct err *);

/* snapshots_free_name(store, box): a name that is not taken: BOX-1, BOX-2...; the caller frees. */
char *snapshots_free_name(const struct store *, const char *box);

/* snapshots_load(store, name, s, err), snapshots_list(store, &v, &n, err): newest first; a file
 * that is damaged is listed with nothing but its name. */
int snapshots_load(const struct store *, const char *name, struct snapshot *, struct err *);
int snapshots_list(const struct store *, struct snapshot **, size_t *, struct err *);
void snapshots_list_free(struct snapshot *, size_t);
int snapshots_remove(const struct store *, const char *name, struct err *);

/* snapshots_of_box(store, id, dir_fd, stack, s, err): as if it had been taken, from what lies in
 * the box's directory; ${stack} is copied. */
int snapshots_of_box(const struct store *, const char *id, int dir_fd, const struct stack *,
                     struct snapshot *, struct err *);
/* snapshots_is_whole(store, s, err): are all its layers there? */
int snapshots_is_whole(const struct store *, const struct snapshot *, struct err *);
/* snapshots_box(store, s, name, &id, err): a new box from it, asleep; as it was started, but for
 * the name. */
int snapshots_box(const struct store *, const struct snapshot *, const char *name, char **id,
                  struct err *);
/* snapshots_opts(s, opts, err): for `run --from`: the workspace, the copy-on-write directories and,
 * unless another is named, the profile are the snapshot's; another workspace is refused. */
int snapshots_opts(const struct snapshot *, struct session_opts *, struct err *);
/* snapshots_fill(s, dir_fd, err): what a new box needs, but for its options. */
int snapshots_fill(const struct snapshot *, int dir_fd, struct err *);

/* snapshots_gc(store, removed_n, freed, err): delete frozen layers that neither box nor snapshot
 * lists. If one list cannot be read, nothing is deleted. */
int snapshots_gc(const struct store *, size_t *removed_n, uint64_t *freed, struct err *);

/* One frozen layer, for sizes that add up. */
struct snapshot_layer {
        char id[STACK_ID_LEN + 1];
        uint64_t bytes; /* on disk; a file that several layers share is divided among them */
        size_t users_n; /* boxes and snapshots that list it */
};
int snapshots_layers(const struct store *, struct snapshot_layer **, size_t *, struct err *);
/* snapshots_size(s, layers, n, &own): bytes of all layers of a list; ${own}: of those that nobody
 * else lists. */
uint64_t snapshots_size(const struct stack *, const struct snapshot_layer *, size_t n,
                        uint64_t *own);

#endif
