/* audit_write.c - the writing half of the log's writer: one write for what a round brought, its
 * head behind it, and what happens when the disk takes no more. Called by audit_role.c, whose state
 * it shares. */
#include "audit/audit_write.h"

#include "audit/audit_who.h"
#include "audit/head.h"
#include "base/err.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
        RETRY_MS = 500,
        REST_MS = 250,
        REST_BELOW = 64, /* of more than that the sockets may be full soon */
};

/* A box that makes a million requests fills a disk; at this size the log counts as full. */
#define LOG_MAX ((uint64_t)1 << 30)

void audit_write_say(struct role *r, enum audit_msg type, const char *words)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        frame_send(r->control_fd, type, &b, NULL, 0);
}

static int put_head(struct role *r)
{
        r->is_behind = head_write(r->head_fd, &r->chain, r->log_len) < 0;
        return r->is_behind ? -1 : 0;
}

int audit_write_flush(struct role *r)
{
        bool is_any = r->out.len > 0;
        while (r->out.len) {
                if (r->log_len >= LOG_MAX) {
                        errno = EFBIG;
                        return -1;
                }
                ssize_t n = write(r->log_fd, r->out.data, r->out.len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -1;
                r->log_len += (uint64_t)n;
                buf_drop(&r->out, (size_t)n);
        }
        /* After the log: a head that is ahead of it would look like a log that was cut. */
        return is_any || r->is_behind ? put_head(r) : 0;
}

void audit_write_reading(struct role *r, bool is_on)
{
        for (size_t i = 0; i < r->writers_n; i++)
                loop_want(r->writers[i]->src, is_on ? EPOLLIN : 0);
}

void audit_write_stuck(struct role *r)
{
        char words[256];
        snprintf(words, sizeof words,
                 "the log of box %s cannot be written (%s); the box waits until it can", r->box,
                 errno == EFBIG ? "it has reached its largest size" : strerror(errno));
        if (!r->is_stuck)
                audit_write_say(r, AUDIT_STUCK, words);
        r->is_stuck = true;
        audit_write_reading(r, false);
        loop_timer_set(r->loop, &r->retry, RETRY_MS);
}

static void on_retry(void *ctx)
{
        struct role *r = ctx;
        if (audit_write_flush(r) < 0) {
                audit_write_stuck(r);
                return;
        }
        r->is_stuck = false;
        audit_write_reading(r, true);
        audit_write_say(r, AUDIT_NOTICE, "the log can be written again; the box goes on");
}

/* A flood of calls that are recorded must not fill the disk faster than somebody can look: of what
 * the witness tells, so much is written at once, and then so much in a millisecond. Nothing is lost:
 * the witness waits, and the call that it has in hand with it. Who recorded more than the usual was
 * asked to. */
#define CREDIT_MOST ((int64_t)32 << 20)
#define CREDIT_MS   ((int64_t)1 << 10)

static uint64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* debt_ms(r, written): after so many bytes, how long the witness has to wait. */
static uint64_t debt_ms(struct role *r, uint64_t written)
{
        uint64_t now = now_ms();
        int64_t more = (int64_t)(now - r->credit_ms) * CREDIT_MS;
        if (!r->credit_ms || more > CREDIT_MOST || r->credit + more > CREDIT_MOST)
                r->credit = CREDIT_MOST;
        else
                r->credit += more;
        r->credit_ms = now;
        r->credit -= (int64_t)written;
        return r->credit < 0 ? (uint64_t)(-r->credit / CREDIT_MS + 1) : 0;
}

/* rest(r): being woken for each call of the box costs more than writing it down, so what the
 * witness tells waits in its pipe for a moment, and is then read together. */
static void rest(struct role *r, uint64_t ms)
{
        struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ms / 1000),
                                            .tv_nsec = (long)(ms % 1000) * 1000000L}};
        if (timerfd_settime(r->rest_fd, 0, &t, NULL) < 0)
                return;
        for (size_t i = 0; i < r->writers_n; i++)
                if (r->writers[i]->is_witness)
                        loop_want(r->writers[i]->src, 0);
}

static void on_rest_over(void *ctx, uint32_t events)
{
        struct role *r = ctx;
        uint64_t n;
        (void)events;
        if (read(r->rest_fd, &n, sizeof n) <= 0)
                return;
        r->is_in_debt = false;
        if (!r->is_stuck)
                audit_write_reading(r, true);
}

/* after_round(ctx): one write for everything that the round brought. */
static bool after_round(void *ctx)
{
        struct role *r = ctx;
        if (r->is_stuck || !r->out.len)
                return false;
        uint64_t before = r->log_len;
        if (audit_write_flush(r) < 0) {
                audit_write_stuck(r);
                return false;
        }
        uint64_t debt = r->is_paced ? debt_ms(r, r->log_len - before) : 0;
        r->is_in_debt = debt > 0;
        if (debt)
                rest(r, debt);
        else if (r->heard_n && r->heard_n < REST_BELOW && !r->is_stuck)
                rest(r, REST_MS);
        r->heard_n = 0;
        return false;
}

int audit_write_begin(struct role *r, struct err *err)
{
        r->rest_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (r->rest_fd < 0 || !loop_add(r->loop, r->rest_fd, EPOLLIN, on_rest_over, r))
                return err_sys(err, "make a timer");
        r->retry = (struct loop_timer){.fn = on_retry, .ctx = r};
        loop_after(r->loop, after_round, r);
        return 0;
}
