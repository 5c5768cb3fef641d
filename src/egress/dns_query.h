/* dns_query.h - a query to the box's name server, as read from its bytes. For dns.c. */
#ifndef EGRESS_DNS_QUERY_H
#define EGRESS_DNS_QUERY_H

#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dns_rcode {
        DNS_NOERROR = 0,
        DNS_FORMERR = 1,
        DNS_NXDOMAIN = 3,
        DNS_NOTIMP = 4,
        DNS_REFUSED = 5,
        DNS_BADVERS = 16,
};

enum { DNS_A = 1, DNS_SOA = 6, DNS_PTR = 12, DNS_OPT = 41, DNS_IN = 1 };

struct dns_query {
        uint16_t id, flags; /* as they came */
        uint8_t question[255 + 4];
        size_t question_len; /* 0 when it could not be read: nothing is echoed then */
        uint16_t type;
        bool is_root;
        struct host_name name; /* len 0 when it is no name of a host */
        bool has_opt, wants_dnssec;
};

/* dns_query_read(p, n, q): -1 for what is no query at all and deserves no answer; otherwise how to
 * answer it so far: DNS_NOERROR when everything was read. */
int dns_query_read(const uint8_t *, size_t, struct dns_query *);

#endif
