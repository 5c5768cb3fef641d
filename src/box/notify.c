/* notify.c - see notify.h. Where every call waits for the witness, the one that sends the listener
 * to it would wait too, for ever: there a helper that has no filter, and our descriptors, sends it.
 */
#include "box/notify.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/seccomp.h"
#include "box/step.h"
#include "box/weak.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { HELPER_STACK = 256 << 10 }; /* a frame is made on it */

static int send_built(struct build *b)
{
        int fds[2] = {b->notify_fd, b->shown_root_fd};
        box_weak_wait(WEAK_WAIT_BUILT, b->ctl_fd);
        return frame_send(b->ctl_fd, MSG_BUILT, NULL, fds, b->notify_fd >= 0 ? 2 : 0);
}

/* carry(ctx): in the helper, which shares our memory and descriptors, and sees no call but ours. */
static int carry(void *ctx)
{
        struct build *b = ctx;
        struct timespec moment = {.tv_nsec = 20000};
        while (b->notify_fd == -1)
                nanosleep(&moment, NULL);
        if (b->notify_fd >= 0 && send_built(b) < 0) {
                close(b->notify_fd); /* or whom we carried it for waits for an answer for ever */
                _exit(1);
        }
        _exit(0);
}

static int start_helper(struct build *b, struct err *err)
{
        char *stack = mmap(NULL, HELPER_STACK, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED)
                return err_sys(err, "have the listener carried away");
        /* Reaped with everything else; what it ran on is 256 KiB that pid 1 does not miss. */
        if (clone(carry, stack + HELPER_STACK, CLONE_VM | CLONE_FILES | SIGCHLD, b) < 0)
                return err_sys(err, "have the listener carried away");
        b->is_carried = true;
        return 0;
}

int notify_filter(struct build *b, struct err *err)
{
        enum box_audit level = b->plan->audit;
        b->notify_fd = -1;
        if (level != BOX_AUDIT_OFF) {
                b->shown_root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (b->shown_root_fd < 0)
                        return err_sys(err, "open the new root");
        }
        if (level == BOX_AUDIT_ALL && start_helper(b, err) < 0)
                return -1;
        return box_seccomp_watch(level, &b->notify_fd, err);
}

int notify_built(struct build *b)
{
        bool has_listener = b->notify_fd >= 0;
        if (!(b->is_carried && has_listener) && send_built(b) < 0) {
                /* To end is a call that is told of, and nobody but us holds the listener. */
                if (has_listener)
                        close(b->notify_fd);
                return -1;
        }
        if (has_listener) {
                int listener = b->notify_fd;
                if (b->is_carried) { /* until it is sent it must not be closed */
                        struct timespec moment = {.tv_nsec = 1000000};
                        nanosleep(&moment, NULL); /* waits for the witness, which has it then */
                }
                close(listener);
        }
        b->notify_fd = -1;
        close_fd(&b->shown_root_fd);
        return 0;
}
