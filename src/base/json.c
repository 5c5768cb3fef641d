/* json.c - see json.h. Strings that are not UTF-8 come out with their odd bytes as U+FFFD, so that
 * the output is always valid JSON. */
#include "base/json.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct json json_of(struct buf *b)
{
        return (struct json){.out = b};
}

/* valid_utf8(s): length of the well-formed sequence at ${s}, or 0. */
static size_t valid_utf8(const unsigned char *s)
{
        if (s[0] < 0x80)
                return 1;
        size_t n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                   : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                   : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                  : 0;
        for (size_t i = 1; i < n; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        bool is_bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
        return is_bad ? 0 : n;
}

/* is_unseen(s, n): a code point that a terminal would act on or that hides what is shown. JSON may
 * hold it as it is, but people read JSON on terminals (case 80). ${cp} is its number. */
static bool is_unseen(const unsigned char *s, size_t n, unsigned *cp)
{
        *cp = n == 2   ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
              : n == 3 ? (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu)
                       : 0;
        return (n == 2 && (*cp < 0xa0 || *cp == 0xad || *cp == 0x61c)) ||
               (n == 3 && ((*cp >= 0x200b && *cp <= 0x200f) || (*cp >= 0x2028 && *cp <= 0x202e) ||
                           (*cp >= 0x2060 && *cp <= 0x206f) || *cp == 0xfeff));
}

/* plain_n(p): how many bytes from here on need no thought: most strings are nothing else. */
static size_t plain_n(const unsigned char *p)
{
        size_t n = 0;
        while (p[n] >= 0x20 && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
                n++;
        return n;
}

void json_quote(struct buf *b, const char *s)
{
        unsigned cp;
        buf_put_u8(b, '"');
        for (const unsigned char *p = (const unsigned char *)s; *p;) {
                size_t plain = plain_n(p);
                if (plain) {
                        buf_put(b, p, plain);
                        p += plain;
                        continue;
                }
                size_t n = valid_utf8(p);
                if (*p == '"' || *p == '\\')
                        buf_put_fmt(b, "\\%c", *p);
                else if (*p < 0x20 || *p == 0x7f)
                        buf_put_fmt(b, "\\u%04x", *p);
                else if (n == 0)
                        buf_put_str(b, "\\ufffd");
                else if (is_unseen(p, n, &cp))
                        buf_put_fmt(b, "\\u%04x", cp);
                else
                        buf_put(b, p, n);
                p += n ? n : 1;
        }
        buf_put_u8(b, '"');
}

static void put_key(struct json *j, const char *key)
{
        if (j->depth && j->has_item[j->depth])
                buf_put_u8(j->out, ',');
        j->has_item[j->depth] = true;
        if (key) {
                json_quote(j->out, key);
                buf_put_u8(j->out, ':');
        }
}

void json_open(struct json *j, const char *key, char bracket)
{
        put_key(j, key);
        buf_put(j->out, &bracket, 1);
        if (j->depth + 1 >= (int)(sizeof j->has_item / sizeof *j->has_item))
                abort();
        j->has_item[++j->depth] = false;
}

void json_close(struct json *j, char bracket)
{
        buf_put(j->out, &bracket, 1);
        j->depth--;
}

void json_str(struct json *j, const char *key, const char *value)
{
        put_key(j, key);
        if (value)
                json_quote(j->out, value);
        else
                buf_put_str(j->out, "null");
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
        put_key(j, key);
        buf_put_fmt(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
        put_key(j, key);
        buf_put_fmt(j->out, "%" PRId64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
        put_key(j, key);
        buf_put_str(j->out, v ? "true" : "false");
}
