/* audit.c - the supervisor's side of the log: start its writer, give it sockets to read, hear what
 * it has to say, let it end. See audit.h; the writer itself is audit_role.c. */
#include "audit/audit.h"

#include "audit/audit_int.h"
#include "audit/head.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { END_MS = 2000 };

static int pair(int fds[2], struct err *err)
{
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return err_sys(err, "make a socket for the log");
        return 0;
}

static const struct audit audit_none = {
        .pidfd = -1, .control_fd = -1, .role_fd = -1, .log_fd = -1, .head_fd = -1};

int audit_start(struct audit *a, const char *box_id, int dir_fd, struct err *err)
{
        struct stat st;
        int fds[2];
        *a = audit_none;
        _cleanup_close_ int log =
                openat(dir_fd, AUDIT_FILE,
                       O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (log < 0 || fstat(log, &st) < 0)
                return err_sys(err, "open the box's log");
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "the box's log is no file");
        _cleanup_close_ int head = openat(
                dir_fd, AUDIT_HEAD, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (head < 0 || fstat(head, &st) < 0)
                return err_sys(err, "open the head of the box's log");
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "the head of the box's log is no file");
        if (pair(fds, err) < 0)
                return -1;
        *a = (struct audit){.is_on = true,
                            .pidfd = -1,
                            .control_fd = fds[0],
                            .role_fd = fds[1],
                            .log_fd = take_fd(&log),
                            .head_fd = take_fd(&head),
                            .box_id = str_dup(box_id)};
        return 0;
}

/* hand_over(a): what was the role's is not ours any more. */
static void hand_over(struct audit *a)
{
        close_fd(&a->role_fd);
        close_fd(&a->log_fd);
        close_fd(&a->head_fd);
        free(a->box_id);
        a->box_id = NULL;
}

int audit_go(struct audit *a, struct err *err)
{
        if (!a->is_on || a->pid > 0)
                return 0;
        pid_t pid = fork();
        if (pid == 0)
                audit_role_main(a->role_fd, a->log_fd, a->head_fd, a->box_id, a->is_paced);
        if (pid < 0)
                return err_sys(err, "start the log's writer");
        hand_over(a);
        a->pid = pid;
        a->pidfd = pidfd_open(pid, 0);
        if (a->pidfd >= 0)
                return 0;
        err_sys(err, "watch the log's writer");
        audit_end(a, NULL);
        return -1;
}

int audit_writer(struct audit *a, struct err *err)
{
        int fds[2];
        if (pair(fds, err) < 0)
                return -1;
        int r = frame_send(a->control_fd, AUDIT_WRITER, NULL, &fds[1], 1);
        if (r < 0)
                err_sys(err, "give the log's writer a socket");
        close(fds[1]);
        if (r < 0)
                close(fds[0]);
        return r < 0 ? -1 : fds[0];
}

void audit_settle(struct audit *a, int fd)
{
        frame_send(a->control_fd, AUDIT_SETTLE, NULL, &fd, 1);
}

enum audit_news audit_hear(struct audit *a, char words[512])
{
        static struct frame f;
        int r = frame_recv(a->control_fd, &f, false);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return AUDIT_NOTHING;
        if (r <= 0)
                return AUDIT_GONE;
        char *said = NULL;
        bool is_notice = (f.type == AUDIT_NOTICE || f.type == AUDIT_STUCK) &&
                         cur_lstr(&f.body, 511, &said) == 0;
        if (is_notice)
                snprintf(words, 512, "%s", said);
        free(said);
        frame_release(&f);
        return !is_notice ? AUDIT_NOTHING : f.type == AUDIT_STUCK ? AUDIT_FULL : AUDIT_SAYS;
}

static int64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* last_words(a, refused): until it hangs up or the time is over. */
static void last_words(struct audit *a, struct buf *refused)
{
        static struct frame f;
        int64_t end = now_ms() + END_MS;
        for (;;) {
                struct pollfd p = {.fd = a->control_fd, .events = POLLIN};
                int64_t left = end - now_ms();
                if (left <= 0 || poll(&p, 1, (int)left) == 0)
                        return;
                int r = frame_recv(a->control_fd, &f, false);
                if (r < 0 && (errno == EAGAIN || errno == EINTR))
                        continue;
                if (r <= 0)
                        return;
                if (f.type == AUDIT_REFUSED && refused && refused->len == 0)
                        buf_put(refused, f.body.p, f.body.left);
                frame_release(&f);
        }
}

void audit_end(struct audit *a, struct buf *refused)
{
        if (!a->is_on)
                return;
        if (audit_go(a, NULL) < 0) { /* what waits cannot be written by anybody */
                if (a->is_on) {
                        hand_over(a);
                        close_fd(&a->control_fd);
                }
                *a = audit_none;
                return;
        }
        if (frame_send(a->control_fd, AUDIT_FINISH, NULL, NULL, 0) == 0)
                last_words(a, refused);
        close_fd(&a->control_fd);
        /* It has hung up, or had its time: what it could write is written. */
        kill(a->pid, SIGKILL);
        waitpid(a->pid, NULL, 0);
        close_fd(&a->pidfd);
        *a = audit_none;
}
