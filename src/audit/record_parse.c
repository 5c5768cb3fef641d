/* record_parse.c - one line of the log back into a record. The grammar is what chain.c writes: a
 * flat object, strings and whole numbers. Anything else is refused, so that a log somebody changed
 * by hand is noticed and never guessed at. */
#include "audit/audit_query.h"

#include <string.h>

struct reader {
        const char *p, *end;
        struct buf *out;
};

static bool eat(struct reader *r, char c)
{
        if (r->p == r->end || *r->p != c)
                return false;
        r->p++;
        return true;
}

static int hex4(struct reader *r, unsigned *v)
{
        *v = 0;
        for (int i = 0; i < 4; i++, r->p++) {
                if (r->p == r->end)
                        return -1;
                char c = *r->p;
                int d = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
                if (d < 0)
                        return -1;
                *v = *v << 4 | (unsigned)d;
        }
        return 0;
}

static void put_utf8(struct buf *b, unsigned cp)
{
        if (cp < 0x80) {
                buf_put_u8(b, (uint8_t)cp);
        } else if (cp < 0x800) {
                buf_put_u8(b, (uint8_t)(0xc0 | cp >> 6));
                buf_put_u8(b, (uint8_t)(0x80 | (cp & 0x3f)));
        } else {
                buf_put_u8(b, (uint8_t)(0xe0 | cp >> 12));
                buf_put_u8(b, (uint8_t)(0x80 | (cp >> 6 & 0x3f)));
                buf_put_u8(b, (uint8_t)(0x80 | (cp & 0x3f)));
        }
}

/* string(r, &at): ${at} is where it begins in the buffer, NUL-terminated. */
static int string(struct reader *r, size_t *at)
{
        unsigned cp;
        *at = r->out->len;
        if (!eat(r, '"'))
                return -1;
        while (r->p < r->end && *r->p != '"') {
                if ((unsigned char)*r->p < 0x20)
                        return -1;
                if (*r->p != '\\') {
                        buf_put_u8(r->out, (uint8_t)*r->p++);
                        continue;
                }
                r->p++;
                if (eat(r, '"'))
                        buf_put_u8(r->out, '"');
                else if (eat(r, '\\'))
                        buf_put_u8(r->out, '\\');
                else if (eat(r, 'u') && hex4(r, &cp) == 0 && cp != 0 && (cp & 0xf800) != 0xd800)
                        put_utf8(r->out, cp);
                else
                        return -1;
        }
        buf_put_u8(r->out, 0);
        return eat(r, '"') ? 0 : -1;
}

static int number(struct reader *r, uint64_t *v)
{
        const char *first = r->p;
        *v = 0;
        for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++)
                if (__builtin_mul_overflow(*v, 10u, v) ||
                    __builtin_add_overflow(*v, (uint64_t)(*r->p - '0'), v))
                        return -1;
        return r->p == first ? -1 : 0;
}

#define AT(f) offsetof(struct audit_record, f)
static const struct {
        const char *key;
        size_t at;
} strings_of[] = {{"prev", AT(prev)},         {"time", AT(time)},       {"box", AT(box)},
                  {"kind", AT(kind)},         {"verdict", AT(verdict)}, {"rule", AT(rule)},
                  {"protocol", AT(protocol)}, {"method", AT(method)},   {"host", AT(host)},
                  {"path", AT(path)},         {"address", AT(address)}, {"note", AT(note)},
                  {"cure", AT(cure)},         {"exe", AT(exe)},         {"secrets", AT(secrets)}},
  numbers_of[] = {
          {"seq", AT(seq)},         {"port", AT(port)},         {"pid", AT(pid)},
          {"status", AT(status)},   {"bytes_up", AT(bytes_up)}, {"bytes_down", AT(bytes_down)},
          {"wait_us", AT(wait_us)}, {"total_us", AT(total_us)}, {"source_port", AT(source_port)},
          {"ppid", AT(ppid)},       {"cpu_us", AT(cpu_us)},     {"peak_kib", AT(peak_kib)}};

enum {
        STRINGS_N = sizeof strings_of / sizeof *strings_of,
        NUMBERS_N = sizeof numbers_of / sizeof *numbers_of
};

static int pair(struct reader *r, struct audit_record *rec, size_t at[STRINGS_N])
{
        size_t key, value;
        uint64_t v;
        if (string(r, &key) < 0 || !eat(r, ':') || r->p == r->end || r->out->is_broken)
                return -1;
        bool is_string = *r->p == '"';
        if (is_string ? string(r, &value) < 0 : number(r, &v) < 0)
                return -1;
        if (r->out->is_broken)
                return -1;
        const char *name = (const char *)r->out->data + key;
        for (size_t i = 0; is_string && i < STRINGS_N; i++)
                if (strcmp(name, strings_of[i].key) == 0)
                        at[i] = value;
        for (size_t i = 0; !is_string && i < NUMBERS_N; i++)
                if (strcmp(name, numbers_of[i].key) == 0)
                        memcpy((char *)rec + numbers_of[i].at, &v, sizeof v);
        return 0;
}

int audit_record_parse(const char *line, size_t n, struct audit_record *rec, struct buf *strings)
{
        struct reader r = {.p = line, .end = line + n, .out = strings};
        size_t at[STRINGS_N] = {0};
        *rec = (struct audit_record){0};
        strings->len = 0;
        buf_put_u8(strings, 0); /* offset 0 is "" */
        if (!eat(&r, '{'))
                return -1;
        do {
                if (pair(&r, rec, at) < 0)
                        return -1;
        } while (eat(&r, ','));
        if (!eat(&r, '}') || r.p != r.end)
                return -1;
        for (size_t i = 0; i < STRINGS_N; i++) {
                const char *s = (const char *)strings->data + at[i];
                memcpy((char *)rec + strings_of[i].at, &s, sizeof s);
        }
        return 0;
}
