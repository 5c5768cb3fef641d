/* address_class.h - what kind of place an address is, as one const table.
 *
 * dial asks it about every address a name resolves to, and about literals: whatever is not
 * ADDRESS_PUBLIC is refused unless a rule names the address itself or says to=. */
#ifndef POLICY_ADDRESS_CLASS_H
#define POLICY_ADDRESS_CLASS_H

#include <stddef.h>
#include <stdint.h>

enum address_class {
        ADDRESS_PUBLIC,
        ADDRESS_UNSPECIFIED, /* 0.0.0.0/8, :: : "this host", loopback on many systems */
        ADDRESS_LOOPBACK,
        ADDRESS_PRIVATE, /* RFC 1918, fc00::/7, fec0::/10 */
        ADDRESS_LINK_LOCAL,
        ADDRESS_METADATA, /* where clouds hand out credentials */
        ADDRESS_CGNAT,
        ADDRESS_MULTICAST,
        ADDRESS_BROADCAST,
        ADDRESS_DOCUMENTATION,
        ADDRESS_BENCHMARK,
        ADDRESS_EMBEDDED_IPV4, /* mapped, NAT64, 6to4, Teredo: another address in disguise */
        ADDRESS_RESERVED,      /* anything nobody has been given */
};

/* address_class(addr, len): ${addr} in network order, ${len} 4 or 16. Any other length is
 * RESERVED. */
enum address_class address_class(const uint8_t *addr, size_t len);

/* address_class_words(c): "a private address", for sentences. */
const char *address_class_words(enum address_class);

#endif
