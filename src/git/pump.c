/* pump.c - see pump.h. What comes out may be hostile: it is counted and copied, never looked at. */
#include "git/pump.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/scale.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

enum { PUMP_PIECE = 64 << 10, PUMP_LINE_MAX = 240 };

static uint64_t pump_now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* pump_pipe(ours, theirs, is_out): a pipe of which only our end does not block. */
static int pump_pipe(int *ours, int *theirs, bool is_out)
{
        int v[2];
        if (pipe2(v, O_CLOEXEC) < 0)
                return -1;
        *ours = v[is_out ? 0 : 1];
        *theirs = v[is_out ? 1 : 0];
        return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

int git_pump_open(struct git_pump *p, const struct git_call *call, int theirs[3], struct err *err)
{
        uint32_t patience = call->patience_ms ? call->patience_ms : GIT_PATIENCE_MS;
        *p = (struct git_pump){.call = call,
                               .in_fd = -1,
                               .out_fd = -1,
                               .err_fd = -1,
                               .until_ms = pump_now_ms() + scale_ms(patience)};
        theirs[0] = theirs[1] = theirs[2] = -1;
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigaction(SIGPIPE, &ignore, &p->pipe_was);
        int r = call->in ? pump_pipe(&p->in_fd, &theirs[0], false)
                         : (theirs[0] = open(call->in_file ? call->in_file : "/dev/null",
                                             O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (r >= 0 && pump_pipe(&p->out_fd, &theirs[1], true) == 0 &&
            pump_pipe(&p->err_fd, &theirs[2], true) == 0)
                return 0;
        err_sys(err, "make pipes for git");
        for (int i = 0; i < 3; i++)
                close_fd(&theirs[i]);
        git_pump_close(p);
        return -1;
}

void git_pump_close(struct git_pump *p)
{
        close_fd(&p->in_fd);
        close_fd(&p->out_fd);
        close_fd(&p->err_fd);
        sigaction(SIGPIPE, &p->pipe_was, NULL);
}

static void pump_feed(struct git_pump *p)
{
        const struct git_call *c = p->call;
        ssize_t n = p->in_at < c->in_len
                            ? write(p->in_fd, (const char *)c->in + p->in_at, c->in_len - p->in_at)
                            : 0;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n > 0)
                p->in_at += (size_t)n;
        /* One that does not want the rest of its input may still print an answer. */
        if (n < 0 || p->in_at == c->in_len)
                close_fd(&p->in_fd);
}

static int pump_too_much(const struct git_pump *p, struct err *err)
{
        char words[16];
        const struct git_call *c = p->call;
        uint64_t max = !c->out ? c->out_max : c->out->max ? c->out->max : BUF_DEFAULT_MAX;
        return err_set(err, E_INPUT, "git %s printed more than %s", c->argv[0],
                       str_size_words(max, words));
}

/* pump_keep(p, data, n, err): a piece of its output. */
static int pump_keep(struct git_pump *p, const char *data, size_t n, struct err *err)
{
        const struct git_call *c = p->call;
        p->out_n += n;
        if (c->out) {
                buf_put(c->out, data, n);
                return c->out->is_broken ? pump_too_much(p, err) : 0;
        }
        if (c->out_fd < 0)
                return 0;
        if (c->out_max && p->out_n > c->out_max)
                return pump_too_much(p, err);
        return fdio_write_all(c->out_fd, data, n) < 0 ? err_sys(err, "keep what git printed") : 0;
}

/* pump_take(p, err): 1 more may come, 0 nothing now, -1. */
static int pump_take(struct git_pump *p, struct err *err)
{
        static char piece[PUMP_PIECE];
        ssize_t n = read(p->out_fd, piece, sizeof piece);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return errno == EINTR;
        if (n <= 0) {
                close_fd(&p->out_fd);
                return 0;
        }
        return pump_keep(p, piece, (size_t)n, err) < 0 ? -1 : 1;
}

/* pump_listen(p): 1 more may come, 0 nothing now. Only the end of its complaints is kept. */
static int pump_listen(struct git_pump *p)
{
        char more[512];
        ssize_t n = read(p->err_fd, more, sizeof more);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return errno == EINTR;
        if (n <= 0) {
                close_fd(&p->err_fd);
                return 0;
        }
        size_t room = sizeof p->words - 1, len = p->words_len + (size_t)n;
        if (len > room) {
                memmove(p->words, p->words + (len - room), room - (size_t)n);
                p->words_len = room - (size_t)n;
        }
        memcpy(p->words + p->words_len, more, (size_t)n);
        p->words_len += (size_t)n;
        return 1;
}

int git_pump_wait(struct git_pump *p, int end_fd, struct err *err)
{
        for (;;) {
                uint64_t now = pump_now_ms();
                if (now >= p->until_ms)
                        return err_set(err, E_INPUT, "git %s did not finish in time",
                                       p->call->argv[0]);
                struct pollfd v[4] = {{.fd = end_fd, .events = POLLIN},
                                      {.fd = p->in_fd, .events = POLLOUT},
                                      {.fd = p->out_fd, .events = POLLIN},
                                      {.fd = p->err_fd, .events = POLLIN}};
                if (poll(v, 4, (int)(p->until_ms - now)) < 0 && errno != EINTR)
                        return err_sys(err, "wait for git");
                if (v[1].revents)
                        pump_feed(p);
                if (v[2].revents && pump_take(p, err) < 0)
                        return -1;
                if (v[3].revents)
                        pump_listen(p);
                if (v[0].revents)
                        return 0;
        }
}

int git_pump_rest(struct git_pump *p, struct err *err)
{
        /* Bounded: somebody else may still hold the pipe and write to it. */
        int r = 1;
        while (p->out_fd >= 0 && r > 0 && pump_now_ms() < p->until_ms)
                r = pump_take(p, err);
        for (int i = 0; p->err_fd >= 0 && i < 256 && pump_listen(p); i++)
                ;
        return r < 0 ? -1 : 0;
}

int git_pump_words(struct git_pump *p, struct err *err)
{
        size_t n = p->words_len;
        while (n && strchr("\r\n ", p->words[n - 1]))
                n--;
        for (size_t i = 0; i < n; i++) /* what follows a NUL would be lost */
                if (p->words[i] == 0)
                        p->words[i] = ' ';
        p->words[n] = 0;
        char *line = strrchr(p->words, '\n');
        /* Of a bad object the line before has which, and what is wrong with it. */
        if (line && str_starts(line + 1, "fatal: fsck error")) {
                *line = 0;
                line = strrchr(p->words, '\n');
        }
        line = line ? line + 1 : p->words;
        _cleanup_free_ char *said = str_quote(line);
        if (str_starts(said, "fatal: ") || str_starts(said, "error: "))
                memmove(said, said + 7, strlen(said + 7) + 1);
        if (strlen(said) > PUMP_LINE_MAX)
                said[PUMP_LINE_MAX] = 0;
        return err_set(err, E_INPUT, "%s", *said ? said : "git failed without a word");
}
