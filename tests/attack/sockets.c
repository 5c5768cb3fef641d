/* sockets.c - cases 17, 34, 35, 96 and B2: socket families, and sockets of the host by name.
 *
 * The listeners belong to the harness (ABSTRACT, ABSTRACT_DGRAM, TCP_PORT); nothing else is ever
 * dialled. */
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

struct family {
        const char *name;
        int family, type, protocol;
};

/* Route netlink is not here: every C library asks it for the addresses of the machine. */
static const struct family families[] = {
        {"AF_PACKET", AF_PACKET, SOCK_RAW, 0},
        {"raw IPv4", AF_INET, SOCK_RAW, IPPROTO_ICMP},
        {"raw IPv6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6},
        {"netlink audit", AF_NETLINK, SOCK_RAW, 9},
        {"netlink netfilter", AF_NETLINK, SOCK_RAW, 12},
        {"netlink uevent", AF_NETLINK, SOCK_RAW, 15},
        {"netlink generic", AF_NETLINK, SOCK_RAW, 16},
        {"netlink sock_diag", AF_NETLINK, SOCK_RAW, 4},
        {"AF_ALG", 38, SOCK_SEQPACKET, 0},
        {"AF_VSOCK", 40, SOCK_STREAM, 0},
        {"AF_TIPC", 30, SOCK_STREAM, 0},
        {"AF_KEY", 15, SOCK_RAW, 2},
        {"AF_BLUETOOTH", 31, SOCK_STREAM, 3},
        {"AF_CAN", 29, SOCK_RAW, 1},
        {"AF_XDP", 44, SOCK_RAW, 0},
        {"AF_RDS", 21, SOCK_SEQPACKET, 0},
        {"AF_X25", 9, SOCK_SEQPACKET, 0},
        {"AF_SMC", 43, SOCK_STREAM, 0},
};

static void case_families(struct outcome *o)
{
        int err = 0;

        for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
                const struct family *f = &families[i];
                /* the second round sets bit 32, which the kernel drops and a filter may compare */
                for (unsigned long high = 0; high < 2; high++) {
                        long fd = syscall(SYS_socket, (unsigned long)f->family | high << 32,
                                          f->type | SOCK_CLOEXEC, f->protocol);
                        if (fd >= 0) {
                                out_escaped(o, "a socket of family %s was made", f->name);
                                close((int)fd);
                        } else {
                                err = errno;
                        }
                        int pair[2];
                        if (syscall(SYS_socketpair, (unsigned long)f->family | high << 32,
                                    f->type | SOCK_CLOEXEC, f->protocol, pair) == 0)
                                out_escaped(o, "a pair of family %s was made", f->name);
                }
        }
        out_blocked(o, err, "none of the %zu forbidden families",
                    sizeof families / sizeof *families);
}

/* abstract_address(name, &addr): the address of an abstract name, and its length. */
static socklen_t abstract_address(const char *name, struct sockaddr_un *a)
{
        memset(a, 0, sizeof *a);
        a->sun_family = AF_UNIX;
        size_t n = strlen(name);
        if (n > sizeof a->sun_path - 1)
                n = sizeof a->sun_path - 1;
        memcpy(a->sun_path + 1, name, n);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int connect_abstract(const char *name, int type)
{
        struct sockaddr_un a;
        socklen_t len = abstract_address(name, &a);
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        struct timeval patience = {.tv_sec = 1};

        if (fd < 0)
                return -1;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (connect(fd, (struct sockaddr *)&a, len) < 0) {
                int err = errno;
                close(fd);
                errno = err;
                return -1;
        }
        return fd;
}

/* The listener hands every caller a descriptor of a file the box cannot open. */
static void case_smuggled_fd(struct outcome *o)
{
        const char *name = planted_or_na(o, "ABSTRACT");
        char byte, control[CMSG_SPACE(sizeof(int))], buf[512];
        struct iovec iov = {&byte, 1};
        struct msghdr msg = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};

        if (!name)
                return;
        int fd = connect_abstract(name, SOCK_STREAM);
        if (fd < 0) {
                out_blocked(o, errno, "no shared socket to pass a descriptor through");
                return;
        }
        ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
        struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
        if (c && c->cmsg_type == SCM_RIGHTS) {
                int got;
                memcpy(&got, CMSG_DATA(c), sizeof got);
                long len = pread(got, buf, sizeof buf, 0);
                if (has_canary(buf, len))
                        out_escaped(o, "a file of the host was read through a passed descriptor");
        }
        out_blocked(o, EBADF, "the socket passed no descriptor");
}

static void case_abstract(struct outcome *o)
{
        const char *name = planted_or_na(o, "ABSTRACT");

        if (!name)
                return;
        int fd = connect_abstract(name, SOCK_STREAM);
        if (fd >= 0)
                out_escaped(o, "an abstract socket of the host was reached");
        out_blocked(o, errno, "abstract sockets of the host are out of reach");
}

static void case_datagram(struct outcome *o)
{
        const char *name = planted_or_na(o, "ABSTRACT_DGRAM");
        struct sockaddr_un a;

        if (!name)
                return;
        socklen_t len = abstract_address(name, &a);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct iovec iov = {"out", 3};
        struct msghdr msg = {.msg_name = &a, .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1};
        if (fd >= 0 && sendto(fd, "out", 3, 0, (struct sockaddr *)&a, len) == 3)
                out_escaped(o, "a datagram reached the host without connect()");
        int err = errno;
        if (fd >= 0 && sendmsg(fd, &msg, 0) == 3)
                out_escaped(o, "a message reached the host without connect()");
        out_blocked(o, err, "no datagram reaches a socket of the host");
}

static void case_loopback(struct outcome *o)
{
        long port = planted_num("TCP_PORT");
        struct sockaddr_in a = {.sin_family = AF_INET};
        struct timeval patience = {.tv_sec = 1};
        char buf[256];

        if (port < 0) {
                out_na(o, "the harness planted no TCP_PORT");
                return;
        }
        a.sin_port = htons((unsigned short)port);
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
                out_blocked(o, errno, "no TCP socket at all");
                return;
        }
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
                out_blocked(o, errno, "services on the host's loopback are out of reach");
        else if (has_canary(buf, recv(fd, buf, sizeof buf, 0)))
                out_escaped(o, "a service on the host's loopback was read");
        else
                out_blocked_why(o, "OTHER", "somebody else answers on that port");
        close(fd);
}

const struct attack_case socket_cases[] = {
        {"17", "socket families beyond the list", REACH, REAL, 0, case_families, "seccomp",
         "seccomp"},
        {"34", "a descriptor passed through a shared socket", READ, REAL, 0, case_smuggled_fd,
         "netns+landlock", "netns+landlock"},
        {"35", "abstract sockets of the host", REACH, REAL, 0, case_abstract, "netns+landlock",
         "netns+landlock"},
        {"B2", "unconnected datagrams to the host", REACH, REAL, 0, case_datagram, "netns+landlock",
         "netns+landlock"},
        {"96", "the host's loopback", REACH, REAL, 0, case_loopback, "netns", "netns"},
        {0},
};
