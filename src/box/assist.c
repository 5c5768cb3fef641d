/* assist.c - a second pair of hands while the box is built: a short-lived child in the same
 * namespaces that makes the network, which takes as long as everything else together, while we do
 * the rest. It shares our descriptor table, so that what it opens is ours.
 *
 * It also shares our memory, because copying page tables would cost a fifth of what it saves. It
 * may therefore touch nothing of ours but its own stack: no allocation, and errno only to fail,
 * which ends the box. It runs our code only, before any code of the box, and is gone when
 * step_assist_end returns. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/net.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#ifdef OSTIARY_ASAN
enum { SHARED = CLONE_FILES }; /* the sanitizer wants a stack it knows */
#else
enum { SHARED = CLONE_FILES | CLONE_VM };
#endif

/* assist(ctx): its exit status is 0 or an errno. */
static int assist(void *ctx)
{
        const struct build *b = ctx;
        if (!box_weak(WEAK_NETNS) && net_make(b->net_fd) < 0)
                return errno ? errno : EIO;
        return 0;
}

int step_assist_begin(struct build *b, struct err *err)
{
        static char stack[65536] __attribute__((aligned(64)));
        /* A number kept free for the network namespace. */
        b->net_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (b->net_fd < 0)
                return err_sys(err, "open /dev/null");
        b->assist_pid = clone(assist, stack + sizeof stack, SHARED | SIGCHLD, b);
        return b->assist_pid < 0 ? err_sys(err, "start an assistant") : 0;
}

int step_assist_end(struct build *b, struct err *err)
{
        int status;
        while (waitpid(b->assist_pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_sys(err, "wait for the assistant");
        if (status == 0)
                return 0;
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
        err_sys(err, "make a network namespace");
        err->code = E_MACHINE;
        return errno == ENOSPC ? err_hint(err, "user.max_net_namespaces is reached or 0") : -1;
}
