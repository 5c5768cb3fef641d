/* audit_who.c - see audit_who.h. */
#include "audit/audit_who.h"

#include "audit/audit_int.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/str.h"
#include "wire/door.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WITNESS_WAITS = 7, VAIN_MAX = 16, LINES_MAX = 1 << 20 };

/* whole(w): the length of the message that is there as a whole; 0 when there is none yet, -1 when
 * no witness writes such. */
static ssize_t whole(const struct writer *w)
{
        size_t have = w->in.len - w->in_at;
        uint32_t n;
        struct cur c = cur_of(w->in.data + w->in_at, have);
        if (have < sizeof n || cur_u32(&c, &n) < 0)
                return 0;
        if (n < sizeof n || n > WITNESS_TELL_MAX)
                return -1;
        return have - sizeof n >= n ? (ssize_t)n : 0;
}

bool audit_who_has(const struct writer *w)
{
        return whole(w) > 0;
}

/* next(w, msg): the next message, read with all that stand behind it in the pipe. */
static bool next(struct writer *w, struct cur *msg)
{
        ssize_t n = whole(w);
        if (n == 0) {
                buf_drop(&w->in, w->in_at);
                w->in_at = 0;
                uint8_t *room = buf_room(&w->in, WITNESS_TELL_MAX);
                if (!room)
                        str_no_memory();
                ssize_t got = read(w->fd, room, WITNESS_TELL_MAX);
                w->in.len -= WITNESS_TELL_MAX - (got > 0 ? (size_t)got : 0);
                if (got <= 0)
                        return false;
                n = whole(w);
        }
        if (n <= 0) {
                errno = n < 0 ? EPROTO : EAGAIN;
                return false;
        }
        *msg = cur_of(w->in.data + w->in_at + 4, (size_t)n);
        w->in_at += 4 + (size_t)n;
        return true;
}

bool audit_who_hear(struct role *r, struct writer *w)
{
        uint32_t type, pid, port;
        struct cur body;
        struct door_record call;
        _cleanup_free_ char *exe = NULL;
        errno = 0;
        if (!next(w, &body) || cur_u32(&body, &type) < 0)
                return false;
        r->heard_n++;
        if (type == AUDIT_CALL) {
                /* Nothing passes unlogged, not even what makes no sense. */
                if (door_record_get(&body, &call, &r->told) < 0)
                        call = (struct door_record){.kind = "call",
                                                    .verdict = "error",
                                                    .note = "a record that makes no sense was "
                                                            "sent to the log"};
                chain_put(&r->chain, r->box, &call, NULL, &r->out);
        }
        if (type == AUDIT_SEEN && cur_u32(&body, &pid) == 0 && cur_u32(&body, &port) == 0 &&
            cur_lstr(&body, WITNESS_EXE_MAX, &exe) == 0)
                seen_put(&r->seen, port, pid, exe);
        return true;
}

/* hear_all(r, wait_ms): everything they told that still waits, as far as there is room; with
 * ${wait_ms}, at least one thing if it comes in that time. */
static void hear_all(struct role *r, int wait_ms)
{
        for (size_t i = 0; i < r->writers_n; i++) {
                struct writer *w = r->writers[i];
                struct pollfd p = {.fd = w->fd, .events = POLLIN};
                if (!w->is_witness || (wait_ms && poll(&p, 1, wait_ms) <= 0))
                        continue;
                while ((r->out.len < LINES_MAX || audit_who_has(w)) && audit_who_hear(r, w))
                        ;
        }
}

void audit_who_drain(struct role *r)
{
        hear_all(r, 0);
}

/* audit_who_find(r, port, who): a request may be over before the witness was given the processor:
 * wait a little, once per connection, and not at all when that was of no use lately. */
bool audit_who_find(struct role *r, uint32_t port, struct chain_process *who)
{
        if (port == 0)
                return false;
        if (!seen_find(&r->seen, port, who))
                hear_all(r, 0);
        for (int i = 0; i < WITNESS_WAITS && !seen_find(&r->seen, port, who); i++) {
                if (r->vain_n >= VAIN_MAX)
                        return false;
                hear_all(r, 1 << i); /* 127 ms together: a full machine takes that long */
        }
        bool is_seen = seen_find(&r->seen, port, who);
        r->vain_n = is_seen ? 0 : r->vain_n + 1;
        if (!is_seen)
                seen_put(&r->seen, port, SEEN_NOBODY, "");
        return is_seen && who->pid != SEEN_NOBODY;
}
