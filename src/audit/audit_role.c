/* audit_role.c - the one writer of a box's log. Forked from the supervisor; reads DOOR_RECORD
 * frames from egress and other writers, makes lines of them and appends what one round brought in
 * one write.
 *
 * What it reads may be hostile (egress parses the box and the internet), so it gives up files,
 * sockets and most system calls first. It must never drop a record: when the log takes no more, it
 * stops reading until it does. */
#include "audit/audit.h"
#include "audit/audit_int.h"
#include "audit/audit_who.h"
#include "audit/audit_write.h"
#include "audit/chain.h"
#include "audit/head.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/err.h"
#include "base/loop.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum {
        BATCH_MAX = 1 << 20, /* bytes of lines made before they are written */
        LAST_TRIES = 3,
};

static struct role r;

static struct frame in; /* large, so not on the stack */

/* --- reading ---------------------------------------------------------------------------------- */

static void take(const struct door_record *rec)
{
        struct chain_process who;
        /* A name is asked for by UDP, whose ports are others. */
        bool is_seen = strcmp(rec->kind, "dns") != 0 && audit_who_find(&r, rec->source_port, &who);
        chain_put(&r.chain, r.box, rec, is_seen ? &who : NULL, &r.out);
        /* The request that raised an alarm has a record of its own, and alarms are told apart. */
        bool is_custody = !strcmp(rec->kind, "alarm") || !strcmp(rec->kind, "secret");
        if (rec->host[0] && !strcmp(rec->kind, "alarm") && !strcmp(rec->verdict, "deny"))
                refused_alarm(&r.refused, rec->host);
        if (rec->host[0] && !is_custody &&
            (!strcmp(rec->verdict, "deny") || !strcmp(rec->verdict, "ask-no")))
                refused_add(&r.refused, rec->host, rec->port, rec->cure);
}

static void take_frame(struct frame *f)
{
        struct door_record rec;
        if (f->type != DOOR_RECORD)
                return;
        while (f->body.left && door_record_get(&f->body, &rec, &r.strings) == 0) {
                rec.pid = rec.ppid = 0; /* the witness alone knows processes */
                rec.cpu_us = rec.peak_kib = 0;
                rec.exe = "";
                take(&rec);
        }
        if (f->body.left == 0)
                return;
        /* Nothing passes unlogged, not even what makes no sense. */
        rec = (struct door_record){.time_us = clock_real_us(),
                                   .kind = "door",
                                   .verdict = "error",
                                   .host = "",
                                   .note = "a record that makes no sense was sent to the log"};
        take(&rec);
}

/* on_kick(ctx): the witness's pipe is full: no rest now. */
static void on_kick(void *ctx, uint32_t events)
{
        struct writer *w = ctx;
        uint64_t n;
        (void)events;
        if (read(w->kick_fd, &n, sizeof n) > 0 && !r.is_stuck && !r.is_in_debt)
                audit_write_reading(&r, true);
}

static void drop_writer(struct writer *w)
{
        for (size_t i = 0; i < r.writers_n; i++)
                if (r.writers[i] == w)
                        r.writers[i] = r.writers[--r.writers_n];
        loop_del(&w->src);
        loop_del(&w->kick_src);
        close_fd(&w->fd);
        close_fd(&w->kick_fd);
        buf_free(&w->in);
        free(w);
}

/* read_writer(w): what is there now. false when the writer is gone. */
static bool read_writer(struct writer *w)
{
        while (r.out.len < BATCH_MAX) {
                int got = frame_recv(w->fd, &in, false);
                if (got < 0 && (errno == EAGAIN || errno == EINTR))
                        return true;
                if (got <= 0) {
                        drop_writer(w);
                        return false;
                }
                take_frame(&in);
                frame_release(&in);
        }
        return true;
}

static void on_writer(void *ctx, uint32_t events)
{
        struct writer *w = ctx;
        (void)events;
        if (!w->is_witness) {
                audit_who_drain(&r);
                read_writer(w);
                return;
        }
        while (r.out.len < BATCH_MAX || audit_who_has(w))
                if (!audit_who_hear(&r, w)) {
                        if (errno != EAGAIN && errno != EINTR)
                                drop_writer(w);
                        return;
                }
}

static void add_writer(int fd, int kick_fd, bool is_witness)
{
        struct writer *w = r.writers_n < WRITERS_MAX ? calloc(1, sizeof *w) : NULL;
        if (!w) {
                close(fd);
                close_fd(&kick_fd);
                return;
        }
        *w = (struct writer){.fd = fd, .kick_fd = kick_fd, .is_witness = is_witness};
        w->src = loop_add(r.loop, fd, r.is_stuck ? 0 : EPOLLIN, on_writer, w);
        if (w->src && kick_fd >= 0)
                w->kick_src = loop_add(r.loop, kick_fd, EPOLLIN, on_kick, w);
        if (!w->src || (kick_fd >= 0 && !w->kick_src)) {
                loop_del(&w->src);
                close(fd);
                close_fd(&kick_fd);
                free(w);
                return;
        }
        r.writers[r.writers_n++] = w;
}

/* hear_all(is_last): whatever was sent until now is read, and written as it fills. Of a writer that
 * goes on sending, as much as its socket held, unless this is the last time. */
static void hear_all(bool is_last)
{
        /* The witness first: what it told happened before anybody said that it is over. */
        for (int round = 0; round < 2; round++) {
                for (size_t i = r.writers_n; i-- > 0;) {
                        struct writer *w = r.writers[i];
                        for (bool is_more = w->is_witness == (round == 0); is_more;) {
                                if (w->is_witness)
                                        while ((is_more = audit_who_hear(&r, w)) &&
                                               (r.out.len < BATCH_MAX || audit_who_has(w)))
                                                ;
                                else
                                        is_more = read_writer(w) && r.out.len >= BATCH_MAX;
                                is_more = audit_write_flush(&r) == 0 && is_more && is_last;
                        }
                }
        }
}

/* finish(): whatever was sent is written, as far as the disk lets us; then the end. */
static _Noreturn void finish(bool is_asked)
{
        hear_all(true);
        for (int i = 0; i < LAST_TRIES && audit_write_flush(&r) < 0; i++) {
                struct timespec pause = {.tv_nsec = 100000000};
                nanosleep(&pause, NULL);
        }
        if (is_asked) {
                _cleanup_buf_ struct buf b = {0};
                refused_put(&b, &r.refused);
                frame_send(r.control_fd, AUDIT_REFUSED, &b, NULL, 0);
        }
        _exit(0);
}

static void on_control(void *ctx, uint32_t events)
{
        (void)ctx;
        (void)events;
        int got = frame_recv(r.control_fd, &in, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (got <= 0)
                finish(false); /* the supervisor is gone */
        if (in.type == AUDIT_FINISH)
                finish(true);
        if (in.type == AUDIT_SETTLE) {
                _cleanup_close_ int held = frame_take_fd(&in, 0);
                frame_release(&in); /* what is heard now is read into it */
                if (!r.is_stuck)
                        hear_all(false);
                if (!r.is_stuck && audit_write_flush(&r) < 0)
                        audit_write_stuck(&r);
                return;
        }
        bool is_witness = in.type == AUDIT_WITNESS;
        int fd = is_witness || in.type == AUDIT_WRITER ? frame_take_fd(&in, 0) : -1;
        if (fd >= 0)
                add_writer(fd, is_witness ? frame_take_fd(&in, 1) : -1, is_witness);
        frame_release(&in);
}

/* compare_head(): a log that does not end where its head says was changed while nobody wrote it, or
 * its writer was killed between the two. It goes on, and says so. */
static void compare_head(void)
{
        const char *words = head_compare(r.head_fd, &r.chain, r.log_len);
        if (!words)
                return;
        if (r.chain.is_torn)
                chain_mend(&r.chain, r.box, clock_real_us(), &r.out);
        struct door_record rec = {.time_us = clock_real_us(),
                                  .kind = "box",
                                  .verdict = "error",
                                  .method = "log",
                                  .note = words};
        chain_put(&r.chain, r.box, &rec, NULL, &r.out);
}

static int begin(struct err *err)
{
        struct stat st;
        r.loop = loop_new();
        if (!r.loop || fstat(r.log_fd, &st) < 0)
                return err_sys(err, "make the log's loop");
        r.log_len = (uint64_t)st.st_size;
        if (chain_resume(&r.chain, r.log_fd, err) < 0)
                return -1;
        compare_head();
        if (r.chain.is_torn)
                chain_mend(&r.chain, r.box, clock_real_us(), &r.out);
        if (audit_write_begin(&r, err) < 0)
                return -1;
        r.control_src = loop_add(r.loop, r.control_fd, EPOLLIN, on_control, NULL);
        if (!r.control_src)
                return err_sys(err, "listen to the supervisor");
        tzset(); /* gmtime_r would read the zone at its first call, when no file can be opened */
        static const int calls[] = {
#ifdef SYS_poll
                SYS_poll,
#endif
                SYS_ppoll, SYS_pwrite64, SYS_timerfd_settime};
        return confine_self(calls, sizeof calls / sizeof *calls, err);
}

_Noreturn void audit_role_main(int control_fd, int log_fd, int head_fd, const char *box_id,
                               bool is_paced)
{
        struct err err = {0};
        confine_begin("ostiary-audit", (const int[]){control_fd, log_fd, head_fd}, 3);
        r = (struct role){.box = box_id,
                          .control_fd = control_fd,
                          .log_fd = log_fd,
                          .head_fd = head_fd,
                          .is_paced = is_paced};
        if (begin(&err) < 0) {
                audit_write_say(&r, AUDIT_NOTICE, err.text);
                _exit(125);
        }
        loop_run(r.loop);
        _exit(125);
}
