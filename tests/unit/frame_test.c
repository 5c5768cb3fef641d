/* frame_test.c - frames arrive whole, large ones through a memfd, and nonsense is refused without a
 * descriptor left open. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

static int s[2];
static struct frame f;

static int open_fds(void)
{
        int n = 0;
        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void whole(void)
{
        _cleanup_buf_ struct buf b = {0};
        int fd = 0;
        buf_put_str(&b, "body");
        CHECK("send", frame_send(s[0], 17, &b, &fd, 1) == 0);
        CHECK("receive", frame_recv(s[1], &f, false) == 1 && f.type == 17 && f.body.left == 4 &&
                                 !memcmp(f.body.p, "body", 4) && f.fds_n == 1);
        int got = frame_take_fd(&f, 0);
        CHECK("take a descriptor once",
              got >= 0 && frame_take_fd(&f, 0) == -1 && frame_take_fd(&f, 7) == -1);
        frame_release(&f);
        CHECK("it stays open after the release", fcntl(got, F_GETFD) >= 0);
        close(got);
        CHECK("an empty body", frame_send(s[0], 1, NULL, NULL, 0) == 0 &&
                                       frame_recv(s[1], &f, false) == 1 && f.body.left == 0);
        frame_release(&f);

        static uint8_t full[FRAME_INLINE_MAX + 1];
        CHECK("the largest inline body", frame_send_data(s[0], 5, full, FRAME_INLINE_MAX) == 0 &&
                                                 frame_recv(s[1], &f, false) == 1 &&
                                                 f.body.left == FRAME_INLINE_MAX);
        frame_release(&f);
        CHECK("one more is refused",
              frame_send_data(s[0], 5, full, sizeof full) < 0 && errno == EMSGSIZE);
}

static void spilled(void)
{
        _cleanup_buf_ struct buf b = {.max = (size_t)FRAME_SPILL_MAX + 10};
        int fds[2] = {0, 1};
        uint8_t *p = buf_room(&b, FRAME_SPILL_MAX);
        memset(p, 'z', FRAME_SPILL_MAX);
        CHECK("a large body", frame_send(s[0], 9, &b, fds, 2) == 0 &&
                                      frame_recv(s[1], &f, true) == 1 && f.type == 9 &&
                                      f.body.left == FRAME_SPILL_MAX && f.fds_n == 2);
        frame_release(&f);
        frame_send(s[0], 9, &b, fds, 2);
        CHECK("refused where nobody takes it",
              frame_recv(s[1], &f, false) == -1 && errno == EPROTO);
        buf_put_u8(&b, 1);
        CHECK("beyond the ceiling", frame_send(s[0], 9, &b, NULL, 0) < 0 && errno == EMSGSIZE);
        b.is_broken = true;
        CHECK("a broken buffer is not sent",
              frame_send(s[0], 9, &b, NULL, 0) < 0 && errno == ENOMEM);
}

static void nonsense(void)
{
        int before = open_fds(), two[2] = {0, 1};
        static const uint8_t spill[] = {0x80, 0, 0, 9};
        fdio_send(s[0], "abc", 3, two, 2);
        CHECK("a message shorter than its type",
              frame_recv(s[1], &f, true) == -1 && errno == EPROTO);
        fdio_send(s[0], spill, 4, NULL, 0);
        CHECK("a large body without a descriptor",
              frame_recv(s[1], &f, true) == -1 && errno == EPROTO);
        int pair[2];
        if (pipe(pair) == 0) {
                close(pair[1]);
                fdio_send(s[0], spill, 4, pair, 1);
                int r = frame_recv(s[1], &f, true);
                CHECK("a large body that is empty", r == -1 || (r == 1 && f.body.left == 0));
                frame_release(&f);
                close(pair[0]);
        }
        _cleanup_buf_ struct buf huge = {0};
        int null = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        fdio_send(s[0], spill, 4, &null, 1);
        CHECK("a large body without an end", frame_recv(s[1], &f, true) == -1);
        close(null);
        CHECK("no descriptor stayed open", open_fds() == before);
        close(s[0]);
        CHECK("the end", frame_recv(s[1], &f, true) == 0);
}

int main(void)
{
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                return 1;
        whole();
        spilled();
        nonsense();
        return check_end();
}
