/* live_watch_int.h - which directories are watched, and for what. Shared by live_watch.c and
 * live_places.c.
 *
 * Every directory tells what appears in it. What becomes of a file afterwards is of interest where
 * what it holds decides (a git configuration, a pointer), and nowhere else: ten thousand plain
 * files that are made and written would be told of three times each, and whoever writes pays for
 * it. So a directory is heeded (tells of writing too) from the moment in which such a file is seen
 * in it, and before that file is read. */
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
        char *named;      /* what the settings name, as it was heeded last; or NULL */
        uint64_t taken_n;
        int64_t rested_us; /* when the last events were done with */
        unsigned wakes_n;  /* in a row without a pause */
};

/* live_follow(w, tree, path): be told what appears in this directory; also when it was moved and is
 * found again. live_heed: and what is written there. */
void live_follow(struct watch *, size_t tree, const char *path);
void live_heed(struct watch *, size_t tree, const char *path);
/* live_heed_file(w, tree, path): the directory of a file. */
void live_heed_file(struct watch *, size_t tree, const char *path);
/* live_heed_named(w): what the settings of a repository name as hooks or configuration was plain
 * until they did. */
void live_heed_named(struct watch *);
const struct place *live_places_get(const struct watch *, int wd);

/* live_say(w, fmt, ...): one line to the supervisor. */
void live_say(struct watch *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
