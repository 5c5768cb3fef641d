/* usage_sockets.c - how much the sockets of a network namespace hold, also of those that no process
 * has open because they are under way on another. By asking the kernel's socket diagnosis through a
 * socket that was made in that namespace. */
#include "session/usage.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_MS = 100, ANSWERS_MAX = 20000 };

/* What is known of all sockets of some kinds. */
struct held {
        uint64_t sum;    /* bytes that the kernel has for them */
        uint64_t queued; /* of these, for messages in queues */
        uint64_t bytes;  /* what these messages hold */
};

/* socket_held(h, attrs, len, type): of one socket, from its memory attribute. */
static void socket_held(struct held *h, const struct rtattr *a, int len, unsigned short type)
{
        for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
                uint32_t m[SK_MEMINFO_VARS] = {0};
                struct unix_diag_rqlen q = {0};
                size_t n = RTA_PAYLOAD(a);
                if (type == UNIX_DIAG_MEMINFO && a->rta_type == UNIX_DIAG_RQLEN) {
                        memcpy(&q, RTA_DATA(a), n < sizeof q ? n : sizeof q);
                        h->bytes += q.udiag_rqueue;
                }
                if (a->rta_type != type)
                        continue;
                memcpy(m, RTA_DATA(a), n < sizeof m ? n : sizeof m);
                uint64_t queued = (uint64_t)m[SK_MEMINFO_RMEM_ALLOC] + m[SK_MEMINFO_WMEM_ALLOC];
                h->queued += queued + m[SK_MEMINFO_WMEM_QUEUED];
                h->sum += queued + m[SK_MEMINFO_FWD_ALLOC] + m[SK_MEMINFO_OPTMEM];
        }
}

/* socket_answers(fd, head, type, held): read one dump. false when it broke off. */
static bool socket_answers(int fd, size_t head, unsigned short type, struct held *held)
{
        static char buf[32768] __attribute__((aligned(8)));
        for (int i = 0; i < ANSWERS_MAX; i++) {
                struct pollfd p = {.fd = fd, .events = POLLIN};
                ssize_t n = poll(&p, 1, ANSWER_MS) == 1 ? recv(fd, buf, sizeof buf, 0) : -1;
                if (n <= 0)
                        return false;
                int left = (int)n;
                for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, (unsigned)left);
                     h = NLMSG_NEXT(h, left)) {
                        if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
                                return h->nlmsg_type == NLMSG_DONE;
                        if (h->nlmsg_len < NLMSG_LENGTH(head))
                                continue;
                        if (type == INET_DIAG_SKMEMINFO) {
                                const struct inet_diag_msg *m = NLMSG_DATA(h);
                                held->bytes += (uint64_t)m->idiag_rqueue + m->idiag_wqueue;
                        }
                        socket_held(held, (void *)((char *)NLMSG_DATA(h) + NLMSG_ALIGN(head)),
                                    (int)(h->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(head))), type);
                }
        }
        return false;
}

/* socket_pinned(held): a message of the least size may hold on to so many pages, one byte of each, which
 * the kernel counts as bytes (splice). How many there can be, by what is not content. */
static uint64_t socket_pinned(const struct held *held)
{
        enum { MESSAGE_LEAST = 768, PAGES = 17, PAGE = 4096 };
        uint64_t other = held->queued > held->bytes ? held->queued - held->bytes : 0;
        return other / MESSAGE_LEAST * PAGES * PAGE;
}

static bool socket_ask(int fd, const void *request, size_t len)
{
        struct {
                struct nlmsghdr h;
                char body[sizeof(struct inet_diag_req_v2) + 64];
        } m = {.h = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(len),
                     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
        memcpy(m.body, request, len);
        return send(fd, &m, m.h.nlmsg_len, 0) == (ssize_t)m.h.nlmsg_len;
}

uint64_t usage_sockets(int fd, uint64_t *loose, uint64_t *pinned)
{
        struct held local = {0}, sum = {0}, apart = {0};
        struct unix_diag_req unix_all = {.sdiag_family = AF_UNIX,
                                         .udiag_states = ~0u,
                                         .udiag_show = UDIAG_SHOW_MEMINFO | UDIAG_SHOW_RQLEN};
        if (fd >= 0 && socket_ask(fd, &unix_all, sizeof unix_all))
                socket_answers(fd, sizeof(struct unix_diag_msg), UNIX_DIAG_MEMINFO, &local);
        static const struct {
                uint8_t family, protocol;
        } kinds[] = {{AF_INET, IPPROTO_TCP},
                     {AF_INET6, IPPROTO_TCP},
                     {AF_INET, IPPROTO_UDP},
                     {AF_INET6, IPPROTO_UDP}};
        for (size_t i = 0; fd >= 0 && i < sizeof kinds / sizeof *kinds; i++) {
                struct inet_diag_req_v2 all = {.sdiag_family = kinds[i].family,
                                               .sdiag_protocol = kinds[i].protocol,
                                               .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
                                               .idiag_states = ~0u};
                if (socket_ask(fd, &all, sizeof all))
                        socket_answers(fd, sizeof(struct inet_diag_msg), INET_DIAG_SKMEMINFO, &sum);
        }
        struct netlink_diag_req netlink_all = {.sdiag_family = AF_NETLINK,
                                               .sdiag_protocol = NDIAG_PROTO_ALL,
                                               .ndiag_show = NDIAG_SHOW_MEMINFO};
        if (fd >= 0 && socket_ask(fd, &netlink_all, sizeof netlink_all))
                socket_answers(fd, sizeof(struct netlink_diag_msg), NETLINK_DIAG_MEMINFO, &apart);
        *loose = sum.sum + apart.sum;
        *pinned = socket_pinned(&local) + socket_pinned(&sum);
        return local.sum + *loose;
}
