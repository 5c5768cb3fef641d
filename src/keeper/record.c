/* record.c - every answer that the keeper gives is a line of the log. Lines go out together, a
 * twentieth of a second after the first of them at the latest, so that a request does not wake the
 * audit process a second time. Nothing in a line is a value. */
#include "keeper/keeper_int.h"

#include "base/clock.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <poll.h>

enum { WAIT_MS = 50, FULL = 16 << 10 };

void keeper_record(struct keeper *k, const struct door_record *r)
{
        struct door_record full = *r;
        full.time_us = clock_real_us();
        full.kind = "secret";
        if (k->records.len + DOOR_RECORD_MAX > FRAME_INLINE_MAX)
                keeper_record_flush(k);
        if (k->records.len == 0)
                k->records_ms = keeper_now_ms();
        door_record_put(&k->records, &full);
        if (k->records.is_broken)
                role_die("there is no memory for the log");
}

int keeper_record_wait_ms(const struct keeper *k)
{
        if (k->records.len == 0)
                return -1;
        uint64_t age = keeper_now_ms() - k->records_ms;
        return k->records.len >= FULL || age >= WAIT_MS ? 0 : (int)(WAIT_MS - age);
}

/* When audit does not keep up we wait for it: no key is used unlogged. */
void keeper_record_flush(struct keeper *k)
{
        while (k->records.len > 0) {
                if (frame_send_data(k->audit_fd, DOOR_RECORD, k->records.data, k->records.len) ==
                    0) {
                        k->records.len = 0;
                        break;
                }
                if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
                        role_die("the process that keeps the log is gone");
                struct pollfd p = {.fd = k->audit_fd, .events = POLLOUT};
                poll(&p, 1, 1000);
        }
}
