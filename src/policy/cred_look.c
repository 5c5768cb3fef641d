/* cred_look.c - see cred_look.h. What people write consists of words: letters of one case or
 * Capitalised, with a few digits behind them. What machines draw changes between small letters,
 * large letters and digits every other character. That is all that is counted here; it must be
 * quick on a text of 256 KiB, and it must say yes rather than no: a word too many costs a
 * placeholder where an identifier stood, a word too few costs a token. */
#include "policy/cred_look.h"

#include "policy/secret_shape.h"

#include <string.h>
#include <strings.h>

enum {
        DRAWN_MIN = 16,   /* so many characters that are no words make a credential */
        PIECE_MIN = 4,    /* shorter pieces between punctuation say nothing */
        WORD_MAX = 24,    /* no word of a language that identifiers are made of is longer */
        HUMP_TWICE = 9,   /* CamelCase: twice the length of a word in it, on the average */
        CHANGE_MAX = 3,   /* ... and of what a name with a number changes in */
        DIGITS_AFTER = 4, /* oauth2, sha256, v20240101 is a date */
        UUID_LEN = 36,
        VALUE_MIN = 8,
        PUBLISHED_MAX = 20, /* numbers of films and of tickets are shorter */
};

enum letter { OTHER, SMALL, LARGE, DIGIT };

static enum letter letter(char c)
{
        return c >= 'a' && c <= 'z'   ? SMALL
               : c >= 'A' && c <= 'Z' ? LARGE
               : c >= '0' && c <= '9' ? DIGIT
                                      : OTHER;
}

/* is_joint(c): stands inside of a word, between its pieces. */
static bool is_joint(char c)
{
        return c == '-' || c == '_' || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

/* is_uuid(p, n): 8-4-4-4-12 hexadecimal digits, which name things. */
static bool is_uuid(const char *p, size_t n)
{
        if (n != UUID_LEN)
                return false;
        for (size_t i = 0; i < n; i++) {
                char c = (char)(p[i] | 0x20);
                bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
                if (is_dash ? p[i] != '-' : letter(p[i]) != DIGIT && (c < 'a' || c > 'f'))
                        return false;
        }
        return true;
}

/* is_hex(p, n): digits and letters to f, of one case. */
static bool is_hex(const char *p, size_t n)
{
        bool has[4] = {false};
        for (size_t i = 0; i < n; i++) {
                has[letter(p[i])] = true;
                if (letter(p[i]) != DIGIT && ((p[i] | 0x20) < 'a' || (p[i] | 0x20) > 'f'))
                        return false;
        }
        return has[DIGIT] && (has[SMALL] != has[LARGE]);
}

/* is_drawn(p, n): a piece without punctuation that is no word. */
static bool is_drawn(const char *p, size_t n)
{
        size_t changes = 0, capitals = 0, digits = 0, tail = 0;
        for (size_t i = 0; i < n; i++) {
                enum letter l = letter(p[i]), before = i ? letter(p[i - 1]) : OTHER;
                digits += l == DIGIT;
                tail = l == DIGIT ? tail + 1 : 0;
                changes += i > 0 && l != before && !(before == LARGE && l == SMALL);
                capitals += l == LARGE && before != LARGE;
        }
        if (digits == n || (digits == 0 && capitals < 2)) /* of one kind */
                return n > WORD_MAX;
        if (digits == 0)
                return capitals > 2 && 2 * n < HUMP_TWICE * capitals;
        if (is_hex(p, n))
                return n > 8 || digits > 1;
        /* Letters, then digits: a name with a number. */
        return !(digits == tail && digits <= DIGITS_AFTER && changes - 1 <= n / CHANGE_MAX);
}

/* drawn(p, n): how many characters of a word are in pieces that were drawn. */
static size_t drawn(const char *p, size_t n)
{
        size_t sum = 0;
        for (size_t at = 0; at < n;) {
                size_t end = at;
                while (end < n && !is_joint(p[end]))
                        end++;
                if (end - at >= PIECE_MIN && is_drawn(p + at, end - at))
                        sum += end - at;
                at = end + 1;
        }
        return sum;
}

/* is_dense(p, n, min): the same with its joints left out: base64 has a + or / every few letters. */
static bool is_dense(const char *p, size_t n, size_t min)
{
        char text[128];
        size_t len = 0, joints = 0;
        for (size_t i = 0; i < n && len < sizeof text; i++) {
                if (is_joint(p[i]))
                        joints += p[i] != '=';
                else
                        text[len++] = p[i];
        }
        size_t changes = 0;
        for (size_t i = 1; i < len; i++)
                changes += letter(text[i]) != letter(text[i - 1]);
        /* Drawn from 62 letters, two of three are of another kind than the one before. */
        return len >= min && changes * 5 >= len * 2 && joints * 4 <= len;
}

static bool is_word_char(char c)
{
        return letter(c) != OTHER || is_joint(c);
}

bool cred_look_is_word(const char *p, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (p[i] <= 0x20 || p[i] >= 0x7f || strchr("\"'<>{}[]\\,;", p[i]))
                        return false;
        /* A document that was percent-encoded, as IAM writes policies, has no blank and is a text. */
        bool is_document =
                n > 3 && (strncasecmp(p, "%7b", 3) == 0 || strncasecmp(p, "%5b", 3) == 0);
        return n > 0 && !is_document && !memmem(p, n, "://", 3);
}

/* address(p, n): where the parameters of an address begin, when all of the text is one; else 0. The
 * path of a picture is full of digests. */
static size_t address(const char *p, size_t n)
{
        size_t at = 0;
        while (at < n && (letter(p[at]) == SMALL || letter(p[at]) == LARGE))
                at++;
        if (at == 0 || n - at < 3 || memcmp(p + at, "://", 3) != 0)
                return 0;
        for (size_t i = at; i < n; i++)
                if (p[i] <= 0x20 || p[i] >= 0x7f || strchr("\"'<>{}[]\\,;", p[i]))
                        return 0;
        while (at < n && p[at] != '?' && p[at] != '#')
                at++;
        return at;
}

/* has_password(p, n): an address with a name and a password before its host. */
static bool has_password(const char *p, size_t n)
{
        const char *end = p + n, *at = p, *colon;
        while ((at = memmem(at, (size_t)(end - at), "://", 3))) {
                at += 3;
                for (colon = NULL; at < end && is_word_char(*at) && *at != '/'; at++)
                        ;
                if (at < end && *at == ':')
                        for (colon = at++; at<end && * at> 0x20 && !strchr("/?#\"'<>@", *at);)
                                at++;
                if (colon && at < end && *at == '@' && at - colon > 1)
                        return true;
        }
        return false;
}

static bool is_key_file(const char *p, size_t n)
{
        return memmem(p, n, "PRIVATE KEY-----", 16) || memmem(p, n, "AGE-SECRET-KEY-", 15) ||
               memmem(p, n, "hooks.slack.com/services/", 25);
}

enum cred_look cred_look(const char *p, size_t n)
{
        size_t len;
        if (n < DRAWN_MIN) /* nor is any shape of a known key shorter */
                return CRED_NO;
        if (is_key_file(p, n) || has_password(p, n) || secret_shape_find(p, n, 0, &len) < n)
                return CRED_SURE;
        for (size_t at = address(p, n); at < n;) {
                size_t end = at;
                while (end < n && is_word_char(p[end]))
                        end++;
                if (end - at >= DRAWN_MIN && !is_uuid(p + at, end - at) &&
                    (drawn(p + at, end - at) >= DRAWN_MIN || is_dense(p + at, end - at, DRAWN_MIN)))
                        return CRED_MAYBE;
                at = end + (end + 2 < n && p[end] == '%' ? 3 : 1);
        }
        return CRED_NO;
}

bool cred_look_is_made(const char *p, size_t n)
{
        if (n < VALUE_MIN)
                return false;
        if (cred_look(p, n) != CRED_NO || is_uuid(p, n))
                return true;
        return cred_look_is_word(p, n) && (is_hex(p, n) || is_dense(p, n, VALUE_MIN));
}

/* is_named_digest(p, n): it says what it is: "sha256-", "sha512:", "h1:". */
static bool is_named_digest(const char *p, size_t n)
{
        static const char *const names[] = {"md5",    "sha1",   "sha224", "sha256",
                                            "sha384", "sha512", "h1"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                size_t len = strlen(names[i]);
                if (n > len && strncasecmp(p, names[i], len) == 0 && strchr("-:=", p[len]) &&
                    p[len])
                        return true;
        }
        return false;
}

/* is_base64_digest(p, n): as long as a checksum is in base64, and padded like one. */
static bool is_base64_digest(const char *p, size_t n)
{
        static const size_t padded[] = {24, 28, 40, 44, 88}; /* MD5, SHA-1, -224, -256, -512 */
        for (size_t i = 0; i < n; i++)
                if (letter(p[i]) == OTHER && !strchr("+/-_=", p[i]))
                        return false;
        for (size_t i = 0; i < sizeof padded / sizeof *padded; i++)
                if (n == padded[i] && p[n - 1] == '=')
                        return true;
        return n == 64; /* SHA-384 */
}

bool cred_look_is_published(const char *p, size_t n)
{
        size_t digits = 0;
        for (size_t i = 0; i < n; i++) {
                char c = (char)(p[i] | 0x20);
                digits += letter(p[i]) == DIGIT || (c >= 'a' && c <= 'f');
        }
        return n < PUBLISHED_MAX || digits == n || is_named_digest(p, n) || is_uuid(p, n) ||
               is_base64_digest(p, n);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* mark(p, n, plain, escaped): the length of the mark that ${p} begins with: as it is, or escaped. */
static size_t mark(const char *p, size_t n, const char *plain, const char *escaped)
{
        if (n > 0 && *p && strchr(plain, *p))
                return 1;
        for (size_t i = 0; n >= 3 && escaped[i]; i += 3)
                if (strncasecmp(p, escaped + i, 3) == 0)
                        return 3;
        return 0;
}

bool cred_look_params(const char *p, size_t n, bool (*is_name)(const char *, size_t))
{
        size_t name = n, eq = n; /* where a name begins, and its value */
        if (!memchr(p, '=', n) && !memchr(p, '%', n))
                return false;
        for (size_t at = 0; at <= n; at++) {
                size_t part = at < n ? mark(p + at, n - at, "?#&;", "%3f%23%26%3b") : 1;
                size_t is = at < n ? mark(p + at, n - at, "=", "%3d") : 0;
                if (part) {
                        if (eq < at && at - eq >= VALUE_MIN &&
                            cred_look(p + eq, at - eq) == CRED_SURE)
                                return true;
                        name = at + part;
                        eq = n;
                        at += part - 1;
                } else if (is && name < at && eq == n) {
                        size_t end = at + is;
                        while (end < n && !mark(p + end, n - end, "?#&;", "%3f%23%26%3b"))
                                end++;
                        if (end - at - is >= VALUE_MIN && is_name(p + name, at - name))
                                return true;
                        eq = at + is;
                        at += is - 1;
                }
        }
        return false;
}
