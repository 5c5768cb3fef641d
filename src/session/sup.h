/* sup.h - the supervisor's insides: one process per box, shared by supervisor.c (life and death),
 * sup_ctl.c (what pid 1 says), sup_exec.c (commands and their bytes), sup_client.c (conversations),
 * sup_watch.c (limits), sup_door.c (the network, see sup_door.h), sup_secrets.c (custody, see
 * sup_secrets.h).
 *
 * It runs with the user's rights, so it reads only typed frames and passes the box's output on
 * without looking at it. */
#ifndef SESSION_SUP_H
#define SESSION_SUP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"
#include "box/box.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdbool.h>
#include <stdint.h>

struct ca;
struct inbound;
struct pause_stopped;
struct sup;
struct sup_witness;
struct sup_door;
struct sup_hold;
struct sup_live;
struct sup_secrets;
struct sup_snapshot;
struct sup_watch;
struct supervisor_args;

/* A command in the box. Exec id 1 is the box's main command. */
struct exec {
        struct sup *sup;
        struct exec *next;
        uint32_t id;
        bool is_tty, is_started, is_exited, is_copy;
        bool is_beside; /* it runs in a box that is paused */
        int in_fd;      /* where its input goes: pipe, or the pty master (then out_fd is a dup) */
        int out_fd[2];  /* stdout, stderr; a terminal has only the first */
        struct loop_src *in_src, *out_src[2];
        struct buf in_buf; /* input that did not fit yet */
        bool in_eof;
        size_t late[2]; /* bytes that are still passed on after its end */
        uint32_t wait_status;
        uint64_t cpu_us, peak_kib;
};

/* One conversation with a CLI. */
struct client {
        struct sup *sup;
        struct client *next;
        int fd;
        struct loop_src *src;
        struct exec *exec; /* what it is attached to */
        bool wants_end;    /* it asked for STOP and waits for the box's end */
        bool is_answered;  /* and wants nothing more */
        struct buf pend;   /* one frame that did not fit, body only */
        uint32_t pend_type;
        bool has_pend;
        bool is_behind;  /* it has yet to hear which questions wait */
        bool is_quiet;   /* it shows none */
        bool is_put_off; /* what it asks for waits until the box stands still (sup_pause.c) */
};

struct outlog {
        int dir_fd, fd;
        uint64_t len;
};

struct sup {
        struct session_plan *plan;
        const struct store *store;
        struct session_opts *opts;
        const char *id;
        int dir_fd, lock_fd, listen_fd;
        struct loop *loop;
        struct box box;
        struct door_socket
                *door_sockets; /* all are here once is_built; none: the box has no door */
        size_t door_sockets_n;
        struct ca *ca;               /* the box's certificate authority */
        struct loop_timer refill;    /* when the pool it came from is looked after */
        struct sup_door *door;       /* NULL until the box is built, or has secrets */
        struct sup_secrets *secrets; /* NULL as long as there is none */
        const struct supervisor_args *args;
        struct box_first first; /* what the box runs first, until it is started */
        struct msg_spawn spawn;
        struct sup_witness *witness; /* NULL when calls are not recorded */
        int log_fd;                  /* to the log, for records of our own; or -1 */
        struct sup_live *live;       /* NULL when it writes to no directory of the host */
        struct inbound *inbound;     /* NULL until a port is published */
        uint32_t open_port; /* what the last address led back to, until it was answered; or 0 */
        struct loop_src *ctl_src, *pid_src, *listen_src, *sig_src, *time_src, *watch_src;
        int sig_fd, time_fd, watch_fd;
        struct exec *execs;
        struct client *clients;
        uint32_t next_exec_id;
        struct loop_src *stop_src;
        int stop_fd, ready_fd;
        bool is_built, is_started, is_stopping, is_ending, has_main;
        bool is_paused;        /* stopped until somebody says resume (sup_pause.c) */
        struct sup_hold *hold; /* who sees to that, or NULL (sup_hold.h) */
        unsigned stops_n;      /* how often pid 1 was told to stop all and has not said yet */
        struct pause_stopped *stopped; /* who was stopped before (sup_pause.c) */
        size_t stopped_n;
        bool is_sleeping; /* it ends to be frozen, and is woken by the next who wants it */
        struct sup_snapshot *snapshot; /* one that is being made, or NULL */
        size_t frozen_n;               /* layers, when it was frozen */
        struct loop_timer turn_timer;  /* --turns: when it is seen whether a command left nothing */
        int turn_tries;
        struct msg_ended end; /* how the box ended, once is_ending */
        struct err failure;   /* how it failed to start */
        struct outlog log;
        struct box_meta meta;
        struct box_meta before;  /* of a box that was woken: the story of its main command */
        struct sup_watch *watch; /* what was last seen of it (sup_watch.h) */
        uint64_t memory_peak_seen;
        uint64_t kills_told; /* processes killed for want of memory that clients have heard of */
};

/* supervisor.c */
/* sup_end(s, how, value, words): the box is to end now, for this reason; the loop stops. The first
 * reason counts. */
void sup_end(struct sup *, enum msg_end, uint32_t value, const char *words);
/* sup_stop(s, grace_ms): ask everything in the box to end, and end it after that time. */
void sup_stop(struct sup *, uint32_t grace_ms);
/* sup_signal_all(s, sig): to every process in the box but its first. 0, or -1 when pid 1 was not told;
 * MSG_KILLED says when it is done. */
int sup_signal_all(struct sup *, int sig);

/* sup_fail(s, what): the box could not be built, or its command not started; s->failure says why.
 */
void sup_fail(struct sup *, const char *what);
/* sup_build(s): everything that it needs is there: start the box, or fail. */
void sup_build(struct sup *);

/* sup_ctl.c */
/* sup_on_ctl(s, events): pid 1 has something to say. */
void sup_on_ctl(void *ctx, uint32_t events);
/* sup_refill(s): have authorities made for the boxes to come, once: a moment after this one is up,
 * or when it is over. */
void sup_refill(struct sup *);

/* sup_exec.c */
struct exec *exec_new(struct sup *, bool is_tty);
/* exec_pipes(e, fds, err): make the pipes of a command without terminal; ${fds} are its ends. */
int exec_pipes(struct exec *, bool has_stdin, int fds[3], struct err *);
struct exec *exec_find(struct sup *, uint32_t id);
/* exec_started(e, master_fd): the command runs; ${master_fd} becomes the exec's. */
void exec_started(struct exec *, int master_fd);
void exec_input(struct exec *, const void *, size_t);
void exec_input_end(struct exec *);
void exec_resize(struct exec *, uint32_t cols, uint32_t rows);
void exec_close_out(struct exec *, int which);
/* exec_exited(e, status, cpu, peak): after this, what is left of its output is passed on, then its
 * clients hear of the end. */
void exec_exited(struct exec *, uint32_t wait_status, uint64_t cpu_us, uint64_t peak_kib);
/* exec_pump(e): read on, if the clients can take it. Called when a client has room again. */
void exec_pump(struct exec *);
void exec_free(struct exec *);
/* exec_is_input_full(e): must its client wait before sending more? */
bool exec_is_input_full(const struct exec *);

/* sup_client.c */
struct client *client_new(struct sup *, int fd);
void client_free(struct client *);
int client_listen(struct sup *, struct err *);
/* client_send(c, type, p, n): pass on or keep; a client that is gone is dropped. */
void client_send(struct client *, uint32_t type, const void *, size_t);
void client_send_ended(struct client *, const struct msg_ended *);
void client_send_failed(struct client *, const struct err *);
/* client_send_notice(c, words): a sentence for the user. */
void client_send_notice(struct client *, const char *words);
/* sup_tell(s, words): one sentence to everybody who is attached, or waits for the box. */
void sup_tell(struct sup *, const char *words);
/* client_is_busy(e): does a client of this exec still hold an unsent frame? */
bool client_is_busy(const struct exec *);

/* sup_door.c */
/* sup_door_begin(s, err): the box is built: wait for the first connection. */
int sup_door_begin(struct sup *, struct err *);
/* sup_door_end(s, refused): after the end of the box's processes; ${refused} gets the body of
 * MSG_REFUSED, or nothing. */
void sup_door_end(struct sup *, struct buf *refused);

/* sup_secrets_life.c */
void sup_on_secrets(struct client *, struct frame *);
void sup_on_revoke(struct client *, struct frame *);
void sup_on_rotate(struct client *, struct frame *);
/* sup_secrets_env(s, env): placeholders that came after the box was built (sup_secrets_reload.c),
 * for a command that is about to start. */
void sup_secrets_env(struct sup *, struct strs *env);
/* sup_secrets_forget(c): the client is going. */
void sup_secrets_forget(struct client *);

/* sup_rules.c */
void sup_on_rule(struct client *, struct frame *);
void sup_on_rules(struct client *, struct frame *);
void sup_on_reload(struct client *, struct frame *);
/* sup_rules_add(c, is_added, text): the same for a line that we have; the client hears of it. */
void sup_rules_add(struct client *, bool is_added, const char *text);
/* sup_rules_forget(c): the client is going. */
void sup_rules_forget(struct client *);

/* sup_ask.c */
void sup_on_approvals(struct client *, struct frame *);
void sup_on_approve(struct client *, struct frame *);
void sup_on_answer(struct client *, struct frame *);
/* sup_ask_show(c): which questions wait, to a client with a terminal. */
void sup_ask_show(struct client *);

/* sup_inbound.c */
/* sup_inbound_begin(s, err): publish what the options say; the ports are added to meta.grants. */
int sup_inbound_begin(struct sup *, struct err *);
void sup_inbound_end(struct sup *);
/* sup_inbound_forget(c): the client is going, and what it published with it. */
void sup_inbound_forget(struct client *);
/* sup_inbound_connected(s, f): MSG_CONNECTED of pid 1. */
void sup_inbound_connected(struct sup *, struct frame *);
void sup_on_publish(struct client *, struct frame *);
/* sup_inbound_open(s, spec, err): publish until the box ends; where, the caller's to free, or NULL.
 */
char *sup_inbound_open(struct sup *, const char *spec, struct err *);
void sup_on_ports(struct client *, struct frame *);

/* sup_open.c */
/* sup_open_url(s, f): MSG_OPEN_URL of pid 1. */
void sup_open_url(struct sup *, struct frame *);
void sup_on_forward(struct client *, struct frame *);

/* sup_snapshot.c */
void sup_on_snapshot(struct client *, struct frame *);
/* sup_snapshot_forget(c): the client is going. */
void sup_snapshot_forget(struct client *);
/* sup_snapshot_break(s): the box is about to end: a copy that is being made is given up. */
void sup_snapshot_break(struct sup *);
/* sup_snapshot_freeze(s): it is cleared, and its lock is still held: freeze what was asked for. */
void sup_snapshot_freeze(struct sup *);
/* sup_is_quiet(s): does nothing run in the box? */
bool sup_is_quiet(struct sup *);
/* sup_sleep(s): end it, and keep it. */
void sup_sleep(struct sup *);
/* sup_again(s): its lock is free: who came meanwhile is to come again. */
void sup_again(struct sup *);
/* sup_turn_begin(s, argv): a command begins. sup_turn_end(s): one is over. sup_turn_is_over(s): is
 * there a turn to be frozen before the next command? */
void sup_turn_begin(struct sup *, const struct strs *argv);
void sup_turn_end(struct sup *);
bool sup_turn_is_over(struct sup *);

/* sup_witness.c */
/* sup_witness_prepare(s, err): start the log and the witness, if the plan wants calls recorded. */
int sup_witness_prepare(struct sup *, struct err *);
/* sup_witness_begin(s, listener_fd, root_fd): the box is built; takes both. -1 means that the
 * kernel tells nothing. */
void sup_witness_begin(struct sup *, int listener_fd, int root_fd);
/* sup_witness_spawn(s, id, spawn): before pid 1 hears of this command. */
void sup_witness_spawn(struct sup *, uint32_t id, const struct msg_spawn *);
/* sup_witness_end(s): after the last process of the box: what it saw last is told, then it goes. */
void sup_witness_end(struct sup *);

/* sup_log.c */
/* sup_log(s, method, note): a record of kind "box" ("start", "wake", "end", "snapshot", ...), if
 * the box has a log. */
void sup_log(struct sup *, const char *method, const char *note);
/* sup_pause.c: sup_pause(s): everything in the box stands still, and the box says so. sup_pause_hold(s):
 * something ran in a box that is paused: it must not have woken the rest. sup_on_continue: MSG_CONTINUE. */
void sup_pause(struct sup *);
void sup_pause_hold(struct sup *);
/* sup_pause_stop(s): everything in the box is stopped in one moment. sup_pause_stopped(s, sig): MSG_KILLED.
 * sup_pause_settle(s): all are held, perhaps. sup_pause_puts_off(s, type): until then, does a client who
 * asks for this have to wait? A command that begins meanwhile would be held with the rest. */
void sup_pause_stop(struct sup *);
void sup_pause_stopped(struct sup *, uint32_t sig);
void sup_pause_settle(struct sup *);
bool sup_pause_puts_off(const struct sup *, uint32_t type);
void sup_on_continue(struct client *, struct frame *);

/* sup_on_settle(client, frame): MSG_SETTLE. */
void sup_on_settle(struct client *, struct frame *);
/* sup_log_end(s, refused): after the box's last process: witness, door and log end, in that order;
 * ${refused} as in sup_door_end. */
void sup_log_end(struct sup *, struct buf *refused);
/* sup_log_is_alone(s): is the log all that there is of the door? Then nobody waits for its end. */
bool sup_log_is_alone(const struct sup *);
/* sup_log_keep(s): the box is about to be discarded: its log is not. */
void sup_log_keep(struct sup *);
/* sup_log_prune(s): of those logs, forget what is too old or too much. */
void sup_log_prune(const struct sup *);

/* sup_live.c */
/* sup_live_begin(s, err): before the box is built: watch the directories of the host that it may
 * write to. sup_live_end(s): after its last process: take away what is left of it that is
 * dangerous, complete the record that undo takes back, and say so. */
int sup_live_begin(struct sup *, struct err *);
void sup_live_end(struct sup *);

/* sup_watch.c */
/* watch_timer(ms): a timer that fires once; a descriptor or -1. */
int watch_timer(uint64_t ms);
/* watch_init(s): nothing is seen yet. watch_eyes(s, f): MSG_WATCHED, heard before the box is built
 * and never afterwards. watch_start(s, err): begin to look. watch_end(s): the box is over. */
void watch_init(struct sup *);
void watch_eyes(struct sup *, struct frame *);
int watch_start(struct sup *, struct err *);
void watch_end(struct sup *);
/* watch_tell_kills(s): a box may outlive a process of it that the kernel killed; say so to clients,
 * once per kill. */
void watch_tell_kills(struct sup *);
/* watch_tell_unheld(s): add to the banner's words which limits no control group holds here. */
void watch_tell_unheld(struct sup *);
/* watch_reason(s, &words): was it a limit that killed the main command? MSG_END_SIGNAL if not. */
enum msg_end watch_reason(struct sup *, char words[256]);
void watch_info(struct sup *, struct msg_info *);

/* outlog.c */
int outlog_open(struct outlog *, int dir_fd, struct err *);
void outlog_put(struct outlog *, const void *, size_t);
/* outlog_tail(l, max, b): the last bytes, for a client that attaches. */
void outlog_tail(struct outlog *, size_t max, struct buf *);
void outlog_close(struct outlog *);

#endif
