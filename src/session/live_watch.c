/* live_watch.c - see live_watch.h. inotify on every directory of the trees, and a full look at
 * everything when it loses events, when there are too many directories for it, and at the end. What
 * it says about a path may be old by the time it is read: the file is looked at again, and moved by
 * descriptor. */
#include "session/live_watch.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/title.h"
#include "session/live_watch_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

enum {
        LOOK_MS = 2000, /* between full looks, where inotify cannot be had for all */
        FRESH_MS =
                50, /* how long settings and shapes are believed, unless an event is about them */
        ALONE_MS = 1500,  /* how long a box may outlive its supervisor */
        BURST_US = 1000,  /* a pause that ends a row of events */
        BURST_WAKES = 64, /* so many times they are looked at at once */
        GATHER_US = 2000, /* and then so much later */
};

void live_say(struct watch *w, const char *fmt, ...)
{
        _cleanup_buf_ struct buf b = {0};
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *line = str_vfmt(fmt, ap);
        va_end(ap);
        buf_put_fmt(&b, "%s\n", line);
        /* When nobody listens the supervisor is gone, and what is dangerous still goes. */
        if (fdio_write_all(w->out_fd, b.data, b.len) < 0)
                w->is_alone = true;
}

/* --- one file --------------------------------------------------------------------------------- */

static const struct live_known *known(const struct live_tree *t, const char *path)
{
        size_t lo = 0, hi = t->known_n;
        while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;
                int order = strcmp(t->known[mid].path, path);
                if (order == 0)
                        return &t->known[mid];
                if (order < 0)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        return NULL;
}

static int64_t changed_at(const struct stat *st)
{
        return (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
}

/* Is it what was there before? What is shown read-only is the same as long as its inode is: the box
 * cannot free that number. Of a link the number may have been given away again. */
static bool is_old(const struct live_tree *t, const struct live_known *k, const struct stat *st)
{
        if (k && k->ino == st->st_ino && (k->is_shown || k->ctime_ns == changed_at(st)))
                return true;
        /* It lies elsewhere now, because a directory above it was renamed. */
        for (size_t i = 0; i < t->known_n; i++)
                if (t->known[i].ino == st->st_ino && t->known[i].is_shown &&
                    t->known[i].ctime_ns == changed_at(st))
                        return true;
        return false;
}

/* What is harmless by its place is so whatever it holds. What is not is heeded first and read then:
 * a change is either read, or told of. */
static void judge(struct watch *w, size_t tree, const char *path, const struct stat *st)
{
        struct live_tree *t = &w->live->v[tree];
        struct file_class_verdict v;
        const struct live_known *k = known(t, path);
        if (k && k->is_shown && k->ino == st->st_ino)
                return;
        classify_place(t->classify, path, WS_FILE, &v);
        if (!live_is_guarded(v.class))
                return;
        live_heed_file(w, tree, path);
        if (!live_judge(t, path, st->st_mode, w->is_end, &v) || is_old(t, k, st))
                return;
        int r = live_take(t, w->dir_fd, path, &v);
        if (r == 0)
                return;
        _cleanup_free_ char *full = str_fmt("%s/%s", t->root, path);
        _cleanup_free_ char *quoted = str_quote(full);
        _cleanup_free_ char *words = str_fmt("%s: %s%s", file_class_words(v.class), v.why,
                                             k ? "; another file had its place" : "");
        w->taken_n++;
        if (r > 0)
                live_say(w, "Q %s\t%s", quoted, words);
        else
                live_say(w, "T %s is dangerous (%s) and could not be taken away", quoted, words);
}

/* mend(w, tree, path, st): rights that the box gives to others. */
static void mend(struct watch *w, size_t tree, const char *path, const struct stat *st)
{
        struct live_tree *t = &w->live->v[tree];
        int r = live_modes_mend(t, path, st);
        if (r == 0)
                return;
        _cleanup_free_ char *full = str_fmt("%s/%s", t->root, path);
        _cleanup_free_ char *quoted = str_quote(full);
        live_say(w,
                 r == LIVE_MENDED_WRITE  ? "M %s"
                 : r == LIVE_MENDED_READ ? "P %s"
                 : r == LIVE_MENDED_LENT
                         ? "G %s"
                         : "T others may write to, read or run as you %s now, and that could not "
                           "be mended",
                 quoted);
}

/* mend_root(w, tree): the directory that nobody's entry is. */
static void mend_root(struct watch *w, size_t tree)
{
        struct stat st;
        if (fstat(w->live->v[tree].fd, &st) == 0)
                mend(w, tree, ".", &st);
}

/* --- directories ------------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *v)
{
        while (*v && strcmp(*v, name) != 0)
                v++;
        return *v != NULL;
}

struct look {
        struct watch *w;
        size_t tree;
};

static int on_entry(void *ctx, const char *path, const struct stat *st)
{
        struct look *l = ctx;
        mend(l->w, l->tree, path, st);
        if (!S_ISDIR(st->st_mode)) {
                judge(l->w, l->tree, path, st);
                return 0;
        }
        if (live_is_installed(path))
                return 1;
        live_follow(l->w, l->tree, path);
        return 0;
}

/* look(w, tree, path): watch a directory and what is in it, and judge what is there. */
static void look(struct watch *w, size_t tree, const char *path)
{
        struct look l = {w, tree};
        live_follow(w, tree, path);
        if (live_walk(w->live->v[tree].fd, path, UINT64_MAX, on_entry, &l) < 0)
                live_say(w, "T %s has directories that are too deep to be looked through",
                         w->live->v[tree].root);
}

static void look_at_all(struct watch *w)
{
        for (size_t i = 0; i < w->live->n; i++)
                look(w, i, "");
}

static int on_mode(void *ctx, const char *path, const struct stat *st)
{
        struct look *l = ctx;
        mend(l->w, l->tree, path, st);
        return 0;
}

/* look_at_modes(w): of everything, installed packages too, which nobody watches. */
static void look_at_modes(struct watch *w)
{
        for (size_t i = 0; i < w->live->n; i++) {
                struct look l = {w, i};
                mend_root(w, i);
                (void)live_walk(w->live->v[i].fd, "", UINT64_MAX, on_mode, &l); /* look() told */
        }
}

struct beside {
        struct look look;
        size_t skip; /* how much of a path names the directory */
};

/* Of a git directory everything counts but what it keeps by hash and by name. */
static int on_beside(void *ctx, const char *path, const struct stat *st)
{
        static const char *const kept[] = {"objects", "refs", "logs", NULL};
        struct beside *b = ctx;
        if (S_ISDIR(st->st_mode) && is_one_of(path + b->skip, kept))
                return 1;
        return on_entry(&b->look, path, st);
}

/* look_beside(w, tree, dir): a directory that becomes a git directory gives a meaning to what lay
 * in it before. In one that is called .git everything had it from the beginning, and what may have
 * come before it was watched is looked at again. */
static void look_beside(struct watch *w, size_t tree, const char *dir)
{
        static const char *const files[] = {"config", "config.worktree", "info/attributes"};
        static const char *const dirs[] = {"hooks", "objects/info"};
        struct live_tree *t = &w->live->v[tree];
        struct beside b = {{w, tree}, *dir ? strlen(dir) + 1 : 0};
        struct file_class_verdict v;
        _cleanup_free_ char *head = str_fmt("%s%sHEAD", dir, *dir ? "/" : "");
        classify_path(t->classify, head, WS_FILE, &v);
        if (classify_makes_git(&v) && live_walk(t->fd, dir, UINT64_MAX, on_beside, &b) < 0)
                live_say(w, "T %s has directories that are too deep to be looked through", t->root);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                _cleanup_free_ char *path = str_fmt("%s%s%s", dir, *dir ? "/" : "", files[i]);
                struct stat st;
                struct err err = {0};
                _cleanup_close_ int fd =
                        beneath_open_nosym(t->fd, path, O_PATH | O_NOFOLLOW, 0, &err);
                if (fd >= 0 && fstat(fd, &st) == 0)
                        judge(w, tree, path, &st);
        }
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                _cleanup_free_ char *path = str_fmt("%s%s%s", dir, *dir ? "/" : "", dirs[i]);
                look(w, tree, path);
        }
}

/* --- events ----------------------------------------------------------------------------------- */

/* What a repository's settings say, and what shape a directory has, may be otherwise now. */
static void refresh(struct watch *w)
{
        struct timespec now;
        for (size_t i = 0; i < w->live->n; i++) {
                struct live_tree *t = &w->live->v[i];
                classify_free(t->classify);
                t->classify = classify_new(&t->ws, t->classes);
        }
        free(take_ptr(&w->plain));
        live_heed_named(w);
        clock_gettime(CLOCK_MONOTONIC, &now);
        w->fresh_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_stale(const struct watch *w)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - w->fresh_ms > FRESH_MS;
}

/* is_harmless(w, t, path): by its place alone, so that an ordinary file costs no look at it. Where
 * writing is told of too, the next events of a new file are known already. */
static bool is_harmless(struct watch *w, struct live_tree *t, const char *path)
{
        struct file_class_verdict v;
        if (w->plain && strcmp(w->plain, path) == 0)
                return true;
        classify_place(t->classify, path, WS_FILE, &v);
        if (live_is_guarded(v.class))
                return false;
        free(w->plain);
        w->plain = str_dup(path);
        return true;
}

static void on_event(struct watch *w, const struct inotify_event *e)
{
        static const char *const shape[] = {"HEAD", "objects", "refs", "commondir", NULL};
        static const char *const settings[] = {"config", "config.worktree", "hooks", NULL};
        if (e->mask & IN_Q_OVERFLOW) {
                w->is_lost = true;
                return;
        }
        const struct place *p = live_places_get(w, e->wd);
        if (p && e->len == 0 && e->mask & IN_ATTRIB && !*p->path)
                mend_root(w, p->tree);
        if (!p || e->len == 0)
                return;
        struct live_tree *t = &w->live->v[p->tree];
        size_t tree = p->tree;
        _cleanup_free_ char *dir = str_dup(p->path);
        _cleanup_free_ char *path = str_fmt("%s%s%s", dir, *dir ? "/" : "", e->name);
        bool is_shape = is_one_of(e->name, shape);
        if (is_shape || is_one_of(e->name, settings))
                refresh(w);
        if (is_shape)
                look_beside(w, tree, dir);
        struct err err = {0};
        struct stat st;
        _cleanup_close_ int fd = beneath_open_nosym(t->fd, path, O_PATH | O_NOFOLLOW, 0, &err);
        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        mend(w, tree, path, &st);
        bool is_rights = (e->mask & ~(uint32_t)IN_ISDIR) == IN_ATTRIB;
        if (is_rights || (!(e->mask & IN_ISDIR) && is_harmless(w, t, path)))
                return;
        if (!S_ISDIR(st.st_mode))
                judge(w, tree, path, &st);
        else if (!live_is_installed(path)) {
                /* Under a name that was another directory's a moment ago, perhaps. */
                classify_forget(t->classify);
                look(w, tree, path);
        }
}

static void on_events(struct watch *w)
{
        static char room[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
        ssize_t n = read(w->notify_fd, room, sizeof room);
        if (n <= 0)
                return;
        if (is_stale(w))
                refresh(w);
        for (char *at = room; at < room + n;) {
                const struct inotify_event *e = (const struct inotify_event *)(void *)at;
                on_event(w, e);
                at += sizeof *e + e->len;
        }
        if (w->is_lost) {
                w->is_lost = false;
                look_at_all(w);
        }
}

static int64_t now_us(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* on_woken(w, end_fd): whoever makes thousands of files would have to wake us for each of them,
 * which costs more than making it. The first are looked at one by one; while they keep coming the
 * next are taken together. */
static void on_woken(struct watch *w, int end_fd)
{
        struct pollfd p = {.fd = end_fd, .events = POLLIN};
        w->wakes_n = now_us() - w->rested_us < BURST_US ? w->wakes_n + 1 : 0;
        on_events(w);
        if (w->wakes_n >= BURST_WAKES)
                (void)ppoll(&p, 1, &(struct timespec){.tv_nsec = GATHER_US * 1000l}, NULL);
        w->rested_us = now_us();
}

static _Noreturn void watch_main(struct live *live, int dir_fd, int out_fd, int end_fd)
{
        struct watch w = {.live = live,
                          .dir_fd = dir_fd,
                          .out_fd = out_fd,
                          .notify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
        if (w.notify_fd < 0)
                w.is_blind = true;
        /* What is there was looked through a moment ago, and the box does not run yet. */
        for (size_t i = 0; i < live->n; i++) {
                live_follow(&w, i, "");
                for (size_t k = 0; k < live->v[i].dirs.n; k++)
                        live_follow(&w, i, live->v[i].dirs.v[k]);
                live_heed(&w, i, ".git"); /* its settings name other files */
                strs_free(&live->v[i].dirs);
        }
        live_say(&w, "R");
        for (;;) {
                struct pollfd p[2] = {{.fd = end_fd, .events = POLLIN},
                                      {.fd = w.notify_fd, .events = POLLIN}};
                int r = poll(p, 2, w.is_blind ? LOOK_MS : -1);
                if (r < 0 && errno != EINTR)
                        _exit(1);
                if (p[1].revents)
                        on_woken(&w, end_fd);
                if (r == 0) {
                        refresh(&w);
                        look_at_all(&w);
                }
                if (p[0].revents)
                        break;
        }
        /* The box's processes are gone: what a race left is found now. */
        w.is_end = true;
        w.is_blind = true;
        refresh(&w);
        look_at_all(&w);
        look_at_modes(&w);
        live_say(&w, "E");
        if (w.is_alone) {
                /* Nobody waited for the box's end: it is ending while we look. */
                poll(NULL, 0, ALONE_MS);
                refresh(&w);
                look_at_all(&w);
                look_at_modes(&w);
        }
        _exit(0);
}

int live_watch_start(struct live *live, int dir_fd, struct live_watch *watch, struct err *err)
{
        int out[2], end[2];
        *watch = LIVE_WATCH_NONE;
        if (pipe2(out, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        if (pipe2(end, O_CLOEXEC) < 0) {
                close(out[0]);
                close(out[1]);
                return err_sys(err, "make a pipe");
        }
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
                int keep[3 + LIVE_TREES_MAX] = {dir_fd, out[1], end[0]};
                size_t n = 3;
                for (size_t i = 0; i < live->n; i++)
                        keep[n++] = live->v[i].fd;
                signal(SIGTERM, SIG_IGN);
                title_set("ostiary: live watch");
                fdio_close_except(keep, n);
                watch_main(live, dir_fd, out[1], end[0]);
        }
        close(out[1]);
        close(end[0]);
        *watch = (struct live_watch){pid < 0 ? 0 : pid, out[0], end[1]};
        if (pid < 0)
                return err_sys(err, "start the process that watches the workspace");
        return 0;
}
