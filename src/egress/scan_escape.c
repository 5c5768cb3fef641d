/* scan_escape.c - one escape in a text: what it stands for, and how it is made to stand for another
 * letter in as many bytes. See scan_int.h; called by scan_view.c. Pure. What an escape means
 * depends on nothing before it.
 *
 * The end of a line in the middle of base64 (mail, PEM, git's contents in JSON) is taken for an
 * escape of the letter behind it. */
#include "egress/scan_int.h"

#include <string.h>

enum { NESTED_MAX = 8, SLASHES_MAX = 16, DIGITS_MAX = 7, INDENT_MAX = 6, LINE_END_MAX = 40 };

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

/* percent_u(p, n): %u0073, as escape() of browsers writes it. */
static struct scan_escape percent_u(const uint8_t *p, size_t n)
{
        unsigned v = 0;
        size_t k = 2;
        while (k < n && k < 6 && hex(p[k]) >= 0)
                v = v << 4 | (unsigned)hex(p[k++]);
        if (k == n && k < 6)
                return (struct scan_escape){.is_open = true};
        return (struct scan_escape){.len = k == 6 ? k : 0, .c = v < 0x80 ? (uint8_t)v : 0x80};
}

static struct scan_escape percent_unit(const uint8_t *p, size_t n)
{
        size_t k = 1;
        if (n > 1 && (p[1] | 0x20) == 'u')
                return percent_u(p, n);
        for (int depth = 0;; depth++) {
                if (k + 2 > n && (k == n || hex(p[k]) >= 0))
                        return (struct scan_escape){.is_open = true};
                bool is_hex = k + 2 <= n && hex(p[k]) >= 0 && hex(p[k + 1]) >= 0;
                if (!is_hex || depth == NESTED_MAX)
                        return (struct scan_escape){.len = depth ? k : 0, .c = '%'};
                if (p[k] != '2' || p[k + 1] != '5')
                        return (struct scan_escape){.len = k + 2,
                                                    .c = (uint8_t)(hex(p[k]) << 4 | hex(p[k + 1]))};
                k += 2;
        }
}

static bool is_base64(uint8_t c)
{
        return (c >= '0' && c <= '9') || (uint8_t)((c | 0x20) - 'a') < 26 || c == '+' || c == '/' ||
               c == '-' || c == '_' || c == '=';
}

/* brace_unit(p, n, k): \\u{73} and \\x{73}, whose digits begin at ${k}. */
static struct scan_escape brace_unit(const uint8_t *p, size_t n, size_t k)
{
        size_t from = k;
        unsigned v = 0;
        while (k < n && k - from < DIGITS_MAX && hex(p[k]) >= 0)
                v = v << 4 | (unsigned)hex(p[k++]);
        if (k == n)
                return (struct scan_escape){.is_open = true};
        if (k == from || p[k] != '}')
                return (struct scan_escape){0};
        return (struct scan_escape){.len = k + 1, .c = v < 0x80 ? (uint8_t)v : 0x80};
}

static bool is_octal(uint8_t c)
{
        return c >= '0' && c <= '7';
}

/* octal_unit(p, n, k): \\163, as C, shells and git write it. \\0163 is one too, where three digits
 * would be a control character, which no text has. */
static struct scan_escape octal_unit(const uint8_t *p, size_t n, size_t k)
{
        size_t from = k, most = 3;
        unsigned v = 0;
        while (k < n && k - from < most && is_octal(p[k])) {
                v = v << 3 | (unsigned)(p[k++] - '0');
                if (k - from == 3 && p[from] == '0' && v < 0x20)
                        most = 4;
        }
        if (k == n && k - from < most)
                return (struct scan_escape){.is_open = true};
        return (struct scan_escape){.len = k, .c = v < 0x80 ? (uint8_t)v : 0x80};
}

static struct scan_escape slash_unit(const uint8_t *p, size_t n)
{
        size_t k = 1, digits = 0;
        while (k < n && k < SLASHES_MAX && p[k] == '\\')
                k++;
        if (k == n)
                return (struct scan_escape){.is_open = true};
        if ((p[k] == 'u' || p[k] == 'x') && k + 1 < n && p[k + 1] == '{')
                return brace_unit(p, n, k + 2);
        if (is_octal(p[k]))
                return octal_unit(p, n, k);
        if (p[k] == 'u' || p[k] == 'x' || p[k] == 'U') {
                unsigned v = 0;
                size_t want = p[k] == 'u' ? 4 : p[k] == 'U' ? 8 : 2;
                while (digits < want && k + 1 + digits < n && hex(p[k + 1 + digits]) >= 0)
                        v = v << 4 | (unsigned)hex(p[k + 1 + digits++]);
                if (digits < want && k + 1 + digits == n)
                        return (struct scan_escape){.is_open = true};
                if (digits == want)
                        return (struct scan_escape){.len = k + 1 + want,
                                                    .c = v < 0x80 ? (uint8_t)v : 0x80};
        }
        if (p[k] == '"' || p[k] == '/' || p[k] == '\'')
                return (struct scan_escape){.len = k + 1, .c = p[k]};
        return (struct scan_escape){.len = k > 1 ? k : 0, .c = '\\'};
}

static struct scan_escape number_unit(const uint8_t *p, size_t n, size_t k)
{
        size_t digits = 0;
        bool is_hex = k < n && (p[k] | 0x20) == 'x';
        unsigned v = 0;
        k += is_hex;
        while (k + digits < n && digits < DIGITS_MAX && hex(p[k + digits]) >= 0 &&
               (is_hex || hex(p[k + digits]) < 10))
                v = v * (is_hex ? 16 : 10) + (unsigned)hex(p[k + digits++]);
        if (k + digits >= n)
                return (struct scan_escape){.is_open = true};
        if (digits == 0)
                return (struct scan_escape){0};
        k += digits;
        size_t end = p[k] == ';'; /* which may be escaped itself, as a cookie does it */
        if (p[k] == '%' || p[k] == '\\') {
                struct scan_escape semi =
                        p[k] == '%' ? percent_unit(p + k, n - k) : slash_unit(p + k, n - k);
                if (semi.is_open)
                        return semi;
                end = semi.len && semi.c == ';' ? semi.len : 0;
        }
        return (struct scan_escape){.len = k + end, .c = v < 0x80 ? (uint8_t)v : 0x80};
}

/* begins(p, n, word): 1: with ${word}; -1: the bytes end within it; 0: no. */
static int begins(const uint8_t *p, size_t n, const char *word)
{
        size_t len = strlen(word), m = n < len ? n : len;
        if (memcmp(p, word, m) != 0)
                return 0;
        return m == len ? 1 : -1;
}

static struct scan_escape entity_unit(const uint8_t *p, size_t n)
{
        size_t k = 1;
        int depth = 0, b;
        while (depth < NESTED_MAX && (b = begins(p + k, n - k, "amp;")) != 0) {
                if (b < 0)
                        return (struct scan_escape){.is_open = true};
                k += 4;
                depth++;
        }
        if (k == n)
                return (struct scan_escape){.is_open = true};
        struct scan_escape u = {0};
        if (p[k] == '#')
                u = number_unit(p, n, k + 1);
        for (size_t i = 0; p[k] != '#' && i < sizeof entities / sizeof *entities; i++) {
                if (p[k] != (uint8_t)entities[i].name[0])
                        continue;
                b = begins(p + k, n - k, entities[i].name);
                if (b < 0)
                        return (struct scan_escape){.is_open = true};
                if (b > 0)
                        u = (struct scan_escape){.len = k + strlen(entities[i].name),
                                                 .c = (uint8_t)entities[i].c};
        }
        if (u.len || u.is_open)
                return u;
        return (struct scan_escape){.len = depth ? k : 0, .c = '&'};
}

/* half_end(p, n, c): how long the half of a line end is that begins here: the byte itself,
 * backslashes and the letter that stands for it, or any escape of it. 0: none; -1: the bytes end before that is decided. */
static int half_end(const uint8_t *p, size_t n, char letter, char byte)
{
        size_t k = 0;
        if (n == 0)
                return -1;
        if (*p == (uint8_t)byte)
                return 1;
        while (k < n && k < SLASHES_MAX && p[k] == '\\')
                k++;
        if (k > 0 && k < n && p[k] == (uint8_t)letter)
                return (int)k + 1;
        struct scan_escape u = *p == '%'    ? percent_unit(p, n)
                               : *p == '&'  ? entity_unit(p, n)
                               : *p == '\\' ? slash_unit(p, n)
                                            : (struct scan_escape){0};
        if (u.is_open)
                return -1;
        return u.len && u.c == (uint8_t)byte ? (int)u.len : 0;
}

/* line_end(p, n): how long the end of a line is that begins here, as it is or escaped in any way;
 * 0: none, or one that is longer than any that programs write. -1: the bytes end before that is decided. */
static int line_end(const uint8_t *p, size_t n)
{
        int cr = half_end(p, n, 'r', '\r');
        if (cr < 0)
                return -1;
        int lf = half_end(p + cr, n - (size_t)cr, 'n', '\n');
        return lf <= 0 ? lf : cr + lf <= LINE_END_MAX ? cr + lf : 0;
}

static struct scan_escape line_unit(const uint8_t *p, size_t n)
{
        int end = line_end(p, n);
        size_t k = end > 0 ? (size_t)end : 0;
        if (end == 0)
                return (struct scan_escape){0};
        while (end > 0 && k < n && k < (size_t)end + INDENT_MAX && (p[k] == ' ' || p[k] == '\t'))
                k++;
        if (end < 0 || k == n)
                return (struct scan_escape){.is_open = true};
        return (struct scan_escape){.len = is_base64(p[k]) ? k + 1 : 0, .c = p[k]};
}

/* soft_unit(p, n): "=" and the end of a line, where quoted-printable breaks a long one. */
static struct scan_escape soft_unit(const uint8_t *p, size_t n)
{
        int end = line_end(p + 1, n - 1);
        size_t k = end > 0 ? (size_t)end + 1 : 0;
        if (end == 0)
                return (struct scan_escape){0};
        if (end < 0 || k == n)
                return (struct scan_escape){.is_open = true};
        return (struct scan_escape){.len = p[k] > 0x20 && p[k] < 0x7f ? k + 1 : 0, .c = p[k]};
}

static bool is_line_unit(const uint8_t *p, size_t n)
{
        return half_end(p, n, 'n', '\n') > 0 || half_end(p, n, 'r', '\r') > 0;
}

struct scan_escape scan_escape_read(const uint8_t *p, size_t n, bool is_line)
{
        if (*p == '=')
                return soft_unit(p, n);
        struct scan_escape line =
                is_line && is_line_unit(p, n) ? line_unit(p, n) : (struct scan_escape){0};
        if (line.len || line.is_open || *p == '\n' || *p == '\r')
                return line;
        return *p == '%' ? percent_unit(p, n) : *p == '\\' ? slash_unit(p, n) : entity_unit(p, n);
}

size_t scan_base64_run(const uint8_t *p, size_t at, size_t before)
{
        size_t i = at;
        while (i > 0 && at - i < SCAN_LINE_MIN && (is_base64(p[i - 1]) || p[i - 1] == '\\'))
                i--;
        size_t n = at - i + (i == 0 ? before : 0);
        return n < SCAN_LINE_MIN ? n : SCAN_LINE_MIN;
}

/* is_none(p, n): a quick look at the second byte: most of what may begin an escape does not. */
static bool is_none(const uint8_t *p, size_t n)
{
        if (n < 2)
                return false;
        if (*p == '%')
                return hex(p[1]) < 0 && (p[1] | 0x20) != 'u';
        if (*p == '&')
                return p[1] != '#' && (unsigned)((p[1] | 0x20) - 'a') >= 26;
        return p[1] != '\\' && (p[1] | 0x20) != 'u' && p[1] != '"' && p[1] != '/' && p[1] != 'x' &&
               p[1] != '\'' && !is_octal(p[1]);
}

bool scan_is_line(const uint8_t *p, size_t at, size_t before)
{
        return before != SCAN_NO_LINES && scan_base64_run(p, at, before) == SCAN_LINE_MIN;
}

/* half_line(p, from, n, before): where a line end begins whose first half is the last byte. */
static size_t half_line(const uint8_t *p, size_t from, size_t n, size_t before)
{
        if (p[n - 1] != '\r' || before == SCAN_NO_LINES)
                return n;
        if (n - from > 1 && p[n - 2] == '=')
                return n - 2;
        return scan_is_line(p, n - 1, before) ? n - 1 : n;
}

/* next_of(p, from, n, special, before): where the next byte is that may begin an escape with this
 * one. */
static size_t next_of(const uint8_t *p, size_t from, size_t n, char special, size_t before)
{
        for (size_t i = from; i < n; i++) {
                const uint8_t *at = memchr(p + i, special, n - i);
                if (!at) /* half of a line end may be the last that came */
                        return special == '\n' ? half_line(p, from, n, before) : n;
                i = (size_t)(at - p);
                size_t start = special == '\n' && i > from && p[i - 1] == '\r' ? i - 1 : i;
                if (start > from && p[start - 1] == '=' && before != SCAN_NO_LINES &&
                    is_line_unit(at, n - i))
                        return start - 1;
                if (scan_is_line(p, start, before) && is_line_unit(at, n - i))
                        return start;
                if (special != '\n' && !is_none(at, n - i))
                        return i;
        }
        return n;
}

size_t scan_escape_next(const uint8_t *p, size_t from, size_t n, size_t before,
                        size_t cache[SCAN_ESCAPES])
{
        static const char specials[SCAN_ESCAPES] = {'%', '\\', '&', '\n'};
        size_t first = n;
        for (int i = 0; i < SCAN_ESCAPES; i++) {
                if (cache[i] == SIZE_MAX || cache[i] < from)
                        cache[i] = next_of(p, from, n, specials[i], before);
                if (cache[i] < first)
                        first = cache[i];
        }
        return first;
}

/* is_octal_unit(u, len): backslashes and three digits and more. With fewer, not every letter can be
 * said. */
static bool is_octal_unit(const uint8_t *u, size_t len)
{
        size_t k = 0;
        while (k < len && u[k] == '\\')
                k++;
        return len - k >= 3 && u[k] != 'x' && (u[k] | 0x20) != 'u';
}

void scan_escape_write(uint8_t *u, size_t len, uint8_t c, bool is_large)
{
        const char *digits = is_large ? "0123456789ABCDEF" : "0123456789abcdef";
        if (len == 1 || is_line_unit(u, len)) {
                u[len - 1] = c;
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
        } else if (u[0] == '=') { /* a soft end of a line, and the letter */
                u[len - 1] = c;
        } else if (u[0] == '\\' && is_octal_unit(u, len)) {
                for (size_t i = len, v = c; i > len - 3; v >>= 3)
                        u[--i] = (uint8_t)('0' + (v & 7));
        } else if (u[len - 1] == '}' && len > 4) {
                u[len - 3] = (uint8_t)digits[c >> 4 & 15];
                u[len - 2] = (uint8_t)digits[c & 15];
        } else if (u[0] == '%' || hex(u[len - 1]) >= 0) {
                u[len - 2] = (uint8_t)digits[c >> 4 & 15];
                u[len - 1] = (uint8_t)digits[c & 15];
        } else {
                memset(u, 'x', len - 1);
                u[len - 1] = c == '"' || c == '\\' ? 'x' : c;
        }
}
