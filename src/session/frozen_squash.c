/* frozen_squash.c - see frozen.h: many frozen layers of a box become few, while nobody waits for
 * it. The trees are made first, without any lock, since frozen layers do not change; the box's list
 * is replaced under its lock, and only if it still is the one that was squashed. Killed at any
 * moment, the list is the old one or the new one, and both show the same files. */
#include "session/frozen.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "session/store.h"
#include "workspace/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEP_N = 4, LOCK_TRIES = 100, LOCK_WAIT_MS = 20, IO_IDLE = 3 << 13 };

/* is_same(a, b): the same layers in the same order. */
static bool is_same(const struct stack *a, const struct stack *b)
{
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (strcmp(a->v[i].id, b->v[i].id) != 0)
                        return false;
        return true;
}

/* replace(dir, was, now, err): 1 when the list is ${now}, 0 when it was not ${was} any more. */
static int replace(int dir, const struct stack *was, const struct stack *now, struct err *err)
{
        _cleanup_close_ int lock = -1;
        for (int i = 0; i < LOCK_TRIES && lock < 0; i++) {
                lock = store_box_lock_there(dir, NULL);
                if (lock < 0 && errno != EAGAIN)
                        return 0;
                if (lock < 0)
                        poll(NULL, 0, LOCK_WAIT_MS);
        }
        if (lock < 0)
                return 0; /* the box lives over the old ones */
        _cleanup_stack_ struct stack s = {0};
        if (stack_read(dir, "stack", &s, err) < 0)
                return -1;
        if (!is_same(&s, was))
                return 0;
        return stack_write(dir, "stack", now, err) < 0 ? -1 : 1;
}

int frozen_squash(const struct store *store, const char *id, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        _cleanup_close_ int frozen = dir < 0 ? -1 : frozen_open(store, err);
        _cleanup_close_ int hold = frozen < 0 ? -1 : stack_hold(frozen, false, err);
        _cleanup_stack_ struct stack was = {0}, now = {0};
        if (hold < 0 || stack_read(dir, "stack", &was, err) < 0)
                return -1;
        for (size_t i = 0; i < was.n; i++)
                stack_add(&now, was.v[i].id, was.v[i].kind, was.v[i].label, was.v[i].when_s);
        if (was.n <= STACK_SQUASH_AT)
                return 0;
        if (stack_squash(frozen, &now, KEEP_N, err) < 0)
                return -1;
        return is_same(&was, &now) ? 0 : replace(dir, &was, &now, err);
}

void frozen_squash_later(const struct store *store, const char *id, size_t n)
{
        if (n <= STACK_SQUASH_AT)
                return;
        fflush(NULL);
        pid_t pid = fork();
        if (pid != 0)
                return;
        /* Nothing of whoever asked stays open: the box's lock above all. */
        setsid();
        if (chdir("/") < 0)
                _exit(0);
        fdio_close_except(NULL, 0);
        int null = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3 && null >= 0; i++)
                dup2(null, i);
        signal(SIGPIPE, SIG_IGN);
        setpriority(PRIO_PROCESS, 0, 19);
        syscall(SYS_ioprio_set, 1, 0, IO_IDLE);
        struct err err = {0};
        frozen_squash(store, id, &err);
        _exit(0);
}
