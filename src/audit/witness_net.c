/* witness_net.c - see witness_net.h. The address is read from the caller's memory, and may be
 * another by the time the kernel reads it: the door's own records say where a connection went. */
#include "audit/witness_net.h"

#include "audit/peek.h"
#include "audit/procs.h"
#include "audit/witness_call.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/closing.h"
#include "wire/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define OPEN_THREAD O_EXCL /* PIDFD_THREAD: Linux 6.9 */

static int open_thread(pid_t tid)
{
        int fd = (int)syscall(SYS_pidfd_open, tid, OPEN_THREAD);
        if (fd < 0 && errno == EINVAL)
                fd = (int)syscall(SYS_pidfd_open, tid, 0); /* knows first threads only */
        return fd;
}

int witness_net_take(pid_t tid, int fd)
{
        _cleanup_close_ int process = open_thread(tid);
        return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);
}

pid_t witness_net_pidfd(pid_t tid, int fd)
{
        _cleanup_closing_ int pidfd = witness_net_take(tid, fd); /* or whatever it is */
        return pidfd < 0 ? 0 : procs_of_pidfd(pidfd);
}

static const char *protocol_of(int sock, bool *is_tcp)
{
        int domain = 0, protocol = 0, type = 0;
        socklen_t n = sizeof domain;
        *is_tcp = false;
        if (sock < 0 || getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
            getsockopt(sock, SOL_SOCKET, SO_PROTOCOL, &protocol, &n) < 0 ||
            getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
                return "";
        if (domain == AF_UNIX)
                return "unix";
        if (domain != AF_INET && domain != AF_INET6)
                return "other";
        *is_tcp = protocol == IPPROTO_TCP;
        return *is_tcp ? "tcp" : protocol == IPPROTO_UDP ? "udp" : "ip";
}

/* is_going_on(sock): is it connecting or connected already? Then connect() begins nothing: it is
 * the same call, which a signal interrupted and the kernel began anew. */
static bool is_going_on(int sock)
{
        struct tcp_info i;
        socklen_t n = sizeof i;
        return getsockopt(sock, IPPROTO_TCP, TCP_INFO, &i, &n) == 0 && n > 0 &&
               (i.tcpi_state == TCP_SYN_SENT || i.tcpi_state == TCP_ESTABLISHED);
}

union any {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
};

static void put_address(const union any *a, size_t len, struct door_record *r, struct buf *text)
{
        char words[INET6_ADDRSTRLEN] = "";
        if (len < sizeof a->sa.sa_family)
                return;
        if (a->sa.sa_family == AF_INET && len >= sizeof a->in) {
                inet_ntop(AF_INET, &a->in.sin_addr, words, sizeof words);
                r->port = ntohs(a->in.sin_port);
        } else if (a->sa.sa_family == AF_INET6 &&
                   len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
                inet_ntop(AF_INET6, &a->in6.sin6_addr, words, sizeof words);
                r->port = ntohs(a->in6.sin6_port);
        } else if (a->sa.sa_family == AF_UNIX) {
                const char *path = a->un.sun_path;
                size_t n = len - offsetof(struct sockaddr_un, sun_path);
                n = n < sizeof a->un.sun_path ? n : sizeof a->un.sun_path;
                bool is_abstract = n && !path[0];
                if (is_abstract)
                        buf_put_u8(text, '@');
                peek_quote(text, path + is_abstract, is_abstract ? n - 1 : strnlen(path, n));
                r->address = buf_cstr(text);
                return;
        } else if (a->sa.sa_family == AF_UNSPEC) {
                snprintf(words, sizeof words, "none");
        } else {
                snprintf(words, sizeof words, "family %u", a->sa.sa_family);
        }
        buf_put_str(text, words);
        r->address = buf_cstr(text);
}

void witness_net_read(const struct seccomp_notif *q, struct peek *peek, struct door_record *r,
                      struct buf *text, struct witness_call *call)
{
        union any a;
        bool is_tcp;
        memset(&a, 0, sizeof a);
        _cleanup_closing_ int sock = witness_net_take((pid_t)q->pid, (int)q->data.args[0]);
        r->protocol = protocol_of(sock, &is_tcp);
        if (q->data.nr == SYS_listen) {
                socklen_t len = sizeof a;
                r->kind = "listen";
                if (sock >= 0 && getsockname(sock, &a.sa, &len) == 0)
                        put_address(&a, len < sizeof a ? len : sizeof a, r, text);
                return;
        }
        size_t len = (uint32_t)q->data.args[2];
        len = len < sizeof a ? len : sizeof a;
        r->kind = q->data.nr == SYS_bind ? "bind" : "connect";
        put_address(&a, peek_bytes(peek, q->data.args[1], &a, len), r, text);
        if (!is_tcp || q->data.nr != SYS_connect)
                return;
        if (a.sa.sa_family != AF_UNSPEC && is_going_on(sock))
                call->is_told = false;
        else
                call->sock = take_fd(&sock);
}
