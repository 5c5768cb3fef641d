/* scan_view.c - what hides behind escapes: %73, \u0073, \x73, &#115;, &#x73; and names like &lt;,
 * each also escaped again (%2573, &amp;#115;, \\u0073), and one kind inside another. See
 * scan_int.h; called by scan.c for each window. Pure.
 *
 * Only the neighbourhood of escapes is copied, so that text without them costs nothing. What an
 * escape means depends on nothing before it: a window may begin at any of them. */
#include "egress/scan_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 8, SLASHES_MAX = 16, DIGITS_MAX = 7, UNIT_MAX = 64 };

static const struct {
        const char *name;
        char c;
} entities[] = {
        {"lt;", '<'},     {"gt;", '>'},     {"quot;", '"'},  {"apos;", '\''},  {"sol;", '/'},
        {"plus;", '+'},   {"equals;", '='}, {"num;", '#'},   {"percnt;", '%'}, {"colon;", ':'},
        {"commat;", '@'}, {"period;", '.'}, {"comma;", ','}, {"lowbar;", '_'}, {"dollar;", '$'},
        {"excl;", '!'},   {"ast;", '*'},    {"lpar;", '('},  {"rpar;", ')'},   {"semi;", ';'},
        {"quest;", '?'},  {"lsqb;", '['},   {"rsqb;", ']'},  {"lcub;", '{'},   {"rcub;", '}'},
        {"bsol;", '\\'},  {"verbar;", '|'}, {"Hat;", '^'},   {"grave;", '`'},  {"hyphen;", '-'},
        {"tilde;", '~'},
};

static int hex(uint8_t c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An escape as it was read. */
struct unit {
        size_t len;   /* 0: it is none */
        uint8_t c;    /* what it stands for */
        bool is_open; /* the bytes end before it is decided */
};

static struct unit percent_unit(const uint8_t *p, size_t n)
{
        size_t k = 1;
        for (int depth = 0;; depth++) {
                if (k + 2 > n && (k == n || hex(p[k]) >= 0))
                        return (struct unit){.is_open = true};
                bool is_hex = k + 2 <= n && hex(p[k]) >= 0 && hex(p[k + 1]) >= 0;
                if (!is_hex || depth == NESTED_MAX)
                        return (struct unit){.len = depth ? k : 0, .c = '%'};
                if (p[k] != '2' || p[k + 1] != '5')
                        return (struct unit){.len = k + 2,
                                             .c = (uint8_t)(hex(p[k]) << 4 | hex(p[k + 1]))};
                k += 2;
        }
}

static struct unit slash_unit(const uint8_t *p, size_t n)
{
        size_t k = 1, digits = 0;
        while (k < n && k < SLASHES_MAX && p[k] == '\\')
                k++;
        if (k == n)
                return (struct unit){.is_open = true};
        if (p[k] == 'u' || p[k] == 'x') {
                unsigned v = 0;
                size_t want = p[k] == 'u' ? 4 : 2;
                while (digits < want && k + 1 + digits < n && hex(p[k + 1 + digits]) >= 0)
                        v = v << 4 | (unsigned)hex(p[k + 1 + digits++]);
                if (digits < want && k + 1 + digits == n)
                        return (struct unit){.is_open = true};
                if (digits == want)
                        return (struct unit){.len = k + 1 + want,
                                             .c = v < 0x80 ? (uint8_t)v : 0x80};
        }
        if (p[k] == '"' || p[k] == '/' || p[k] == '\'')
                return (struct unit){.len = k + 1, .c = p[k]};
        return (struct unit){.len = k > 1 ? k : 0, .c = '\\'};
}

static struct unit number_unit(const uint8_t *p, size_t n, size_t k)
{
        size_t digits = 0;
        bool is_hex = k < n && (p[k] | 0x20) == 'x';
        unsigned v = 0;
        k += is_hex;
        while (k + digits < n && digits < DIGITS_MAX && hex(p[k + digits]) >= 0 &&
               (is_hex || hex(p[k + digits]) < 10))
                v = v * (is_hex ? 16 : 10) + (unsigned)hex(p[k + digits++]);
        if (k + digits >= n)
                return (struct unit){.is_open = true};
        if (digits == 0)
                return (struct unit){0};
        k += digits;
        size_t end = p[k] == ';'; /* which may be escaped itself, as a cookie does it */
        if (p[k] == '%' || p[k] == '\\') {
                struct unit semi =
                        p[k] == '%' ? percent_unit(p + k, n - k) : slash_unit(p + k, n - k);
                if (semi.is_open)
                        return semi;
                end = semi.len && semi.c == ';' ? semi.len : 0;
        }
        return (struct unit){.len = k + end, .c = v < 0x80 ? (uint8_t)v : 0x80};
}

/* begins(p, n, word): 1: with ${word}; -1: the bytes end within it; 0: no. */
static int begins(const uint8_t *p, size_t n, const char *word)
{
        size_t len = strlen(word), m = n < len ? n : len;
        if (memcmp(p, word, m) != 0)
                return 0;
        return m == len ? 1 : -1;
}

static struct unit entity_unit(const uint8_t *p, size_t n)
{
        size_t k = 1;
        int depth = 0, b;
        while (depth < NESTED_MAX && (b = begins(p + k, n - k, "amp;")) != 0) {
                if (b < 0)
                        return (struct unit){.is_open = true};
                k += 4;
                depth++;
        }
        if (k == n)
                return (struct unit){.is_open = true};
        struct unit u = {0};
        if (p[k] == '#')
                u = number_unit(p, n, k + 1);
        for (size_t i = 0; p[k] != '#' && i < sizeof entities / sizeof *entities; i++) {
                if (p[k] != (uint8_t)entities[i].name[0])
                        continue;
                b = begins(p + k, n - k, entities[i].name);
                if (b < 0)
                        return (struct unit){.is_open = true};
                if (b > 0)
                        u = (struct unit){.len = k + strlen(entities[i].name),
                                          .c = (uint8_t)entities[i].c};
        }
        if (u.len || u.is_open)
                return u;
        return (struct unit){.len = depth ? k : 0, .c = '&'};
}

static struct unit unit_at(const uint8_t *p, size_t n)
{
        return *p == '%' ? percent_unit(p, n) : *p == '\\' ? slash_unit(p, n) : entity_unit(p, n);
}

/* is_none(p, n): a quick look at the second byte: most of what may begin an escape does not. */
static bool is_none(const uint8_t *p, size_t n)
{
        if (n < 2)
                return false;
        if (*p == '%')
                return hex(p[1]) < 0;
        if (*p == '&')
                return p[1] != '#' && (unsigned)((p[1] | 0x20) - 'a') >= 26;
        return p[1] != '\\' && p[1] != 'u' && p[1] != '"' && p[1] != '/' && p[1] != 'x' &&
               p[1] != '\'';
}

/* next_special(p, from, n, cache): where the next byte is that may begin an escape; ${n}: nowhere.
 */
static size_t next_special(const uint8_t *p, size_t from, size_t n, size_t cache[3])
{
        static const char specials[3] = {'%', '\\', '&'};
        size_t first = n;
        for (int i = 0; i < 3; i++) {
                if (cache[i] == SIZE_MAX || cache[i] < from) {
                        const uint8_t *at = p + from;
                        while (at < p + n && (at = memchr(at, specials[i], (size_t)(p + n - at))) &&
                               is_none(at, (size_t)(p + n - at)))
                                at++;
                        cache[i] = at && at < p + n ? (size_t)(at - p) : n;
                }
                if (cache[i] < first)
                        first = cache[i];
        }
        return first;
}

/* rewrite(u, len, c): make the escape in ${u} stand for ${c}, in as many bytes. Where that cannot
 * be said it is filled: what stood there must go in any case. ${is_large}: with large digits. */
static void rewrite(uint8_t *u, size_t len, uint8_t c, bool is_large)
{
        const char *digits = is_large ? "0123456789ABCDEF" : "0123456789abcdef";
        if (len == 1) {
                u[0] = c;
        } else if (u[0] == '&') {
                const uint8_t *mark = memchr(u, '#', len);
                size_t k = mark ? (size_t)(mark - u) + 1 : 2;
                bool is_hex = mark && k < len && (u[k] | 0x20) == 'x';
                unsigned base = is_hex ? 16 : 10, v = c;
                k += is_hex;
                size_t end = k; /* of its digits; a ";" may follow, in any writing */
                while (end < len && hex(u[end]) >= 0 && (is_hex || hex(u[end]) < 10))
                        end++;
                if (!mark && len < 5) {
                        memset(u, 'x', len);
                        return;
                }
                if (!mark) {
                        u[1] = '#';
                        end = len - 1;
                }
                if (!is_hex && end - k < 3 && v > 99)
                        v = 'X';
                for (size_t i = end; i > k; v /= base)
                        u[--i] = (uint8_t)digits[v % base];
        } else if (u[0] == '%' || hex(u[len - 1]) >= 0) {
                u[len - 2] = (uint8_t)digits[c >> 4 & 15];
                u[len - 1] = (uint8_t)digits[c & 15];
        } else {
                memset(u, 'x', len - 1);
                u[len - 1] = c == '"' || c == '\\' ? 'x' : c;
        }
}

/* view_copy(v, p, from, to): bytes as they are. */
static void view_copy(struct scan_view *v, const uint8_t *p, size_t from, size_t to)
{
        memcpy(v->bytes + v->n, p + from, to - from);
        uint32_t *off = v->off + v->n, base = (uint32_t)from, n = (uint32_t)(to - from);
        for (uint32_t i = 0; i < n; i++)
                off[i] = base + i;
        v->n += n;
}

static void view_put(struct scan_view *v, uint8_t c, size_t off)
{
        v->bytes[v->n] = c;
        v->off[v->n++] = (uint32_t)off;
}

static void view_room(struct scan_view *v, size_t n)
{
        if (v->cap >= n + 1)
                return;
        v->cap = n + 1;
        free(v->bytes);
        free(v->off);
        v->bytes = malloc(v->cap);
        v->off = malloc(v->cap * sizeof *v->off);
        if (!v->bytes || !v->off)
                str_no_memory();
}

void scan_view_free(struct scan_view *v)
{
        free(v->bytes);
        free(v->off);
        *v = (struct scan_view){0};
}

struct look {
        const struct scan_set *set;
        const uint8_t *p; /* the window */
        struct scan_view *view;
        int level; /* 0: escapes of the window; 1: escapes that were escaped */
        struct scan_matches *matches;
        bool is_large; /* hexadecimal digits are written in large letters */
};

/* raw(k, level, i): where in the window the i-th byte of a view begins. */
static size_t raw(const struct look *k, int level, size_t i)
{
        size_t at = k->view[level].off[i];
        return level ? k->view[0].off[at] : at;
}

static void set_char(const struct look *k, int level, size_t i, uint8_t c, uint8_t *own,
                     size_t start)
{
        size_t a = k->view[level].off[i], len = k->view[level].off[i + 1] - a;
        if (c == k->view[level].bytes[i])
                return; /* it says so already, and in its own way */
        if (level == 0) {
                rewrite(own + a - start, len, c, k->is_large);
                return;
        }
        uint8_t text[UNIT_MAX];
        memcpy(text, k->view[0].bytes + a, len);
        rewrite(text, len, c, k->is_large);
        for (size_t j = 0; j < len; j++)
                set_char(k, 0, a + j, text[j], own, start);
}

/* is_large(k, from, to): are the hexadecimal digits of these escapes in large letters? */
static bool is_large(const struct look *k, size_t from, size_t to)
{
        bool has_large = false;
        for (size_t i = from; i < to; i++) {
                size_t a = raw(k, k->level, i), b = raw(k, k->level, i + 1);
                for (size_t j = b - a > 2 && k->p[a] != '&' ? b - 2 : b; j < b; j++) {
                        if (k->p[j] >= 'a')
                                return false;
                        has_large |= k->p[j] >= 'A';
                }
        }
        return has_large;
}

static void found(void *ctx, uint32_t writing, size_t from, size_t to)
{
        struct look *k = ctx;
        const struct scan_writing *w = &k->set->writings[writing];
        size_t start = raw(k, k->level, from), end = raw(k, k->level, to);
        if (end - start == to - from)
                return; /* nothing of it was escaped, so it was found in the window itself */
        for (size_t i = 0; i < k->matches->n; i++)
                if (k->matches->list[i].start == (int64_t)start &&
                    k->matches->list[i].end == (int64_t)end)
                        return; /* a writing that is made of escapes: found as such */
        struct scan_match m = {.start = (int64_t)start, .end = (int64_t)end, .writing = writing};
        if (w->stand_in) {
                m.own = malloc(end - start);
                if (!m.own)
                        str_no_memory();
                memcpy(m.own, k->p + start, end - start);
                k->is_large = is_large(k, from, to);
                for (size_t i = from; i < to; i++)
                        set_char(k, k->level, i, w->stand_in[i - from], m.own, start);
        }
        scan_matches_add(k->matches, m);
}

/* undo_again(k, is_end, open): the second view, of what the first shows. ${open}: where in the
 * first an escape begins that is not whole. */
static void undo_again(struct look *k, bool is_end, size_t *open)
{
        struct scan_view *one = &k->view[0], *two = &k->view[1];
        size_t cache[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, at = 0;
        bool has_units = false;
        two->n = 0;
        while (at < one->n) {
                size_t i = next_special(one->bytes, at, one->n, cache);
                struct unit u = i < one->n ? unit_at(one->bytes + i, one->n - i) : (struct unit){0};
                if (u.is_open && is_end)
                        u = (struct unit){0};
                if (!has_units && i == one->n) {
                        two->n = 0;
                        return;
                }
                if (two->n == 0)
                        view_room(two, one->n);
                view_copy(two, one->bytes, at, i);
                at = i;
                if (i == one->n)
                        break;
                if (u.is_open) {
                        *open = i;
                        break;
                }
                view_put(two, u.len ? u.c : one->bytes[i], i);
                has_units |= u.len > 0;
                at = i + (u.len ? u.len : 1);
        }
        two->off[two->n] = (uint32_t)at;
        if (!has_units)
                two->n = 0;
}

/* align(k, level, hold): the beginning of the escape that ${hold} is in. */
static size_t align(const struct look *k, int level, size_t hold)
{
        size_t lo = 0, hi = k->view[level].n;
        while (lo < hi) {
                size_t mid = (lo + hi) / 2;
                if (raw(k, level, mid + 1) <= hold)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        if (lo == k->view[level].n || raw(k, level, lo) > hold)
                return hold;
        return raw(k, level, lo);
}

/* region(k, end, is_last, is_end, hold): search one neighbourhood, which ends at ${end}. */
static void region(struct look *k, size_t end, bool is_last, bool is_end, size_t *hold)
{
        k->view[0].off[k->view[0].n] = (uint32_t)end;
        size_t open = SIZE_MAX;
        undo_again(k, is_end || !is_last, &open);
        for (k->level = 0; k->level < 2; k->level++) {
                const struct scan_view *v = &k->view[k->level];
                if (v->n == 0)
                        continue;
                scan_find(k->set, v->bytes, v->n, found, k);
                if (!is_last || is_end)
                        continue;
                size_t live = scan_live(k->set, v->bytes, v->n);
                if (live < v->n && raw(k, k->level, live) < *hold)
                        *hold = raw(k, k->level, live);
        }
        if (!is_last || is_end)
                return;
        if (open != SIZE_MAX) {
                /* What stands before an escape that is not whole may go on behind it. */
                size_t live = scan_live(k->set, k->view[0].bytes, open);
                if (raw(k, 0, live) < *hold)
                        *hold = raw(k, 0, live);
        }
        for (size_t before = SIZE_MAX; before != *hold;) {
                before = *hold;
                *hold = align(k, 0, align(k, 1, *hold));
        }
}

void scan_views(const struct scan_set *set, const uint8_t *p, size_t n, bool is_end,
                struct scan_view view[2], struct scan_matches *matches, size_t *hold)
{
        struct look k = {.set = set, .p = p, .view = view, .matches = matches};
        size_t cache[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, near = set->longest;
        size_t at = 0, search = 0; /* copied to here; looked for escapes to here */
        bool has_region = false;
        for (;;) {
                size_t i = next_special(p, search, n, cache);
                struct unit u = i < n ? unit_at(p + i, n - i) : (struct unit){0};
                if (i < n && u.is_open && !is_end) {
                        n = i;
                        size_t live = scan_live(set, p, n);
                        *hold = live < *hold ? live : *hold;
                } else if (i < n && u.len == 0) {
                        search = i + 1;
                        continue;
                }
                size_t stop = i < n ? i : n;
                if (has_region && (stop == n || stop - at > near)) {
                        size_t until = stop - at > near ? at + near : stop;
                        view_copy(&view[0], p, at, until);
                        at = until;
                        region(&k, at, at == n, is_end, hold);
                        has_region = false;
                }
                if (stop == n)
                        break;
                if (!has_region) {
                        view_room(&view[0], n);
                        view[0].n = 0;
                        at = i > near ? i - near : 0;
                        has_region = true;
                }
                view_copy(&view[0], p, at, i);
                view_put(&view[0], u.c, i);
                at = search = i + u.len;
        }
}
