/* net_door.c - the door's network namespace: its settings, and the sockets through which everything
 * that a box sends is received. Whoever holds the sockets is the door; the box never does.
 *
 * Called by the maker (net_maker.c), which may write no memory but its stack, and net_door_listen
 * by pid 1. */
#include "box/net.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

/* no_ipv6(): nobody would answer, and an address that a link gives itself is one more way in. */
static int no_ipv6(void)
{
        return fdio_put(AT_FDCWD, "/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

int net_box_settle(bool has_ipv6)
{
        if (fdio_put(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0") < 0)
                return -1;
        return has_ipv6 ? no_ipv6() : 0;
}

int net_door_settle(bool has_ipv6)
{
        static const char *const settings[][2] = {
                /* Whoever was given a socket may bind it to the port that policy names. */
                {"ip_unprivileged_port_start", "0"},
                /* Every address is ours, so we would answer for hosts that do not exist. */
                {"icmp_echo_ignore_all", "1"},
                /* "Refused" is said to each datagram, also to a thousand in a second: a program
                 * that hears nothing would wait. */
                {"icmp_ratemask", "0"},
                /* Nothing is read before the door has accepted. */
                {"tcp_fastopen", "0"},
        };
        int dir = open("/proc/sys/net/ipv4", O_PATH | O_DIRECTORY | O_CLOEXEC);
        int r = dir < 0 ? -1 : 0;
        for (size_t i = 0; r == 0 && i < sizeof settings / sizeof *settings; i++)
                r = fdio_put(dir, settings[i][0], settings[i][1]);
        if (dir >= 0)
                close(dir);
        return r == 0 && has_ipv6 ? no_ipv6() : r;
}

static int bind_any(int fd, uint16_t port)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
        return bind(fd, (struct sockaddr *)&a, sizeof a);
}

int net_door_listen(int fd, uint16_t port)
{
        int on = 1;
        if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
            bind_any(fd, port) < 0 || listen(fd, NET_BACKLOG) < 0)
                return -1;
        return 0;
}

/* watch_first(fd): of all packets of TCP only those that begin a connection: SYN without ACK, not a
 * later fragment. The kernel refuses a port on which nobody listens; the door is to hear of it. */
static int watch_first(int fd)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 4, 0),
                BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
                BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
                BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, 0),
                BPF_STMT(BPF_RET | BPF_K, 64),
        };
        struct sock_fprog prog = {.len = sizeof code / sizeof *code, .filter = code};
        int room = 64 << 10;
        if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof prog) < 0)
                return -1;
        return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
}

int net_door_sockets(int fds[NET_SOCKETS_N])
{
        int on = 1;
        for (int i = 0; i < NET_SOCKETS_N; i++) {
                int kind = i == NET_SOCKET_DNS     ? SOCK_DGRAM
                           : i == NET_SOCKET_WATCH ? SOCK_RAW
                                                   : SOCK_STREAM;
                int protocol = i == NET_SOCKET_WATCH ? IPPROTO_TCP : 0;
                fds[i] = socket(AF_INET, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
                if (fds[i] < 0)
                        return -1;
        }
        if (watch_first(fds[NET_SOCKET_WATCH]) < 0)
                return -1;
        int dns = fds[NET_SOCKET_DNS];
        if (setsockopt(dns, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) < 0 || bind_any(dns, 53) < 0)
                return -1;
        return net_door_listen(fds[NET_SOCKET_DNS_TCP], 53);
}
