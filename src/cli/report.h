/* report.h - `ostiary report`: a box's story gathered into figures, and those figures as one page
 * of HTML. Gathering is bounded whatever the box did: what does not fit is counted and said. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "session/store.h"
#include "session/story.h"

enum {
        REPORT_BUCKETS = 96, /* columns of the chart */
        REPORT_ROWS = 500,   /* of the timeline: so many from its beginning, and from its end */
        REPORT_HOSTS = 200,
        REPORT_PROCESSES = 4000,   /* kept; */
        REPORT_PROCESS_ROWS = 300, /* shown */
        REPORT_CHANGES = 600,
        REPORT_NOTED = 200, /* refusals, alarms and approvals, each */
        REPORT_SECRETS = 64,
};

/* What the chart's columns are made of. */
enum report_series { SERIES_PROCESS, SERIES_REQUEST, SERIES_FILE, SERIES_BAD, SERIES_COUNT };

struct report_row {
        int64_t time_us;
        char *kind, *who, *what; /* quoted as for a terminal, not yet for HTML */
        enum story_group group;
        bool is_bad, is_approval;
};

struct report_host {
        char *host; /* raw */
        uint32_t hash;
        uint64_t port, n, denied_n, bytes_up, bytes_down;
        char *cure; /* raw; "" when nothing was refused */
};

struct report_process {
        uint64_t pid, execs_n, cpu_us, peak_kib, status;
        int64_t begin_us, end_us;   /* end 0: it had not ended */
        char *what;                 /* its last command line, quoted */
        uint64_t ppid;              /* as the log has it */
        uint32_t older;             /* index + 1: the process that had this pid before */
        uint32_t parent;            /* index + 1; 0: none that is known */
        uint32_t child, last, next; /* index + 1: its first and last child, its next sibling */
};

struct report_fork {
        uint64_t pid, ppid;
        int64_t end_us;
};

struct report_change {
        int64_t time_us;
        char *name, *from, why[96]; /* raw */
        const char *refused;
        uint64_t size;
        enum ws_what what;
        enum ws_kind kind;
        enum file_class class;
        bool is_applied;
};

struct report_secret {
        char *name; /* raw */
        uint64_t n;
        struct strs hosts; /* at most 8 */
};

struct report_list { /* events that have a section of their own */
        struct report_row *v;
        size_t n;
        uint64_t more;
};

struct report {
        const char *id;
        struct box_meta meta;
        int64_t begin_us, end_us;
        uint64_t events_n, groups_n[STORY_GROUP_COUNT];
        struct strs alarmed; /* hosts toward which a placeholder was on its way */
        uint64_t requests_n, denied_n, alarms_n, bytes_up, bytes_down;
        uint64_t absent_n; /* calls that do not exist in a box: see story_text_is_absent */
        uint64_t execs_n, exits_n, cpu_us, peak_kib;
        uint32_t buckets[REPORT_BUCKETS][SERIES_COUNT];
        struct report_row *rows; /* the first REPORT_ROWS, then a ring of the last ones */
        size_t rows_n, ring_at;
        uint64_t rows_more;
        uint64_t reads_n; /* opens for reading, which are counted and not told */
        struct report_host *hosts;
        size_t hosts_n;
        uint64_t hosts_more; /* requests to hosts that did not fit */
        struct report_process *processes;
        size_t processes_n;
        uint32_t *by_pid;          /* index + 1 of the newest process of a pid, hashed */
        struct report_fork *forks; /* processes that never executed anything */
        size_t forks_n;
        uint32_t roots, roots_last;
        uint64_t processes_more;
        struct report_change *changes;
        size_t changes_n;
        struct strs change_notes; /* what diff sums up: git's bookkeeping, the home, build output */
        uint64_t changed_n, applied_n; /* as diff counts; applied ones are among the changed */
        uint64_t changes_more, classes_n[FILE_CLASS_COUNT], whats_n[WS_RENAMED + 1];
        uint64_t ignored_n, ignored_bytes;
        char no_changes[256];
        struct report_list bad, approvals, reviews;
        struct report_secret *secrets;
        size_t secrets_n;
};

/* report_gather(r, store, id, err): read the whole story. */
int report_gather(struct report *, const struct store *, const char *id, struct err *);
void report_free(struct report *);
#define _cleanup_report_ __attribute__((cleanup(report_free)))

/* report_shorten(s): a command line of kilobytes is not for looking at. Takes and gives ownership.
 */
char *report_shorten(char *);

/* report_process_on(r, e): an exec or an exit. report_process_end(r): after the last one: who is
 * whose child. report_process_free: all of them. */
void report_process_on(struct report *, const struct story_event *);
void report_process_end(struct report *);
void report_process_free(struct report *);

/* report_page(r, out): the page. Its pieces stand in report_chart.c, report_sections.c and
 * report_timeline.c. */
struct buf;
void report_page(const struct report *, struct buf *out);
void report_chart(const struct report *, struct buf *out);
void report_timeline(const struct report *, struct buf *out);
void report_hosts(const struct report *, struct buf *out);
/* report_changes_gather(r, s, store): the changed files, when ${s} has been told. Sorts its changes
 * by name. */
void report_changes_gather(struct report *, struct story *, const struct store *);
/* report_hosts_sort(r), report_changes_sort(r): in the order in which they are shown. */
void report_hosts_sort(struct report *);
void report_changes_sort(struct report *);
void report_processes(const struct report *, struct buf *out);
void report_changes(const struct report *, struct buf *out);
void report_noted(const struct report *, struct buf *out);
void report_secrets(const struct report *, struct buf *out);
/* report_row_put(w, out): one event as a row of a table. */
void report_row_put(const struct report_row *, struct buf *out);

extern const char report_style[];

#endif
