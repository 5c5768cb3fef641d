/* audit_query.h - reading a box's log: record by record, with its chain checked on the way. Used by
 * the CLI (log, learn, the summary of a kept box); never writes. */
#ifndef AUDIT_AUDIT_QUERY_H
#define AUDIT_AUDIT_QUERY_H

#include "audit/chain.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct refused;

/* One record. Strings are "" where the line says nothing; they live until the next call. They came
 * out of a box: quote them before they are shown. */
struct audit_record {
        uint64_t seq;
        const char *prev, *time, *box, *kind, *verdict, *rule, *protocol, *method, *host, *path,
                *address, *exe, *secrets, *note, *cure;
        uint64_t pid, port, status, bytes_up, bytes_down, wait_us, total_us, source_port;
        uint64_t ppid, cpu_us, peak_kib; /* of processes: who made it; what it cost, at its exit */
};

/* audit_record_parse(line, n, r, strings): a line of ours: one flat object of strings and whole
 * numbers, unknown keys skipped. 0, or -1 for anything else. */
int audit_record_parse(const char *line, size_t n, struct audit_record *, struct buf *strings);

/* audit_record_is_refused(r): was it denied, by a rule or for want of an answer? Not so a call that
 * the box only lacks (ENOSYS). */
bool audit_record_is_refused(const struct audit_record *);

struct audit_log {
        int fd; /* -1: the box has logged nothing */
        struct buf in, strings;
        size_t at;          /* where the next line begins in ${in} */
        struct chain chain; /* of what was read so far */
        /* the line that was read last, without its newline, and where in the file it begins */
        const char *line;
        size_t line_len;
        uint64_t line_at;
        uint64_t in_at;    /* where ${in} begins in the file */
        bool is_unchained; /* set by a caller who only reads: the chain is not followed */
        /* the first fault of the chain: the number of the line it was found at, and words */
        uint64_t broken_at;
        char broken[160];
        uint64_t torn_n; /* lines that were cut off when a writer was killed */
};

/* audit_log_open(l, dir_fd, err): the log in a box's directory; a box without one has no records.
 * audit_log_close is fine on a zeroed one. */
int audit_log_open(struct audit_log *, int dir_fd, struct err *);
void audit_log_close(struct audit_log *);

/* audit_log_next(l, r, err): the next record: 1; 0 when there is none now (more may come in a
 * living box); -1 when the log cannot be read. Lines that are no records are counted and skipped.
 */
int audit_log_next(struct audit_log *, struct audit_record *, struct err *);

/* What was let through, for `learn`, also if it failed then (no such host, no answer, a wrong
 * certificate): each method, host, port and path once, in order of appearance, with how often. */
struct audit_use {
        char *method, *host, *path, *kind;
        uint32_t port;
        uint64_t n, failed_n; /* how often, and how often of these it came to nothing */
        char *why;            /* the last time that it did; "" */
};
struct audit_uses {
        struct audit_use *v;
        size_t n;
};
/* audit_log_uses(dir_fd, with_refused, uses, err): ${with_refused} adds what was not let through.
 * At most AUDIT_USES_MAX entries; a box that made more is told by the caller: uses->n is the
 * maximum. */
enum { AUDIT_USES_MAX = 20000 };
int audit_log_uses(int dir_fd, bool with_refused, struct audit_uses *, struct err *);
void audit_uses_free(struct audit_uses *);

#endif
