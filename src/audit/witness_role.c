/* witness_role.c - the witness itself. One call after the other: read what it is about, have it
 * written down, answer. See witness.h.
 *
 * It runs with the user's rights and may look into every process of the box, so it can open files
 * for reading alone, has no network, and does nothing with the bytes it reads but copy them. */
#include "audit/audit_int.h"
#include "audit/box_path.h"
#include "audit/call_words.h"
#include "audit/procs.h"
#include "audit/witness.h"
#include "audit/witness_call.h"
#include "audit/witness_weak.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/closing.h"
#include "base/confine.h"
#include "base/err.h"
#include "base/spread.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { OPEN_MAX = 64, TRIES = 20, SPAWNS_MAX = 64, HEAR_MAX = 8, LAST_MS = 100 };

/* The call in hand, in the page that a successor finds. */
struct flight {
        struct seccomp_notif q; /* id 0: none */
        uint32_t is_recorded;
};

/* A connection that was let go on and has no port yet. */
struct open_call {
        int sock;
        int tries;
        pid_t pid;
        char exe[WITNESS_EXE_MAX + 1];
};

static struct {
        int control_fd, listener_fd, log_fd, kick_fd, epoll_fd;
        struct flight *flight;
        const struct witness_table *table;
        struct witness_scene scene;
        bool is_confined;
        struct open_call open[OPEN_MAX];
        size_t open_n;
        struct witness_spawn spawns[SPAWNS_MAX];
        size_t spawns_n;
        struct buf body;
} w;

/* begin(type): of a message in w.body; its length comes first. */
static void begin(uint32_t type)
{
        w.body.len = 0;
        buf_put_u32(&w.body, 0);
        buf_put_u32(&w.body, type);
}

/* tell(): the message in w.body, to the log; waits as long as that is full. A log that is gone is
 * the end: the supervisor sees to the rest. */
static void tell(void)
{
        size_t len = w.body.len, at = 0;
        if (w.body.is_broken || len > WITNESS_TELL_MAX)
                _exit(125);
        for (int i = 0; i < 4; i++)
                w.body.data[i] = (uint8_t)((len - 4) >> (24 - 8 * i));
        while (at < len) {
                ssize_t n = write(w.log_fd, w.body.data + at, len - at);
                if (n >= 0) {
                        at += (size_t)n;
                        continue;
                }
                uint64_t one = 1;
                struct pollfd p = {.fd = w.log_fd, .events = POLLOUT};
                if (errno == EINTR)
                        continue;
                /* Its reader may be resting (audit_role.c), or cannot write: then we wait. */
                if (errno != EAGAIN || (write(w.kick_fd, &one, sizeof one) < 0 && errno != EAGAIN))
                        _exit(125);
                poll(&p, 1, -1);
        }
}

static void tell_record(const struct door_record *r)
{
        begin(AUDIT_CALL);
        door_record_put(&w.body, r);
        tell();
}

/* --- whose connections are whose -------------------------------------------------------------- */

/* source_port(sock): 0 as long as it has none. The kernel chooses it at the beginning of the call.
 */
static uint16_t source_port(int sock)
{
        struct sockaddr_in6 me = {.sin6_port = 0}; /* the port has one place in both families */
        socklen_t n = sizeof me;
        return getsockname(sock, (struct sockaddr *)&me, &n) < 0 ? 0 : ntohs(me.sin6_port);
}

/* settle(o): has its call come so far by now? A call that failed at once never does. */
static bool settle(struct open_call *o)
{
        uint16_t port = source_port(o->sock);
        if (!port && ++o->tries < TRIES)
                return false;
        if (port) {
                begin(AUDIT_SEEN);
                buf_put_u32(&w.body, (uint32_t)o->pid);
                buf_put_u32(&w.body, port);
                buf_put_lstr(&w.body, o->exe);
                tell();
        }
        closing_fd(&o->sock);
        return true;
}

static void settle_all(void)
{
        for (size_t i = w.open_n; i-- > 0;)
                if (settle(&w.open[i]))
                        w.open[i] = w.open[--w.open_n];
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool listen_to_supervisor(void);

static const struct witness_spawn *find_spawn(uint32_t id)
{
        do
                for (size_t i = 0; i < SPAWNS_MAX; i++)
                        if (w.spawns[i].id == id && w.spawns[i].path)
                                return &w.spawns[i];
        while (listen_to_supervisor()); /* it was told before pid 1 was */
        return NULL;
}

static void answer(uint64_t id, int error)
{
        struct seccomp_notif_resp a = {.id = id, .error = -error};
        if (!error)
                a.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(w.listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &a);
}

/* finish_call(): the one in the page, from wherever it stands. */
static void finish_call(void)
{
        struct seccomp_notif q = w.flight->q; /* ours alone from here on */
        struct witness_call call = {.sock = -1};
        struct open_call o = {.sock = -1};
        /* By the registers, which stand still; what the call points to does not (case 41). */
        int error = w.table->verdict(&q.data);
        error = witness_weak_verdict(&w.table->weak, &q, error);
        if (!w.flight->is_recorded) {
                struct door_record r = {.time_us = clock_real_us()};
                witness_weak_wait(&w.table->weak, w.listener_fd, &q);
                witness_call_read(&w.scene, &q, error, &r, &call);
                /* Is it still the same process whose memory we read (case 43)? */
                if (ioctl(w.listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &q.id) < 0 &&
                    !witness_weak_number(&w.table->weak))
                        call.is_told = false; /* one that was killed in its exit: see ended() */
                else if (call.leaving)
                        call.is_told = procs_forget(call.leaving);
                if (call.is_told)
                        tell_record(&r);
                if (call.sock >= 0 && w.open_n < OPEN_MAX && call.is_told) {
                        o = (struct open_call){.sock = call.sock, .pid = (pid_t)r.pid};
                        snprintf(o.exe, sizeof o.exe, "%s", r.exe);
                } else {
                        closing_fd(&call.sock);
                }
                w.flight->is_recorded = true;
        }
        answer(q.id, error);
        memset(w.flight, 0, sizeof *w.flight);
        if (o.sock >= 0 && !settle(&o))
                w.open[w.open_n++] = o;
}

static void serve(void)
{
        memset(w.flight, 0, sizeof *w.flight); /* the kernel wants it so */
        if (ioctl(w.listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &w.flight->q) < 0)
                memset(w.flight, 0, sizeof *w.flight); /* the caller was killed meanwhile */
        else
                finish_call();
}

/* ended(ctx): a process that had no time to say so itself. */
static void ended(void *ctx)
{
        struct procs_end e;
        _cleanup_buf_ struct buf note = {0};
        procs_ended(ctx, &e);
        if (!e.is_known) {
                buf_put_str(&note, "how it ended is not known");
        } else if (e.status > 128) {
                buf_put_str(&note, "killed by ");
                call_words_signal((int)e.status - 128, &note);
        }
        struct door_record r = {.time_us = clock_real_us(),
                                .kind = "exit",
                                .verdict = "allow",
                                .pid = (uint32_t)e.who.pid,
                                .ppid = (uint32_t)e.who.ppid,
                                .status = e.status,
                                .cpu_us = e.cpu_us,
                                .note = buf_cstr(&note)};
        tell_record(&r);
}

/* --- the supervisor --------------------------------------------------------------------------- */

static void take_spawn(struct frame *f)
{
        struct witness_spawn s = {0};
        if (cur_u32(&f->body, &s.id) < 0 || cur_lstr(&f->body, 65536, &s.path) < 0)
                return;
        if (cur_lstr(&f->body, 65536, &s.cwd) < 0) {
                free(s.path);
                return;
        }
        char *word;
        while (f->body.left && cur_lstr(&f->body, 65536, &word) == 0) {
                strs_add(&s.argv, word);
                free(word);
        }
        struct witness_spawn *at = &w.spawns[w.spawns_n++ % SPAWNS_MAX];
        free(at->path);
        free(at->cwd);
        strs_free(&at->argv);
        *at = s;
}

/* listen_to_supervisor(): false when there is nothing more. */
static bool listen_to_supervisor(void)
{
        static struct frame f;
        int got = frame_recv(w.control_fd, &f, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        if (got <= 0)
                _exit(0);
        if (f.type == WITNESS_SPAWN)
                take_spawn(&f);
        if (f.type == WITNESS_BEGIN && w.listener_fd < 0) {
                w.listener_fd = frame_take_fd(&f, 0);
                w.scene.root_fd = frame_take_fd(&f, 1);
                if (w.listener_fd >= 0 && w.is_confined)
                        w.table->listen(w.listener_fd);
                if (w.flight->q.id) /* what another had in hand when it died */
                        finish_call();
        }
        frame_release(&f);
        return true;
}

static void confine(void)
{
        static const int calls[] = {SYS_ioctl,      SYS_pidfd_open,    SYS_pidfd_getfd,
                                    SYS_getsockopt, SYS_getsockname,   SYS_readlinkat,
                                    SYS_openat,     SYS_getpgid,       SYS_process_vm_readv,
#ifdef SYS_readlink
                                    SYS_readlink,
#endif
#ifdef SYS_poll
                                    SYS_poll,
#endif
                                    SYS_setitimer,  SYS_timer_settime, SYS_ppoll};
        struct err err = {0};
        spread_back();
        if (confine_calls(calls, sizeof calls / sizeof *calls, &err) < 0)
                _exit(125);
        w.is_confined = true;
}

/* hear(): what is neither a call nor its record: the supervisor, and processes that have ended.
 * The supervisor's socket is the event without a process. */
static void hear(void)
{
        struct epoll_event e;
        for (int i = 0; i < HEAR_MAX && epoll_wait(w.epoll_fd, &e, 1, 0) == 1; i++) {
                if (e.data.ptr)
                        ended(e.data.ptr);
                else
                        while (listen_to_supervisor())
                                ;
        }
}

/* last_ends(): nobody is left in the box; what was killed with it has ended, or is about to. */
static _Noreturn void last_ends(void)
{
        struct epoll_event e;
        epoll_ctl(w.epoll_fd, EPOLL_CTL_DEL, w.control_fd, NULL);
        while (procs_watched_n() && epoll_wait(w.epoll_fd, &e, 1, LAST_MS) == 1)
                ended(e.data.ptr);
        _exit(0);
}

_Noreturn void witness_role_main(const struct witness_begin *b)
{
        confine_begin("ostiary-witness", (const int[]){b->control_fd, b->log_fd, b->kick_fd}, 3);
        signal(SIGPIPE, SIG_IGN);
        w.control_fd = b->control_fd;
        w.log_fd = b->log_fd;
        w.kick_fd = b->kick_fd;
        w.listener_fd = -1;
        w.flight = b->flight;
        w.table = b->table;
        w.scene = (struct witness_scene){.root_fd = -1,
                                         .is_all = b->table->is_all,
                                         .find = find_spawn,
                                         .name = b->table->name};
        w.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event control = {.events = EPOLLIN};
        if (w.epoll_fd < 0 || epoll_ctl(w.epoll_fd, EPOLL_CTL_ADD, w.control_fd, &control) < 0 ||
            closing_begin() < 0)
                _exit(125);
        procs_begin(w.epoll_fd, witness_weak_number(&w.table->weak));
        if (!b->is_first)
                confine();
        for (;;) {
                /* Two, and poll: asking three costs more, and an epoll descriptor would wake us on
                 * another processor than the one that the caller leaves. */
                struct pollfd p[2] = {{.fd = w.listener_fd, .events = POLLIN},
                                      {.fd = w.epoll_fd, .events = POLLIN}};
                if (poll(p, 2, w.open_n ? 1 : -1) < 0)
                        continue;
                if (w.open_n)
                        settle_all();
                if (p[1].revents)
                        hear();
                if (p[0].revents & POLLIN)
                        serve();
                else if (p[0].revents)
                        last_ends();
                /* Until the first call of the box is answered nothing but our own code has run in
                 * it; giving things up takes as long as answering ten calls. So the box must not
                 * wait for the end of it, as it does once answers wake it on our processor. */
                if (!w.is_confined && w.listener_fd >= 0 && p[0].revents) {
                        confine();
                        w.table->listen(w.listener_fd);
                }
        }
}
