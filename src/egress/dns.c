/* dns.c - see dns.h: what the box's name server answers. Called for each query that arrives by UDP
 * or TCP. It never passes anything on: a question is itself a way to get data out (case E8). */
#include "egress/dns.h"

#include "base/buf.h"
#include "egress/dns_query.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum {
        TTL = 60,
        TTL_CAPPED = 1, /* the name may be fine in a moment */
        FLAG_ANSWER = 0x8000,
        FLAG_RECURSION_WANTED = 0x0100,
        FLAG_RECURSION_HERE = 0x0080,
        FLAG_CHECKING_OFF = 0x0010,
        OPT_SIZE = 1232,
};

static const char *const no_such_name[] = {
        "arpa",    /* addresses have no others; resolver.arpa offers encrypted DNS */
        "invalid", /* RFC 6761 */
        "onion",   /* RFC 7686 */
        "use-application-dns.net", /* tells browsers to ask us and nobody else */
};

/* ${h} is ${base}, or below it. */
static bool is_within(const struct host_name *h, const char *base)
{
        size_t n = strlen(base);
        if (h->len < n || memcmp(h->text + h->len - n, base, n) != 0)
                return false;
        return h->len == n || h->text[h->len - n - 1] == '.';
}

static bool is_unknown(const struct host_name *h)
{
        for (size_t i = 0; i < sizeof no_such_name / sizeof *no_such_name; i++)
                if (is_within(h, no_such_name[i]))
                        return true;
        /* A proxy that a network offers by name would be believed by some programs. */
        return strcmp(h->text, "wpad") == 0 || strncmp(h->text, "wpad.", 5) == 0;
}

/* --- writing -----------------------------------------------------------------------------------
 */

static void put_u16(struct buf *b, unsigned v)
{
        buf_put_u8(b, (uint8_t)(v >> 8));
        buf_put_u8(b, (uint8_t)v);
}

/* Owner, type, class, lifetime. The owner is the question's name, or the root. */
static void put_record(struct buf *b, bool is_root, unsigned type, uint32_t ttl, size_t len)
{
        if (is_root)
                buf_put_u8(b, 0);
        else
                put_u16(b, 0xc00c);
        put_u16(b, type);
        put_u16(b, DNS_IN);
        buf_put_u32(b, ttl);
        put_u16(b, (unsigned)len);
}

static void put_a(struct buf *b, uint32_t addr)
{
        put_record(b, false, DNS_A, TTL, 4);
        buf_put_u32(b, addr);
}

static void put_ptr(struct buf *b, const char *name)
{
        put_record(b, false, DNS_PTR, TTL, strlen(name) + 2);
        for (const char *s = name;;) {
                size_t n = strcspn(s, ".");
                buf_put_u8(b, (uint8_t)n);
                buf_put(b, s, n);
                if (!s[n])
                        break;
                s += n + 1;
        }
        buf_put_u8(b, 0);
}

/* Without it nobody may remember that there was nothing (RFC 2308). */
static void put_soa(struct buf *b, uint32_t ttl)
{
        put_record(b, true, DNS_SOA, ttl, 22);
        put_u16(b, 0);             /* the root for both names */
        buf_put_u32(b, 1);         /* serial */
        buf_put_u32(b, 3600);      /* refresh */
        buf_put_u32(b, 600);       /* retry */
        buf_put_u32(b, 24 * 3600); /* expire */
        buf_put_u32(b, ttl);       /* how long a "no" holds */
}

static void put_opt(struct buf *b, int rcode, bool wants_dnssec)
{
        buf_put_u8(b, 0);
        put_u16(b, DNS_OPT);
        put_u16(b, OPT_SIZE);
        buf_put_u8(b, (uint8_t)(rcode >> 4));
        buf_put_u8(b, 0);
        put_u16(b, wants_dnssec ? 0x8000 : 0);
        put_u16(b, 0);
}

/* --- deciding ----------------------------------------------------------------------------------
 */

struct answer {
        int rcode;
        uint32_t negative_ttl;
        uint32_t addr;    /* of A, host order; 0 for none */
        const char *name; /* of PTR */
};

/* "4.3.2.1.in-addr.arpa" is 1.2.3.4. */
static bool is_reverse(const struct host_name *h, uint32_t *addr)
{
        static const char suffix[] = ".in-addr.arpa";
        char numbers[16];
        struct in_addr in;
        if (!is_within(h, suffix + 1) || h->len < sizeof suffix ||
            h->len - (sizeof suffix - 1) >= sizeof numbers)
                return false;
        snprintf(numbers, sizeof numbers, "%.*s", (int)(h->len - (sizeof suffix - 1)), h->text);
        if (inet_pton(AF_INET, numbers, &in) != 1)
                return false;
        *addr = __builtin_bswap32(ntohl(in.s_addr));
        return true;
}

static void answer_ptr(struct names *names, const struct host_name *h, struct answer *a)
{
        uint32_t addr;
        a->rcode = DNS_NXDOMAIN;
        if (!is_reverse(h, &addr))
                return;
        const struct host_name *found = names_find(names, addr);
        a->name = found ? found->text : addr == INADDR_LOOPBACK ? "localhost" : NULL;
        a->rcode = a->name ? DNS_NOERROR : DNS_NXDOMAIN;
}

static void decide(struct names *names, const struct dns_query *q, uint64_t now_ms,
                   struct answer *a, struct dns_note *note)
{
        if (q->is_root)
                return;
        if (q->name.kind != HOST_NAME || q->name.len == 0) {
                a->rcode = DNS_NXDOMAIN;
                return;
        }
        note->host = q->name;
        if (!names) {
                a->rcode = DNS_NXDOMAIN;
                return;
        }
        if (q->type == DNS_PTR && is_within(&q->name, "arpa"))
                answer_ptr(names, &q->name, a);
        else if (is_unknown(&q->name))
                a->rcode = DNS_NXDOMAIN;
        else if (q->type == DNS_A && is_within(&q->name, "localhost"))
                a->addr = INADDR_LOOPBACK;
        else if (q->type == DNS_A && names_address(names, &q->name, now_ms, &a->addr) < 0) {
                note->is_capped = true;
                a->rcode = DNS_NXDOMAIN;
                a->negative_ttl = TTL_CAPPED;
        }
}

size_t dns_answer(struct names *names, const uint8_t *query, size_t n, uint64_t now_ms,
                  uint8_t out[DNS_MAX], struct dns_note *note)
{
        struct dns_query q;
        *note = (struct dns_note){0};
        int rcode = dns_query_read(query, n, &q);
        if (rcode < 0)
                return 0;
        struct answer a = {.rcode = rcode, .negative_ttl = TTL};
        if (rcode == DNS_NOERROR)
                decide(names, &q, now_ms, &a, note);

        bool has_answer = a.addr || a.name;
        bool has_soa = !has_answer && rcode == DNS_NOERROR;
        unsigned flags = FLAG_ANSWER | FLAG_RECURSION_HERE | (unsigned)(a.rcode & 15) |
                         (q.flags & (0x7800 | FLAG_RECURSION_WANTED | FLAG_CHECKING_OFF));
        _cleanup_buf_ struct buf b = {.max = DNS_MAX};
        put_u16(&b, q.id);
        put_u16(&b, flags);
        put_u16(&b, q.question_len ? 1 : 0);
        put_u16(&b, has_answer ? 1 : 0);
        put_u16(&b, has_soa ? 1 : 0);
        put_u16(&b, q.has_opt ? 1 : 0);
        buf_put(&b, q.question, q.question_len);
        if (a.addr)
                put_a(&b, a.addr);
        if (a.name)
                put_ptr(&b, a.name);
        if (has_soa)
                put_soa(&b, a.negative_ttl);
        if (q.has_opt)
                put_opt(&b, a.rcode, q.wants_dnssec);
        if (b.is_broken)
                return 0;
        memcpy(out, b.data, b.len);
        return b.len;
}
