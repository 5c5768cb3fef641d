/* body_json.c - JSON, read strictly into a flat list of values. See body_int.h. Pure.
 *
 * Refused is what programs read in different ways: a key twice, broken UTF-8, half a surrogate
 * pair, NUL in a string, anything after the end. Numbers stay text: no program's idea of their
 * range comes in. Linear; depth and number of values are bounded; read in turns (work.h), so what is
 * open is kept in a list and not on the stack. */
#include "base/err.h"
#include "base/str.h"
#include "egress/account.h"
#include "egress/body_int.h"
#include "egress/work.h"
#include "policy/secret_forms.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 18 };

/* What comes next. */
enum { WANT_VALUE, WANT_KEY, IN_STRING, IN_KEY, AFTER_VALUE, IN_CLOSE, AT_END };

/* One turn of reading. */
struct parser {
        struct body_json *j;
        const char *p, *end;
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

/* string(s, &len): from where it is in a string to behind its closing quote, or for one piece. 1: it
 * is whole and has ${len} bytes; 0: not yet. */
static int string(struct parser *s, size_t *len)
{
        const char *began = s->p;
        while (s->p < s->end) {
                unsigned char c = (unsigned char)*s->p;
                if (c == '"') {
                        *len = (size_t)(s->p - s->j->from);
                        s->p++;
                        return 1;
                }
                if (s->p - began > WORK_PIECE)
                        return 0;
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

/* no_room(s, n): may it not take so many bytes more? */
static bool no_room(struct parser *s, size_t n)
{
        struct body_json *j = s->j;
        if (account_grow(j->account, &j->charged, n))
                return false;
        j->is_short = true;
        err_set(s->err, E_SYSTEM, "%s", ACCOUNT_FULL);
        return true;
}

static int new_node(struct parser *s, uint32_t *at)
{
        struct body_json *j = s->j;
        if (j->nodes_n == NODES_MAX) {
                err_set(s->err, E_PROTO, "the JSON body has more than %d values", NODES_MAX);
                return -1;
        }
        if (j->nodes_n == j->nodes_cap) {
                size_t cap = j->nodes_cap ? j->nodes_cap * 2 : 64;
                if (no_room(s, (cap - j->nodes_cap) * sizeof *j->nodes))
                        return -1;
                j->nodes_cap = cap;
                j->nodes = reallocarray(j->nodes, j->nodes_cap, sizeof *j->nodes);
                if (!j->nodes)
                        str_no_memory();
        }
        *at = (uint32_t)j->nodes_n++;
        j->nodes[*at] = (struct json_node){0};
        return 0;
}

/* is_same_key(j, a, b): of two members. */
static bool is_same_key(const struct body_json *j, uint32_t a, uint32_t b)
{
        const struct json_node *x = &j->nodes[a], *y = &j->nodes[b];
        return x->key_len == y->key_len &&
               memcmp(j->keys.data + x->key, j->keys.data + y->key, x->key_len) == 0;
}

/* has_few_twins(j, object): each against all before it, of a few. */
static bool has_few_twins(const struct body_json *j, uint32_t object)
{
        for (uint32_t a = j->nodes[object].child; a; a = j->nodes[a].next)
                for (uint32_t b = j->nodes[object].child; b != a; b = j->nodes[b].next)
                        if (is_same_key(j, a, b))
                                return true;
        return false;
}

/* hash_of(j, at): of a member's key, by what nobody outside knows. */
static size_t hash_of(const struct body_json *j, uint32_t at)
{
        static uint8_t seed[16];
        static bool is_seeded;
        if (!is_seeded && RAND_bytes(seed, sizeof seed) != 1)
                str_no_memory();
        is_seeded = true;
        return secret_siphash(seed, j->keys.data + j->nodes[at].key, j->nodes[at].key_len, false);
}

/* is_twin(j): does the key of the member that comes stand in the table? Else it is put there. */
static bool is_twin(struct body_json *j)
{
        size_t place = hash_of(j, j->twin) & (j->twins_n - 1);
        for (; j->twins[place]; place = (place + 1) & (j->twins_n - 1))
                if (is_same_key(j, j->twin, j->twins[place]))
                        return true;
        j->twins[place] = j->twin;
        return false;
}

/* ended(s, at): the value at ${at} is whole: it becomes a member of what is open. */
static void ended(struct parser *s, uint32_t at)
{
        struct body_json *j = s->j;
        if (j->depth == 0) {
                j->state = AT_END;
                return;
        }
        struct json_open *o = &j->open[j->depth - 1];
        j->nodes[at].key = o->key;
        j->nodes[at].key_len = o->key_len;
        if (o->last)
                j->nodes[o->last].next = at;
        else
                j->nodes[o->at].child = at;
        o->last = at;
        o->n++;
        j->state = AFTER_VALUE;
}

enum { TWINS_FEW = 8, TWINS_STEP = 4, TWIN_COST = 64 /* of a member, like so many bytes */ };

static int twins(struct parser *s)
{
        return fail(s, "a key twice in the object that ends");
}

/* begin_close(s, object, n): are two of its ${n} keys the same? Many are put into a table, a few in
 * each step: an object may have a quarter of a million. */
static int begin_close(struct parser *s, uint32_t object, size_t n)
{
        struct body_json *j = s->j;
        if (n <= TWINS_FEW) {
                if (has_few_twins(j, object))
                        return twins(s);
                ended(s, object);
                return 0;
        }
        j->twins_n = 4;
        while (j->twins_n < 2 * n)
                j->twins_n *= 2;
        if (no_room(s, j->twins_n * sizeof *j->twins))
                return -1;
        j->twins = calloc(j->twins_n, sizeof *j->twins);
        if (!j->twins)
                str_no_memory();
        j->closing = object;
        j->twin = j->nodes[object].child;
        j->state = IN_CLOSE;
        return 0;
}

static int go_on_close(struct parser *s)
{
        struct body_json *j = s->j;
        for (int i = 0; i < TWINS_STEP && j->twin; i++, j->twin = j->nodes[j->twin].next) {
                j->compared++;
                if (is_twin(j))
                        return twins(s);
        }
        if (j->twin)
                return 0;
        account_set(j->account, &j->charged, j->charged - j->twins_n * sizeof *j->twins);
        free(j->twins);
        j->twins = NULL;
        ended(s, j->closing);
        return 0;
}

/* close_it(s): the end of the innermost object or array. */
static int close_it(struct parser *s)
{
        struct body_json *j = s->j;
        struct json_open o = j->open[--j->depth];
        struct json_node *node = &j->nodes[o.at];
        node->len = (uint32_t)(s->p - j->text) - node->start;
        if (o.close == '}')
                return begin_close(s, o.at, o.n);
        ended(s, o.at);
        return 0;
}

static int open_it(struct parser *s, uint32_t at, char c)
{
        struct body_json *j = s->j;
        char close = c == '{' ? '}' : ']';
        if (j->depth == BODY_JSON_DEPTH)
                return fail(s, "too deep a nesting");
        j->nodes[at].type = c == '{' ? JSON_T_OBJECT : JSON_T_ARRAY;
        j->open[j->depth++] = (struct json_open){.at = at, .close = close};
        s->p++;
        skip_blanks(s);
        if (take(s, close))
                return close_it(s);
        j->state = c == '{' ? WANT_KEY : WANT_VALUE;
        return 0;
}

static int begin_value(struct parser *s)
{
        struct body_json *j = s->j;
        uint32_t at;
        skip_blanks(s);
        if (new_node(s, &at) < 0)
                return -1;
        const char *from = s->p;
        char c = from < s->end ? *from : '\0';
        bool is_number = c == '-' || (c >= '0' && c <= '9');
        struct json_node *node = &j->nodes[at];
        node->start = (uint32_t)(from - j->text);
        if (c == '{' || c == '[')
                return open_it(s, at, c);
        if (c == '"') {
                node->type = JSON_T_STRING;
                node->start++;
                j->from = ++s->p;
                j->state = IN_STRING;
                return 0;
        }
        node->type = is_number ? JSON_T_NUMBER : JSON_T_WORD;
        if ((is_number ? number(s) : word(s)) < 0)
                return -1;
        node->len = (uint32_t)(s->p - from);
        ended(s, at);
        return 0;
}

/* go_on_string(s): the value that was made last is a string. */
static int go_on_string(struct parser *s)
{
        size_t n = 0;
        uint32_t at = (uint32_t)s->j->nodes_n - 1;
        int r = string(s, &n);
        if (r <= 0)
                return r;
        s->j->nodes[at].len = (uint32_t)n;
        ended(s, at);
        return 0;
}

static int begin_key(struct parser *s)
{
        skip_blanks(s);
        if (!take(s, '"'))
                return fail(s, "something that is no key");
        s->j->from = s->p;
        s->j->state = IN_KEY;
        return 0;
}

static int go_on_key(struct parser *s)
{
        struct body_json *j = s->j;
        struct json_open *o = &j->open[j->depth - 1];
        size_t n = 0;
        int r = string(s, &n);
        if (r <= 0)
                return r;
        if (no_room(s, buf_more(&j->keys, n)))
                return -1;
        o->key = (uint32_t)j->keys.len;
        body_json_unescape(j->from, n, &j->keys);
        o->key_len = (uint32_t)j->keys.len - o->key;
        skip_blanks(s);
        j->state = WANT_VALUE;
        return take(s, ':') ? 0 : fail(s, "no colon after a key");
}

static int go_on_members(struct parser *s)
{
        struct body_json *j = s->j;
        char close = j->open[j->depth - 1].close;
        skip_blanks(s);
        if (take(s, ',')) {
                j->state = close == '}' ? WANT_KEY : WANT_VALUE;
                return 0;
        }
        return take(s, close) ? close_it(s) : fail(s, "no comma between values, or no end");
}

static int go_on(struct parser *s)
{
        switch (s->j->state) {
        case WANT_VALUE:
                return begin_value(s);
        case WANT_KEY:
                return begin_key(s);
        case IN_STRING:
                return go_on_string(s);
        case IN_KEY:
                return go_on_key(s);
        case IN_CLOSE:
                return go_on_close(s);
        default:
                return go_on_members(s);
        }
}

int body_json_step(struct body_json *j, struct work_budget *work, struct err *err)
{
        enum { TOGETHER = 64 }; /* so many words of it are one step */
        struct parser s = {.j = j, .p = j->p, .end = j->end, .err = err};
        while (j->state != AT_END) {
                const char *from = s.p;
                if (work_is_spent(work)) {
                        j->p = s.p;
                        return 0;
                }
                for (int i = 0; i < TOGETHER && s.p - from < WORK_PIECE && j->state != AT_END; i++)
                        if (go_on(&s) < 0)
                                return -1;
                work_step(work, (size_t)(s.p - from) + TWIN_COST * j->compared);
                j->compared = 0;
        }
        skip_blanks(&s);
        if (s.p < s.end)
                return fail(&s, "bytes after its end");
        return j->keys.is_broken ? err_set(err, E_SYSTEM, "there is no memory for the body") : 1;
}

struct body_json *body_json_new(const char *text, size_t n, struct account *account)
{
        struct body_json *j = calloc(1, sizeof *j);
        if (!j)
                str_no_memory();
        j->text = j->p = text;
        j->end = text + n;
        j->account = account;
        account_set(account, &j->charged, sizeof *j);
        buf_put_u8(&j->keys, 0); /* so that an empty key points somewhere too */
        return j;
}

struct body_json *body_json_read(const char *text, size_t n, struct err *err)
{
        struct body_json *j = body_json_new(text, n, NULL);
        if (body_json_step(j, NULL, err) > 0)
                return j;
        body_json_free(j);
        return NULL;
}

void body_json_free(struct body_json *j)
{
        if (!j)
                return;
        account_set(j->account, &j->charged, 0);
        free(j->nodes);
        free(j->twins);
        buf_free(&j->keys);
        free(j);
}
