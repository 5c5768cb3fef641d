/* live_watch_int.h - which directory an inotify descriptor stands for. Shared by live_watch.c and
 * live_places.c. */
#ifndef SESSION_LIVE_WATCH_INT_H
#define SESSION_LIVE_WATCH_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live;

struct place {
        size_t tree;
        char *path; /* from the tree's root; NULL: none */
};

struct watch {
        struct live *live;
        int dir_fd, out_fd, notify_fd;
        struct place *places; /* by descriptor, which the kernel counts up from 1 */
        size_t places_n;
        bool is_blind;    /* not everything can be watched */
        bool is_lost;     /* events were */
        bool is_alone;    /* the supervisor is gone */
        bool is_end;      /* the box has ended */
        int64_t fresh_ms; /* when the trees were made ready to be judged */
        char *plain;      /* the path that was harmless last; or NULL */
        uint64_t taken_n;
};

/* live_places_set(w, wd, tree, path): also when the directory was moved and is found again. */
void live_places_set(struct watch *, int wd, size_t tree, const char *path);
const struct place *live_places_get(const struct watch *, int wd);

/* live_say(w, fmt, ...): one line to the supervisor. */
void live_say(struct watch *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
