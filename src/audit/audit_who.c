/* audit_who.c - see audit_who.h. */
#include "audit/audit_who.h"

#include "audit/audit_int.h"
#include "base/cleanup.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { WITNESS_MS = 1, WITNESS_WAITS = 4, VAIN_MAX = 16, LINES_MAX = 1 << 20 };

bool audit_who_hear(struct role *r, struct writer *w)
{
        static struct frame f; /* another may be in hand */
        uint32_t pid, port;
        struct door_record call;
        _cleanup_free_ char *exe = NULL;
        errno = 0;
        if (frame_recv(w->fd, &f, false) <= 0)
                return false;
        r->heard_n++;
        if (f.type == AUDIT_CALL) {
                /* Nothing passes unlogged, not even what makes no sense. */
                if (door_record_get(&f.body, &call, &r->told) < 0)
                        call = (struct door_record){.kind = "call",
                                                    .verdict = "error",
                                                    .note = "a record that makes no sense was "
                                                            "sent to the log"};
                chain_put(&r->chain, r->box, &call, NULL, &r->out);
        }
        if (f.type == AUDIT_SEEN && cur_u32(&f.body, &pid) == 0 && cur_u32(&f.body, &port) == 0 &&
            cur_lstr(&f.body, WITNESS_EXE_MAX, &exe) == 0)
                seen_put(&r->seen, port, pid, exe);
        frame_release(&f);
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
                while (r->out.len < LINES_MAX && audit_who_hear(r, w))
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
                hear_all(r, WITNESS_MS);
        }
        bool is_seen = seen_find(&r->seen, port, who);
        r->vain_n = is_seen ? 0 : r->vain_n + 1;
        if (!is_seen)
                seen_put(&r->seen, port, SEEN_NOBODY, "");
        return is_seen && who->pid != SEEN_NOBODY;
}
