/* netlink.c - see netlink.h. */
#include "box/netlink.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

int netlink_open(void)
{
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        int on = 1;
        /* An answer without the question in it. */
        if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on) < 0)
                return -1;
        return take_fd(&fd);
}

/* room(r, n): where the next ${n} bytes go, zeroed and aligned; NULL when the request is full. */
static void *room(struct netlink_req *r, size_t n)
{
        size_t padded = NLMSG_ALIGN(n);
        if (r->is_full || padded > sizeof r->bytes - r->len) {
                r->is_full = 1;
                return NULL;
        }
        void *at = r->bytes + r->len;
        memset(at, 0, padded);
        r->len += (uint32_t)padded;
        return at;
}

void netlink_begin(struct netlink_req *r, uint16_t type, uint16_t flags, const void *p, size_t n)
{
        r->len = 0;
        r->is_full = 0;
        struct nlmsghdr *h = room(r, sizeof *h);
        *h = (struct nlmsghdr){.nlmsg_type = type,
                               .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)};
        netlink_put_bytes(r, p, n);
}

void netlink_put_bytes(struct netlink_req *r, const void *p, size_t n)
{
        void *at = room(r, n);
        if (at)
                memcpy(at, p, n);
}

void netlink_put(struct netlink_req *r, uint16_t type, const void *p, size_t n)
{
        struct rtattr *a = room(r, RTA_LENGTH(n));
        if (!a)
                return;
        a->rta_type = type;
        a->rta_len = (uint16_t)RTA_LENGTH(n);
        memcpy(RTA_DATA(a), p, n);
}

void netlink_put_u32(struct netlink_req *r, uint16_t type, uint32_t v)
{
        netlink_put(r, type, &v, sizeof v);
}

void netlink_put_str(struct netlink_req *r, uint16_t type, const char *s)
{
        netlink_put(r, type, s, strlen(s) + 1);
}

uint32_t netlink_nest(struct netlink_req *r, uint16_t type)
{
        uint32_t at = r->len;
        struct rtattr *a = room(r, RTA_LENGTH(0));
        if (a)
                a->rta_type = type;
        return at;
}

void netlink_nest_end(struct netlink_req *r, uint32_t at)
{
        struct rtattr *a = (struct rtattr *)(void *)(r->bytes + at);
        if (!r->is_full)
                a->rta_len = (uint16_t)(r->len - at);
}

int netlink_talk(int fd, struct netlink_req *r)
{
        struct nlmsghdr *h = (struct nlmsghdr *)(void *)r->bytes;
        if (r->is_full) {
                errno = EMSGSIZE;
                return -1;
        }
        h->nlmsg_len = r->len;
        if (send(fd, r->bytes, r->len, 0) != (ssize_t)r->len)
                return -1;
        struct {
                struct nlmsghdr head;
                struct nlmsgerr body;
        } answer;
        ssize_t n = recv(fd, &answer, sizeof answer, 0);
        if (n < 0)
                return -1;
        if (n < (ssize_t)sizeof answer || answer.head.nlmsg_type != NLMSG_ERROR) {
                errno = EPROTO;
                return -1;
        }
        if (answer.body.error == 0)
                return 0;
        errno = -answer.body.error;
        return -1;
}
