/* dns.h - the box's name server as a pure function: a query in, an answer out. Nothing is ever
 * asked of anybody (case E8). A gives the synthetic address; AAAA, HTTPS, SVCB and everything else
 * NODATA, so there is no IPv6, no ECH and no h3 hint; PTR of a synthetic address gives its name. */
#ifndef EGRESS_DNS_H
#define EGRESS_DNS_H

#include "egress/names.h"

enum { DNS_MAX = 512 };

struct dns_note {
        struct host_name host; /* len 0 when the name was not valid */
        bool is_capped; /* refused because new names came too fast: worth a flag in the log */
};

/* dns_answer(names, query, n, now_ms, out, note): the length of the answer in ${out}, 0 for what
 * deserves none. ${names} NULL: there is no such name, whatever it is. */
size_t dns_answer(struct names *, const uint8_t *, size_t, uint64_t now_ms, uint8_t out[DNS_MAX],
                  struct dns_note *);

#endif
