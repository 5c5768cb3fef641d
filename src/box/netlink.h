/* netlink.h - asking the kernel for links, addresses and routes: one request built in a fixed
 * buffer, sent, and its answer awaited.
 *
 * Used by net_link.c in a process that shares its parent's memory: nothing here allocates, and
 * errno is written only by a call that fails. */
#ifndef BOX_NETLINK_H
#define BOX_NETLINK_H

#include <stddef.h>
#include <stdint.h>

struct netlink_req {
        _Alignas(8) uint8_t bytes[512];
        uint32_t len;
        int is_full; /* something did not fit: netlink_talk refuses */
};

/* netlink_open(): a route socket of the network namespace that the caller is in; it goes on
 * speaking to that one, wherever the caller moves. A descriptor, or -1 with errno. */
int netlink_open(void);

/* netlink_begin(r, type, flags, head, n): a new request that starts with the ${n} bytes of
 * ${head}. */
void netlink_begin(struct netlink_req *, uint16_t type, uint16_t flags, const void *, size_t n);

void netlink_put(struct netlink_req *, uint16_t type, const void *, size_t n);
void netlink_put_u32(struct netlink_req *, uint16_t type, uint32_t);
void netlink_put_str(struct netlink_req *, uint16_t type, const char *);
/* netlink_put_bytes(r, p, n): bytes without an attribute around them. */
void netlink_put_bytes(struct netlink_req *, const void *, size_t n);

/* netlink_nest(r, type): begin an attribute of attributes; netlink_nest_end(r, at) with what it
 * returned ends it. */
uint32_t netlink_nest(struct netlink_req *, uint16_t type);
void netlink_nest_end(struct netlink_req *, uint32_t at);

/* netlink_talk(fd, r): send, and wait for the kernel's word. 0, or -1 with errno. */
int netlink_talk(int fd, struct netlink_req *);

#endif
