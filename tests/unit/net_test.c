/* net_test.c - the two network namespaces of a box, without a box: what a program on one side asks
 * for is what the sockets of the other side receive, and everything else is refused at once. As
 * root the whole is done once more as an ordinary user. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/box.h"
#include "box/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static long now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct sockaddr_in at(const char *ip, uint16_t port)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
        inet_pton(AF_INET, ip, &a.sin_addr);
        return a;
}

static bool is_at(const struct sockaddr_in *a, const char *ip, uint16_t port)
{
        struct sockaddr_in b = at(ip, port);
        return a->sin_addr.s_addr == b.sin_addr.s_addr && a->sin_port == b.sin_port;
}

/* dial(type, ip, port): a socket connected from where we are, or -1 with errno. */
static int dial(int type, const char *ip, uint16_t port)
{
        struct timeval patience = {.tv_sec = 3};
        struct sockaddr_in a = at(ip, port);
        _cleanup_close_ int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -1;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        return connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -1 : take_fd(&fd);
}

/* taken(listener, ip, port): one connection waits there, and it was meant for this address. */
static bool taken(int listener, const char *ip, uint16_t port)
{
        struct sockaddr_in a;
        socklen_t len = sizeof a;
        struct pollfd p = {.fd = listener, .events = POLLIN};
        poll(&p, 1, 3000);
        _cleanup_close_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        return fd >= 0 && getsockname(fd, (struct sockaddr *)&a, &len) == 0 && is_at(&a, ip, port);
}

/* The program in the box. Its exit status is the number of what went wrong, 0 for nothing. */
static int visitor(int user_ns, int net_ns)
{
        if (setns(user_ns, CLONE_NEWUSER) < 0 || setns(net_ns, CLONE_NEWNET) < 0)
                return 1;
        if (dial(SOCK_STREAM, "203.0.113.7", 443) < 0 || dial(SOCK_STREAM, "8.8.8.8", 53) < 0 ||
            dial(SOCK_STREAM, "198.18.0.1", 8443) < 0)
                return 2;
        if (dial(SOCK_STREAM, "203.0.113.7", 444) >= 0 || errno != ECONNREFUSED)
                return 3;
        for (int i = 0; i < 100; i++) {
                _cleanup_close_ int u = dial(SOCK_DGRAM, "203.0.113.7", 443);
                char c;
                if (u < 0 || send(u, "x", 1, 0) != 1 || recv(u, &c, 1, 0) >= 0 ||
                    errno != ECONNREFUSED)
                        return 4;
        }
        /* A connected socket takes an answer only from the address it asked. */
        int u = dial(SOCK_DGRAM, "8.8.8.8", 53);
        char answer[16];
        if (u < 0 || send(u, "where", 5, 0) != 5 || recv(u, answer, sizeof answer, 0) != 4)
                return 5;
        return 0;
}

/* answer_dns(fd): the question names the address it was sent to, and the answer comes from it. */
static bool answer_dns(int fd)
{
        char body[64], control[128];
        struct sockaddr_in from;
        struct iovec iov = {body, sizeof body};
        struct msghdr m = {.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 3000);
        ssize_t n = recvmsg(fd, &m, 0);
        struct cmsghdr *h = n == 5 ? CMSG_FIRSTHDR(&m) : NULL;
        if (!h || h->cmsg_level != IPPROTO_IP || h->cmsg_type != IP_PKTINFO)
                return false;
        struct in_pktinfo i;
        memcpy(&i, CMSG_DATA(h), sizeof i);
        if (i.ipi_addr.s_addr != at("8.8.8.8", 53).sin_addr.s_addr)
                return false;
        i = (struct in_pktinfo){.ipi_spec_dst = i.ipi_addr};
        memcpy(CMSG_DATA(h), &i, sizeof i);
        m.msg_controllen = CMSG_SPACE(sizeof i);
        iov = (struct iovec){"here", 4};
        return sendmsg(fd, &m, 0) == 4;
}

static void capture(void)
{
        struct box_net net;
        struct err err = {0};
        int user, fds[FDIO_MAX_FDS];
        size_t n = 0;
        if (!check(box_net_begin(&net, true, &err) == 0, "begin", "%s", err.text) ||
            !check(net_receive(net.fd, NET_USER, &user, 1, &n, &err) == 0, "a user namespace", "%s",
                   err.text) ||
            !check(net_receive(net.fd, NET_DONE, fds, FDIO_MAX_FDS, &n, &err) == 0, "a network",
                   "%s", err.text))
                return;
        box_net_end(&net);
        CHECK("it comes with the door's sockets", n == 1 + NET_SOCKETS_N);
        int *s = fds + 1, flags = 0;
        for (int i = 0; i < NET_SOCKETS_N; i++)
                flags += (fcntl(s[i], F_GETFL) & O_NONBLOCK) && (fcntl(s[i], F_GETFD) & FD_CLOEXEC);
        CHECK("none blocks, none survives an exec", flags == NET_SOCKETS_N);
        CHECK("a spare one is bound from outside",
              net_door_listen(s[NET_SOCKET_FREE], 443) == 0 &&
                      net_door_listen(s[NET_SOCKETS_N - 1], 8443) == 0);

        long begin = now_ms();
        pid_t pid = fork();
        if (pid == 0)
                _exit(visitor(user, fds[0]));
        CHECK("what was wanted is known: TLS", taken(s[NET_SOCKET_FREE], "203.0.113.7", 443));
        CHECK("what was wanted is known: a name server",
              taken(s[NET_SOCKET_DNS_TCP], "8.8.8.8", 53));
        CHECK("the gateway is one more address", taken(s[NET_SOCKETS_N - 1], "198.18.0.1", 8443));
        CHECK("a datagram knows where it was going", answer_dns(s[NET_SOCKET_DNS]));
        int status = -1;
        waitpid(pid, &status, 0);
        check(status == 0, "what nobody listens for is refused", "the visitor stopped at %d",
              WEXITSTATUS(status));
        check(now_ms() - begin < 2000, "and at once, also a hundred times", "%ld ms",
              now_ms() - begin);
        for (size_t i = 0; i < n; i++)
                close(fds[i]);
        close(user);
}

static void loopback_alone(void)
{
        struct box_net net;
        struct err err = {0};
        int user = -1, fds[FDIO_MAX_FDS];
        size_t n = 0;
        CHECK("a box without a door",
              box_net_begin(&net, false, &err) == 0 &&
                      net_receive(net.fd, NET_USER, &user, 1, &n, &err) == 0 &&
                      net_receive(net.fd, NET_DONE, fds, FDIO_MAX_FDS, &n, &err) == 0);
        box_net_end(&net);
        CHECK("has a namespace and no socket", n == 1);
        close(fds[0]);
        close(user);
        CHECK("nobody waits for what is not wanted",
              box_net_begin(&net, true, &err) == 0 && (box_net_end(&net), true));
}

int main(void)
{
        if (geteuid() == 0) {
                pid_t pid = fork();
                if (pid == 0) {
                        if (setgroups(0, NULL) < 0 || setresgid(1000, 1000, 1000) < 0 ||
                            setresuid(1000, 1000, 1000) < 0)
                                _exit(2);
                        capture();
                        _exit(check_end());
                }
                int status = -1;
                waitpid(pid, &status, 0);
                CHECK("all of it as an ordinary user", status == 0);
        }
        capture();
        loopback_alone();
        return check_end();
}
