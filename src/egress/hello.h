/* hello.h - what a TLS client says first, read before any TLS library sees it. Pure; fuzzed. */
#ifndef EGRESS_HELLO_H
#define EGRESS_HELLO_H

#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct hello {
        bool has_sni;
        struct host_name sni; /* valid when has_sni */
        bool has_ech;  /* encrypted_client_hello: the true thing or, far more often, GREASE that
                          looks like it. Who terminates TLS may ignore it: nothing inside can be
                          read, and the name of the outer hello counts. Who splices may not: the
                          server behind might read another name than we did */
        bool has_alpn; /* protocols are listed; when none of the two below is, none is ours */
        bool offers_h2, offers_h1;
        uint16_t version; /* the highest offered: 0x0303 or 0x0304 */
};

enum { HELLO_MAX = 16 << 10 };

/* hello_parse(p, n, h, err): 1: whole, ${h} is filled; 0: more bytes are needed; -1: not a
 * ClientHello that we take (SSLv2, too long, two names, a name that is none, SNI that is not a host
 * name, an inner hello of ECH, the old ESNI, TLS 1.1 and older). A hello may be spread over several
 * records; HELLO_MAX counts all their bytes. */
int hello_parse(const uint8_t *, size_t, struct hello *, struct err *);

/* hello_is_tls(first byte): does a connection that begins so speak TLS? */
static inline bool hello_is_tls(uint8_t first)
{
        return first == 0x16;
}

#endif
