/* story_before.h - what led up to one change: the process that opened the file for writing if the
 * log has opens, what else ran at that moment, and the requests that began before it. Nearness in
 * time, not proof of cause: the header of the answer says what is known and what is only near. */
#ifndef SESSION_STORY_BEFORE_H
#define SESSION_STORY_BEFORE_H

#include "session/story.h"

enum { STORY_WRITERS_MAX = 4, STORY_NEAR_MAX = 6, STORY_ALIVE_MAX = 1024 };

/* A record kept beyond its line. */
struct story_kept {
        int64_t time_us;
        struct audit_record record; /* its strings lie in ${strings} */
        struct buf strings;
};

struct story_before {
        struct story_change change; /* the one that is meant; strings owned */
        uint64_t others_n;          /* further changes that the path fits */
        bool has_opens;             /* does the log hold opens at all? */
        bool has_execs;
        /* newest first */
        struct story_kept writers[STORY_WRITERS_MAX], requests[STORY_NEAR_MAX];
        size_t writers_n, requests_n;
        /* processes that had begun and not ended, newest last */
        struct story_kept *alive;
        size_t alive_n;
        uint64_t alive_more;
};

/* story_before_find(b, store, id, workspace, path, err): the change of ${path} (of a directory or a
 * pattern: the newest below it). -1 with E_ABSENT when the box changed no such file. */
int story_before_find(struct story_before *, const struct store *, const char *id,
                      const char *workspace, const char *path, struct err *);
void story_before_free(struct story_before *);
#define _cleanup_story_before_ __attribute__((cleanup(story_before_free)))

#endif
