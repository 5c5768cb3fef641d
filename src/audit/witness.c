/* witness.c - the supervisor's side of the witness: start, give it what it needs, end. See
 * witness.h. */
#include "audit/witness.h"

#include "audit/audit.h"
#include "audit/audit_int.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/strs.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PAGE = 4096 };

/* log_pipe(a, kick_fd, err): the writing end for the witness, which waits when it is full. A pipe,
 * because writing to it costs a third of what a socket does, and many records are read at once. */
static int log_pipe(struct audit *a, int kick_fd, struct err *err)
{
        enum { PIPE_BYTES = 128 << 10 };
        int fds[2];
        if (kick_fd < 0 || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return err_sys(err, "make a pipe for the log");
        fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES); /* else it is full earlier */
        int r = frame_send(a->control_fd, AUDIT_WITNESS, NULL, (const int[]){fds[0], kick_fd}, 2);
        if (r < 0)
                err_sys(err, "join the witness to the log");
        close(fds[0]);
        if (r < 0)
                close(fds[1]);
        return r < 0 ? -1 : fds[1];
}

int witness_start(struct witness *w, struct audit *a, const struct witness_table *table,
                  struct err *err)
{
        int fds[2];
        bool is_first = !w->flight;
        if (is_first) {
                w->flight =
                        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                if (w->flight == MAP_FAILED) {
                        w->flight = NULL;
                        return err_sys(err, "make a page for the witness");
                }
        }
        _cleanup_close_ int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        _cleanup_close_ int log = log_pipe(a, kick, err);
        if (log < 0)
                return -1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return err_sys(err, "make a socket");
        pid_t pid = fork();
        if (pid == 0) {
                struct witness_begin b = {.control_fd = fds[1],
                                          .log_fd = log,
                                          .kick_fd = kick,
                                          .flight = w->flight,
                                          .table = table,
                                          .is_first = is_first};
                witness_role_main(&b);
        }
        close(fds[1]);
        if (pid < 0) {
                close(fds[0]);
                return err_sys(err, "start the witness");
        }
        w->pid = pid;
        w->control_fd = fds[0];
        return 0;
}

int witness_listen(struct witness *w, int listener_fd, int root_fd, struct err *err)
{
        int fds[2] = {listener_fd, root_fd};
        if (frame_send(w->control_fd, WITNESS_BEGIN, NULL, fds, 2) < 0)
                return err_sys(err, "give the witness what it listens to");
        return 0;
}

void witness_spawn(struct witness *w, uint32_t id, const char *path, const char *cwd,
                   const struct strs *argv)
{
        enum { WORDS_BYTES = 6000 }; /* more than a record holds */
        _cleanup_buf_ struct buf b = {0};
        if (w->pid <= 0)
                return;
        buf_put_u32(&b, id);
        buf_put_lstr(&b, path);
        buf_put_lstr(&b, cwd);
        for (size_t i = 0; i < argv->n && b.len < WORDS_BYTES; i++) {
                char word[WORDS_BYTES];
                snprintf(word, sizeof word, "%s", argv->v[i]);
                buf_put_lstr(&b, word);
        }
        /* Without it the record of this command lacks its words. */
        frame_send(w->control_fd, WITNESS_SPAWN, &b, NULL, 0);
}

void witness_finish(struct witness *w, int ms)
{
        struct pollfd p = {.fd = w->control_fd, .events = POLLIN};
        if (w->pid > 0)
                poll(&p, 1, ms);
        witness_end(w);
}

void witness_end(struct witness *w)
{
        if (w->pid <= 0)
                return;
        close_fd(&w->control_fd);
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
        w->pid = 0;
}
