/* loop.h - one event loop per process: descriptors and a callback each, on epoll. A callback may
 * remove any source, its own included; removed ones are freed after the round. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_src;
typedef void loop_fn(void *ctx, uint32_t events);

struct loop *loop_new(void); /* NULL with errno */
void loop_free(struct loop *);

/* loop_add(l, fd, events, fn, ctx): watch ${fd}, which stays the caller's. NULL with errno. */
struct loop_src *loop_add(struct loop *, int fd, uint32_t events, loop_fn *, void *ctx);
/* loop_want(s, events): change what is waited for; 0 pauses (errors and hang-ups still arrive, so a
 * paused source whose peer hangs up must be removed by whoever hears of it first). */
void loop_want(struct loop_src *, uint32_t events);
/* loop_del(&s): stop watching; sets the pointer to NULL. NULL is fine. */
void loop_del(struct loop_src **);

/* A timer is a member of whatever it belongs to, zeroed and with fn and ctx set by its owner. It
 * fires once, up to a tenth of a second late: it is for time limits. Moving it to later, which
 * every request does, costs nothing. */
struct loop_timer {
        void (*fn)(void *ctx);
        void *ctx;
        uint64_t at;
        struct loop_timer *next, **prev;
};
void loop_timer_set(struct loop *, struct loop_timer *, uint64_t ms);
void loop_timer_stop(struct loop_timer *);
/* loop_now(l): monotonic milliseconds when this round began. */
uint64_t loop_now(const struct loop *);

/* loop_after(l, fn, ctx): call ${fn} after each round, before waiting again. When it returns true
 * the loop does not wait. */
void loop_after(struct loop *, bool (*fn)(void *ctx), void *ctx);

/* loop_run(l): until loop_stop; it can be run again. 0, or -1 with errno. */
int loop_run(struct loop *);
void loop_stop(struct loop *);

#endif
