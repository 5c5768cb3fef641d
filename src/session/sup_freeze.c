/* sup_freeze.c - see sup_freeze.h. Where the box has a control group of its own (v2), that is
 * frozen, and no process notices. Otherwise every process gets SIGSTOP, parents first, until none
 * runs, and SIGCONT in the other direction, so that no parent sees its child stopped. A process is
 * held by a pidfd that was checked to be in the box: a pid alone may be somebody else's by now.
 *
 * If the supervisor is killed meanwhile its box dies with it, stopped or not. */
#include "session/sup_freeze.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 600, ROUND_MS = 5, SLEEPERS_AFTER = 100, PROCS_MAX = 100000 };

/* children(pid, tid, out): as the kernel lists them; false when it does not. */
static bool children(pid_t pid, const char *tid, struct buf *out)
{
        char path[96];
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, tid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && fdio_read_all(fd, out, 8 << 20) == 0;
}

bool sup_is_idle(const struct box *box)
{
        char tid[16];
        _cleanup_buf_ struct buf list = {0};
        if (box->pid <= 0)
                return false;
        snprintf(tid, sizeof tid, "%d", (int)box->pid);
        return children(box->pid, tid, &list) && list.len == 0;
}

static int signal_to(int pidfd, int sig)
{
        return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

char sup_look_at(pid_t pid, const char *tid, pid_t *parent)
{
        char path[96], text[512], letter = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, tid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
                return 0;
        text[n] = 0;
        const char *end = strrchr(text, ')'); /* the name may hold anything */
        return end && sscanf(end + 1, " %c %d", &letter, parent) == 2 ? letter : 0;
}

bool sup_is_still(pid_t pid, bool may_sleep)
{
        char path[48];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        _cleanup_closedir_ DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));) {
                pid_t parent;
                bool is_odd = e->d_name[0] == '.' || strlen(e->d_name) > 15;
                char state = is_odd ? 0 : sup_look_at(pid, e->d_name, &parent);
                if (state && !strchr("TtZX", state) && !(may_sleep && state == 'D'))
                        return false;
        }
        return true;
}

static bool is_known(const struct sup_frozen *f, pid_t pid)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->v[i].pid == pid)
                        return true;
        return false;
}

/* stop_one(f, pid, parent): SIGSTOP to a process that is new to us. Who is the child of a process
 * in the box is in the box. */
static void stop_one(struct sup_frozen *f, pid_t pid, pid_t parent)
{
        char tid[16];
        pid_t now = 0;
        _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        snprintf(tid, sizeof tid, "%d", (int)pid);
        char state = fd < 0 ? 0 : sup_look_at(pid, tid, &now);
        if (!state || (now != parent && now != f->box->pid) || signal_to(fd, SIGSTOP) < 0)
                return;
        struct sup_stopped *v = realloc(f->v, (f->n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        f->v = v;
        v[f->n++] = (struct sup_stopped){
                .pid = pid, .pidfd = take_fd(&fd), .was_stopped = state == 'T'};
}

/* below(b, pid, depth): the children of each of its threads, and theirs. */
struct below {
        sup_below_fn *fn;
        void *ctx;
        size_t left;
};

static void below(struct below *b, pid_t pid, int depth)
{
        char path[48];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        _cleanup_closedir_ DIR *d = depth > 2000 ? NULL : opendir(path);
        for (struct dirent *e; d && (e = readdir(d));) {
                _cleanup_buf_ struct buf list = {0};
                if (e->d_name[0] == '.' || strlen(e->d_name) > 15 ||
                    !children(pid, e->d_name, &list))
                        continue;
                for (const char *p = buf_cstr(&list); *p && b->left;) {
                        char *end;
                        pid_t child = (pid_t)strtol(p, &end, 10);
                        if (end == p)
                                break;
                        b->left--;
                        b->fn(b->ctx, child, pid);
                        below(b, child, depth + 1);
                        p = end + strspn(end, " ");
                }
        }
}

void sup_below(pid_t pid, sup_below_fn *fn, void *ctx)
{
        below(&(struct below){.fn = fn, .ctx = ctx, .left = PROCS_MAX}, pid, 0);
}

struct round {
        struct sup_frozen *f;
        bool is_new;
};

static void stop_new(void *ctx, pid_t pid, pid_t parent)
{
        struct round *r = ctx;
        if (is_known(r->f, pid))
                return;
        stop_one(r->f, pid, parent);
        r->is_new = true;
}

/* round_of(f): everything below, parents first. True when somebody was new. */
static bool round_of(struct sup_frozen *f)
{
        struct round r = {.f = f};
        sup_below(f->box->pid, stop_new, &r);
        return r.is_new;
}

static int stop_all(struct sup_frozen *f, struct err *err)
{
        for (int i = 0; i < ROUNDS; i++) {
                bool is_done = !round_of(f);
                for (size_t k = 0; is_done && k < f->n; k++)
                        is_done = sup_is_still(f->v[k].pid, i >= SLEEPERS_AFTER);
                if (is_done)
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

int sup_freeze(struct sup_frozen *f, const struct box *box, struct err *err)
{
        *f = (struct sup_frozen){.box = box};
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
                        signal_to(f->v[i].pidfd, SIGCONT);
                close(f->v[i].pidfd);
        }
        free(f->v);
        *f = (struct sup_frozen){0};
}
