/* turns.c - see turns.h. Called by `ostiary undo --turn`. Works under the box's lock; a box that is
 * alive and idle is put to sleep first, as a snapshot does. */
#include "session/turns.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "session/frozen.h"
#include "session/snapshots.h"
#include "session/store.h"
#include "workspace/stack.h"

#include <errno.h>
#include <poll.h>

enum { TRIES = 100, PAUSE_MS = 10 };

/* lock_asleep(store, id, dir, err): the lock of a box in which nothing runs. */
static int lock_asleep(const struct store *store, const char *id, int dir, struct err *err)
{
        for (int i = 0; i < TRIES; i++) {
                struct snapshot_taken t = {0};
                int lock = store_box_lock_there(dir, err);
                if (lock >= 0 || errno != EAGAIN)
                        return lock;
                *err = (struct err){0};
                if (snapshots_take(store, id, NULL, "snapshot", "before undo", &t, err) < 0)
                        return -1;
                bool is_busy = t.is_copied;
                stack_free(&t.stack);
                if (is_busy)
                        return err_set(err, E_REFUSED,
                                       "a command runs in box %s; a turn can be taken back when "
                                       "none does",
                                       id);
                poll(NULL, 0, PAUSE_MS);
        }
        return err_set(err, E_SYSTEM, "box %s starts and ends all the time; try again", id);
}

int turns_undo(const struct store *store, const char *id, unsigned n, const struct stack_back *how,
               struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        _cleanup_close_ int lock = dir < 0 ? -1 : lock_asleep(store, id, dir, err);
        _cleanup_close_ int frozen = lock < 0 ? -1 : frozen_open(store, err);
        _cleanup_close_ int hold = frozen < 0 ? -1 : stack_hold(frozen, false, err);
        _cleanup_stack_ struct stack s = {0};
        if (hold < 0 || frozen_turn(store, dir, err) < 0 || stack_read(dir, "stack", &s, err) < 0)
                return -1;
        size_t at = stack_turn(&s, n);
        if (at == s.n)
                return err_set(
                        err, E_ABSENT,
                        "box %s has no turn %u (ostiary turns %s lists them; boxes made with "
                        "--turns have some)",
                        id, n, id);
        return stack_back(dir, frozen, &s, at, how, err);
}
