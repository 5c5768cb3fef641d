/* body_multipart.c - see body_readers.h: multipart/form-data (RFC 7578), read strictly: what parsers
 * are known to disagree about (two names or boundaries, name*, other line ends, nested parts) is not
 * read. */
#include "base/str.h"
#include "policy/body_readers.h"
#include "policy/readings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool multipart_is_plain(char c)
{
        return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
               (c && strchr("-_.'+", c));
}

/* multipart_boundary(type): "--BOUNDARY", or NULL; the caller frees. The type must be a list of
 * NAME=VALUE of plain characters, with one boundary: of two, of boundary*= and of a blank before the
 * = servers make different things. */
static char *multipart_boundary(const char *type)
{
        char *mark = NULL;
        const char *at = strchrnul(type, ';');
        while (*at == ';') {
                at += 1 + strspn(at + 1, " \t");
                const char *word = at;
                while (multipart_is_plain(*at))
                        at++;
                size_t word_n = (size_t)(at - word);
                bool is_quoted = at[0] == '=' && at[1] == '"';
                if (word_n == 0 || *at != '=')
                        break;
                const char *value = at += 1 + is_quoted;
                while (multipart_is_plain(*at))
                        at++;
                size_t n = (size_t)(at - value);
                bool is_mark = word_n == 8 && strncasecmp(word, "boundary", 8) == 0;
                if (n == 0 || n > 70 || (is_quoted && *at++ != '"') || (is_mark && mark))
                        break;
                if (is_mark)
                        mark = str_fmt("--%.*s", (int)n, value);
                if (*at == 0)
                        return mark;
        }
        free(mark);
        return NULL;
}

/* multipart_disposition(p, n, &name, &file): form-data; name="VALUE", and perhaps filename="VALUE",
 * in that form alone. A ; or a \ within the quotes is taken for an end by some servers. */
static bool multipart_disposition(const char *p, size_t n, char **name, char **file)
{
        const char *end = p + n;
        if (n < 9 || strncasecmp(p, "form-data", 9) != 0)
                return false;
        for (p += 9; p < end;) {
                if (*p++ != ';')
                        return false;
                while (p < end && *p == ' ')
                        p++;
                bool is_file = end - p > 10 && memcmp(p, "filename=\"", 10) == 0;
                char **out = is_file ? file : name;
                if (*out || (!is_file && (end - p <= 6 || memcmp(p, "name=\"", 6) != 0)))
                        return false;
                p += is_file ? 10 : 6;
                const char *close = memchr(p, '"', (size_t)(end - p));
                size_t len = close ? (size_t)(close - p) : 0;
                if (!close || memchr(p, '\\', len) || memchr(p, ';', len))
                        return false;
                *out = str_fmt("%.*s", (int)len, p);
                p = close + 1;
        }
        return *name && strcasecmp(*name, "_charset_") != 0;
}

/* multipart_type(p, n): no other characters than those of the whole, and no parts of its own. */
static bool multipart_type(const char *p, size_t n)
{
        char *text = str_fmt("%.*s", (int)n, p);
        const char *charset = strcasestr(text, "charset");
        bool is_good = strncasecmp(text, "multipart", 9) != 0 &&
                       (!charset || strcasecmp(charset, "charset=utf-8") == 0 ||
                        strcasecmp(charset, "charset=us-ascii") == 0);
        free(text);
        return is_good;
}

static bool multipart_is_word(const char *p, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

/* multipart_line(line, n, &name, &file): one line of a part's head, "Name: value" of plain bytes. */
static bool multipart_line(const char *line, size_t n, char **name, char **file)
{
        const char *colon = memchr(line, ':', n);
        size_t word_n = colon ? (size_t)(colon - line) : 0;
        for (size_t i = 0; i < n; i++) {
                bool is_letter = (line[i] | 32) >= 'a' && (line[i] | 32) <= 'z';
                if ((unsigned char)line[i] < ' ' || line[i] == 0x7f ||
                    (i < word_n && line[i] != '-' && !is_letter))
                        return false;
        }
        if (word_n == 0 || line[0] == '-') /* the mark begins with it */
                return false;
        const char *value = colon + 1;
        size_t len = n - word_n - 1;
        while (len && *value == ' ') {
                value++;
                len--;
        }
        if (multipart_is_word(line, word_n, "content-type"))
                return multipart_type(value, len);
        if (multipart_is_word(line, word_n, "content-disposition"))
                return !*name && multipart_disposition(value, len, name, file);
        return !multipart_is_word(line, word_n, "content-transfer-encoding");
}

/* multipart_names(head, n, &name, &file): of the one Content-Disposition of a part. */
static bool multipart_names(const char *head, size_t n, char **name, char **file)
{
        for (size_t i = 0; i < n;) {
                const char *nl = memmem(head + i, n - i, "\r\n", 2);
                size_t len = nl ? (size_t)(nl - head) - i : n - i;
                if (!multipart_line(head + i, len, name, file))
                        return false;
                i += len + 2;
        }
        return *name;
}

/* multipart_next(body, end, mark, n): the mark behind a part's contents, or NULL. One that begins a
 * line in another way than after CR LF ends the part for some servers and not for others; so does one
 * right behind the head. */
static const char *multipart_next(const char *body, const char *end, const char *mark, size_t n)
{
        for (const char *at = body; (at = memmem(at, (size_t)(end - at), mark, n)); at++) {
                bool is_line = at[-1] == '\n' || at[-1] == '\r';
                if (is_line)
                        return at - body >= 6 && memcmp(at - 2, "\r\n", 2) == 0 ? at : NULL;
        }
        return NULL;
}

/* multipart_is_blank(p, end): some servers look for more parts behind the last. */
static bool multipart_is_blank(const char *p, const char *end)
{
        while (p < end && strchr(" \t\r\n", *p) && *p)
                p++;
        return p == end;
}

static bool multipart_is(const char *have, const char *want, bool is_loose)
{
        return is_loose ? readings_name_is(have, strlen(have), want) : strcmp(have, want) == 0;
}

bool body_multipart_each(const char *type, const char *p, size_t n, const char *name, bool is_loose,
                         request_visit *visit, void *ctx)
{
        char *mark = multipart_boundary(type);
        if (!mark)
                return false;
        size_t mark_n = strlen(mark);
        const char *end = p + n, *at = p;
        bool is_good = n > mark_n + 2 && memcmp(p, mark, mark_n) == 0;
        bool is_last = false;
        at += is_good ? mark_n : 0;
        while (is_good && !is_last) {
                if (end - at >= 2 && memcmp(at, "--", 2) == 0) {
                        is_last = true;
                        is_good = multipart_is_blank(at + 2, end);
                        break;
                }
                const char *head = at + 2, *body = NULL, *next = NULL;
                is_good = end - at >= 2 && memcmp(at, "\r\n", 2) == 0;
                body = is_good ? memmem(head, (size_t)(end - head), "\r\n\r\n", 4) : NULL;
                next = body ? multipart_next(body, end, mark, mark_n) : NULL;
                char *own = NULL, *file = NULL;
                is_good = body && next && multipart_names(head, (size_t)(body - head), &own, &file);
                if (is_good) {
                        char *as_file = str_fmt("%s.filename", own);
                        if (multipart_is(own, name, is_loose))
                                visit(ctx, body + 4, (size_t)(next - 2 - body - 4));
                        if (file && multipart_is(as_file, name, is_loose))
                                visit(ctx, file, strlen(file));
                        free(as_file);
                        at = next + mark_n;
                }
                free(own);
                free(file);
        }
        free(mark);
        return is_good && is_last;
}
