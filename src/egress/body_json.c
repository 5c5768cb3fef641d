/* body_json.c - JSON, read strictly into a flat list of values. See body_int.h. Pure.
 *
 * Refused is what programs read in different ways: a key twice, broken UTF-8, half a surrogate
 * pair, NUL in a string, anything after the end. Numbers stay text: no program's idea of their
 * range comes in. Linear but for the sorting of keys; depth and number of values are bounded. */
#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NODES_MAX = 1 << 18 };

struct parser {
        struct body_json *j;
        const char *p, *end;
        int depth;
        struct err *err;
};

size_t body_utf8_len(const uint8_t *p, size_t n)
{
        if (n == 0)
                return 0;
        if (p[0] < 0x80)
                return 1;
        size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
        if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
                return 0;
        for (size_t i = 1; i < len; i++)
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
        bool is_long = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
        bool is_surrogate = p[0] == 0xed && p[1] > 0x9f;
        bool is_high = p[0] == 0xf4 && p[1] > 0x8f;
        return is_long || is_surrogate || is_high ? 0 : len;
}

static int fail(struct parser *s, const char *what)
{
        err_set(s->err, E_PROTO, "the JSON body has %s at byte %zu", what,
                (size_t)(s->p - s->j->text) + 1);
        return -1;
}

static void skip_blanks(struct parser *s)
{
        while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
                s->p++;
}

static bool take(struct parser *s, char c)
{
        if (s->p >= s->end || *s->p != c)
                return false;
        s->p++;
        return true;
}

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 32;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits at ${p}, or -1. */
static int hex4(const char *p, const char *end)
{
        int v = 0;
        for (int i = 0; i < 4; i++, p++) {
                int d = p < end ? hex(*p) : -1;
                if (d < 0)
                        return -1;
                v = v * 16 + d;
        }
        return v;
}

static int escape(struct parser *s)
{
        if (s->p >= s->end || !*s->p || !strchr("\"\\/bfnrtu", *s->p))
                return fail(s, "an unknown escape");
        if (*s->p++ != 'u')
                return 0;
        int u = hex4(s->p, s->end);
        if (u <= 0)
                return fail(s, u < 0 ? "a broken escape" : "a NUL in a string");
        s->p += 4;
        if (u < 0xd800 || u > 0xdfff)
                return 0;
        int low = s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u' ? hex4(s->p + 2, s->end)
                                                                          : -1;
        if (u > 0xdbff || low < 0xdc00 || low > 0xdfff)
                return fail(s, "half a surrogate pair");
        s->p += 6;
        return 0;
}

/* After the opening quote: to behind the closing one; ${len} is without it. */
static int string(struct parser *s, size_t *len)
{
        const char *from = s->p;
        while (s->p < s->end) {
                unsigned char c = (unsigned char)*s->p;
                if (c == '"') {
                        *len = (size_t)(s->p - from);
                        s->p++;
                        return 0;
                }
                if (c < ' ')
                        return fail(s, "a control byte in a string");
                if (c == '\\') {
                        s->p++;
                        if (escape(s) < 0)
                                return -1;
                        continue;
                }
                size_t u = body_utf8_len((const uint8_t *)s->p, (size_t)(s->end - s->p));
                if (u == 0)
                        return fail(s, "bytes that are not UTF-8");
                s->p += u;
        }
        return fail(s, "a string without end");
}

static size_t digits(struct parser *s)
{
        const char *from = s->p;
        while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
                s->p++;
        return (size_t)(s->p - from);
}

static int number(struct parser *s)
{
        take(s, '-');
        const char *from = s->p;
        size_t n = digits(s);
        if (n == 0 || (n > 1 && *from == '0'))
                return fail(s, "something that is no value");
        if (take(s, '.') && digits(s) == 0)
                return fail(s, "a broken number");
        if (take(s, 'e') || take(s, 'E')) {
                if (!take(s, '-'))
                        take(s, '+');
                if (digits(s) == 0)
                        return fail(s, "a broken number");
        }
        return 0;
}

static int word(struct parser *s)
{
        static const char *const words[] = {"true", "false", "null"};
        for (size_t i = 0; i < 3; i++) {
                size_t n = strlen(words[i]);
                if ((size_t)(s->end - s->p) >= n && memcmp(s->p, words[i], n) == 0) {
                        s->p += n;
                        return 0;
                }
        }
        return fail(s, "something that is no value");
}

static int new_node(struct parser *s, uint32_t *at)
{
        struct body_json *j = s->j;
        if (j->nodes_n == NODES_MAX) {
                err_set(s->err, E_PROTO, "the JSON body has more than %d values", NODES_MAX);
                return -1;
        }
        if (j->nodes_n == j->nodes_cap) {
                j->nodes_cap = j->nodes_cap ? j->nodes_cap * 2 : 64;
                j->nodes = reallocarray(j->nodes, j->nodes_cap, sizeof *j->nodes);
                if (!j->nodes)
                        str_no_memory();
        }
        *at = (uint32_t)j->nodes_n++;
        j->nodes[*at] = (struct json_node){0};
        return 0;
}

struct key {
        const char *p;
        size_t n;
};

static int by_key(const void *a, const void *b)
{
        const struct key *x = a, *y = b;
        int r = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
        return r ? r : (x->n > y->n) - (x->n < y->n);
}

static int refuse_twins(struct parser *s, uint32_t object, size_t n)
{
        const struct body_json *j = s->j;
        bool is_twin = false;
        struct key *keys = n > 1 ? reallocarray(NULL, n, sizeof *keys) : NULL;
        if (n > 1 && !keys)
                str_no_memory();
        size_t i = 0;
        for (uint32_t at = j->nodes[object].child; keys && at; at = j->nodes[at].next)
                keys[i++] = (struct key){(const char *)j->keys.data + j->nodes[at].key,
                                         j->nodes[at].key_len};
        if (keys)
                qsort(keys, n, sizeof *keys, by_key);
        for (i = 1; i < n && !is_twin; i++)
                is_twin = by_key(&keys[i - 1], &keys[i]) == 0;
        free(keys);
        return is_twin ? fail(s, "a key twice in the object that ends") : 0;
}

static int value(struct parser *s, uint32_t *at);

/* "key": in front of a member; its place in j->keys. */
static int member_key(struct parser *s, uint32_t *key, uint32_t *key_len)
{
        size_t n = 0;
        skip_blanks(s);
        if (!take(s, '"'))
                return fail(s, "something that is no key");
        const char *from = s->p;
        if (string(s, &n) < 0)
                return -1;
        *key = (uint32_t)s->j->keys.len;
        body_json_unescape(from, n, &s->j->keys);
        *key_len = (uint32_t)s->j->keys.len - *key;
        skip_blanks(s);
        return take(s, ':') ? 0 : fail(s, "no colon after a key");
}

static int members(struct parser *s, uint32_t parent, char close)
{
        uint32_t last = 0, at = 0, key = 0, key_len = 0;
        size_t n = 0;
        skip_blanks(s);
        if (take(s, close))
                return 0;
        do {
                if (close == '}' && member_key(s, &key, &key_len) < 0)
                        return -1;
                if (value(s, &at) < 0)
                        return -1;
                struct json_node *nodes = s->j->nodes;
                nodes[at].key = key;
                nodes[at].key_len = key_len;
                if (last)
                        nodes[last].next = at;
                else
                        nodes[parent].child = at;
                last = at;
                n++;
                skip_blanks(s);
        } while (take(s, ','));
        if (!take(s, close))
                return fail(s, "no comma between values, or no end");
        return close == '}' ? refuse_twins(s, parent, n) : 0;
}

static int value(struct parser *s, uint32_t *at)
{
        skip_blanks(s);
        if (new_node(s, at) < 0)
                return -1;
        const char *from = s->p;
        char c = from < s->end ? *from : '\0';
        enum json_type type = JSON_T_WORD;
        size_t len = 0;
        int r;
        if (c == '{' || c == '[') {
                type = c == '{' ? JSON_T_OBJECT : JSON_T_ARRAY;
                if (s->depth == DEPTH_MAX)
                        return fail(s, "too deep a nesting");
                s->depth++;
                s->p++;
                r = members(s, *at, c == '{' ? '}' : ']');
                s->depth--;
        } else if (c == '"') {
                type = JSON_T_STRING;
                s->p++;
                from++;
                r = string(s, &len);
        } else if (c == '-' || (c >= '0' && c <= '9')) {
                type = JSON_T_NUMBER;
                r = number(s);
        } else {
                r = word(s);
        }
        if (r < 0)
                return -1;
        struct json_node *node = &s->j->nodes[*at];
        node->type = type;
        node->start = (uint32_t)(from - s->j->text);
        node->len = (uint32_t)(type == JSON_T_STRING ? len : (size_t)(s->p - from));
        return 0;
}

struct body_json *body_json_read(const char *text, size_t n, struct err *err)
{
        struct body_json *j = calloc(1, sizeof *j);
        if (!j)
                str_no_memory();
        j->text = text;
        buf_put_u8(&j->keys, 0); /* so that an empty key points somewhere too */
        struct parser s = {.j = j, .p = text, .end = text + n, .err = err};
        uint32_t at = 0;
        int r = value(&s, &at);
        if (r == 0) {
                skip_blanks(&s);
                if (s.p < s.end)
                        r = fail(&s, "bytes after its end");
        }
        if (r == 0 && j->keys.is_broken)
                r = err_set(err, E_SYSTEM, "there is no memory for the body");
        if (r < 0) {
                body_json_free(j);
                return NULL;
        }
        return j;
}

void body_json_free(struct body_json *j)
{
        if (!j)
                return;
        free(j->nodes);
        buf_free(&j->keys);
        free(j);
}
