/* record.c - telling audit. Records of one round of the loop go out together. When audit does not
 * keep up we wait for it with everything else: nothing passes unlogged (note 5.6, 40). */
#include "egress/door.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "wire/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>

uint64_t record_now_us(void)
{
        return clock_real_us();
}

void record_put(struct door *d, const struct door_record *r)
{
        if (d->records.len + DOOR_RECORD_MAX > FRAME_INLINE_MAX)
                record_flush(d);
        door_record_put(&d->records, r);
}

void record_sum_up(struct door *d)
{
        const struct work_budget *w = &d->work;
        const struct account *a = &d->account;
        if (!w->yields && !a->refused)
                return; /* nothing that anybody would look for */
        _cleanup_free_ char *note = str_fmt(
                "longest turn %" PRIu64 " bytes and %" PRIu64 " steps, longest round %" PRIu64
                ", turns %" PRIu64 ", sent back %" PRIu64 "; memory at most %" PRIu64
                " bytes, refused %" PRIu64 " times, %" PRIu64 " at the end",
                w->longest_bytes, w->longest_steps, w->longest_round, w->turns, w->yields, a->peak,
                a->refused, a->now);
        record_put(d, &(struct door_record){.time_us = record_now_us(),
                                            .kind = "door",
                                            .verdict = "allow",
                                            .host = "",
                                            .note = note});
        record_flush(d);
}

void record_flush(struct door *d)
{
        while (d->records.len > 0) {
                if (frame_send_data(d->audit_fd, DOOR_RECORD, d->records.data, d->records.len) ==
                    0) {
                        d->records.len = 0;
                        break;
                }
                if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
                        d->records.len = 0; /* so that the fault itself can be told */
                        door_fault(d, "the process that keeps the log is gone");
                }
                struct pollfd p = {.fd = d->audit_fd, .events = POLLOUT};
                poll(&p, 1, 1000);
        }
}
