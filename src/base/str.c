/* str.c - see str.h. */
#include "base/str.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void str_no_memory(void)
{
        static const char words[] = "ostiary: out of memory\n";
        ssize_t ignored = write(2, words, sizeof words - 1);
        (void)ignored;
        _exit(125);
}

char *str_dup(const char *s)
{
        char *d = strdup(s);
        if (!d)
                str_no_memory();
        return d;
}

char *str_vfmt(const char *fmt, va_list ap)
{
        char *s;
        if (vasprintf(&s, fmt, ap) < 0)
                str_no_memory();
        return s;
}

char *str_fmt(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *s = str_vfmt(fmt, ap);
        va_end(ap);
        return s;
}

bool str_starts(const char *s, const char *prefix)
{
        return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
        size_t n = strlen(s), m = strlen(suffix);
        return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_is_beneath(const char *path, const char *dir)
{
        size_t n = strlen(dir);
        while (n > 1 && dir[n - 1] == '/')
                n--;
        if (n == 1 && dir[0] == '/')
                return path[0] == '/';
        return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/');
}

int str_u64(const char *s, uint64_t *out)
{
        uint64_t n = 0;
        if (!*s)
                return -1;
        for (; *s; s++) {
                if (*s < '0' || *s > '9')
                        return -1;
                if (__builtin_mul_overflow(n, 10u, &n) ||
                    __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
                        return -1;
        }
        *out = n;
        return 0;
}

/* number_with_unit(s, units, factors, &out): digits and at most one unit letter of ${units}. */
static int number_with_unit(const char *s, const char *units, const uint64_t *factors,
                            uint64_t *out)
{
        char digits[24];
        size_t n = strspn(s, "0123456789");
        if (n == 0 || n >= sizeof digits)
                return -1;
        memcpy(digits, s, n);
        digits[n] = 0;
        uint64_t v, factor = 1;
        if (str_u64(digits, &v) < 0)
                return -1;
        if (s[n]) {
                char letter = s[n];
                const char *at = strchr(units, letter);
                if (!at || s[n + 1])
                        return -1;
                factor = factors[at - units];
        }
        return __builtin_mul_overflow(v, factor, out) ? -1 : 0;
}

int str_size(const char *s, uint64_t *out)
{
        static const uint64_t f[] = {1024, 1u << 20, 1u << 30, 1ull << 40,
                                     1024, 1u << 20, 1u << 30, 1ull << 40};
        return number_with_unit(s, "KMGTkmgt", f, out);
}

int str_duration(const char *s, uint64_t *out)
{
        static const uint64_t f[] = {1, 60, 3600, 86400};
        return number_with_unit(s, "smhd", f, out);
}

const char *str_size_words(uint64_t n, char buf[16])
{
        static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
        double v = (double)n;
        size_t u = 0;
        while (v >= 1024 && u < 4) {
                v /= 1024;
                u++;
        }
        snprintf(buf, 16, u ? "%.1f %s" : "%.0f %s", v, unit[u]);
        return buf;
}

/* distance(a, b): how many letters to add, drop, change or swap; words here are short. */
static size_t distance(const char *a, const char *b)
{
        size_t n = strlen(a), m = strlen(b);
        size_t d[34][34];
        if (n > 32 || m > 32)
                return SIZE_MAX; /* nobody meant that */
        for (size_t i = 0; i <= n; i++)
                d[i][0] = i;
        for (size_t j = 0; j <= m; j++)
                d[0][j] = j;
        for (size_t i = 1; i <= n; i++) {
                for (size_t j = 1; j <= m; j++) {
                        size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                        if (d[i - 1][j] + 1 < best)
                                best = d[i - 1][j] + 1;
                        if (d[i][j - 1] + 1 < best)
                                best = d[i][j - 1] + 1;
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                            d[i - 2][j - 2] + 1 < best)
                                best = d[i - 2][j - 2] + 1;
                        d[i][j] = best;
                }
        }
        return d[n][m];
}

/* is_slip(word, name, d): could ${word}, ${d} letters away, be a slip of the finger? In a short word
 * one letter makes another word ("ttl", "tty"), so there it must lie inside: a swap, or a letter
 * too many, too few or wrong between the first and the last. */
static bool is_slip(const char *word, const char *name, size_t d)
{
        size_t len = strlen(word), n = strlen(name);
        if (len < 5)
                return d == 1 && word[0] && n &&
                       ((word[0] == name[0] && word[len - 1] == name[n - 1]) ||
                        (len == n && word[0] != name[0] && word[1] == name[0]) ||
                        (len == n && len > 1 && word[len - 1] == name[n - 2]));
        return d <= (len < 8 ? 1 : 2);
}

const char *str_suggest(const char *word, const char *const *names, size_t n)
{
        const char *best = NULL;
        size_t len = strlen(word), best_d = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
                /* The beginning of a name is as near as one wrong letter. */
                bool is_begun = len >= 3 && strncmp(word, names[i], len) == 0;
                size_t d = is_begun ? 1 : distance(word, names[i]);
                if (d < best_d && (is_begun || is_slip(word, names[i], d))) {
                        best_d = d;
                        best = names[i];
                }
        }
        return best;
}

size_t str_seen(const void *at)
{
        const unsigned char *s = at;
        uint32_t cp;
        size_t n;
        if (s[0] < 0x80)
                return s[0] >= 0x20 && s[0] != 0x7f && s[0] != '\\' ? 1 : 0;
        if (s[0] >= 0xc2 && s[0] <= 0xdf) {
                n = 2;
                cp = s[0] & 0x1fu;
        } else if ((s[0] & 0xf0) == 0xe0) {
                n = 3;
                cp = s[0] & 0x0fu;
        } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
                n = 4;
                cp = s[0] & 0x07u;
        } else {
                return 0;
        }
        for (size_t i = 1; i < n; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
                cp = cp << 6 | (s[i] & 0x3fu);
        }
        bool is_overlong = (n == 3 && cp < 0x800) || (n == 4 && cp < 0x10000);
        bool is_odd = cp < 0xa0 || (cp >= 0xd800 && cp <= 0xdfff) || cp > 0x10ffff;
        bool is_bidi = cp == 0x061c || (cp >= 0x200b && cp <= 0x200f) ||
                       (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) ||
                       cp == 0xfeff || cp == 0xad || (cp >= 0xfff0 && cp <= 0xfffb) ||
                       (cp >= 0xe0000 && cp <= 0xe0fff);
        return is_overlong || is_odd || is_bidi ? 0 : n;
}

char *str_quote(const char *s)
{
        size_t len = strlen(s);
        char *out = malloc(len * 4 + 1), *o = out;
        if (!out)
                str_no_memory();
        for (const unsigned char *p = (const unsigned char *)s; *p;) {
                size_t n = str_seen(p);
                if (n) {
                        memcpy(o, p, n);
                        o += n;
                        p += n;
                } else {
                        o += snprintf(o, 5, "\\x%02x", *p++);
                }
        }
        *o = 0;
        return out;
}

char *str_shell(const char *s)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *shown = str_quote(s);
        bool is_odd = strcmp(shown, s) != 0;
        bool is_plain = !is_odd && *s;
        for (const char *p = s; *p && is_plain; p++)
                is_plain = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_./:@+=,%",
                                  *p) != NULL;
        if (is_plain)
                return str_dup(s);
        buf_put_str(&b, is_odd ? "$'" : "'");
        for (const char *p = is_odd ? shown : s; *p; p++) {
                if (*p == '\'')
                        buf_put_str(&b, is_odd ? "\\x27" : "'\\''");
                else
                        buf_put_u8(&b, (uint8_t)*p);
        }
        buf_put_str(&b, "'");
        return str_dup(buf_cstr(&b));
}
