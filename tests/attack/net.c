/* net.c - case 96 beyond TCP: the host's loopback by datagram and by IPv6, and a network that the
 * box would change to its liking.
 *
 * The listeners belong to the harness (UDP_PORT, TCP6_PORT); nothing else is ever dialled. What a
 * box does to addresses of the world is tried in tests/door_capture.sh, in a full box alone. */
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int patient(int family, int type)
{
        struct timeval patience = {.tv_sec = 3}; /* for a busy host: nobody there is told at once */
        int fd = socket(family, type | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        return fd;
}

/* The first is connected, and hears that nobody is there; the second is not, and asks to hear it.
 */
static void case_udp(struct outcome *o)
{
        long port = planted_num("UDP_PORT");
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        char buf[256];

        if (port < 0) {
                out_na(o, "the harness planted no UDP_PORT");
                return;
        }
        a.sin_port = htons((unsigned short)port);
        int err = 0;
        for (int is_bound = 0; is_bound < 2; is_bound++) {
                int fd = patient(AF_INET, SOCK_DGRAM);
                setsockopt(fd, IPPROTO_IP, IP_RECVERR, &is_bound, sizeof is_bound);
                if (!is_bound && connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
                        err = errno;
                else if (sendto(fd, "out", 3, 0, is_bound ? (struct sockaddr *)&a : NULL,
                                is_bound ? sizeof a : 0) < 0)
                        err = errno;
                else if (has_canary(buf, recv(fd, buf, sizeof buf, 0)))
                        out_escaped(o, "a datagram was answered from the host's loopback");
                else if (!is_bound)
                        err = errno;
                close(fd);
        }
        out_blocked(o, err, "no datagram reaches the host's loopback");
}

static void case_ipv6(struct outcome *o)
{
        long port = planted_num("TCP6_PORT");
        struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        char buf[256];

        if (port < 0) {
                out_na(o, "the host has no IPv6");
                return;
        }
        a.sin6_port = htons((unsigned short)port);
        int fd = patient(AF_INET6, SOCK_STREAM);
        if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
                out_blocked(o, errno, "services on the host's ::1 are out of reach");
        else if (has_canary(buf, recv(fd, buf, sizeof buf, 0)))
                out_escaped(o, "a service on the host's ::1 was read");
        else
                out_blocked_why(o, "OTHER", "somebody else answers on that port");
        close(fd);
}

/* Setting what is set already changes nothing, and takes the right to change it. */
static void case_links(struct outcome *o)
{
        struct ifreq r = {0};
        int fd = patient(AF_INET, SOCK_DGRAM);

        strcpy(r.ifr_name, "lo");
        if (ioctl(fd, SIOCGIFFLAGS, &r) == 0 && ioctl(fd, SIOCSIFFLAGS, &r) == 0)
                out_escaped(o, "the box can switch its links");
        out_blocked(o, errno, "the links stay as they are");
        close(fd);
}

const struct attack_case net_cases[] = {
        {"96u", "the host's loopback by datagram", REACH, REAL, 0, case_udp, "netns", "netns"},
        {"96v", "the host's loopback by IPv6", REACH, REAL, 0, case_ipv6, "netns", "netns"},
        {"96n", "links of the box's network", WRITE, SURFACE, 0, case_links, "caps", "caps"},
        {0},
};
