/* file_class_fold.c - see file_class_fold.h. What is folded here is what Git itself was caught by
 * (CVE-2014-9390 and its successors: HFS+ ignorables, trailing dots, streams, 8.3 names), and what
 * a reader cannot tell apart. It errs towards "looks like": the price is one more question. */
#include "policy/file_class_fold.h"

#include "base/str.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        uint32_t from, to;
} invisible[] = {
        {0x00ad, 0x00ad},   {0x0300, 0x036f}, {0x061c, 0x061c}, {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f}, {0x202a, 0x202e},
        {0x2060, 0x206f},   {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
};

/* One code point each; letters of other scripts that look like ours, and compatibility forms. */
static const struct {
        uint16_t from;
        char to;
} alike[] = {
        {0x0130, 'i'}, {0x0131, 'i'}, {0x017f, 's'}, {0x0237, 'j'}, {0x0251, 'a'}, {0x0261, 'g'},
        {0x0269, 'i'}, {0x026a, 'i'}, {0x0391, 'a'}, {0x0392, 'b'}, {0x0395, 'e'}, {0x0396, 'z'},
        {0x0397, 'h'}, {0x0399, 'i'}, {0x039a, 'k'}, {0x039c, 'm'}, {0x039d, 'n'}, {0x039f, 'o'},
        {0x03a1, 'p'}, {0x03a4, 't'}, {0x03a5, 'y'}, {0x03a7, 'x'}, {0x03b1, 'a'}, {0x03b9, 'i'},
        {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c5, 'u'}, {0x03f2, 'c'}, {0x03f3, 'j'},
        {0x0405, 's'}, {0x0406, 'i'}, {0x0408, 'j'}, {0x0410, 'a'}, {0x0412, 'b'}, {0x0415, 'e'},
        {0x041a, 'k'}, {0x041c, 'm'}, {0x041d, 'h'}, {0x041e, 'o'}, {0x0420, 'p'}, {0x0421, 'c'},
        {0x0422, 't'}, {0x0425, 'x'}, {0x0430, 'a'}, {0x0432, 'b'}, {0x0435, 'e'}, {0x043a, 'k'},
        {0x043c, 'm'}, {0x043e, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'}, {0x0443, 'y'},
        {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x04bb, 'h'}, {0x04cf, 'l'},
        {0x0501, 'd'}, {0x050d, 'g'}, {0x051b, 'q'}, {0x051d, 'w'}, {0x0581, 'g'}, {0x0585, 'o'},
        {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2024, '.'}, {0x210a, 'g'},
        {0x212a, 'k'}, {0x2139, 'i'}, {0x2212, '-'}, {0x3002, '.'}, {0xfe52, '.'}, {0xfe63, '-'},
        {0xff0e, '.'}, {0xff61, '.'},
};

static bool is_invisible(uint32_t c)
{
        for (size_t i = 0; i < sizeof invisible / sizeof invisible[0]; i++)
                if (c >= invisible[i].from && c <= invisible[i].to)
                        return true;
        return false;
}

/* A code point as the ASCII it looks like, or 0. */
static char ascii_of(uint32_t c)
{
        if (c >= 0xff01 && c <= 0xff5e)
                return (char)tolower((int)(c - 0xff01 + '!'));
        if (c >= 0x24b6 && c <= 0x24e9) /* circled */
                return (char)('a' + (c - 0x24b6) % 26);
        if (c >= 0x1d400 && c <= 0x1d6a3) /* mathematical, thirteen alphabets of 52 */
                return (char)('a' + (c - 0x1d400) % 26);
        if (c >= 0x1d7ce && c <= 0x1d7ff)
                return (char)('0' + (c - 0x1d7ce) % 10);
        for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
                if (alike[i].from == c)
                        return alike[i].to;
        return 0;
}

/* One code point of UTF-8; its length, or 0 when it is none. */
static size_t code_point(const unsigned char *s, size_t len, uint32_t *c)
{
        size_t n = s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
        if (n == 0 || s[0] >= 0xf8 || n > len)
                return 0;
        *c = s[0] & (0x7fU >> n);
        for (size_t i = 1; i < n; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
                *c = *c << 6 | (s[i] & 0x3fU);
        }
        return n;
}

void file_fold(const char *name, size_t len, char *out)
{
        const unsigned char *s = (const unsigned char *)name;
        size_t at = 0;
        for (size_t i = 0; i < len;) {
                uint32_t c = 0;
                size_t n = s[i] < 0x80 ? 0 : code_point(s + i, len - i, &c);
                if (n == 0) {
                        if (s[i] >= 0x20 && s[i] != 0x7f) /* control bytes count for nothing */
                                out[at++] = (char)(s[i] < 0x80 ? tolower(s[i]) : s[i]);
                        i++;
                        continue;
                }
                char as = is_invisible(c) ? 0 : ascii_of(c);
                if (as) {
                        out[at++] = as;
                } else if (!is_invisible(c)) {
                        memcpy(out + at, name + i, n);
                        at += n;
                }
                i += n;
        }
        out[at] = '\0';
        char *stream = strchr(out, ':');
        if (stream && stream > out)
                at = (size_t)(stream - out);
        while (at > 0 && (out[at - 1] == ' ' || out[at - 1] == '.'))
                at--;
        out[at] = '\0';
}

static bool is_separator(char c)
{
        return c == '/' || c == '\\';
}

void file_parts_of(struct file_parts *p, const char *path)
{
        *p = (struct file_parts){0};
        size_t len = strlen(path), max = 1;
        for (size_t i = 0; i < len; i++)
                max += is_separator(path[i]);
        /* Each byte twice, and a NUL for each component. */
        p->space = malloc(2 * (len + max) + 2);
        p->raw = calloc(max, sizeof *p->raw);
        p->folded = calloc(max, sizeof *p->folded);
        if (!p->space || !p->raw || !p->folded)
                str_no_memory();
        char *to = p->space;
        for (size_t i = 0; i < len;) {
                size_t n = 0;
                while (i + n < len && !is_separator(path[i + n]))
                        n++;
                if (n > 0 && !(n == 1 && path[i] == '.')) {
                        p->raw[p->n] = memcpy(to, path + i, n);
                        to[n] = '\0';
                        to += n + 1;
                        p->folded[p->n++] = to;
                        file_fold(path + i, n, to);
                        p->may_begin[(unsigned char)*to] = true;
                        p->may_begin[tolower((unsigned char)path[i])] = true;
                        to += strlen(to) + 1;
                }
                i += n + 1;
        }
        if (memchr(path, '~', len) || memchr(p->space, '~', (size_t)(to - p->space)))
                memset(p->may_begin, true, sizeof p->may_begin);
}

void file_parts_free(struct file_parts *p)
{
        free(p->raw);
        free(p->folded);
        free(p->space);
        *p = (struct file_parts){0};
}

/* Stars and question marks; goes back to the last star only, so the work is bounded by the product
 * of the lengths. */
static bool matches(const char *p, size_t p_len, const char *s, bool with_case)
{
        size_t i = 0, star = SIZE_MAX;
        const char *from = NULL;
        while (*s) {
                if (i < p_len && p[i] == '*') {
                        star = i++;
                        from = s;
                } else if (i < p_len &&
                           (p[i] == '?' ||
                            (with_case ? p[i] : (char)tolower((unsigned char)p[i])) == *s)) {
                        i++;
                        s++;
                } else if (star != SIZE_MAX) {
                        i = star + 1;
                        s = ++from;
                } else {
                        return false;
                }
        }
        while (i < p_len && p[i] == '*')
                i++;
        return i == p_len;
}

/* "git~1" for ".git", "packag~2.jso" for "package.json". The four digits of a hash that NTFS uses
 * from the fifth name on ("gi7eba~1") are accepted as any four. */
static bool is_short_name(const char *p, size_t len, const char *s)
{
        const char *tilde = strchr(s, '~');
        if (!tilde || tilde == s || tilde - s > 6 || !isdigit((unsigned char)tilde[1]))
                return false;
        const char *end = tilde + 1;
        while (isdigit((unsigned char)*end))
                end++;
        if (*end != '\0' && *end != '.')
                return false;
        while (len > 0 && *p == '.') {
                p++;
                len--;
        }
        size_t dot = len;
        for (size_t i = 0; i < len; i++) {
                if (p[i] == '*' || p[i] == '?')
                        return false;
                if (p[i] == '.')
                        dot = i;
        }
        size_t base_n = (size_t)(tilde - s), have = 0;
        char base[8] = "";
        for (size_t i = 0; i < dot && have < 6; i++)
                if (p[i] != '.' && p[i] != ' ')
                        base[have++] = (char)tolower((unsigned char)p[i]);
        bool is_plain = base_n == have && memcmp(base, s, base_n) == 0;
        bool is_hashed = base_n == 6 && have >= 2 && memcmp(base, s, 2) == 0 &&
                         strspn(s + 2, "0123456789abcdef") >= 4;
        if (!is_plain && !is_hashed)
                return false;
        size_t ext = dot < len ? len - dot - 1 : 0;
        ext = ext > 3 ? 3 : ext;
        if (*end == '\0')
                return ext == 0;
        return strlen(end + 1) == ext && matches(p + dot + 1, ext, end + 1, false);
}

bool file_part_is(const char *pattern, size_t len, const char *folded)
{
        return matches(pattern, len, folded, false) || is_short_name(pattern, len, folded);
}

bool file_part_is_exactly(const char *pattern, size_t len, const char *raw)
{
        return matches(pattern, len, raw, true);
}
