/* path_steps.c - see path_steps.h. Pure; linear, because the text comes from the box. */
#include "policy/path_steps.h"

#include "policy/path_canon.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int path_step_hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* step_digits(s, n): the value of ${n} hexadecimal digits, or -1. */
static int step_digits(const char *s, size_t n)
{
        int v = 0;
        for (size_t i = 0; i < n; i++) {
                int d = path_step_hex(s[i]);
                if (d < 0)
                        return -1;
                v = v * 16 + d;
        }
        return v;
}

/* step_put(s, at, c): a code point below 0x10000 as UTF-8, which is never longer than %uXXXX. */
static size_t step_put(char *s, size_t at, int c)
{
        if (c < 0x80) {
                s[at++] = (char)(c == '/' ? PATH_ENC_SLASH : c);
        } else if (c < 0x800) {
                s[at++] = (char)(0xc0 | c >> 6);
                s[at++] = (char)(0x80 | (c & 0x3f));
        } else {
                s[at++] = (char)(0xe0 | c >> 12);
                s[at++] = (char)(0x80 | (c >> 6 & 0x3f));
                s[at++] = (char)(0x80 | (c & 0x3f));
        }
        return at;
}

/* An escape that ends at the byte just written gives way to what it stands for, which may be the
 * end of another one. */
size_t path_step_decode(char *s, size_t n)
{
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
                s[at++] = s[i];
                for (;;) {
                        int two = at >= 3 && s[at - 3] == '%' ? step_digits(s + at - 2, 2) : -1;
                        int four = at >= 6 && s[at - 6] == '%' && (s[at - 5] | 32) == 'u'
                                           ? step_digits(s + at - 4, 4)
                                           : -1;
                        if (two >= 0) {
                                at -= 3;
                                s[at++] = (char)(two == '/' ? PATH_ENC_SLASH : two);
                        } else if (four >= 0) {
                                at = step_put(s, at - 6, four);
                        } else {
                                break;
                        }
                }
        }
        return at;
}

void path_step_slashes(char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (s[i] == PATH_ENC_SLASH || s[i] == '\\')
                        s[i] = '/';
}

size_t path_step_params(char *s, size_t len)
{
        size_t n = 0;
        bool is_param = false;
        for (size_t i = 0; i < len; i++) {
                is_param = s[i] == ';' || (is_param && s[i] != '/');
                if (!is_param)
                        s[n++] = s[i];
        }
        return n;
}

/* step_stream(s, n): the length of a segment without its stream ("x::$DATA" is x to NTFS). A colon
 * alone names another stream, and is a verb to others ("models/x:generate"). */
static size_t step_stream(const char *s, size_t n)
{
        for (size_t i = 0; i + 1 < n; i++) {
                if (s[i] != ':')
                        continue;
                for (size_t k = i; k + 1 < n; k++)
                        if (s[k] == ':' && s[k + 1] == '$')
                                return i;
                break;
        }
        return n;
}

size_t path_step_trim(char *s, size_t len)
{
        size_t n = 0;
        for (size_t i = 0; i < len;) {
                size_t end = i;
                while (end < len && s[end] != '/')
                        end++;
                size_t keep = step_stream(s + i, end - i);
                while (keep > 0 && (s[i + keep - 1] == '.' || s[i + keep - 1] == ' '))
                        keep--;
                memmove(s + n, s + i, keep);
                n += keep;
                if (end < len)
                        s[n++] = '/';
                i = end + 1;
        }
        return n;
}

size_t path_step_merge(char *s, size_t len)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++)
                if (s[i] != '/' || n == 0 || s[n - 1] != '/')
                        s[n++] = s[i];
        return n;
}
