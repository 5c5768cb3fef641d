/* relay_test.c - the relay between ports of the host and a box, with the test in the place of the
 * supervisor and of pid 1: bytes both ways, one end that closes first, an end that never reads, and
 * a pid 1 that sends anything but a connection. Loopback only. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "session/relay.h"
#include "wire/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int control;
static pid_t relay;
static struct sockaddr_in at; /* where it listens */

static int listen_any(struct sockaddr_in *a)
{
        socklen_t n = sizeof *a;
        *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(fd, (struct sockaddr *)a, n) < 0 || listen(fd, 64) < 0 ||
            getsockname(fd, (struct sockaddr *)a, &n) < 0)
                abort();
        return fd;
}

static int dial(const struct sockaddr_in *a)
{
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct timeval patience = {.tv_sec = 3};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (connect(fd, (const struct sockaddr *)a, sizeof *a) < 0)
                abort();
        return fd;
}

static void send2(uint32_t type, uint32_t a, const uint32_t *b, int fd)
{
        _cleanup_buf_ struct buf body = {0};
        buf_put_u32(&body, a);
        if (b)
                buf_put_u32(&body, *b);
        frame_send(control, type, &body, &fd, fd >= 0 ? 1 : 0);
}

/* want(): the id of the connection that the relay asks for next; 0 when it does not. */
static uint32_t want(void)
{
        static struct frame f;
        uint32_t id = 0;
        struct pollfd p = {.fd = control, .events = POLLIN};
        if (poll(&p, 1, 3000) != 1 || frame_recv(control, &f, false) <= 0)
                return 0;
        if (f.type != RELAY_WANT || cur_u32(&f.body, &id) < 0)
                id = 0;
        frame_release(&f);
        return id;
}

static void give(uint32_t id, int fd, uint32_t why)
{
        send2(RELAY_GOT, id, &why, fd);
}

static void start(void)
{
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                abort();
        relay = fork();
        if (relay == 0)
                relay_main(fds[1]);
        close(fds[1]);
        control = fds[0];
        int l = listen_any(&at);
        fcntl(l, F_SETFL, O_NONBLOCK);
        send2(RELAY_LISTEN, 7, NULL, l);
        close(l);
}

/* pair(host, box): a connection through the relay; ${box} is the server's end of it. */
static void join(int *host, int *box)
{
        struct sockaddr_in server;
        _cleanup_close_ int l = listen_any(&server);
        *host = dial(&at);
        uint32_t id = want();
        int fd = dial(&server);
        *box = accept4(l, NULL, NULL, SOCK_CLOEXEC);
        struct timeval patience = {.tv_sec = 3};
        setsockopt(*box, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        give(id, fd, 0);
        close(fd);
}

static bool passes(int from, int to, const char *words)
{
        char got[64] = "";
        size_t n = strlen(words), have = 0;
        if (write(from, words, n) != (ssize_t)n)
                return false;
        while (have < n) {
                ssize_t r = read(to, got + have, n - have);
                if (r <= 0)
                        return false;
                have += (size_t)r;
        }
        return memcmp(got, words, n) == 0;
}

static bool is_reset(int fd)
{
        char c;
        ssize_t n = read(fd, &c, 1);
        return n == 0 || (n < 0 && errno == ECONNRESET);
}

static void bytes(void)
{
        char c;
        int host, box;
        join(&host, &box);
        CHECK("bytes go in", passes(host, box, "hello"));
        CHECK("bytes come out", passes(box, host, "world"));
        shutdown(host, SHUT_WR);
        CHECK("the server hears the end", read(box, &c, 1) == 0);
        CHECK("and can still answer", passes(box, host, "last words"));
        close(box);
        CHECK("then both have ended", read(host, &c, 1) == 0);
        close(host);

        join(&host, &box);
        close(box);
        CHECK("a server that hangs up is heard", is_reset(host));
        close(host);
}

static long relay_kib(void)
{
        char path[64], line[256];
        long kib = -1;
        snprintf(path, sizeof path, "/proc/%d/status", relay);
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
                if (sscanf(line, "RssAnon: %ld", &kib) == 1)
                        break;
        return kib;
}

/* A server that does not read holds the client up; nothing piles up in between. */
static void pressure(void)
{
        static char piece[1 << 16];
        int host, box;
        size_t sent = 0;
        join(&host, &box);
        long before = relay_kib();
        fcntl(host, F_SETFL, O_NONBLOCK);
        for (int idle = 0; idle < 20 && sent < (size_t)256 << 20;) {
                ssize_t n = write(host, piece, sizeof piece);
                if (n > 0) {
                        sent += (size_t)n;
                        idle = 0;
                } else {
                        idle++;
                        poll(NULL, 0, 10);
                }
        }
        long grown = relay_kib() - before;
#ifdef OSTIARY_ASAN
        grown = 0; /* the sanitizer keeps what was freed */
#endif
        check(sent < (size_t)64 << 20 && grown < 1024,
              "a server that does not read slows its client",
              "%zu bytes sent, the relay grew by %ld KiB", sent, grown);
        size_t got = 0;
        fcntl(host, F_SETFL, 0);
        shutdown(host, SHUT_WR);
        for (ssize_t n; (n = read(box, piece, sizeof piece)) > 0;)
                got += (size_t)n;
        check(got == sent, "and gets everything when it does", "%zu of %zu", got, sent);
        close(host);
        close(box);
}

/* pid 1 lives in the box: what it hands out is looked at before it is used. */
static void hostile(void)
{
        int pipe_fds[2], unix_fds[2];
        if (pipe(pipe_fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds) < 0)
                abort();
        int file = open("/dev/zero", O_RDONLY), udp = socket(AF_INET, SOCK_DGRAM, 0);
        const struct {
                const char *name;
                int fd;
        } odd[] = {{"a pipe", pipe_fds[0]},
                   {"a unix socket", unix_fds[0]},
                   {"a device", file},
                   {"a UDP socket", udp},
                   {"nothing", -1}};
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
                _cleanup_close_ int host = dial(&at);
                give(want(), odd[i].fd, 0);
                check(is_reset(host), odd[i].name, "was taken for a connection");
        }
        int host, box;
        give(4000000, pipe_fds[0], 0);
        frame_send_data(control, RELAY_GOT, "x", 1);
        frame_send_data(control, 999, "", 0);
        join(&host, &box);
        CHECK("after all that it still works", passes(host, box, "hello"));
        give(4000001, file, 0);
        send2(RELAY_CLOSE, 7, NULL, -1);
        CHECK("a port that is closed takes its connections along", is_reset(host));
        int again = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK("and is free", connect(again, (struct sockaddr *)&at, sizeof at) < 0);
        close(again);
        close(host);
        close(box);
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        start();
        bytes();
        pressure();
        hostile();
        close(control);
        int status = -1;
        for (int i = 0; i < 300 && waitpid(relay, &status, WNOHANG) == 0; i++)
                poll(NULL, 0, 10);
        check(status == 0, "it ends with its supervisor", "status %#x", status);
        if (status != 0)
                kill(relay, SIGKILL);
        return check_end();
}
