/* sup_log.c - the box's log from the supervisor's side: records of our own, its end, and what stays
 * of it when the box itself is discarded.
 *
 * The log of a box that is gone lies in `logs/ID.SECONDS` of the state directory, log and head
 * together, for a few weeks and as long as there are not too many: a box that left no change may
 * still have done something that is asked about later. */
#include "session/sup_door.h"

#include "audit/audit.h"
#include "audit/head.h"
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/door.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_MAX = 200, KEPT_DAYS = 28, PRUNE_EVERY = 16 };
#define KEPT_BYTES ((uint64_t)256 << 20)

void sup_log(struct sup *s, const char *method, const char *note)
{
        _cleanup_buf_ struct buf b = {0};
        struct err err = {0};
        if (!s->door || !s->door->audit.is_on)
                return;
        if (s->log_fd < 0)
                s->log_fd = audit_writer(&s->door->audit, &err);
        struct door_record r = {.time_us = clock_real_us(),
                                .kind = "box",
                                .verdict = "allow",
                                .method = method,
                                .note = note};
        door_record_put(&b, &r);
        if (s->log_fd >= 0)
                frame_send(s->log_fd, DOOR_RECORD, &b, NULL, 0);
}

void sup_on_settle(struct client *c, struct frame *f)
{
        struct sup *s = c->sup;
        if (f->fds_n && s->door && s->door->audit.pid > 0)
                audit_settle(&s->door->audit, f->fds[0]);
        /* Our own copy goes with the frame. */
}

void sup_log_end(struct sup *s, struct buf *refused)
{
        sup_witness_end(s);
        sup_log(s, "end", s->end.words);
        sup_door_end(s, refused);
}

bool sup_log_is_alone(const struct sup *s)
{
        if (!s->door || !s->door->audit.is_on || s->secrets)
                return false;
        for (int i = 0; i < SUP_ROLES; i++)
                if (s->door->roles[i].pid)
                        return false;
        return true;
}

/* open_logs(s): the directory of the logs that outlive their boxes, or -1. */
static int open_logs(const struct sup *s)
{
        _cleanup_free_ char *path = str_fmt("%s/logs", s->store->state);
        mkdir(path, 0700);
        return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void sup_log_keep(struct sup *s)
{
        struct stat st;
        if (fstatat(s->dir_fd, AUDIT_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        _cleanup_close_ int logs = open_logs(s);
        _cleanup_free_ char *name = str_fmt("%s.%lld", s->id, (long long)time(NULL));
        if (logs < 0 || mkdirat(logs, name, 0700) < 0)
                return;
        _cleanup_close_ int to = openat(logs, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (to < 0)
                return;
        /* Its writer goes on writing: it holds the files, not their names. */
        renameat(s->dir_fd, AUDIT_FILE, to, AUDIT_FILE);
        renameat(s->dir_fd, AUDIT_HEAD, to, AUDIT_HEAD);
}

struct kept {
        char *name;
        int64_t seconds;
        uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
        const struct kept *x = a, *y = b;
        return x->seconds < y->seconds   ? 1
               : x->seconds > y->seconds ? -1
                                         : strcmp(x->name, y->name);
}

void sup_log_prune(const struct sup *s)
{
        if (getpid() % PRUNE_EVERY != 0)
                return; /* looking at all of them takes as long as starting half a box */
        int logs = open_logs(s);
        _cleanup_closedir_ DIR *d = logs < 0 ? NULL : fdopendir(logs);
        struct kept *v = NULL;
        size_t n = 0;
        for (struct dirent *e; d && (e = readdir(d));) {
                const char *dot = strrchr(e->d_name, '.');
                struct stat st;
                _cleanup_free_ char *log = str_fmt("%s/%s", e->d_name, AUDIT_FILE);
                if (e->d_name[0] == '.' || !dot)
                        continue;
                if (n % 64 == 0) {
                        struct kept *more = reallocarray(v, n + 64, sizeof *v);
                        if (!more)
                                str_no_memory();
                        v = more;
                }
                bool is_there = fstatat(logs, log, &st, AT_SYMLINK_NOFOLLOW) == 0;
                v[n++] = (struct kept){.name = str_dup(e->d_name),
                                       .seconds = strtoll(dot + 1, NULL, 10),
                                       .bytes = is_there ? (uint64_t)st.st_blocks * 512 : 0};
        }
        if (n)
                qsort(v, n, sizeof *v, by_age);
        uint64_t sum = 0;
        int64_t oldest = (int64_t)time(NULL) - (int64_t)KEPT_DAYS * 86400;
        for (size_t i = 0; i < n; i++) {
                sum += v[i].bytes;
                /* The newest stays, however large. */
                if (i && (i >= KEPT_MAX || sum > KEPT_BYTES || v[i].seconds < oldest))
                        beneath_remove_tree(logs, v[i].name, NULL);
                free(v[i].name);
        }
        free(v);
}
