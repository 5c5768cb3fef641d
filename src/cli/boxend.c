/* boxend.c - see boxend.h. The end is what the supervisor says or its silence; it frees the box's
 * lock before, because whoever removes the box next needs it. */
#include "cli/boxend.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "box/cgroup.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

enum { PATIENCE_S = 15, STEP_MS = 5 };

static int wait_gone(int dir, const char *id, uint64_t seconds, struct err *err)
{
        time_t last = time(NULL) + (time_t)seconds + PATIENCE_S;
        while (store_box_is_alive(dir)) {
                if (time(NULL) > last)
                        return err_set(err, E_SYSTEM, "box %s did not end in time", id);
                poll(NULL, 0, STEP_MS);
        }
        return 0;
}

int boxend_stop(const struct store *s, const char *id, uint64_t grace_s, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(s, id, err);
        if (dir < 0)
                return -1;
        if (!store_box_is_alive(dir))
                return 0;
        _cleanup_close_ int sock = session_connect(s, id, err);
        if (sock < 0)
                return store_box_is_alive(dir) ? -1 : 0;

        _cleanup_buf_ struct buf b = {0};
        uint64_t ms = grace_s > 86400 ? 86400000 : grace_s * 1000;
        buf_put_u32(&b, (uint32_t)ms);
        if (frame_send(sock, MSG_STOP, &b, NULL, 0) < 0) {
                /* Killed while we were asking: the kernel closes its sockets before its lock. */
                if (errno == EPIPE || errno == ECONNRESET)
                        return wait_gone(dir, id, grace_s, err);
                return err_sys(err, "ask the supervisor of box %s to end it", id);
        }

        /* Its answer, or its end: whichever comes first. */
        static struct frame f;
        struct pollfd p = {.fd = sock, .events = POLLIN};
        while (poll(&p, 1, (int)(ms > 1000000 ? 1000000 : ms) + 5000) > 0) {
                if (frame_recv(sock, &f, false) <= 0)
                        break; /* killed: the kernel is about to free its lock */
                bool is_ended = f.type == MSG_ENDED;
                frame_release(&f);
                /* Its lock was free before it said so. Somebody may have woken the box since, and
                 * holds the lock again: that is another life, which nobody asked to end. */
                if (is_ended)
                        return 0;
        }
        return wait_gone(dir, id, grace_s, err);
}

/* is_claimed(id): does a living box of this user claim the control group? */
static int is_claimed(const char *id, void *ctx)
{
        _cleanup_close_ int dir = store_box_dir(ctx, id, NULL);
        return dir >= 0 && store_box_is_alive(dir);
}

int boxend_sweep_groups(const struct store *s)
{
        return box_cgroup_sweep(is_claimed, (void *)s);
}
