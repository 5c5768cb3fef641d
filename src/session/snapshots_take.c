/* snapshots_take.c - see snapshots.h: taking a snapshot of a box whatever it is doing. One that has
 * ended is frozen here, under its lock; a living one is asked, that is, its supervisor. Between the
 * two a box may end or be woken: then it is tried again. */
#include "session/snapshots.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "session/frozen.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { TRIES = 200, PAUSE_MS = 10, LIST_MAX = 8 << 20 };

uint64_t snapshots_clock(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* read_answer(f, taken, err): 0, -1, or 1 for "again". */
static int read_answer(struct frame *f, struct snapshot_taken *taken, struct err *err)
{
        uint32_t code;
        _cleanup_free_ char *words = NULL;
        if (f->type == MSG_AGAIN)
                return 1;
        if (f->type == MSG_FAILED && cur_u32(&f->body, &code) == 0 &&
            cur_lstr(&f->body, sizeof err->text, &words) == 0 && code <= E_NOCMD)
                return err_set(err, (enum err_code)code, "%s", words);
        uint32_t is_copied;
        if (f->type != MSG_SNAPSHOT_IS || cur_u32(&f->body, &is_copied) < 0 ||
            cur_u64(&f->body, &taken->still_us) < 0 || cur_lstr(&f->body, LIST_MAX, &words) < 0)
                return err_set(err, E_PROTO,
                               "the box's supervisor answered in words that make no "
                               "sense");
        taken->is_copied = is_copied;
        return stack_parse(words, &taken->stack, err);
}

/* ask(...): a living box. 0, -1, or 1 for "again". */
static int ask(const struct store *store, const char *id, const char *name, const char *kind,
               const char *label, struct snapshot_taken *taken, struct err *err)
{
        static struct frame f;
        _cleanup_close_ int sock = session_connect(store, id, err);
        if (sock < 0)
                return err->code == E_ABSENT ? 1 : -1;
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, name ? name : "");
        buf_put_lstr(&b, kind);
        buf_put_lstr(&b, label);
        if (frame_send(sock, MSG_SNAPSHOT, &b, NULL, 0) < 0)
                return 1;
        for (;;) {
                int got = frame_recv(sock, &f, true);
                if (got <= 0)
                        return 1; /* its supervisor ended, or was ended; what is left decides */
                bool is_aside = f.type == MSG_NOTICE || f.type == MSG_ALARM;
                int r = is_aside ? 0 : read_answer(&f, taken, err);
                frame_release(&f);
                if (!is_aside)
                        return r;
        }
}

int snapshots_take(const struct store *store, const char *id, const char *name, const char *kind,
                   const char *label, struct snapshot_taken *taken, struct err *err)
{
        for (int i = 0; i < TRIES; i++) {
                *taken = (struct snapshot_taken){0};
                *err = (struct err){0};
                _cleanup_close_ int dir = store_box_dir(store, id, err);
                if (dir < 0)
                        return -1;
                _cleanup_close_ int lock = store_box_lock_there(dir, err);
                if (lock < 0 && errno != EAGAIN)
                        return -1;
                if (lock >= 0) {
                        uint64_t t0 = snapshots_clock();
                        int r = snapshots_freeze(store, id, dir, name, kind, label, &taken->stack,
                                                 err);
                        taken->still_us = snapshots_clock() - t0;
                        close_fd(&lock);
                        if (r == 0)
                                frozen_squash_later(store, id, taken->stack.n);
                        return r;
                }
                int r = ask(store, id, name, kind, label, taken, err);
                if (r <= 0)
                        return r;
                poll(NULL, 0, PAUSE_MS);
        }
        return err_set(err, E_SYSTEM, "box %s starts and ends all the time; try again", id);
}
