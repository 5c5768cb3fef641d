/* sup_door.c - the door of one box: nothing at all until the first connection (but for the keeper
 * of a box with secrets), then three processes and the log's writer, wired together and given what
 * each may have. See sup_door.h. */
#include "session/sup_door.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/ca.h"
#include "session/door_program.h"
#include "session/door_rules.h"
#include "session/host_ports.h"
#include "session/sup_secrets.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { PATIENCE_MS = 20000, END_MS = 1000 };

static void unwatch(struct sup_door *d)
{
        for (size_t i = 0; i < d->watch_n; i++)
                loop_del(&d->watch[i]);
        free(d->watch);
        d->watch = NULL;
        d->watch_n = 0;
}

/* drop_sockets(s): ours are only copies; as long as they exist nobody is refused, only kept
 * waiting. */
static void drop_sockets(struct sup *s)
{
        for (size_t i = 0; i < s->door_sockets_n; i++)
                close_fd(&s->door_sockets[i].fd);
        free(s->door_sockets);
        s->door_sockets = NULL;
        s->door_sockets_n = 0;
}

static void end_roles(struct sup_door *d, int grace_ms)
{
        loop_timer_stop(&d->patience);
        /* egress first: it has something to write down, and needs the others for nothing then. */
        for (int i = 0; i < SUP_ROLES; i++)
                sup_role_end(&d->roles[i], i == SUP_EGRESS ? grace_ms : 0);
}

/* shut(d, words): everything that the door consists of goes, and nobody waits for it any more. */
static void shut(struct sup_door *d, const char *words)
{
        d->state = SUP_DOOR_SHUT;
        unwatch(d);
        end_roles(d, 0);
        drop_sockets(d->sup);
        sup_ask_forget_all(d);
        sup_rules_fail_all(d, words);
        sup_secrets_fail_all(d->sup, words);
}

void sup_door_shut(struct sup_door *d, const char *words)
{
        struct sup *s = d->sup;
        if (d->state == SUP_DOOR_SHUT || (d->state == SUP_DOOR_NONE && !d->roles[SUP_KEEPER].pid))
                return;
        shut(d, words);
        if (s->is_ending)
                return;
        if (!s->is_built) {
                err_set(&s->failure, E_SYSTEM, "%s", words);
                sup_fail(s, "cannot start the box");
                return;
        }
        if (s->opts->door_fault && strcmp(s->opts->door_fault, "pause") == 0) {
                _cleanup_free_ char *line = str_fmt(
                        "%s; the box has no network any more and is paused: ostiary stop %s "
                        "ends it, ostiary resume %s lets it go on without",
                        words, s->id, s->id);
                sup_pause(s);
                sup_tell(s, line);
                return;
        }
        _cleanup_free_ char *line =
                str_fmt("%s; the box had no network any more and was stopped", words);
        sup_end(s, MSG_END_FAULT, 0, line);
}

static void on_patience_over(void *ctx)
{
        sup_door_shut(ctx, "the processes of the box's door did not answer in time");
}

void sup_door_wait(struct sup_door *d)
{
        d->patience.fn = on_patience_over;
        d->patience.ctx = d;
        loop_timer_set(d->sup->loop, &d->patience, PATIENCE_MS);
}

/* log_gone(d): without a log the door is shut, and where calls are recorded none goes on. */
static void log_gone(struct sup_door *d)
{
        struct sup *s = d->sup;
        const char *words = "the process that writes the box's log is gone";
        d->is_log_lost = true;
        if (!s->is_built) /* what it lacked the box lacks too, and says in a better sentence */
                return;
        sup_door_shut(d, words);
        if (!s->witness || s->is_ending)
                return;
        _cleanup_free_ char *line = str_fmt("%s; the box was stopped", words);
        sup_end(s, MSG_END_FAULT, 0, line);
}

static void on_audit(void *ctx, uint32_t events)
{
        struct sup_door *d = ctx;
        char words[512] = "";
        (void)events;
        switch (audit_hear(&d->audit, words)) {
        case AUDIT_NOTHING:
                return;
        case AUDIT_SAYS:
                sup_tell(d->sup, words);
                return;
        case AUDIT_FULL:
                sup_tell(d->sup, words);
                if (d->sup->opts->audit_full && !strcmp(d->sup->opts->audit_full, "stop"))
                        sup_end(d->sup, MSG_END_FAULT, 0,
                                "the log could not be written any more; the box was stopped");
                return;
        case AUDIT_GONE:
                loop_del(&d->audit_src);
                log_gone(d);
                return;
        }
}

/* pass_sockets(d, err): in frames of as many as one can carry. */
static int pass_sockets(struct sup_door *d, struct err *err)
{
        struct sup *s = d->sup;
        for (size_t at = 0; at < s->door_sockets_n;) {
                _cleanup_buf_ struct buf b = {0};
                int fds[FDIO_MAX_FDS - 1];
                size_t n = s->door_sockets_n - at;
                if (n > FDIO_MAX_FDS - 1)
                        n = FDIO_MAX_FDS - 1;
                buf_put_u32(&b, (uint32_t)n);
                for (size_t i = 0; i < n; i++) {
                        buf_put_u32(&b, s->door_sockets[at + i].port);
                        fds[i] = s->door_sockets[at + i].fd;
                }
                if (sup_role_send(&d->roles[SUP_EGRESS], DOOR_LISTEN, &b, fds, n) < 0)
                        return err_sys(err, "pass the door's sockets on");
                at += n;
        }
        return 0;
}

static int start_audit(struct sup_door *d, struct err *err)
{
        struct sup *s = d->sup;
        if (d->audit.is_on)
                return 0;
        if (audit_start(&d->audit, s->id, s->dir_fd, err) < 0)
                return -1;
        d->audit.is_paced = s->plan->box.audit <= BOX_AUDIT_DEFAULT;
        d->audit_src = loop_add(s->loop, d->audit.control_fd, EPOLLIN, on_audit, d);
        return d->audit_src ? 0 : err_sys(err, "watch the log's writer");
}

/* start_keeper(d, program, err): with the authority, a socket whose other end waits for egress, and
 * one to the log. */
static int start_keeper(struct sup_door *d, int program, struct err *err)
{
        struct sup_role_process *keeper = &d->roles[SUP_KEEPER];
        _cleanup_buf_ struct buf b = {0};
        int pair[2];
        if (keeper->pid)
                return 0;
        if (sup_role_start(keeper, program, "keeper", err) < 0 || start_audit(d, err) < 0 ||
            audit_go(&d->audit, err) < 0)
                return -1;
        _cleanup_close_ int writer = audit_writer(&d->audit, err);
        if (writer < 0)
                return -1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return err_sys(err, "make a socket");
        d->egress_fd = pair[0];
        _cleanup_close_ int theirs = pair[1];
        if (ca_begin(d->sup->ca, &b, err) < 0)
                return -1;
        buf_put_lstr(&b, d->sup->id);
        int r = sup_role_send(keeper, DOOR_BEGIN, &b, (const int[]){theirs, writer}, 2);
        if (r < 0)
                err_sys(err, "give the keeper its key");
        explicit_bzero(b.data, b.len); /* it holds the key */
        return r;
}

static int begin_egress(struct sup_door *d, const int fds[3], struct err *err)
{
        struct sup_role_process *egress = &d->roles[SUP_EGRESS];
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, d->sup->id);
        buf_put_u64(&b, d->sup->plan->box.limits.door_memory);
        if (sup_role_send(egress, DOOR_BEGIN, &b, fds, 3) < 0)
                return err_sys(err, "begin the door");
        struct err none = {0};
        _cleanup_close_ int roots = ca_roots(d->sup->store, &none);
        if (roots < 0 && none.code != E_ABSENT) {
                *err = none;
                return -1;
        }
        if (roots >= 0 && sup_role_send(egress, DOOR_TRUST, NULL, &roots, 1) < 0)
                return err_sys(err, "pass the system's roots on");
        return 0;
}

static int begin_dial(struct sup_door *d, int egress_fd, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, d->sup->opts->proxy ? d->sup->opts->proxy : "");
        if (sup_role_send(&d->roles[SUP_DIAL], DOOR_BEGIN, &b, &egress_fd, 1) < 0)
                return err_sys(err, "begin the door's dial");
        return 0;
}

/* start(d, err): processes, wires between them, then what each has to know. */
static int start(struct sup_door *d, int program, struct err *err)
{
        int dial[2] = {-1, -1};
        if (sup_role_start(&d->roles[SUP_EGRESS], program, "egress", err) < 0 ||
            sup_role_start(&d->roles[SUP_DIAL], program, "dial", err) < 0 ||
            start_keeper(d, program, err) < 0 || start_audit(d, err) < 0 ||
            audit_go(&d->audit, err) < 0)
                return -1;
        _cleanup_close_ int writer = audit_writer(&d->audit, err);
        if (writer < 0)
                return -1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, dial) < 0)
                return err_sys(err, "make a socket");
        int r = begin_dial(d, dial[1], err);
        if (r == 0)
                r = begin_egress(d, (const int[]){dial[0], d->egress_fd, writer}, err);
        close(dial[0]);
        close(dial[1]);
        close_fd(&d->egress_fd);
        if (r < 0)
                return -1;
        d->generation++;
        d->acks_wanted = 2;
        _cleanup_close_ int rules = sup_rules_seal(d->policy, err);
        if (rules < 0 || sup_rules_send(d, SUP_DIAL, d->policy, rules, d->generation, err) < 0 ||
            sup_rules_send(d, SUP_EGRESS, d->policy, rules, d->generation, err) < 0)
                return -1;
        return pass_sockets(d, err);
}

/* on_first(d): somebody in the box wants to talk. What it sent waits in the sockets. */
static void on_first(void *ctx, uint32_t events)
{
        struct sup_door *d = ctx;
        struct err err = {0};
        (void)events;
        if (d->state != SUP_DOOR_IDLE)
                return;
        unwatch(d);
        _cleanup_close_ int program = door_program_open(&err);
        if (program < 0) { /* not installed: nothing was taken from anybody */
                err_add(&err, "the box has no network");
                shut(d, err.text);
                sup_tell(d->sup, err.text);
                return;
        }
        d->state = SUP_DOOR_STARTING;
        sup_door_wait(d);
        if (start(d, program, &err) < 0) {
                err_add(&err, "the box's door cannot be opened");
                sup_door_shut(d, err.text);
                return;
        }
        drop_sockets(d->sup);
}

/* listen_as_host(s): on the ports on which this machine listens, as far as there are sockets to
 * spare. A program that tries one of them, at whatever address, gets a refusal with its rule. */
static void listen_as_host(struct sup *s)
{
        enum { HOST_PORTS_MAX = 12 };
        uint16_t ports[HOST_PORTS_MAX];
        size_t n = host_ports(ports, HOST_PORTS_MAX);
        for (size_t i = 0; i < n; i++) {
                struct door_socket *spare = NULL;
                bool is_there = ports[i] == 53;
                for (size_t j = 0; j < s->door_sockets_n; j++) {
                        struct door_socket *d = &s->door_sockets[j];
                        is_there = is_there || d->port == ports[i];
                        if (d->port == DOOR_PORT_SPARE)
                                spare = d;
                }
                if (is_there || !spare)
                        continue;
                int one = 1;
                struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(ports[i])};
                if (setsockopt(spare->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                    bind(spare->fd, (struct sockaddr *)&any, sizeof any) == 0 &&
                    listen(spare->fd, 64) == 0)
                        spare->port = ports[i];
        }
}

static struct sup_door *door_of(struct sup *s)
{
        if (s->door)
                return s->door;
        struct sup_door *d = calloc(1, sizeof *d);
        if (!d)
                str_no_memory();
        s->door = d;
        d->sup = s;
        d->policy = &s->plan->door;
        d->egress_fd = -1;
        d->audit = (struct audit){.pidfd = -1, .control_fd = -1};
        for (int i = 0; i < SUP_ROLES; i++)
                d->roles[i] =
                        (struct sup_role_process){.door = d, .role = (enum sup_role)i, .fd = -1};
        return d;
}

int sup_door_keeper(struct sup *s, struct err *err)
{
        _cleanup_close_ int program = door_program_open(err);
        return program < 0 ? -1 : start_keeper(door_of(s), program, err);
}

int sup_door_log(struct sup *s, struct err *err)
{
        return start_audit(door_of(s), err);
}

void sup_door_log_go(struct sup *s)
{
        struct err err = {0};
        if (s->door && audit_go(&s->door->audit, &err) < 0)
                log_gone(s->door);
}

int sup_door_begin(struct sup *s, struct err *err)
{
        struct sup_door *d = door_of(s);
        if (door_rules_load(s->dir_fd, &d->policy->run_time, err) < 0)
                return -1;
        door_policy_packages(d->policy, s->plan->box.home, &s->plan->packages);
        if (d->policy->untrusted)
                sup_tell(s, d->policy->untrusted);
        if (s->door_sockets_n == 0)
                return 0;
        listen_as_host(s);
        d->state = SUP_DOOR_IDLE;
        d->watch = calloc(s->door_sockets_n, sizeof(struct loop_src *));
        if (!d->watch)
                str_no_memory();
        for (size_t i = 0; i < s->door_sockets_n; i++) {
                if (s->door_sockets[i].port == DOOR_PORT_SPARE)
                        continue; /* not bound: it would be reported as hung up */
                struct loop_src *w = loop_add(s->loop, s->door_sockets[i].fd, EPOLLIN, on_first, d);
                if (!w)
                        return err_sys(err, "watch the box's door");
                d->watch[d->watch_n++] = w;
        }
        return 0;
}

void sup_door_end(struct sup *s, struct buf *refused)
{
        struct sup_door *d = s->door;
        if (!d)
                return;
        unwatch(d);
        sup_secrets_end(s);
        end_roles(d, END_MS);
        close_fd(&d->egress_fd);
        drop_sockets(s);
        loop_del(&d->audit_src);
        if (d->audit.is_on)
                audit_end(&d->audit, refused);
        d->state = SUP_DOOR_SHUT;
}
