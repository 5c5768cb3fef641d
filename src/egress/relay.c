/* relay.c - bytes that a rule lets pass unread: tcp (a raw stream, by name) and splice (TLS whose
 * name was read and nothing else). They are logged as what they are: blind. */
#include "egress/door.h"

#include "base/str.h"
#include "egress/conn.h"
#include "egress/custody.h"
#include "egress/scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RELEASE_MS = 20 };

struct relay {
        struct door *door;
        struct relay *next, **prev;
        struct origin origin;
        enum request_kind kind;
        struct conn *box, *out;
        int box_fd; /* until the other side is there */
        struct dial_call *call;
        const struct rule *rule;
        char *words;
        bool is_over, is_box_done, is_out_done;
        struct loop_timer timer;
        uint64_t began_us, wait_us, up, down;
        struct scan scan;        /* of what leaves, when the box has secrets */
        struct scan back;        /* of what comes back */
        struct scan_set *values; /* which that looks for; NULL while nothing has come */
        struct custody_from at;
        struct loop_timer release; /* until what that holds back is let go */
        const char *verdict;
        char address[64];
};

static void free_later(void *p)
{
        struct relay *r = p;
        scan_free(&r->scan);
        scan_free(&r->back);
        scan_set_free(r->values);
        free(r->words);
        free(r);
}

static void end(struct relay *r, const char *note)
{
        if (r->is_over)
                return;
        r->is_over = true;
        const char *kind = r->kind == REQUEST_TCP ? "tcp" : "splice";
        uint64_t now = record_now_us();
        record_put(r->door, &(struct door_record){
                                    .time_us = r->began_us,
                                    .kind = kind,
                                    .verdict = r->verdict,
                                    .rule = r->words,
                                    .protocol = kind,
                                    .host = r->origin.host.text,
                                    .port = r->origin.port,
                                    .address = r->address,
                                    .bytes_up = r->up,
                                    .bytes_down = r->down,
                                    .wait_us = r->wait_us,
                                    .total_us = now > r->began_us ? now - r->began_us : 0,
                                    .source_port = r->origin.source_port,
                                    .note = note,
                            });
        loop_timer_stop(&r->timer);
        loop_timer_stop(&r->release);
        if (r->call)
                link_dial_cancel(r->door, r->call);
        if (r->box)
                conn_finish_free(r->box);
        else
                close(r->box_fd);
        if (r->out)
                conn_finish_free(r->out);
        *r->prev = r->next;
        if (r->next)
                r->next->prev = r->prev;
        accept_ended(r->door);
        door_later(r->door, free_later, r);
}

static void on_timer(void *ctx)
{
        end(ctx, "nothing came for too long");
}

/* leaks(r, p, n): is a secret's placeholder in what a program sends? Nothing is held back for it,
 * because both ends of a protocol that we do not know may be waiting; the piece that makes it whole
 * does not go out. What a splice carries cannot be read. */
static bool leaks(struct relay *r, const void *p, size_t n)
{
        const struct scan_set *set = custody_of(r->door)->placeholders;
        _cleanup_buf_ struct buf out = {0};
        struct scan_hit hit;
        if (!set || r->kind != REQUEST_TCP ||
            scan_feed(&r->scan, set, p, n, false, &out, &hit) == 0)
                return false;
        custody_alarm_hit(r->door, &hit, "a raw stream", r->origin.host.text,
                          r->origin.source_port);
        char *words = custody_leak_words(r->door, hit.tag, "a raw stream");
        r->verdict = "deny";
        end(r, words);
        free(words);
        return true;
}

static void on_release(void *ctx)
{
        struct relay *r = ctx;
        _cleanup_buf_ struct buf out = {0};
        /* No value is ever shown on a raw stream. */
        scan_release(&r->back, r->values, true, &out);
        if (out.len > 0 && r->box)
                conn_write(r->box, out.data, out.len);
}

/* write_box(r, p, n, is_end): what comes back, with placeholders in the place of values. */
static void write_box(struct relay *r, const void *p, size_t n, bool is_end)
{
        struct custody *c = custody_of(r->door);
        _cleanup_buf_ struct buf out = {0};
        if (scan_set_is_empty(c->values) || r->kind != REQUEST_TCP) {
                if (n > 0)
                        conn_write(r->box, p, n);
                return;
        }
        if (!r->values)
                r->values = custody_values_at(c, &r->at, &r->origin.host);
        scan_feed(&r->back, r->values, p, n, is_end, &out, NULL);
        if (scan_may_release(&r->back, true)) {
                r->release.fn = on_release;
                r->release.ctx = r;
                loop_timer_set(r->door->loop, &r->release, RELEASE_MS);
        }
        if (out.len > 0)
                conn_write(r->box, out.data, out.len);
}

/* move(r, from, to, count, is_done): everything that is there, as long as there is room. */
static void move(struct relay *r, struct conn *from, struct conn *to, uint64_t *count,
                 bool *is_done)
{
        char *p = r->door->scratch;
        while (!r->is_over && !*is_done) {
                if (conn_is_full(to)) {
                        conn_want_read(from, false);
                        return;
                }
                ssize_t n = conn_read(from, p, CONN_READ);
                if (n < 0)
                        return;
                if (n == 0) {
                        *is_done = true;
                        if (to == r->box)
                                write_box(r, NULL, 0, true);
                        conn_finish(to);
                        break;
                }
                *count += (uint64_t)n;
                loop_timer_set(r->door->loop, &r->timer, DOOR_STREAM_IDLE_MS);
                if (!allowance_bytes(r->door, r->rule, (uint64_t)n)) {
                        end(r, "the rule's bytes= are used up");
                        return;
                }
                if (from == r->box && leaks(r, p, (size_t)n))
                        return;
                if (to == r->box)
                        write_box(r, p, (size_t)n, false);
                else
                        conn_write(to, p, (size_t)n);
        }
        if (!r->is_over && r->is_box_done && r->is_out_done)
                end(r, "");
}

static void box_readable(void *ctx)
{
        struct relay *r = ctx;
        move(r, r->box, r->out, &r->up, &r->is_box_done);
}

static void out_readable(void *ctx)
{
        struct relay *r = ctx;
        move(r, r->out, r->box, &r->down, &r->is_out_done);
}

static void box_drained(void *ctx)
{
        struct relay *r = ctx;
        conn_want_read(r->out, true);
}

static void out_drained(void *ctx)
{
        struct relay *r = ctx;
        conn_want_read(r->box, true);
}

static void on_closed(void *ctx, const char *why)
{
        end(ctx, why);
}

static const struct conn_ops box_ops = {
        .readable = box_readable, .drained = box_drained, .closed = on_closed};
static const struct conn_ops out_ops = {
        .readable = out_readable, .drained = out_drained, .closed = on_closed};

static void on_dialled(void *ctx, int fd, const char *address, enum door_dial_fault fault,
                       const char *why)
{
        struct relay *r = ctx;
        (void)fault;
        r->call = NULL;
        if (fd < 0) {
                r->verdict = "error";
                end(r, why);
                return;
        }
        r->wait_us = record_now_us() - r->began_us;
        strncpy(r->address, address, sizeof r->address - 1);
        loop_timer_set(r->door->loop, &r->timer, DOOR_STREAM_IDLE_MS);
        r->out = conn_plain(r->door, fd, &out_ops, r);
        r->box = conn_plain(r->door, r->box_fd, &box_ops, r);
}

void relay_begin(struct door *d, int fd, const struct origin *o, enum request_kind kind,
                 const struct policy_decision *p)
{
        struct relay *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        *r = (struct relay){.door = d,
                            .origin = *o,
                            .kind = kind,
                            .box_fd = fd,
                            .rule = &p->line->rule,
                            .words = policy_words(p),
                            .began_us = record_now_us(),
                            .verdict = "allow",
                            .next = d->relays,
                            .prev = &d->relays,
                            .timer = {.fn = on_timer, .ctx = r}};
        if (r->next)
                r->next->prev = &r->next;
        d->relays = r;
        char words[256];
        if (!allowance_take(d, r->rule, &o->host, words)) {
                r->verdict = "deny";
                end(r, words);
                return;
        }
        loop_timer_set(d->loop, &r->timer, DOOR_STREAM_IDLE_MS);
        r->call = link_dial(d, kind, &o->host, o->port, on_dialled, r);
}

void relay_cut(struct door *d, const char *host, uint32_t port, const char *why)
{
        struct relay *next;
        for (struct relay *r = d->relays; r; r = next) {
                next = r->next;
                if (r->origin.port == port && strcmp(r->origin.host.text, host) == 0)
                        end(r, why);
        }
}

void relay_policy_changed(struct door *d)
{
        struct relay *next;
        for (struct relay *r = d->relays; r; r = next) {
                next = r->next;
                struct request q = {
                        .kind = r->kind, .host = &r->origin.host, .port = r->origin.port};
                struct policy_decision p;
                policy_decide(d->policy, &q, &p);
                if (p.verdict == (r->kind == REQUEST_TCP ? POLICY_TCP : POLICY_SPLICE)) {
                        r->rule = &p.line->rule;
                        continue;
                }
                r->verdict = "deny";
                end(r, "cut off because the rules changed");
        }
}
