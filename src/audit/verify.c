/* verify.c - see verify.h. */
#include "audit/verify.h"

#include "audit/audit_query.h"
#include "audit/head.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

__attribute__((format(printf, 3, 4))) static void fault(struct audit_verdict *v, uint64_t line,
                                                        const char *fmt, ...)
{
        va_list ap;
        if (!v->is_whole)
                return; /* the first counts */
        v->is_whole = false;
        v->line = line;
        va_start(ap, fmt);
        vsnprintf(v->fault, sizeof v->fault, fmt, ap);
        va_end(ap);
}

/* read_head(dir_fd, h, v, err): a head that makes no sense is a finding, not an error. */
static int read_head(int dir_fd, struct head *h, struct audit_verdict *v, struct err *err)
{
        struct err odd = {0};
        struct stat st;
        *h = (struct head){.is_there = false};
        _cleanup_close_ int fd =
                openat(dir_fd, AUDIT_HEAD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0;
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "open the log's head");
        if (!S_ISREG(st.st_mode) || head_read(fd, h, &odd) < 0) {
                *h = (struct head){.is_there = false};
                fault(v, 0, "the log's head (%s) was changed: it is not what its writer wrote",
                      AUDIT_HEAD);
        }
        return 0;
}

/* compare(l, h, has_reached, is_living, v): the end of the log and what its head says. */
static void compare(const struct audit_log *l, const struct head *h, bool has_reached,
                    bool is_living, struct audit_verdict *v)
{
        uint64_t last = l->chain.seq;
        if (!h->is_there) {
                if (last && !(is_living && last < 2))
                        fault(v, 0,
                              "the log's head (%s) is missing: whether lines were cut off the end "
                              "cannot be told",
                              AUDIT_HEAD);
                return;
        }
        if (last < h->seq)
                fault(v, last + 1,
                      "the log ends at line %" PRIu64 " and had %" PRIu64 ": the last %" PRIu64
                      " were cut off",
                      last, h->seq, h->seq - last);
        else if (!has_reached)
                fault(v, h->seq, "line %" PRIu64 " is not the one that its head (%s) tells of",
                      h->seq, AUDIT_HEAD);
        else if (last > h->seq && !is_living)
                fault(v, h->seq + 1,
                      "%" PRIu64 " line%s after the end that its head tells of: added, or written "
                      "just before the writer was killed",
                      last - h->seq, last - h->seq == 1 ? " stands" : "s stand");
}

int audit_verify(int dir_fd, bool is_living, struct audit_verdict *v, struct err *err)
{
        struct audit_log l;
        struct audit_record r;
        struct head h;
        bool has_reached = false;
        int got;
        *v = (struct audit_verdict){.is_whole = true};
        /* The head first: the log may only grow meanwhile. */
        if (read_head(dir_fd, &h, v, err) < 0 || audit_log_open(&l, dir_fd, err) < 0)
                return -1;
        has_reached = h.is_there && h.seq == 0;
        v->is_there = l.fd >= 0 || h.is_there;
        if (l.fd < 0 && h.is_there && h.seq > 0)
                fault(v, 0, "the log was removed; it had %" PRIu64 " lines", h.seq);
        do {
                got = audit_log_next(&l, &r, err);
                if (l.broken_at)
                        fault(v, l.broken_at, "%s", l.broken);
                if (h.is_there && l.chain.seq == h.seq && strcmp(l.chain.prev, h.hash) == 0)
                        has_reached = true;
        } while (got > 0);
        if (got == 0 && l.fd >= 0) {
                if (l.in.len > l.at && !is_living)
                        fault(v, l.chain.seq + 1, "the log ends in the middle of line %" PRIu64,
                              l.chain.seq + 1);
                compare(&l, &h, has_reached, is_living, v);
        }
        v->records = l.chain.seq;
        v->torn_n = l.torn_n;
        memcpy(v->hash, l.chain.prev, sizeof v->hash);
        audit_log_close(&l);
        return got;
}
