/* sup_live.c - the supervisor's side of a live workspace: the process that watches it
 * (live_watch.h), what it says, and at the end the record that undo takes back. The lines come from
 * a process of ours; the names in them are quoted. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "session/live_commits.h"
#include "session/live_watch.h"
#include "session/supervisor.h"
#include "workspace/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        READY_MS = 600000, /* until everything is watched */
        LAST_MS = 300000,  /* for the last look */
        TOLD_MAX = 10,     /* sentences about files that were taken away; then they are counted */
};

struct sup_live {
        struct live_watch watch;
        struct loop_src *src;
        struct buf in;
        uint64_t taken_n, mended_n;
        bool is_ready, is_over;
};

static void on_taken(struct sup *s, const char *words)
{
        struct sup_live *l = s->live;
        const char *tab = strchr(words, '\t');
        size_t n = tab ? (size_t)(tab - words) : strlen(words);
        l->taken_n++;
        _cleanup_free_ char *say =
                str_fmt("%.*s was taken away (%s); %s/boxes/%s/quarantine has it", (int)n, words,
                        tab ? tab + 1 : "dangerous", s->store->state, s->id);
        if (l->taken_n <= TOLD_MAX)
                sup_tell(s, say);
        sup_log(s, "quarantine", words);
        if (l->taken_n == LIVE_TAKEN_MAX && !s->is_ending) {
                sup_tell(s, "the box goes on putting dangerous files into the workspace: it is "
                            "stopped");
                sup_stop(s, 0);
        }
}

/* on_mended(s, path, what): others could have written there ('M'), read it ('P') or run it with rights
 * that are not theirs ('G'). */
static void on_mended(struct sup *s, const char *path, char what)
{
        static const char write[] =
                "others could write to %s, which your umask forbids: they cannot "
                "any more";
        static const char read[] = "others could read %s, which they could not before: they cannot "
                                   "any more";
        static const char run[] = "whoever ran %s would have had the rights of its owner or group: "
                                  "they have not any more";
        _cleanup_free_ char *say = what == 'M'   ? str_fmt(write, path)
                                   : what == 'P' ? str_fmt(read, path)
                                                 : str_fmt(run, path);
        if (++s->live->mended_n <= TOLD_MAX) {
                sup_tell(s, say);
                sup_log(s, "mode", path);
        }
}

static void on_line(struct sup *s, const char *line)
{
        struct sup_live *l = s->live;
        if (line[0] == 'R')
                l->is_ready = true;
        else if (line[0] == 'E')
                l->is_over = true;
        else if (line[0] == 'Q' && line[1])
                on_taken(s, line + 2);
        else if (line[0] && strchr("MPG", line[0]) && line[1])
                on_mended(s, line + 2, line[0]);
        else if (line[0] == 'T' && line[1])
                sup_tell(s, line + 2);
}

/* take(s): read once; false at the end. */
static bool take(struct sup *s)
{
        struct sup_live *l = s->live;
        char piece[4096];
        ssize_t n = read(l->watch.out_fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
                return true;
        if (n <= 0)
                return false;
        buf_put(&l->in, piece, (size_t)n);
        for (uint8_t *end; (end = memchr(l->in.data, '\n', l->in.len));) {
                size_t len = (size_t)(end - l->in.data);
                *end = '\0';
                _cleanup_free_ char *line = str_dup((const char *)l->in.data);
                buf_drop(&l->in, len + 1);
                on_line(s, line);
        }
        return true;
}

/* wait_for(s, flag, ms): lines, until one of them sets ${flag}. */
static bool wait_for(struct sup *s, const bool *flag, int ms)
{
        while (!*flag) {
                struct pollfd p = {.fd = s->live->watch.out_fd, .events = POLLIN};
                int r = poll(&p, 1, ms);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0 || !take(s))
                        return *flag;
        }
        return true;
}

static void on_readable(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        (void)events;
        if (take(s))
                return;
        /* Without it new files would go unseen. */
        loop_del(&s->live->src);
        sup_tell(s, "the process that watches the workspace has died: the box is stopped");
        sup_stop(s, 0);
}

int sup_live_begin(struct sup *s, struct err *err)
{
        struct live *live = s->args->live;
        if (live->n == 0)
                return 0;
        struct sup_live *l = calloc(1, sizeof *l);
        if (!l)
                str_no_memory();
        s->live = l;
        if (live_watch_start(live, s->dir_fd, &l->watch, err) < 0)
                return -1;
        if (!wait_for(s, &l->is_ready, READY_MS))
                return err_set(err, E_SYSTEM,
                               "the live workspace cannot be watched for new dangerous files");
        l->src = loop_add(s->loop, l->watch.out_fd, EPOLLIN, on_readable, s);
        return l->src ? 0 : err_sys(err, "watch the workspace");
}

static void end_watch(struct sup *s)
{
        struct sup_live *l = s->live;
        loop_del(&l->src);
        close_fd(&l->watch.end_fd);
        if (l->watch.pid > 0 && !wait_for(s, &l->is_over, LAST_MS)) {
                kill(l->watch.pid, SIGKILL);
                sup_tell(s, "the workspace could not be looked through after the end of the box: "
                            "look for files that it left with ostiary undo --dry-run");
        }
        if (l->watch.pid > 0)
                while (waitpid(l->watch.pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        close_fd(&l->watch.out_fd);
}

/* end_record(s, tree): what the run left, and how it is taken back. */
static uint64_t end_record(struct sup *s, struct live_tree *t)
{
        struct err err = {0};
        uint64_t changed = 0;
        if (checkpoint_close(t->checkpoint, &changed, &err) < 0) {
                _cleanup_free_ char *say =
                        str_fmt("the record of this run is not complete: %s; ostiary undo %" PRIu64
                                " puts files back and asks for each",
                                err.text, checkpoint_number(t->checkpoint));
                sup_tell(s, say);
                return checkpoint_number(t->checkpoint);
        }
        if (changed == 0)
                return 0;
        _cleanup_free_ char *say = str_fmt(
                "%" PRIu64 " path%s of %s changed; ostiary undo %" PRIu64 " takes that back",
                changed, changed == 1 ? "" : "s", t->root, checkpoint_number(t->checkpoint));
        sup_tell(s, say);
        return checkpoint_number(t->checkpoint);
}

/* end_commits(s, tree): what was committed in the host's own repository, and what of it somebody
 * runs or obeys. */
static void end_commits(struct sup *s, const struct live_tree *t)
{
        struct err err = {0};
        struct git_paths paths = {0};
        size_t n = 0, told = 0;
        if (live_commits_since(t->root, s->dir_fd, t->classes, &n, &paths, &err) < 0) {
                _cleanup_free_ char *say =
                        str_fmt("what the box committed cannot be read: %s", err.text);
                sup_tell(s, say);
        }
        if (n) {
                _cleanup_free_ char *say = str_fmt("%zu commit%s in the host's own repository", n,
                                                   n == 1 ? " was made" : "s were made");
                sup_tell(s, say);
        }
        for (size_t i = 0; i < paths.n && told < TOLD_MAX; i++) {
                if (paths.v[i].class.class == FILE_PLAIN)
                        continue;
                _cleanup_free_ char *path = str_quote(paths.v[i].path);
                _cleanup_free_ char *say = str_fmt("committed: %s (%s)", path,
                                                   file_class_words(paths.v[i].class.class));
                sup_tell(s, say);
                told++;
        }
        git_paths_free(&paths);
}

void sup_live_end(struct sup *s)
{
        struct live *live = s->args->live;
        struct sup_live *l = s->live;
        _cleanup_buf_ struct buf b = {0};
        if (!l)
                return;
        end_watch(s);
        kv_put_u64(&b, "protected", live->shown_n);
        kv_put_u64(&b, "masked", live->masked_n);
        kv_put_u64(&b, "quarantined", l->taken_n);
        for (size_t i = 0; i < live->n; i++) {
                uint64_t n = live->v[i].checkpoint ? end_record(s, &live->v[i]) : 0;
                if (n)
                        kv_put_u64(&b, "record", n);
                if (strcmp(live->v[i].root, s->plan->workspace ? s->plan->workspace : "") == 0)
                        end_commits(s, &live->v[i]);
        }
        if (l->taken_n > TOLD_MAX) {
                _cleanup_free_ char *say = str_fmt(
                        "%" PRIu64 " files were taken away into quarantine in all", l->taken_n);
                sup_tell(s, say);
        }
        if (l->mended_n > TOLD_MAX) {
                _cleanup_free_ char *say = str_fmt(
                        "%" PRIu64 " times others were given rights in the workspace, in all",
                        l->mended_n);
                sup_tell(s, say);
        }
        (void)fdio_write_file(s->dir_fd, "live", buf_cstr(&b), 0600, NULL);
        /* What was taken away is kept as long as somebody has not looked at it. */
        if (l->taken_n) {
                s->opts->is_kept = true;
                s->opts->is_removed = false;
        }
        live_free(live);
        buf_free(&l->in);
        free(take_ptr(&s->live));
}
