/* live_places.c - see live_watch_int.h: a table from inotify's descriptors to paths. Called by
 * live_watch.c alone. A path in it may be old after a directory was moved: the directory is found
 * again under its new name, and whatever is done with an old path is done by descriptor beneath the
 * root, where nothing is found then. */
#include "session/live_watch_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 1 << 22 };

void live_places_set(struct watch *w, int wd, size_t tree, const char *path)
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
        *p = (struct place){tree, str_dup(path)};
}

const struct place *live_places_get(const struct watch *w, int wd)
{
        size_t at = (size_t)wd;
        if (wd < 0 || at >= w->places_n || !w->places[at].path)
                return NULL;
        return &w->places[at];
}
