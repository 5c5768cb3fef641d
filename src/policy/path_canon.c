/* path_canon.c - see path_canon.h. Pure; called by egress for every request and by whoever checks a
 * rule against a URL. It must never accept a path whose canonical text has another canonical text.
 */
#include "policy/path_canon.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/fold.h"
#include "policy/path_steps.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
        ODD_DOUBLE_SLASH = 1, /* some merge them */
        ODD_ENC_SLASH = 2,    /* some decode %2F before they cut */
        ODD_PARAMS = 4,       /* some drop ;x from a segment */
        ODD_PERCENT = 8,      /* some decode twice */
};

static bool is_unreserved(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-._~", c));
}

/* What may stand in a path unencoded besides those. */
static bool is_path_mark(unsigned char c)
{
        return c && strchr("!$&'()*+,;=:@/", c);
}

static const char *bad_plain(unsigned char c)
{
        if (c < 0x20 || c == 0x7f)
                return "a path has no control characters in it, encoded or not";
        if (c == '\\')
                return "a path has no backslashes in it, encoded or not: some servers take them "
                       "for /";
        return NULL;
}

/* Length of the valid UTF-8 sequence at ${s}, 0 if it is none: overlong forms of / and . are an old
 * way around a filter. */
static size_t utf8_len(const unsigned char *s, size_t left)
{
        size_t n = s[0] < 0x80                    ? 1
                   : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                   : (s[0] & 0xf0) == 0xe0        ? 3
                                                  : 4;
        if (n > left || (n == 4 && (s[0] < 0xf0 || s[0] > 0xf4)) || (s[0] >= 0x80 && s[0] < 0xc2))
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
            (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
                return 0;
        return n;
}

static bool is_utf8(const char *s, size_t len)
{
        for (size_t i = 0; i < len;) {
                size_t n = utf8_len((const unsigned char *)s + i, len - i);
                if (!n)
                        return false;
                i += n;
        }
        return true;
}

long path_canon_decode(const char *bytes, size_t len, char *out, const char **why)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
                unsigned char c = (unsigned char)bytes[i];
                bool is_encoded = c == '%';
                if (is_encoded) {
                        int high = i + 2 < len ? path_step_hex(bytes[i + 1]) : -1;
                        int low = i + 2 < len ? path_step_hex(bytes[i + 2]) : -1;
                        if (high < 0 || low < 0) {
                                *why = "a % in a path is followed by two hexadecimal digits";
                                return -1;
                        }
                        c = (unsigned char)(high * 16 + low);
                        i += 2;
                } else if (c == ' ' || c == '#' || c == '?') {
                        *why = "a path has no space, # or ? in it unless they are encoded";
                        return -1;
                }
                *why = bad_plain(c);
                if (*why)
                        return -1;
                out[n++] = is_encoded && c == '/' ? PATH_ENC_SLASH : (char)c;
        }
        if (!is_utf8(out, n)) {
                *why = "a path is UTF-8, also where it is encoded";
                return -1;
        }
        return (long)n;
}

size_t path_canon_put_encoded(unsigned char c, char out[3])
{
        static const char digits[] = "0123456789ABCDEF";
        if (is_unreserved(c) || is_path_mark(c)) {
                out[0] = (char)c;
                return 1;
        }
        if (c == PATH_ENC_SLASH)
                c = '/';
        out[0] = '%';
        out[1] = digits[c >> 4];
        out[2] = digits[c & 15];
        return 3;
}

/* Normal spelling of each byte: unreserved decoded, reserved as they came (an encoded + is not a
 * bare one to every server), everything else encoded. ${out} has room for three times ${len}. */
static size_t normal(const char *bytes, size_t len, char *out)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
                unsigned char c = (unsigned char)bytes[i];
                if (c == '%') {
                        c = (unsigned char)(path_step_hex(bytes[i + 1]) * 16 +
                                            path_step_hex(bytes[i + 2]));
                        i += 2;
                        if (is_path_mark(c)) {
                                static const char digits[] = "0123456789ABCDEF";
                                out[n++] = '%';
                                out[n++] = digits[c >> 4];
                                out[n++] = digits[c & 15];
                                continue;
                        }
                }
                n += path_canon_put_encoded(c, out + n);
        }
        return n;
}

/* RFC 3986 5.2.4, in place, on text that begins with a slash. */
static size_t without_dots(char *s, size_t len)
{
        size_t out = 0;
        for (size_t i = 0; i < len;) {
                size_t end = i + 1;
                while (end < len && s[end] != '/')
                        end++;
                size_t seg = end - i - 1;
                bool is_dot = seg == 1 && s[i + 1] == '.';
                bool is_up = seg == 2 && s[i + 1] == '.' && s[i + 2] == '.';
                if (is_up)
                        while (out > 0 && s[--out] != '/')
                                ;
                if (!is_dot && !is_up) {
                        memmove(s + out, s + i, end - i);
                        out += end - i;
                } else if (end == len) {
                        s[out++] = '/';
                }
                i = end;
        }
        return out;
}

static bool has_dot_segment(const char *s, size_t len)
{
        for (size_t i = 0; i < len; i++) {
                if (s[i] != '/')
                        continue;
                size_t dots = 0;
                while (i + 1 + dots < len && s[i + 1 + dots] == '.')
                        dots++;
                size_t after = i + 1 + dots;
                if ((dots == 1 || dots == 2) &&
                    (after == len || s[after] == '/' || s[after] == ';'))
                        return true;
        }
        return false;
}

static unsigned oddities(const char *s, size_t len)
{
        unsigned odd = 0;
        for (size_t i = 0; i < len; i++) {
                if (s[i] == '/' && i + 1 < len && s[i + 1] == '/')
                        odd |= ODD_DOUBLE_SLASH;
                if (s[i] == PATH_ENC_SLASH)
                        odd |= ODD_ENC_SLASH;
                if (s[i] == ';')
                        odd |= ODD_PARAMS;
                if (s[i] != '%' || i + 2 >= len)
                        continue;
                if ((s[i + 1] | 32) == 'u' || /* %uXXXX of old Windows */
                    (path_step_hex(s[i + 1]) >= 0 && path_step_hex(s[i + 2]) >= 0))
                        odd |= ODD_PERCENT;
        }
        return odd;
}

/* The reading in which everything was decoded: nothing dangerous may show there that did not show
 * before. Once no reading has a dot segment, readings differ only in where segments end. */
static const char *hidden_danger(const struct path_canon *p, char *scratch)
{
        memcpy(scratch, p->plain, p->plain_len);
        size_t n = path_step_decode(scratch, p->plain_len);
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)scratch[i];
                if (c != PATH_ENC_SLASH && bad_plain(c))
                        return "decoded twice, this path has control characters or backslashes in "
                               "it";
        }
        if (!is_utf8(scratch, n))
                return "decoded twice, this path is not UTF-8";
        path_step_slashes(scratch, n);
        if (has_dot_segment(scratch, n))
                return "this path hides . or .. behind an encoding or a ; and is refused";
        return NULL;
}

/* has_folded_dots(s, n): does a segment become . or .. for a server that takes full-width dots for
 * dots, or sees neither blanks nor streams at the end of a name? */
static bool has_folded_dots(const char *s, size_t n, char *scratch)
{
        n = fold_text(s, n, scratch);
        path_step_slashes(scratch, n);
        for (size_t i = 0, end; i < n; i = end + 1) {
                for (end = i; end < n && scratch[end] != '/';)
                        end++;
                size_t dots = 0;
                while (i + dots < end && scratch[i + dots] == '.')
                        dots++;
                size_t after = i + dots;
                while (after < end && scratch[after] == ' ')
                        after++;
                bool is_end = after == end || scratch[after] == ';' || scratch[after] == ':';
                if ((dots == 1 || dots == 2) && is_end)
                        return true;
        }
        return false;
}

static const char *folded_danger(const struct path_canon *p, char *scratch)
{
        char *folded = malloc(p->plain_len * FOLD_GROWTH + 1);
        if (!folded)
                str_no_memory();
        memcpy(scratch, p->plain, p->plain_len);
        size_t n = path_step_decode(scratch, p->plain_len);
        bool is_bad = has_folded_dots(p->plain, p->plain_len, folded) ||
                      has_folded_dots(scratch, n, folded);
        free(folded);
        return is_bad ? "this path hides . or .. behind blanks or letters that some servers take "
                        "for dots, and is refused"
                      : NULL;
}

/* is_common(s, n): only what no server folds and what is no dot at the end of a segment. */
static bool is_common(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] >= 0x80 || s[i] == '%' ||
                    (s[i] == '.' && (i == 0 || s[i - 1] == '/')))
                        return false;
        return true;
}

int path_canon_parse(const char *bytes, size_t len, struct path_canon *p, struct err *err)
{
        memset(p, 0, sizeof *p);
        if (len == 0 || bytes[0] != '/')
                return err_set(err, E_INPUT, "a path begins with /");
        if (len > PATH_MAX_LEN)
                return err_set(err, E_INPUT, "a path has at most %d bytes", PATH_MAX_LEN);

        p->text = malloc(len * 3 + 1);
        p->plain = malloc(len * 3 + 1);
        char *scratch = malloc(len * 3 + 1);
        if (!p->text || !p->plain || !scratch)
                str_no_memory();
        const char *why = NULL;
        long decoded = path_canon_decode(bytes, len, scratch, &why);
        if (decoded >= 0) {
                p->len = without_dots(p->text, normal(bytes, len, p->text));
                p->text[p->len] = 0;
                decoded = path_canon_decode(p->text, p->len, p->plain, &why);
        }
        if (decoded >= 0) {
                p->plain_len = (size_t)decoded;
                p->odd = oddities(p->plain, p->plain_len);
                why = p->odd ? hidden_danger(p, scratch) : NULL;
        }
        if (!why && decoded >= 0 && !is_common(p->plain, p->plain_len))
                why = folded_danger(p, scratch);
        free(scratch);
        if (!why)
                return 0;
        path_canon_free(p);
        return err_set(err, E_INPUT, "%s", why);
}

void path_canon_free(struct path_canon *p)
{
        free(p->text);
        free(p->plain);
        memset(p, 0, sizeof *p);
}

void path_canon_each(const struct path_canon *p, bool (*visit)(void *, const char *, size_t),
                     void *ctx)
{
        if (!visit(ctx, p->plain, p->plain_len) || !p->odd)
                return;
        char *s = malloc(p->plain_len + 1);
        if (!s)
                str_no_memory();
        /* Any step may leave // behind, and a second decoding may uncover reasons for all others.
         * The fifth bit: parameters are dropped before slashes are decoded. */
        unsigned apply = p->odd & ODD_PERCENT ? 15 : p->odd | ODD_DOUBLE_SLASH;
        for (unsigned set = 1; set < 32; set++) {
                if ((set & 15 & ~apply) || ((set & 16) && (set & 6) != 6))
                        continue;
                size_t n = p->plain_len;
                memcpy(s, p->plain, n);
                if (set & ODD_PERCENT)
                        n = path_step_decode(s, n);
                if (set & 16)
                        n = path_step_params(s, n);
                if (set & ODD_ENC_SLASH)
                        path_step_slashes(s, n);
                if (set & ODD_PARAMS)
                        n = path_step_params(s, n);
                if (set & ODD_DOUBLE_SLASH)
                        n = path_step_merge(s, n);
                if (!visit(ctx, s, n))
                        break;
        }
        free(s);
}
