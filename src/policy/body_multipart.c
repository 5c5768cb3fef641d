/* body_multipart.c - see body_readers.h: multipart/form-data (RFC 7578), read strictly: what parsers
 * are known to disagree about (two names or boundaries, name*, names as RFC 2047 writes them, other
 * line ends, nested parts) is not read. */
#include "base/str.h"
#include "policy/body_readers.h"
#include "policy/fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 16 << 10, LOOK = 64 << 10 }; /* of a part; at contents in one step */

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

static bool multipart_is_word(const char *p, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

/* The names of a part, where they stand. */
struct multipart_names {
        const char *name, *file; /* NULL: it has none */
        size_t name_len, file_len;
};

/* multipart_disposition(p, n, to): form-data; name="VALUE", and perhaps filename="VALUE", in that form
 * alone. A ; or a \ within the quotes is taken for an end by some servers, =?utf-8?q?x?= for x. */
static bool multipart_disposition(const char *p, size_t n, struct multipart_names *to)
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
                const char **out = is_file ? &to->file : &to->name;
                if (*out || (!is_file && (end - p <= 6 || memcmp(p, "name=\"", 6) != 0)))
                        return false;
                p += is_file ? 10 : 6;
                const char *close = memchr(p, '"', (size_t)(end - p));
                size_t len = close ? (size_t)(close - p) : 0;
                if (!close || memchr(p, '\\', len) || memchr(p, ';', len) ||
                    memmem(p, len, "=?", 2))
                        return false;
                *out = p;
                *(is_file ? &to->file_len : &to->name_len) = len;
                p = close + 1;
        }
        return to->name && !multipart_is_word(to->name, to->name_len, "_charset_");
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

/* multipart_line(line, n, to): one line of a part's head, "Name: value" of plain bytes. */
static bool multipart_line(const char *line, size_t n, struct multipart_names *to)
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
                return !to->name && multipart_disposition(value, len, to);
        return !multipart_is_word(line, word_n, "content-transfer-encoding");
}

/* multipart_head(head, n, to): of the one Content-Disposition of a part. */
static bool multipart_head(const char *head, size_t n, struct multipart_names *to)
{
        for (size_t i = 0; i < n;) {
                const char *nl = memmem(head + i, n - i, "\r\n", 2);
                size_t len = nl ? (size_t)(nl - head) - i : n - i;
                if (!multipart_line(head + i, len, to))
                        return false;
                i += len + 2;
        }
        return to->name;
}

/* multipart_is_blank(p, end): some servers look for more parts behind the last. */
static bool multipart_is_blank(const char *p, const char *end)
{
        while (p < end && strchr(" \t\r\n", *p) && *p)
                p++;
        return p == end;
}

struct body_multipart {
        char *mark; /* "--BOUNDARY"; NULL: there is none that all servers see */
        size_t mark_n;
        const char *p, *end, *at; /* where it is: behind a mark */
        const char *body,
                *look; /* in a part: its contents; from where on the next mark is looked for */
        struct multipart_names names;
};

struct body_multipart *body_multipart_new(const char *type, const char *p, size_t n)
{
        struct body_multipart *m = calloc(1, sizeof *m);
        if (!m)
                str_no_memory();
        m->mark = multipart_boundary(type);
        m->mark_n = m->mark ? strlen(m->mark) : 0;
        m->p = m->at = p;
        m->end = p + n;
        return m;
}

void body_multipart_free(struct body_multipart *m)
{
        if (m)
                free(m->mark);
        free(m);
}

/* multipart_begin(m): at its first mark, or behind one: the head of the part that follows. 1: it was
 * the last mark; 0: it is in a part; -1. */
static int multipart_begin(struct body_multipart *m)
{
        if (m->at == m->p) {
                if ((size_t)(m->end - m->p) <= m->mark_n + 2 ||
                    memcmp(m->p, m->mark, m->mark_n) != 0)
                        return -1;
                m->at += m->mark_n;
        }
        if (m->end - m->at >= 2 && memcmp(m->at, "--", 2) == 0)
                return multipart_is_blank(m->at + 2, m->end) ? 1 : -1;
        if (m->end - m->at < 2 || memcmp(m->at, "\r\n", 2) != 0)
                return -1;
        const char *head = m->at + 2;
        size_t most = (size_t)(m->end - head) < HEAD ? (size_t)(m->end - head) : HEAD;
        const char *body = memmem(head, most, "\r\n\r\n", 4);
        m->names = (struct multipart_names){0};
        if (!body || !multipart_head(head, (size_t)(body - head), &m->names))
                return -1;
        m->body = m->look = body;
        return 0;
}

/* multipart_end(m, &at): the mark behind a part's contents. 1: it was found; 0: not in the next bytes;
 * -1. One that begins a line in another way than after CR LF ends the part for some servers and not
 * for others; so does one right behind the head. */
static int multipart_end(struct body_multipart *m, const char **at)
{
        size_t left = (size_t)(m->end - m->look);
        size_t part = left < LOOK + m->mark_n ? left : LOOK + m->mark_n;
        const char *found = memmem(m->look, part, m->mark, m->mark_n);
        if (!found && part == left)
                return -1;
        m->look = found ? found + 1 : m->look + LOOK;
        if (!found || (found[-1] != '\n' && found[-1] != '\r'))
                return 0;
        *at = found;
        return found - m->body >= 6 && memcmp(found - 2, "\r\n", 2) == 0 ? 1 : -1;
}

/* multipart_add(m, f, next): the part that ends before the mark at ${next}. */
static int multipart_add(struct body_multipart *m, struct fields *f, const char *next)
{
        const struct multipart_names *k = &m->names;
        const char *value = m->body + 4;
        if (fields_add(f, k->name, k->name_len, value, (size_t)(next - 2 - value), false) < 0 ||
            (k->file && fields_add(f, k->name, k->name_len, k->file, k->file_len, true) < 0))
                return -1;
        m->at = next + m->mark_n;
        m->body = NULL;
        return 0;
}

int body_multipart_step(struct body_multipart *m, struct fields *f, size_t *used)
{
        const char *next = NULL, *from = m->body ? m->look : m->at;
        *used = 0;
        if (!m->mark)
                return -1;
        if (!m->body) {
                int r = multipart_begin(m);
                *used = m->body ? (size_t)(m->body - from) : 0;
                return r;
        }
        int r = multipart_end(m, &next);
        *used = (size_t)(m->look - from);
        return r > 0 ? multipart_add(m, f, next) : r;
}

bool body_multipart_each(const char *type, const char *p, size_t n, const char *name, bool is_loose,
                         request_visit *visit, void *ctx)
{
        struct body_multipart *m = body_multipart_new(type, p, n);
        struct fields *f = fields_new();
        size_t used;
        int r;
        while ((r = body_multipart_step(m, f, &used)) == 0)
                ;
        fields_each(f, name, is_loose, visit, ctx);
        fields_free(f);
        body_multipart_free(m);
        return r > 0;
}
