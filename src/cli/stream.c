/* stream.c - the loop of an attached client. See stream.h.
 *
 * One poll loop over the box's socket, our input, our outputs and a signalfd. Input is read only
 * while the socket takes it, and the socket only while our outputs take it, so a slow reader slows
 * the box down and nothing piles up. Parses frames of our own supervisor; the box's bytes go to a
 * sink. */
#include "cli/stream.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/ended.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cli/sink.h"
#include "cli/term.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

enum { READ_MAX = 32768, FRAMES_PER_TURN = 16 };

struct loop {
        struct stream *s;
        int sock;
        struct sink out[2];
        bool is_told[2];    /* the box knows that nobody reads this output */
        bool is_in_open;    /* our stdin still has something to say */
        struct buf queue;   /* frames that did not fit: u32 type, u32 length, body */
        struct buf refused; /* hosts, for the end */
        bool is_over;
        int code;
        int early_n;  /* signals that came before the command ran */
        bool is_owed; /* a key was typed: the answer is shown also to the quiet */
        struct screen screen;
        struct row row;
        uint64_t told_question; /* where there is no row: the last that was told of */
};

/* --- towards the box -------------------------------------------------------------------------- */

static void over(struct loop *l, int code)
{
        l->is_over = true;
        l->code = code;
}

static void queue_run(struct loop *l)
{
        while (l->queue.len) {
                struct cur c = cur_of(l->queue.data, l->queue.len);
                uint32_t type, n;
                const uint8_t *p;
                if (cur_u32(&c, &type) < 0 || cur_u32(&c, &n) < 0 || cur_bytes(&c, n, &p) < 0)
                        break;
                if (frame_send_data(l->sock, type, p, n) < 0 &&
                    (errno == EAGAIN || errno == ENOBUFS))
                        return;
                /* Any other error shows when reading: the supervisor's last words may be there. */
                buf_drop(&l->queue, 8 + n);
        }
}

static void send_data(struct loop *l, uint32_t type, const void *p, size_t n)
{
        buf_put_u32(&l->queue, type);
        buf_put_u32(&l->queue, (uint32_t)n);
        buf_put(&l->queue, p, n);
        queue_run(l);
}

static void send_u32(struct loop *l, uint32_t type, uint32_t a, const uint32_t *b)
{
        _cleanup_buf_ struct buf body = {0};
        buf_put_u32(&body, a);
        if (b)
                buf_put_u32(&body, *b);
        send_data(l, type, body.data, body.len);
}

/* send_size(l): of the terminal, without the rows that are ours. */
static void send_size(struct loop *l)
{
        uint32_t cols, rows;
        term_size(&cols, &rows);
        if (l->row.sink) {
                cols = l->screen.cols;
                rows = l->screen.rows;
        }
        send_u32(l, MSG_RESIZE, cols, &rows);
}

/* send_typed(l): what the terminal would have answered, had it as many rows as the box. */
static void send_typed(struct loop *l)
{
        struct buf *typed = &l->screen.typed;
        if (typed->len)
                send_data(l, MSG_STDIN, typed->data, typed->len);
        typed->len = 0;
}

/* show_row(l): something that waits came, went or was answered. */
static void show_row(struct loop *l)
{
        if (!row_update(&l->row))
                return;
        const struct screen *s = &l->screen;
        l->s->detach.below = s->below;
        send_size(l);
        if (s->has_size_reports) {
                buf_put_fmt(&l->screen.typed, "\033[48;%u;%u;0;0t", s->rows, s->cols);
                send_typed(l);
        }
}

/* on_letter(l, letter): behind the prefix. */
static void on_letter(struct loop *l, char letter)
{
        struct row_act act = row_letter(&l->row, letter);
        l->is_owed |= act.what != ROW_NO_ACT;
        if (act.what == ROW_FORWARD)
                send_u32(l, MSG_FORWARD, act.port, NULL);
        if (act.what != ROW_ANSWER)
                return;
        _cleanup_buf_ struct buf body = {0};
        buf_put_u64(&body, act.question);
        buf_put_u32(&body, act.is_yes);
        buf_put_u32(&body, act.is_kept);
        send_data(l, MSG_ANSWER, body.data, body.len);
}

/* on_keys(l, bytes, n): to the box, but for those that are ours. */
static void on_keys(struct loop *l, const uint8_t *bytes, size_t n)
{
        struct detach *d = &l->s->detach;
        while (n > 0 && !l->is_over) {
                _cleanup_buf_ struct buf keys = {0};
                enum detach_event event;
                char letter;
                size_t used = detach_feed(d, bytes, n, &keys, &event, &letter);
                if (keys.len)
                        send_data(l, MSG_STDIN, keys.data, keys.len);
                bytes += used;
                n -= used;
                if (event == DETACH_PREFIX)
                        d->takes = row_press(&l->row);
                else if (event == DETACH_LETTER)
                        on_letter(l, letter);
                else if (event == DETACH_OTHER)
                        row_pass(&l->row);
                if (event == DETACH_LEAVE) {
                        l->s->is_detached = true;
                        over(l, EXIT_OK);
                } else if (event != DETACH_NOTHING) {
                        show_row(l);
                }
        }
}

static void on_input(struct loop *l)
{
        static uint8_t bytes[READ_MAX];
        ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return;
        if (n <= 0) {
                l->is_in_open = false;
                if (l->s->is_tty) {
                        l->s->is_detached = true; /* the terminal is gone */
                        over(l, 128 + SIGHUP);
                } else {
                        send_data(l, MSG_STDIN, NULL, 0);
                }
                return;
        }
        if (!l->s->is_tty) {
                send_data(l, MSG_STDIN, bytes, (size_t)n);
                return;
        }
        on_keys(l, bytes, (size_t)n);
}

/* on_resize(l): the terminal has another size, or was somebody else's for a while. */
static void on_resize(struct loop *l)
{
        uint32_t cols, rows;
        term_size(&cols, &rows);
        if (l->row.sink) {
                screen_resize(&l->screen, rows, cols, &l->out[0].out);
                sink_flush(&l->out[0]);
                l->s->detach.below = l->screen.below;
                row_update(&l->row);
        }
        send_size(l);
}

/* on_stop(l): the terminal is given back as far as it can be: our rows and its settings. */
static void on_stop(struct loop *l)
{
        if (l->row.sink) {
                screen_reserve(&l->screen, NULL, 0, &l->out[0].out);
                sink_flush(&l->out[0]);
        }
        term_pause();
        raise(SIGSTOP);
}

/* on_continue(l): a shell has written below the box's screen meanwhile. */
static void on_continue(struct loop *l)
{
        term_raw(NULL);
        if (l->row.sink && l->screen.below == 0)
                screen_lost(&l->screen);
        on_resize(l);
        show_row(l);
}

static void on_signal(struct loop *l, int sig)
{
        struct stream *s = l->s;
        switch (sig) {
        case SIGWINCH:
                if (s->is_tty && s->is_started)
                        on_resize(l);
                return;
        case SIGTSTP:
                on_stop(l);
                return;
        case SIGCONT:
                if (s->is_tty && s->is_started)
                        on_continue(l);
                return;
        case SIGHUP:
                s->is_detached = true;
                over(l, 128 + sig);
                return;
        case SIGTERM:
                if (s->is_tty) {
                        s->is_detached = true;
                        over(l, 128 + sig);
                        return;
                }
                break;
        default:
                break;
        }
        /* Whoever asks twice while the box is still being built wants out. */
        if (!s->is_started && l->early_n++ > 0) {
                s->is_detached = true;
                over(l, 128 + sig);
                return;
        }
        send_u32(l, MSG_SIGNAL, (uint32_t)sig, NULL);
}

/* end_signals(): from here on a signal ends us: only a slow reader can still hold us up. */
static void end_signals(void)
{
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
}

/* --- from the box ----------------------------------------------------------------------------- */

static void on_started(struct loop *l, struct cur *body)
{
        struct stream *s = l->s;
        struct err err = {0};
        if (s->is_started)
                return;
        s->is_started = true;
        struct msg_started m;
        (void)msg_started_get(body, &m); /* then it is empty, and the command runs all the same */
        if (s->on_started)
                s->on_started(s, &m);
        msg_started_free(&m);
        if (s->is_tty && term_raw(&err) < 0)
                out_error(&err);
        if (s->is_tty)
                sink_follow(&l->out[0], &l->screen);
        row_init(&l->row, &l->out[0], s->id, s->detach.is_off ? 0 : s->detach.base, s->is_quiet);
        l->is_in_open = s->has_stdin;
}

/* Output from before we came: it must not make the terminal answer questions asked long ago. */
static void on_replay(struct loop *l, const struct cur *body)
{
        struct filter_policy *p = &l->out[0].filter.policy;
        struct filter_policy before = *p;
        p->may_query = false;
        p->is_raw = false;
        sink_put(&l->out[0], body->p, body->left);
        *p = before;
}

/* on_url(l, body): shown, never opened. A port is forwarded when the user says so: by key where the
 * terminal is ours, by a command elsewhere. */
static void on_url(struct loop *l, struct cur *body)
{
        struct stream *s = l->s;
        _cleanup_free_ char *url = NULL;
        uint32_t port;
        if (cur_lstr(body, MSG_URL_MAX, &url) < 0 || cur_u32(body, &port) < 0 || port > 65535)
                return;
        bool has_keys = s->is_tty && s->is_started && !s->detach.is_off;
        if (s->is_started)
                row_url(&l->row, url, has_keys ? port : 0);
        if (!row_is_on(&l->row))
                ended_url(s->is_tty && s->is_started, s->id, url, port,
                          has_keys ? s->detach.base : 0);
        else
                show_row(l);
}

/* on_words(l, words, is_alarm): a sentence, in the row or where there is none. */
static void on_words(struct loop *l, const char *words, bool is_alarm)
{
        bool is_shown = is_alarm || !l->s->is_quiet || l->is_owed;
        if (row_is_on(&l->row)) {
                if (is_alarm)
                        row_alarm(&l->row, words);
                else
                        row_notice(&l->row, words, l->is_owed);
                show_row(l);
        } else if (is_shown) {
                ended_notice(l->s->is_tty && l->s->is_started, words);
        }
        l->is_owed &= is_alarm;
}

/* on_waiting(l, body): which question waits. Without a row it is a sentence, once. */
static void on_waiting(struct loop *l, struct cur *body)
{
        struct row *r = &l->row;
        if (!l->s->is_started)
                return;
        row_waiting(r, body);
        const struct row_item *q = &r->items[ROW_QUESTION];
        if (row_is_on(r)) {
                show_row(l);
        } else if (q->text && q->id != l->told_question) {
                l->told_question = q->id;
                _cleanup_free_ char *words = str_fmt(
                        "the box asks: %s; in another terminal: ostiary approve %s/%llu (or "
                        "refuse)",
                        q->text, l->s->id, (unsigned long long)q->id);
                ended_notice(l->s->is_tty, words);
        }
}

static void on_frame(struct loop *l, struct frame *f)
{
        char *words = NULL;
        switch (f->type) {
        case MSG_STARTED:
                on_started(l, &f->body);
                return;
        case MSG_STDOUT:
                sink_put(&l->out[0], f->body.p, f->body.left);
                send_typed(l);
                return;
        case MSG_STDERR:
                sink_put(&l->out[1], f->body.p, f->body.left);
                return;
        case MSG_REPLAY:
                on_replay(l, &f->body);
                return;
        case MSG_NOTICE:
                if (cur_lstr(&f->body, 4096, &words) == 0)
                        on_words(l, words, false);
                free(words);
                return;
        case MSG_ALARM: /* also to those who want no notices */
                if (cur_lstr(&f->body, 8192, &words) == 0)
                        on_words(l, words, true);
                free(words);
                return;
        case MSG_WAITING:
                on_waiting(l, &f->body);
                return;
        case MSG_REFUSED:
                l->refused.len = 0;
                buf_put(&l->refused, f->body.p, f->body.left);
                return;
        case MSG_SHOW_URL:
                on_url(l, &f->body);
                return;
        case MSG_FAILED: {
                struct err err = {0};
                ended_failure(&f->body, &err);
                term_restore();
                over(l, out_error(&err));
                return;
        }
        case MSG_ENDED: {
                struct msg_ended e;
                end_signals();
                sink_close(&l->out[0]);
                sink_close(&l->out[1]);
                term_restore();
                if (msg_ended_get(&f->body, &e) < 0) {
                        out_say("the supervisor's last message makes no sense");
                        over(l, EXIT_OURS);
                        return;
                }
                l->s->is_ended = true;
                l->s->is_kept = e.is_kept;
                row_last_words(&l->row, false);
                ended_say(&e);
                if (!l->s->is_quiet)
                        ended_refused(&l->refused, l->s->id, e.is_kept);
                over(l, msg_ended_exit_code(&e));
                msg_ended_free(&e);
                return;
        }
        default:
                return;
        }
}

static void on_socket(struct loop *l)
{
        static struct frame f;
        for (int i = 0; i < FRAMES_PER_TURN && !l->is_over; i++) {
                if (sink_is_full(&l->out[0]) || sink_is_full(&l->out[1]))
                        return;
                int r = frame_recv(l->sock, &f, false);
                if (r < 0 && (errno == EAGAIN || errno == EINTR))
                        return;
                if (r <= 0) {
                        term_restore();
                        out_say("box %s: its supervisor ended without a word; the box is closed",
                                l->s->id);
                        over(l, EXIT_OURS);
                        return;
                }
                on_frame(l, &f);
                frame_release(&f);
        }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* catch_signals(is_tty): a client whose terminal is raw is stopped by itself, after putting it back. */
static int catch_signals(bool is_tty)
{
        static const int ours[] = {SIGWINCH, SIGCONT, SIGHUP,  SIGTERM,
                                   SIGINT,   SIGQUIT, SIGUSR1, SIGUSR2};
        sigset_t set;
        sigemptyset(&set);
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
                struct sigaction was;
                sigaction(ours[i], NULL, &was);
                /* nohup and background shells ignore some: they stay ignored */
                if (was.sa_handler != SIG_IGN)
                        sigaddset(&set, ours[i]);
        }
        if (is_tty)
                sigaddset(&set, SIGTSTP);
        signal(SIGPIPE, SIG_IGN);
        sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void tell_gone(struct loop *l)
{
        for (uint32_t i = 0; i < 2; i++) {
                if (l->out[i].is_gone && !l->is_told[i]) {
                        l->is_told[i] = true;
                        send_u32(l, MSG_CLOSE_OUT, i + 1, NULL);
                }
        }
}

static void turn(struct loop *l, int sig_fd)
{
        bool is_full = sink_is_full(&l->out[0]) || sink_is_full(&l->out[1]);
        bool may_read = l->is_in_open && l->s->is_started && l->queue.len == 0;
        enum { SOCK, SIG, IN, OUT, ERR };
        struct pollfd p[] = {
                [SOCK] = {.fd = l->sock,
                          .events = (short)((is_full ? 0 : POLLIN) | (l->queue.len ? POLLOUT : 0))},
                [SIG] = {.fd = sig_fd, .events = POLLIN},
                [IN] = {.fd = may_read ? STDIN_FILENO : -1, .events = POLLIN},
                [OUT] = {.fd = sink_is_full(&l->out[0]) ? STDOUT_FILENO : -1, .events = POLLOUT},
                [ERR] = {.fd = sink_is_full(&l->out[1]) ? STDERR_FILENO : -1, .events = POLLOUT},
        };
        if (is_full && !l->queue.len)
                p[SOCK].fd = -1; /* a hang-up would be reported again and again */
        if (poll(p, 5, row_wait_ms(&l->row)) < 0)
                return;
        if (l->s->is_started && row_wait_ms(&l->row) == 0)
                show_row(l);
        if (p[SIG].revents) {
                struct signalfd_siginfo info;
                while (!l->is_over && read(sig_fd, &info, sizeof info) == sizeof info)
                        on_signal(l, (int)info.ssi_signo);
        }
        if (p[OUT].revents)
                sink_flush(&l->out[0]);
        if (p[ERR].revents)
                sink_flush(&l->out[1]);
        if (!l->is_over && (p[SOCK].revents & POLLOUT))
                queue_run(l);
        if (!l->is_over && (p[SOCK].revents & (POLLIN | POLLHUP | POLLERR)))
                on_socket(l);
        if (!l->is_over && p[IN].revents)
                on_input(l);
        tell_gone(l);
}

/* leave_screen(deep): off the lines that the box drew, of which ${deep} are below the cursor. */
static void leave_screen(unsigned deep)
{
        _cleanup_buf_ struct buf b = {0};
        if (deep)
                buf_put_fmt(&b, "\033[%uB", deep);
        buf_put_fmt(&b, "\r\n");
        fdio_write_all(STDERR_FILENO, b.data, b.len); /* the terminal may be gone: nothing to do */
}

int stream_run(struct stream *s, int sock)
{
        _cleanup_close_ int owned = sock;
        static struct loop l;
        l = (struct loop){.s = s, .sock = owned};
        fcntl(owned, F_SETFL, fcntl(owned, F_GETFL) | O_NONBLOCK);
        _cleanup_close_ int sig_fd = catch_signals(s->is_tty);
        if (sig_fd < 0) {
                out_say("cannot watch for signals: %s", strerror(errno));
                return EXIT_OURS;
        }
        sink_open(&l.out[0], STDOUT_FILENO, &s->terminal);
        sink_open(&l.out[1], STDERR_FILENO, &s->terminal);
        if (s->is_quiet) /* before the command can ask for anything */
                send_data(&l, MSG_QUIET, NULL, 0);
        while (!l.is_over)
                turn(&l, sig_fd);

        if (!s->is_detached) {
                sink_close(&l.out[0]);
                sink_close(&l.out[1]);
        }
        if (l.screen.below && s->is_detached) { /* somebody else may be attached */
                uint32_t rows = l.screen.rows + l.screen.below;
                send_u32(&l, MSG_RESIZE, l.screen.cols, &rows);
        }
        unsigned deep = l.row.sink ? screen_deep(&l.screen) : 0;
        term_restore();
        buf_free(&l.queue);
        buf_free(&l.refused);
        if (s->is_detached && s->is_tty && s->is_started)
                leave_screen(deep);
        if (!s->is_ended)
                row_last_words(&l.row, s->is_detached);
        if (s->is_detached && !s->is_quiet)
                out_say("detached from %s; ostiary attach %s to come back", s->id, s->id);
        row_free(&l.row);
        screen_free(&l.screen);
        return l.code;
}

int stream_started(int sock, struct msg_started *started, struct err *err)
{
        static struct frame f;
        *started = (struct msg_started){0};
        for (;;) {
                int r = frame_recv(sock, &f, false);
                if (r <= 0)
                        return err_set(err, E_SYSTEM,
                                       "the box's supervisor ended before the box was ready");
                uint32_t type = f.type;
                char *words = NULL;
                if (type == MSG_FAILED)
                        ended_failure(&f.body, err);
                else if (type == MSG_NOTICE && cur_lstr(&f.body, 4096, &words) == 0)
                        ended_notice(false, words);
                else if (type == MSG_STARTED)
                        (void)msg_started_get(&f.body, started); /* it is empty then */
                free(words);
                frame_release(&f);
                if (type == MSG_FAILED)
                        return -1;
                if (type == MSG_STARTED || type == MSG_INFO)
                        return 0;
                if (type == MSG_ENDED)
                        return err_set(err, E_SYSTEM, "the box ended before it was ready");
        }
}
