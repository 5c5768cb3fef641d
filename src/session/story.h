/* story.h - what happened in a box, in one order: the records of its log, the files it changed, and
 * what was applied of them or taken back. Used by timeline, report, and (the filters) by log.
 *
 *     struct story s;
 *     if (story_open(&s, &store, id, &filter, err) == 0)
 *             while ((got = story_next(&s, &event, err)) > 0)
 *                     ...
 *     story_close(&s);
 *
 * Times: a request of the door is told at the time it began, though its record is written when it
 * ends; everything else of the log when it happened. A changed file is told by the ctime of what
 * the box left of it, which a box cannot set: the last change of this file's content, name or mode.
 * A deleted one by the ctime of the mark that hides it; overlayfs may share one mark among many
 * names, whose time is then that of the last, and what lies below a deleted directory has none:
 * such a change says that it was then or before. The kernel takes ctime from a clock that moves in
 * ticks, so a change is told two ticks later, not before what caused it, and yet not after the box
 * had ended (story_runs.c). What is told is what orders: the times of a story never go back. Equal
 * times: log before undo before files, and within each the order of numbers and of paths, so that
 * two readings agree.
 *
 * Memory: records that were written late (24 bytes each), and the changed files (at most
 * STORY_CHANGES_MAX); the log itself is streamed twice. Reads only; never wakes a box. */
#ifndef SESSION_STORY_H
#define SESSION_STORY_H

#include "audit/audit_query.h"
#include "policy/file_class.h"
#include "session/story_filter.h"
#include "workspace/change.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;

enum {
        STORY_CHANGES_MAX = 500000,
        STORY_UNDOS_MAX = 10000,
        STORY_LATE_MAX = 8 << 20,
        STORY_RUNS_MAX = 100000,
};

/* A changed file as the story keeps it. */
struct story_change {
        int64_t time_us;     /* when it is told; 0 when that is not known */
        int64_t ctime_us;    /* what the kernel noted: the same change has the same */
        int64_t mtime_us;    /* what the file itself says; the box can set it */
        char *name;          /* as the user is told it (changes_name); not quoted */
        char *from;          /* of a rename, else NULL */
        const char *refused; /* why apply never takes it, or NULL */
        uint64_t size;
        mode_t mode;
        enum ws_what what;
        enum ws_kind kind; /* of what there is now, or was before a deletion */
        enum file_class class;
        char why[96]; /* of the class */
        bool is_odd, is_masked, is_home;
        bool is_applied;   /* it landed on the host since */
        bool is_told;      /* by an earlier look of a story that goes on */
        bool is_at_latest; /* a deletion that has no time of its own: then or before */
        uint64_t mark;     /* of a deletion: the inode that hides it, or 0 */
};

/* One apply, undo or live run of the box's. */
struct story_undo {
        int64_t time_us;
        uint64_t n, paths_n;
        char *what, *root;
        char *first; /* the first path, "" when there is none */
        bool is_done, is_undone;
};

enum story_source { STORY_LOG, STORY_UNDO, STORY_FILE };

/* One event; exactly one of the three is set. Valid until the next call. */
struct story_event {
        int64_t time_us;
        enum story_source source;
        enum story_group group;
        const char *kind; /* of the record; "change"; "apply", "undo", "live" */
        const struct audit_record *record;
        const struct story_change *change;
        const struct story_undo *undo;
        const char *line; /* the record as it stands in the log */
        size_t line_len;
};

struct story_late;

/* A time in which the box was there: it may be woken again. end INT64_MAX: no record of its end. */
struct story_run {
        int64_t begin_us, end_us;
};

struct story {
        const struct story_filter *filter;
        struct audit_log log;
        uint64_t end_at; /* how far the log went when the story was opened */
        int64_t high_us; /* the latest time of the records in order so far */
        bool has_record; /* one is read and waits in ${record} */
        bool has_beyond; /* the one in ${record} lies behind end_at: for a story that goes on */
        bool is_following;
        struct audit_record record;
        int64_t record_us;
        /* records whose time lies before that of one written earlier, by time */
        struct story_late *late;
        size_t late_n, late_at;
        struct buf late_line, late_strings;
        struct audit_record late_record;
        struct story_run *runs; /* by time */
        size_t runs_n;
        struct story_change *changes; /* by time */
        size_t changes_n, changes_at;
        uint64_t changes_more;             /* left out by the ceiling */
        uint64_t ignored_n, ignored_bytes; /* build output: counted, not told */
        struct story_undo *undos;          /* by time */
        size_t undos_n, undos_at;
        uint64_t undos_more;
        /* the changes could not be looked up: why, in a sentence; "" otherwise. The rest of the
         * story is told all the same. */
        char no_changes[256];
};

/* story_open(s, store, id, filter, err): ${filter} must live as long as ${s}. */
int story_open(struct story *, const struct store *, const char *id, const struct story_filter *,
               struct err *);
/* story_next(s, event, err): 1, 0 at the end, -1. */
int story_next(struct story *, struct story_event *, struct err *);
void story_close(struct story *);
#define _cleanup_story_ __attribute__((cleanup(story_close)))

/* story_go_on(s, store, id, with_files, err): after the last event: what the log has got since, and
 * with ${with_files} the files and undos since, come next. Records come as they are written then.
 */
int story_go_on(struct story *, const struct store *, const char *id, bool with_files,
                struct err *);

/* story_frame_of(store, id, frame, err): what clock times are counted from in this box. */
struct story_frame;
int story_frame_of(const struct store *, const char *id, struct story_frame *, struct err *);

/* Pieces of it, for story.c and tests. */
/* story_log_begin(s, dir_fd, err): open the log and note which records were written late. */
int story_log_begin(struct story *, int dir_fd, struct err *);
/* story_log_peek(s, time_us, err): is there a next record, and when? 1, 0, -1. */
int story_log_peek(struct story *, int64_t *time_us, struct err *);
/* story_log_take(s, event, err): it. */
int story_log_take(struct story *, struct story_event *, struct err *);
/* story_runs_note(s, record, us): a record of the log, whatever the filter says: did the box begin
 * or end with it? story_runs_close(s, frame): what the log does not say, from the box's facts.
 * story_runs_bound(s, ctime_us, later_us): a change that the kernel noted at ${ctime_us} was made by
 * ${later_us} after it, while the box was there. Returns the time to tell. */
void story_runs_note(struct story *, const struct audit_record *, int64_t us);
void story_runs_close(struct story *, const struct story_frame *);
int64_t story_runs_bound(const struct story *, int64_t ctime_us, int64_t later_us);
/* story_changes_read(s, store, id): all changes that pass the filter, sorted; a failure is told in
 * no_changes. story_undos_read(s, store, id, err): the same of undo records. */
void story_changes_read(struct story *, const struct store *, const char *id);
int story_undos_read(struct story *, const struct store *, const char *id, struct err *);
void story_changes_free(struct story_change *, size_t n);
void story_undos_free(struct story_undo *, size_t n);

#endif
