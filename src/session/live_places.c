/* live_places.c - see live_watch_int.h: watched directories, and a table from inotify's descriptors
 * to their paths. Called by live_watch.c alone. A path in it may be old after a directory was
 * moved: the directory is found again under its new name, and whatever is done with an old path is
 * done by descriptor beneath the root, where nothing is found then. */
#include "session/live_watch_int.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/live.h"
#include "workspace/git_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum { PLACES_MAX = 1 << 22 };
enum { APPEARS = IN_CREATE | IN_MOVED_TO | IN_ATTRIB, WRITTEN = IN_MODIFY | IN_CLOSE_WRITE };

static void set(struct watch *w, int wd, size_t tree, const char *path)
{
        size_t at = (size_t)wd;
        if (wd < 0 || at >= PLACES_MAX)
                return;
        if (at >= w->places_n) {
                size_t n = w->places_n ? w->places_n : 64;
                while (n <= at)
                        n *= 2;
                struct place *v = reallocarray(w->places, n, sizeof *v);
                if (!v)
                        str_no_memory();
                for (size_t i = w->places_n; i < n; i++)
                        v[i] = (struct place){0};
                w->places = v;
                w->places_n = n;
        }
        struct place *p = &w->places[at];
        if (p->path && p->tree == tree && strcmp(p->path, path) == 0)
                return;
        free(p->path);
        p->tree = tree;
        p->path = str_dup(path);
}

static void watch(struct watch *w, size_t tree, const char *path, bool is_heeded)
{
        struct err err = {0};
        char proc[64];
        if (w->is_blind)
                return;
        _cleanup_close_ int fd = beneath_open_nosym(w->live->v[tree].fd, *path ? path : ".",
                                                    O_PATH | O_DIRECTORY, 0, &err);
        if (fd < 0)
                return;
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
        /* Added to what it tells already: nothing is ever heeded less. */
        int wd = inotify_add_watch(w->notify_fd, proc,
                                   APPEARS | (is_heeded ? WRITTEN : 0) | IN_MASK_ADD | IN_ONLYDIR);
        if (wd >= 0) {
                set(w, wd, tree, path);
                return;
        }
        if (errno != ENOSPC && errno != ENOMEM)
                return;
        w->is_blind = true;
        live_say(w,
                 "T there are more directories in %s than this machine watches for you "
                 "(fs.inotify.max_user_watches), so it is looked through every two seconds",
                 w->live->v[tree].root);
}

void live_follow(struct watch *w, size_t tree, const char *path)
{
        watch(w, tree, path, false);
}

void live_heed(struct watch *w, size_t tree, const char *path)
{
        watch(w, tree, path, true);
}

void live_heed_file(struct watch *w, size_t tree, const char *path)
{
        const char *end = strrchr(path, '/');
        _cleanup_free_ char *dir = str_fmt("%.*s", end ? (int)(end - path) : 0, path);
        watch(w, tree, dir, true);
}

struct named {
        struct watch *w;
        size_t tree;
};

static int on_named(void *ctx, const char *path, const struct stat *st)
{
        struct named *l = ctx;
        if (S_ISDIR(st->st_mode))
                live_heed(l->w, l->tree, path);
        return 0;
}

/* heed_run(w, tree, run): what git runs because a setting names it; a directory that is named, too. */
static void heed_run(struct watch *w, size_t tree, const struct git_words *run)
{
        const struct strs *files[] = {&run->trees, &run->files, &run->attributes};
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
                for (size_t k = 0; k < files[i]->n; k++)
                        live_heed_file(w, tree, files[i]->v[k]);
        for (size_t k = 0; k < run->dirs.n; k++)
                live_heed(w, tree, run->dirs.v[k]);
}

static void put_all(struct buf *all, size_t tree, const char *what, const struct strs *paths)
{
        for (size_t k = 0; k < paths->n; k++)
                buf_put_fmt(all, "%zu %s %s\n", tree, what, paths->v[k]);
}

void live_heed_named(struct watch *w)
{
        _cleanup_buf_ struct buf all = {0};
        for (size_t i = 0; i < w->live->n; i++) {
                const struct git_words *run;
                const struct strs *configs,
                        *hooks = classify_named(w->live->v[i].classify, &configs, &run);
                put_all(&all, i, "config", configs);
                put_all(&all, i, "hooks", hooks);
                put_all(&all, i, "run", &run->trees);
                put_all(&all, i, "run", &run->files);
                put_all(&all, i, "run", &run->dirs);
                put_all(&all, i, "run", &run->attributes);
        }
        if (w->named && strcmp(w->named, buf_cstr(&all)) == 0)
                return;
        free(w->named);
        w->named = str_dup(buf_cstr(&all));
        for (size_t i = 0; i < w->live->n; i++) {
                struct named l = {w, i};
                const struct git_words *run;
                const struct strs *configs,
                        *hooks = classify_named(w->live->v[i].classify, &configs, &run);
                heed_run(w, i, run);
                for (size_t k = 0; k < configs->n; k++)
                        live_heed_file(w, i, configs->v[k]);
                for (size_t k = 0; k < hooks->n; k++) {
                        live_heed(w, i, hooks->v[k]);
                        (void)live_walk(w->live->v[i].fd, hooks->v[k], UINT64_MAX, on_named, &l);
                }
        }
}

const struct place *live_places_get(const struct watch *w, int wd)
{
        size_t at = (size_t)wd;
        if (wd < 0 || at >= w->places_n || !w->places[at].path)
                return NULL;
        return &w->places[at];
}
