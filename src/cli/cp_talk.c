/* cp_talk.c - see cp_talk.h: how a copy finds its box, wakes it, and hears how the box's half
 * ended. Called by cmd_cp.c; looks at no file. */
#include "cli/cp_talk.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/boxarg.h"
#include "cli/ended.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { TRIES = 50, PAUSE_MS = 20 };

static int ask(int client, const struct cp_ask *c, int fd, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, c->path);
        if (c->is_out)
                buf_put_u32(&b, c->is_follow);
        else
                buf_put_lstr(&b, c->base);
        if (frame_send(client, c->is_out ? MSG_COPY_OUT : MSG_COPY_IN, &b, &fd, 1) < 0)
                return err_sys(err, "ask the box");
        return 0;
}

/* reach(t, b, box_dir): connect to the box; one that sleeps is woken. 1: it fell asleep again. */
static int reach(struct cp_talk *t, const struct boxarg *b, int box_dir, struct err *err)
{
        *err = (struct err){0};
        t->client = store_box_is_alive(box_dir) ? session_connect(&b->store, b->id, err) : -1;
        if (t->client >= 0)
                return 0;
        if (err->code && err->code != E_ABSENT)
                return -1;
        *err = (struct err){0};
        if (session_wake(&b->store, b->id, err) < 0)
                return -1;
        t->was_asleep = true;
        t->client = session_connect(&b->store, b->id, err);
        return t->client >= 0 ? 0 : err->code == E_ABSENT ? 1 : -1;
}

int cp_talk_begin(struct cp_talk *t, const struct cp_ask *c, struct boxarg *b, int box_dir,
                  struct err *err)
{
        for (int tries = 0; tries < TRIES; tries++) {
                int pair[2];
                close_fd(&t->client);
                close_fd(&t->mine);
                int r = reach(t, b, box_dir, err);
                if (r < 0)
                        return -1;
                if (r > 0) {
                        poll(NULL, 0, PAUSE_MS);
                        continue;
                }
                if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                        return err_sys(err, "make a socket pair");
                t->mine = pair[0];
                _cleanup_close_ int theirs = pair[1];
                if (ask(t->client, c, theirs, err) < 0 && err->sys != EPIPE &&
                    err->sys != ECONNRESET)
                        return -1;
                close_fd(&theirs);
                if (!boxarg_is_asleep(b, t->client))
                        return 0;
        }
        return err->code ? -1
                         : err_set(err, E_SYSTEM, "box %s falls asleep again and again; try later",
                                   b->id);
}

int cp_talk_end(int client, struct err *err)
{
        _cleanup_free_ struct frame *f = malloc(sizeof *f);
        if (!f)
                str_no_memory();
        for (;;) {
                int n = frame_recv(client, f, false);
                if (n <= 0)
                        return err_set(err, E_SYSTEM,
                                       "The box ended before the copy was complete.");
                uint32_t type = f->type;
                if (type == MSG_FAILED)
                        ended_failure(&f->body, err);
                frame_release(f);
                if (type == MSG_FAILED)
                        return -1;
                if (type == MSG_ENDED)
                        return 0;
        }
}

void cp_talk_stop(const struct store *store, const char *id)
{
        _cleanup_close_ int fd = session_connect(store, id, NULL);
        _cleanup_buf_ struct buf b = {0};
        struct err ignored = {0};
        buf_put_u32(&b, 2000);
        if (fd >= 0 && frame_send(fd, MSG_STOP, &b, NULL, 0) == 0)
                (void)cp_talk_end(fd, &ignored);
}
