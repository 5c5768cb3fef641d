/* sup_freeze.c - see sup_freeze.h. Where the box has a control group of its own (v2), that is
 * frozen, and no process notices. Otherwise every process gets SIGSTOP, parents first, until none
 * runs, and SIGCONT in the other direction, so that no parent sees its child stopped. A process is
 * held by its directory in the box's own /proc: a pid alone may be somebody else's by now.
 *
 * If the supervisor is killed meanwhile its box dies with it, stopped or not. */
#include "session/sup_freeze.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/sup_procs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 600, ROUND_MS = 5, SLEEPERS_AFTER = 100 };

bool sup_is_idle(const struct box *box)
{
        char path[96];
        _cleanup_buf_ struct buf list = {0};
        if (box->pid <= 0)
                return false;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)box->pid, (int)box->pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && fdio_read_all(fd, &list, 8 << 20) == 0 && list.len == 0;
}

static bool freeze_is_known(const struct sup_frozen *f, pid_t pid, uint64_t born)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->v[i].pid == pid && f->v[i].born == born)
                        return true;
        return false;
}

struct freeze_round {
        struct sup_frozen *f;
        enum sup_rest enough;
        bool is_calm;
};

/* freeze_look(ctx, pid, dir_fd): remember who is new; does everybody else stand still? */
static void freeze_look(void *ctx, pid_t pid, int *dir_fd)
{
        struct freeze_round *r = ctx;
        struct sup_frozen *f = r->f;
        char state = 0;
        uint64_t born = sup_procs_born(*dir_fd, &state);
        if (born && freeze_is_known(f, pid, born)) {
                r->is_calm &= sup_procs_rest(*dir_fd) >= r->enough;
                return;
        }
        r->is_calm = false;
        if (!born)
                return;
        struct sup_stopped *v = reallocarray(f->v, f->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        f->v = v;
        v[f->n++] = (struct sup_stopped){
                .pid = pid, .dir_fd = take_fd(dir_fd), .born = born, .was_stopped = state == 'T'};
}

/* freeze_by_age(a, b): a parent is older than its children. */
static int freeze_by_age(const void *a, const void *b)
{
        const struct sup_stopped *x = a, *y = b;
        if (x->born != y->born)
                return x->born < y->born ? -1 : 1;
        return x->pid < y->pid ? -1 : 1;
}

/* freeze_round(f, enough): stop who is new. True when nobody was, and all stand still. */
static bool freeze_round(struct sup_frozen *f, enum sup_rest enough)
{
        struct freeze_round r = {.f = f, .enough = enough, .is_calm = true};
        size_t known = f->n;
        bool is_whole = sup_procs(f->proc_fd, freeze_look, &r);
        if (f->n > known)
                qsort(f->v + known, f->n - known, sizeof *f->v, freeze_by_age);
        for (size_t i = known; i < f->n; i++)
                (void)sup_procs_signal(f->v[i].dir_fd, SIGSTOP); /* gone, or seen to run */
        return is_whole && r.is_calm;
}

static int stop_all(struct sup_frozen *f, struct err *err)
{
        for (int i = 0; i < ROUNDS; i++) {
                if (freeze_round(f, i < SLEEPERS_AFTER ? SUP_STOPPED : SUP_SLEEPS))
                        return 0;
                poll(NULL, 0, i < 5 ? 0 : ROUND_MS);
        }
        return err_set(err, E_SYSTEM, "the processes in the box could not be made to stand still");
}

/* group_frozen(fd): does the group say that all stand still? */
static bool group_frozen(int fd)
{
        _cleanup_free_ char *text = fdio_read_file(fd, "cgroup.events", 4096, NULL);
        return text && strstr(text, "frozen 1");
}

static bool freeze_group(const struct box *box)
{
        if (box->cgroup.kind != BOX_CGROUP_V2 || fdio_put(box->cgroup.fd[0], "cgroup.freeze", "1"))
                return false;
        for (int i = 0; i < ROUNDS; i++) {
                if (group_frozen(box->cgroup.fd[0]))
                        return true;
                poll(NULL, 0, i < 5 ? 0 : ROUND_MS);
        }
        fdio_put(box->cgroup.fd[0], "cgroup.freeze", "0");
        return false;
}

int sup_freeze(struct sup_frozen *f, const struct box *box, int proc_fd, struct err *err)
{
        *f = (struct sup_frozen){.box = box, .proc_fd = proc_fd};
        f->is_group = freeze_group(box);
        if (f->is_group || stop_all(f, err) == 0)
                return 0;
        sup_thaw(f);
        return -1;
}

void sup_thaw(struct sup_frozen *f)
{
        if (f->is_group && f->box->cgroup.fd[0] >= 0)
                fdio_put(f->box->cgroup.fd[0], "cgroup.freeze", "0");
        for (size_t i = f->n; i-- > 0;) {
                if (!f->v[i].was_stopped)
                        (void)sup_procs_signal(f->v[i].dir_fd, SIGCONT); /* or it is gone */
                close(f->v[i].dir_fd);
        }
        free(f->v);
        *f = (struct sup_frozen){0};
}
