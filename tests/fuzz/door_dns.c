/* door_dns.c - any bytes as queries. Every answer belongs to its query, echoes the question byte
 * for byte, is read to its end by the C library, and an address in it stands for the name that was
 * asked for (cases E1, E8). */
#include "base/err.h"
#include "egress/dns.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

static void check_records(ns_msg *m, struct names *names)
{
        ns_rr rr;
        static const ns_sect sections[] = {ns_s_an, ns_s_ns, ns_s_ar};
        for (size_t s = 0; s < 3; s++)
                for (int i = 0; i < ns_msg_count(*m, sections[s]); i++)
                        must(ns_parserr(m, sections[s], i, &rr) == 0);
        if (ns_msg_count(*m, ns_s_an) == 0)
                return;
        must(ns_msg_count(*m, ns_s_an) == 1 && ns_parserr(m, ns_s_an, 0, &rr) == 0);
        must(ns_rr_ttl(rr) == 60);
        if (ns_rr_type(rr) == ns_t_a) {
                uint32_t addr = ns_get32(ns_rr_rdata(rr));
                struct host_name asked;
                must(host_name_parse(ns_rr_name(rr), strlen(ns_rr_name(rr)), &asked, NULL) == 0);
                const struct host_name *found = names_find(names, addr);
                must(found ? host_name_equal(found, &asked)
                           : addr == INADDR_LOOPBACK && strstr(asked.text, "localhost"));
        } else {
                must(ns_rr_type(rr) == ns_t_ptr);
        }
}

/* One message: two bytes of length, two of time that passes, then the query. */
static size_t one(struct names *names, const uint8_t *p, size_t n, uint64_t *now)
{
        uint8_t out[DNS_MAX], again[DNS_MAX];
        struct dns_note note;
        if (n < 4)
                return n;
        size_t len = (size_t)p[0] << 8 | p[1];
        *now += (uint64_t)p[2] << 8 | p[3];
        if (len > n - 4)
                len = n - 4;
        const uint8_t *query = p + 4;
        size_t got = dns_answer(names, query, len, *now, out, &note);
        must(got <= DNS_MAX && (got == 0 || got >= 12));
        if (got == 0)
                return 4 + len;
        ns_msg m;
        must(len >= 12 && !(query[2] & 0x80) && memcmp(out, query, 2) == 0 && (out[2] & 0x80));
        must(ns_initparse(out, (int)got, &m) == 0);
        if (out[5]) {
                size_t end = 12;
                while (query[end])
                        end += query[end] + 1u;
                must(memcmp(out + 12, query + 12, end + 5 - 12) == 0);
        }
        check_records(&m, names);
        if (!note.is_capped) {
                must(dns_answer(names, query, len, *now, again, &note) == got);
                must(memcmp(out, again, got) == 0);
        }
        return 4 + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct names *names = names_new();
        uint64_t now = 0;
        for (size_t at = 0; at < size;)
                at += one(names, data + at, size - at, &now);
        names_free(names);
        return 0;
}
