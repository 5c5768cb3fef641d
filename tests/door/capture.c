/* capture.c - a program in a box that tries every way onto a network which is not the door, and
 * what of it must work. Prints a result per line in the words of the suites; started by
 * tests/door_capture.sh with the port of a listener on the host's loopback. Every refusal has to
 * be one: a program that hears nothing waits, and what ends a wait is no refusal.
 *
 * The addresses are those set aside for documentation; run it in a box only. */
#include "../unit/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

static int patient(int family, int type, int protocol)
{
        struct timeval patience = {.tv_sec = PATIENCE_S};
        int fd = socket(family, type | SOCK_CLOEXEC, protocol);
        if (fd >= 0) {
                setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
                setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        }
        return fd;
}

static struct sockaddr_in at4(const char *ip, int port)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        inet_pton(AF_INET, ip, &a.sin_addr);
        return a;
}

static struct sockaddr_in6 at6(const char *ip, int port, const char *link)
{
        struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
        inet_pton(AF_INET6, ip, &a.sin6_addr);
        a.sin6_scope_id = link ? if_nametoindex(link) : 0;
        return a;
}

/* What a call says that heard nothing: its own patience, the kernel's, or a neighbour that never
 * answered. */
static bool has_waited(int got)
{
        return got == EAGAIN || got == EINPROGRESS || got == ETIMEDOUT || got == EHOSTUNREACH;
}

/* verdict(name, got, wanted): an errno, 0 for success; -1 wants any refusal. */
static void verdict(const char *name, int got, int wanted)
{
        bool is_right = wanted < 0 ? got != 0 && !has_waited(got) : got == wanted;
        check(is_right, name, "%s", strerror(got));
}

static int tcp4(const char *ip, int port)
{
        struct sockaddr_in a = at4(ip, port);
        int fd = patient(AF_INET, SOCK_STREAM, 0);
        int r = connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ? errno : 0;
        close(fd);
        return r;
}

/* ask(fd): send a datagram on a connected socket and wait for what becomes of it. */
static int ask(int fd)
{
        char c;
        int r = send(fd, "x", 1, 0) < 0 || recv(fd, &c, 1, 0) < 0 ? errno : 0;
        close(fd);
        return r;
}

static int udp4(const char *ip, int port)
{
        struct sockaddr_in a = at4(ip, port);
        int fd = patient(AF_INET, SOCK_DGRAM, 0);
        return connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ? errno : ask(fd);
}

static int any6(int type, const char *ip, int port, const char *link)
{
        struct sockaddr_in6 a = at6(ip, port, link);
        int fd = patient(AF_INET6, type, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
                return errno;
        return type == SOCK_DGRAM ? ask(fd) : 0;
}

static void captured(void)
{
        verdict("TCP 443 of any address is taken", tcp4("203.0.113.7", 443), 0);
        verdict("TCP 80 of any address is taken", tcp4("192.0.2.1", 80), 0);
        verdict("TCP 53 of any address is taken", tcp4("198.51.100.1", 53), 0);
        verdict("a port that no rule names is refused", tcp4("203.0.113.7", 9), ECONNREFUSED);
        verdict("the same at the gateway", tcp4("198.18.0.1", 22), ECONNREFUSED);
        verdict("the cloud's metadata is an address like any other (port 8775)",
                tcp4("169.254.169.254", 8775), ECONNREFUSED);
}

static void datagrams(int host_port)
{
        int wrong = 0;
        for (int i = 0; i < 100; i++)
                wrong += udp4("203.0.113.7", 443) != ECONNREFUSED;
        verdict("E9: QUIC is refused, a hundred times in a row", wrong, 0);
        verdict("E9: DNS over QUIC and DTLS", udp4("198.51.100.1", 853), ECONNREFUSED);
        verdict("E9: NTP", udp4("203.0.113.7", 123), ECONNREFUSED);
        verdict("96: the host's loopback by UDP", udp4("127.0.0.1", host_port), ECONNREFUSED);
        verdict("96: the host's loopback by TCP", tcp4("127.0.0.1", host_port), ECONNREFUSED);
}

static void other_families(void)
{
        verdict("IPv6 by TCP", any6(SOCK_STREAM, "2001:db8::1", 443, NULL), -1);
        verdict("IPv6 by UDP", any6(SOCK_DGRAM, "2001:db8::1", 443, NULL), -1);
        verdict("96: a link-local neighbour", any6(SOCK_STREAM, "fe80::1", 443, "eth0"), -1);
        verdict("96: everybody on the link", any6(SOCK_DGRAM, "ff02::1", 5353, "eth0"), -1);
        int fd = patient(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
        verdict("96: ICMP by an ordinary socket", fd < 0 ? errno : 0, -1);
        fd = patient(AF_INET, SOCK_RAW, IPPROTO_ICMP);
        verdict("96: a raw socket", fd < 0 ? errno : 0, -1);
        fd = patient(AF_PACKET, SOCK_DGRAM, 0);
        verdict("96: a packet socket", fd < 0 ? errno : 0, -1);
        fd = patient(40, SOCK_STREAM, 0); /* AF_VSOCK */
        verdict("96: vsock", fd < 0 ? errno : 0, -1);
}

/* own_server(name, family, bound, dialled, size): a server on one of the door's ports, and a client
 * that reaches it and not the door. */
static void own_server(const char *name, const void *bound, const void *dialled, socklen_t size)
{
        int family = ((const struct sockaddr *)bound)->sa_family;
        int server = patient(family, SOCK_STREAM, 0), client = patient(family, SOCK_STREAM, 0);
        int on = 1, got = -1;
        char c = 0;
        setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(server, bound, size) == 0 && listen(server, 4) == 0 &&
            connect(client, dialled, size) == 0 && (got = accept(server, NULL, NULL)) >= 0 &&
            write(got, "y", 1) == 1 && read(client, &c, 1) == 1 && c == 'y')
                check(true, name, " ");
        else
                check(false, name, "%s", strerror(errno));
        close(server);
        close(client);
        close(got);
}

static void servers(void)
{
        struct sockaddr_in any = at4("0.0.0.0", 443), lo = at4("127.0.0.1", 443),
                           own = at4("198.18.0.2", 443), dns = at4("127.0.0.53", 53);
        struct sockaddr_in6 any6 = at6("::", 80, NULL), lo6 = at6("::1", 80, NULL);
        own_server("a server on 127.0.0.1:443", &lo, &lo, sizeof lo);
        own_server("a server on 0.0.0.0:443, by loopback", &any, &lo, sizeof lo);
        own_server("a server on 0.0.0.0:443, by the box's address", &any, &own, sizeof lo);
        own_server("a server on 127.0.0.53:53", &dns, &dns, sizeof dns);
        own_server("a server on [::]:80, by ::1", &any6, &lo6, sizeof lo6);
}

/* A source address that is not the box's: nobody may speak for somebody else. */
static void spoof(void)
{
        struct sockaddr_in as = at4("203.0.113.99", 0), to = at4("203.0.113.7", 443);
        int on = 1, fd = patient(AF_INET, SOCK_STREAM, 0);
        setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
        int r = bind(fd, (struct sockaddr *)&as, sizeof as) < 0 ||
                                connect(fd, (struct sockaddr *)&to, sizeof to) < 0
                        ? errno
                        : 0;
        verdict("another's source address", r, -1);
        close(fd);
        fd = patient(AF_INET, SOCK_STREAM, 0);
        r = setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on) < 0 ? errno : 0;
        verdict("a transparent socket", r, -1);
        close(fd);
}

/* route_change(type): ask for one more route or link by netlink. Returns an errno. */
static int netlink_ask(uint16_t type, const void *body, size_t n)
{
        struct {
                struct nlmsghdr head;
                char body[64];
        } m = {.head = {.nlmsg_type = type,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE,
                        .nlmsg_len = (uint32_t)NLMSG_LENGTH(n)}};
        struct {
                struct nlmsghdr head;
                struct nlmsgerr body;
                char rest[256];
        } answer;
        memcpy(m.body, body, n);
        int fd = patient(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
        if (fd < 0 || send(fd, &m, m.head.nlmsg_len, 0) < 0 ||
            recv(fd, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof answer.body))
                return errno;
        close(fd);
        return -answer.body.error;
}

static void reconfigure(void)
{
        struct ifreq r = {.ifr_flags = 0};
        strcpy(r.ifr_name, "eth0");
        int fd = patient(AF_INET, SOCK_DGRAM, 0);
        CHECK("eth0 stays up", ioctl(fd, SIOCSIFFLAGS, &r) < 0);
        struct sockaddr_in a = at4("198.18.0.1", 0);
        memcpy(&r.ifr_addr, &a, sizeof a);
        CHECK("eth0 keeps its address", ioctl(fd, SIOCSIFADDR, &r) < 0);
        close(fd);
        struct ifinfomsg link = {.ifi_index = (int)if_nametoindex("lo"), .ifi_change = IFF_UP};
        check(netlink_ask(RTM_NEWLINK, &link, sizeof link) == EPERM, "no link changes", " ");
        struct rtmsg route = {
                .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_BLACKHOLE};
        check(netlink_ask(RTM_NEWROUTE, &route, sizeof route) == EPERM, "no route is added", " ");
        static const char *const settings[] = {
                "/proc/sys/net/ipv4/conf/all/route_localnet", "/proc/sys/net/ipv4/ip_forward",
                "/proc/sys/net/ipv4/ip_nonlocal_bind", "/proc/sys/net/ipv4/ping_group_range",
                "/proc/sys/net/ipv6/conf/eth0/disable_ipv6"};
        int open_n = 0;
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
                open_n += open(settings[i], O_WRONLY | O_CLOEXEC) >= 0;
        CHECK("no setting of the network is writable", open_n == 0);
}

static void links(void)
{
        struct if_nameindex *all = if_nameindex();
        int strange = 0, fd = patient(AF_INET, SOCK_DGRAM, 0);
        for (struct if_nameindex *i = all; i && i->if_index; i++) {
                struct ifreq r = {0};
                strncpy(r.ifr_name, i->if_name, sizeof r.ifr_name - 1);
                bool is_up = ioctl(fd, SIOCGIFFLAGS, &r) == 0 && r.ifr_flags & IFF_UP;
                strange +=
                        is_up && strcmp(i->if_name, "lo") != 0 && strcmp(i->if_name, "eth0") != 0;
        }
        close(fd);
        CHECK("two links and no more",
              strange == 0 && if_nametoindex("lo") && if_nametoindex("eth0"));
}

int main(int argc, char **argv)
{
        captured();
        datagrams(argc > 1 ? atoi(argv[1]) : 1);
        other_families();
        servers();
        spoof();
        reconfigure();
        links();
        return check_end();
}
