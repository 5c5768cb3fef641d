/* body_pointer.c - the values of a JSON pointer in a body that was read. See body_int.h. Pure. A step
 * that is * means every element or member.
 *
 * A refusal must find a value however a server may spell its way to it: keys are also tried without
 * regard to the size of letters, numbers also in their plainest form, and a pointer also on each
 * element of a batch. */
#include "base/buf.h"
#include "egress/body_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = BODY_JSON_DEPTH + 1 };

/* One step of a pointer. */
struct step {
        size_t at, len; /* of its name, in names */
        size_t index;
        bool is_any, is_index; /* *; a number */
};

struct search {
        const struct body_json *j;
        struct step steps[STEPS_MAX];
        size_t steps_n;
        struct buf names;
        request_visit *visit;
        void *ctx;
        struct buf out;
};

static void put_utf8(struct buf *b, uint32_t u)
{
        if (u < 0x80) {
                buf_put_u8(b, (uint8_t)u);
                return;
        }
        int more = u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
        buf_put_u8(b, (uint8_t)(first[more] | (u >> (6 * more))));
        while (more--)
                buf_put_u8(b, (uint8_t)(0x80 | ((u >> (6 * more)) & 0x3f)));
}

static uint32_t hex4(const char *p)
{
        char text[5] = {p[0], p[1], p[2], p[3], 0};
        return (uint32_t)strtoul(text, NULL, 16);
}

void body_json_unescape(const char *p, size_t n, struct buf *out)
{
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *end = p + n;
        while (p < end) {
                const char *back = memchr(p, '\\', (size_t)(end - p));
                size_t run = back ? (size_t)(back - p) : (size_t)(end - p);
                buf_put(out, p, run);
                p += run;
                if (p == end)
                        return;
                char c = p[1];
                const char *known = strchr(from, c);
                p += 2;
                if (c != 'u') {
                        buf_put_u8(out, (uint8_t)(known ? to[known - from] : c));
                        continue;
                }
                uint32_t u = hex4(p);
                p += 4;
                if (u >= 0xd800 && u <= 0xdbff) {
                        u = 0x10000 + ((u - 0xd800) << 10) + (hex4(p + 2) - 0xdc00);
                        p += 6;
                }
                put_utf8(out, u);
        }
}

static void put_string(struct buf *b, const char *p, size_t n)
{
        static const char from[] = "\b\f\n\r\t", to[] = "bfnrt";
        buf_put_u8(b, '"');
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)p[i];
                const char *known = c ? strchr(from, c) : NULL;
                if (c == '"' || c == '\\')
                        buf_put_fmt(b, "\\%c", c);
                else if (known)
                        buf_put_fmt(b, "\\%c", to[known - from]);
                else if (c < ' ')
                        buf_put_fmt(b, "\\u%04x", c);
                else
                        buf_put_u8(b, c);
        }
        buf_put_u8(b, '"');
}

/* Compact text, with one spelling for every string. The depth was bounded when it was read. */
static void put_value(const struct body_json *j, uint32_t at, struct buf *b)
{
        const struct json_node *v = &j->nodes[at];
        bool is_object = v->type == JSON_T_OBJECT;
        if (v->type == JSON_T_STRING) {
                _cleanup_buf_ struct buf plain = {0};
                body_json_unescape(j->text + v->start, v->len, &plain);
                put_string(b, (const char *)plain.data, plain.len);
                return;
        }
        if (!is_object && v->type != JSON_T_ARRAY) {
                buf_put(b, j->text + v->start, v->len);
                return;
        }
        buf_put_u8(b, is_object ? '{' : '[');
        for (uint32_t c = v->child; c; c = j->nodes[c].next) {
                if (c != v->child)
                        buf_put_u8(b, ',');
                if (is_object) {
                        put_string(b, (const char *)j->keys.data + j->nodes[c].key,
                                   j->nodes[c].key_len);
                        buf_put_u8(b, ':');
                }
                put_value(j, c, b);
        }
        buf_put_u8(b, is_object ? '}' : ']');
}

/* 1e2 and 100.0 are 100 to most programs: shown in addition. */
static void show_plain_number(struct search *s, const char *p, size_t n)
{
        char text[64], plain[64];
        bool is_plain = !memchr(p, '.', n) && !memchr(p, 'e', n) && !memchr(p, 'E', n);
        if (is_plain || n >= sizeof text)
                return;
        memcpy(text, p, n);
        text[n] = '\0';
        double d = strtod(text, NULL);
        if (fabs(d) > 9007199254740991.0 || d != (double)(int64_t)d)
                return;
        int len = snprintf(plain, sizeof plain, "%lld", (long long)d);
        s->visit(s->ctx, plain, (size_t)len);
}

static void show(struct search *s, uint32_t at)
{
        const struct json_node *v = &s->j->nodes[at];
        const char *p = s->j->text + v->start;
        s->out.len = 0;
        if (v->type == JSON_T_STRING)
                body_json_unescape(p, v->len, &s->out);
        else
                put_value(s->j, at, &s->out);
        s->visit(s->ctx, buf_cstr(&s->out), s->out.len);
        if (v->type == JSON_T_NUMBER)
                show_plain_number(s, p, v->len);
}

/* One character without regard to its size; two letters beyond ASCII fold into it as well. */
static unsigned folded(const char **p, const char *end)
{
        unsigned char c = (unsigned char)*(*p)++;
        if (c >= 'A' && c <= 'Z')
                return c | 32u;
        if (c == 0xc5 && *p < end && (unsigned char)**p == 0xbf) {
                (*p)++;
                return 's';
        }
        if (c == 0xe2 && end - *p >= 2 && memcmp(*p, "\x84\xaa", 2) == 0) {
                *p += 2;
                return 'k';
        }
        return c;
}

static bool is_same_folded(const char *a, size_t an, const char *b, size_t bn)
{
        const char *ae = a + an, *be = b + bn;
        while (a < ae && b < be)
                if (folded(&a, ae) != folded(&b, be))
                        return false;
        return a == ae && b == be;
}

static bool is_index(const char *s, size_t *index)
{
        size_t n = strspn(s, "0123456789");
        if (n == 0 || n > 7 || s[n] || (n > 1 && *s == '0'))
                return false;
        *index = (size_t)atol(s);
        return true;
}

/* read_step(s, pointer): ~1 is a slash, ~0 a tilde; up to the next slash. */
static const char *read_step(struct search *s, const char *pointer)
{
        struct step *k = &s->steps[s->steps_n++];
        k->at = s->names.len;
        for (; *pointer && *pointer != '/'; pointer++) {
                char c = *pointer;
                if (c == '~' && (pointer[1] == '0' || pointer[1] == '1'))
                        c = *++pointer == '0' ? '~' : '/';
                buf_put_u8(&s->names, (uint8_t)c);
        }
        k->len = s->names.len - k->at;
        buf_put_u8(&s->names, 0);
        const char *name = (const char *)s->names.data + k->at;
        k->is_any = strcmp(name, "*") == 0; /* each element, each member */
        k->is_index = is_index(name, &k->index);
        return pointer;
}

/* read_pointer(s, pointer): false when it is deeper than any document. */
static bool read_pointer(struct search *s, const char *pointer)
{
        while (*pointer) {
                if (s->steps_n == STEPS_MAX)
                        return false;
                pointer = read_step(s, pointer + 1);
        }
        return true;
}

static void walk(struct search *s, uint32_t at, size_t done)
{
        if (done == s->steps_n) {
                show(s, at);
                return;
        }
        const struct json_node *v = &s->j->nodes[at];
        const struct step *k = &s->steps[done];
        const char *want = (const char *)s->names.data + k->at;
        size_t i = 0;
        bool is_array = v->type == JSON_T_ARRAY;
        if ((is_array && !k->is_any && !k->is_index) || (!is_array && v->type != JSON_T_OBJECT))
                return;
        for (uint32_t c = v->child; c; c = s->j->nodes[c].next, i++) {
                const struct json_node *m = &s->j->nodes[c];
                const char *key = (const char *)s->j->keys.data + m->key;
                if (is_array || k->is_any) {
                        if (k->is_any || i == k->index)
                                walk(s, c, done + 1);
                        continue;
                }
                bool is_exact = m->key_len == k->len && memcmp(key, want, k->len) == 0;
                if (!is_exact && !is_same_folded(key, m->key_len, want, k->len))
                        continue;
                walk(s, c, done + 1);
                if (!is_exact)
                        s->visit(s->ctx, "", 0);
        }
}

void body_json_each(const struct body_json *j, const char *pointer, request_visit *visit, void *ctx)
{
        struct search s = {.j = j, .visit = visit, .ctx = ctx};
        bool is_batch = j->nodes[0].type == JSON_T_ARRAY;
        if (read_pointer(&s, pointer))
                walk(&s, 0, 0);
        for (uint32_t c = is_batch ? j->nodes[0].child : 0; c; c = j->nodes[c].next)
                walk(&s, c, 0);
        buf_free(&s.out);
        buf_free(&s.names);
}
