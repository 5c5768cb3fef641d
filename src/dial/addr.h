/* addr.h - an address, how it is written, and whether a name may lead there. */
#ifndef DIAL_ADDR_H
#define DIAL_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct err;

enum { ADDR_LIST_MAX = 32, ADDR_TEXT_MAX = 64 };

struct addr {
        uint8_t len; /* 4 or 16 */
        uint8_t bytes[16];
};

struct addr_list {
        struct addr v[ADDR_LIST_MAX];
        size_t n;
        bool is_cut; /* there were more; they are never dialled */
};

void addr_list_add(struct addr_list *, const uint8_t *bytes, size_t len);
bool addr_equal(const struct addr *, const struct addr *);
/* addr_parse(text, a): dotted IPv4 or bare IPv6 without a zone. 0 or -1. */
int addr_parse(const char *text, struct addr *);
/* addr_words(a, port, out): "192.0.2.1:443", "[2001:db8::1]:443"; without the port when it is 0. */
const char *addr_words(const struct addr *, unsigned port, char out[ADDR_TEXT_MAX]);
socklen_t addr_sock(const struct addr *, uint16_t port, struct sockaddr_storage *);

/* addr_check(host, list, err): may ${host} (NULL: the address itself was asked for) be dialled at
 * these addresses without a rule that names them? Every one must be public and none the host's own:
 * one bad address spoils all, because whoever mixes them is rebinding (E10). 0, or -1 and a
 * sentence. */
int addr_check(const char *host, const struct addr_list *, struct err *);

#endif
