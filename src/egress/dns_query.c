/* dns_query.c - see dns_query.h: one question, at most one OPT behind it, and nothing else. Pure;
 * every byte of a datagram must have a meaning. */
#include "egress/dns_query.h"

#include "base/cur.h"

#include <string.h>

enum {
        FLAG_ANSWER = 0x8000,
        OPCODE_MASK = 0x7800,
        OPT_DNSSEC = 0x8000,
        NAME_WIRE_MAX = 255,
};

static int get_u16(struct cur *c, uint16_t *v)
{
        const uint8_t *p;
        if (cur_bytes(c, 2, &p) < 0)
                return -1;
        *v = (uint16_t)(p[0] << 8 | p[1]);
        return 0;
}

/* The name in the question: as text when that says the same. A label may hold any byte, a dot
 * included; such a name is nobody's, because its text would be another name (case E1). */
static int read_name(struct cur *c, struct dns_query *q)
{
        char text[NAME_WIRE_MAX];
        size_t len = 0;
        bool is_text = true;
        const uint8_t *start = c->p;
        for (;;) {
                uint8_t n;
                const uint8_t *label;
                /* Two high bits: a pointer, for which a question has no use, or nothing known. */
                if (cur_u8(c, &n) < 0 || n > HOST_LABEL_MAX || cur_bytes(c, n, &label) < 0 ||
                    c->p - start > NAME_WIRE_MAX)
                        return -1;
                if (n == 0)
                        break;
                if (memchr(label, '.', n))
                        is_text = false;
                if (len)
                        text[len++] = '.';
                memcpy(text + len, label, n);
                len += n;
        }
        q->is_root = len == 0;
        if (is_text && len)
                host_name_parse(text, len, &q->name, NULL);
        return 0;
}

static int read_question(struct cur *c, struct dns_query *q)
{
        const uint8_t *start = c->p;
        uint16_t qclass;
        if (read_name(c, q) < 0 || get_u16(c, &q->type) < 0 || get_u16(c, &qclass) < 0)
                return DNS_FORMERR;
        q->question_len = (size_t)(c->p - start);
        memcpy(q->question, start, q->question_len);
        if (qclass != DNS_IN)
                return DNS_REFUSED;
        /* Transfers, signatures, OPT: they have their own places, and none is here. */
        if (q->type == DNS_OPT || (q->type >= 249 && q->type <= 254) || q->type == 0)
                return DNS_NOTIMP;
        return DNS_NOERROR;
}

/* OPT: what the other side can do. Its options (client subnet, cookies) are looked over and
 * ignored. */
static int read_opt(struct cur *c, struct dns_query *q)
{
        uint8_t root, rcode, version;
        uint16_t type, size, flags, len, code;
        if (cur_u8(c, &root) < 0 || root != 0 || get_u16(c, &type) < 0 || type != DNS_OPT ||
            get_u16(c, &size) < 0 || cur_u8(c, &rcode) < 0 || cur_u8(c, &version) < 0 ||
            get_u16(c, &flags) < 0 || get_u16(c, &len) < 0 || len != c->left)
                return DNS_FORMERR;
        while (c->left) {
                const uint8_t *option;
                if (get_u16(c, &code) < 0 || get_u16(c, &len) < 0 || cur_bytes(c, len, &option) < 0)
                        return DNS_FORMERR;
        }
        q->has_opt = true;
        q->wants_dnssec = flags & OPT_DNSSEC;
        return version == 0 ? DNS_NOERROR : DNS_BADVERS;
}

int dns_query_read(const uint8_t *p, size_t n, struct dns_query *q)
{
        struct cur c = cur_of(p, n);
        uint16_t questions, answers, authorities, additions;
        memset(q, 0, sizeof *q);
        if (get_u16(&c, &q->id) < 0 || get_u16(&c, &q->flags) < 0 || get_u16(&c, &questions) < 0 ||
            get_u16(&c, &answers) < 0 || get_u16(&c, &authorities) < 0 ||
            get_u16(&c, &additions) < 0 || (q->flags & FLAG_ANSWER))
                return -1;
        if (q->flags & OPCODE_MASK)
                return DNS_NOTIMP;
        if (questions != 1 || answers || authorities || additions > 1)
                return DNS_FORMERR;

        int rcode = read_question(&c, q);
        if (rcode == DNS_FORMERR)
                return rcode;
        int opt = additions ? read_opt(&c, q) : DNS_NOERROR;
        if (opt != DNS_NOERROR)
                return opt;
        return c.left ? DNS_FORMERR : rcode;
}
