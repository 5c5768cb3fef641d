/* git_config.c - see git_config.h. The reader of a file that the box wrote and the host's git will
 * read; called by file_class_config.c. Compared with git itself by tests/classes_git.sh. */
#include "policy/git_config.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct reader {
        const char *s;
        size_t len, at;
        bool is_over; /* the end was read; git sees one more newline there */
};

enum { END = '\n' };

static int next(struct reader *r)
{
        if (r->at >= r->len) {
                r->is_over = true;
                return END;
        }
        unsigned char c = (unsigned char)r->s[r->at++];
        if (c == '\r' && r->at < r->len && r->s[r->at] == '\n') {
                r->at++;
                return '\n';
        }
        return c;
}

/* Git's own idea of these, whatever the locale. */
static bool is_space(int c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_alpha(int c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_char(int c)
{
        return is_alpha(c) || (c >= '0' && c <= '9') || c == '-';
}

static uint8_t lower(int c)
{
        return (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* After "[name ": a quoted subsection. */
static int read_subsection(struct reader *r, struct buf *name, int c)
{
        do {
                if (c == '\n')
                        return -1;
                c = next(r);
        } while (is_space(c));
        if (c != '"')
                return -1;
        buf_put_u8(name, '.');
        for (;;) {
                c = next(r);
                if (c == '\n')
                        return -1;
                if (c == '"')
                        break;
                if (c == '\\') {
                        c = next(r);
                        if (c == '\n')
                                return -1;
                }
                buf_put_u8(name, (uint8_t)c);
        }
        return next(r) == ']' ? 0 : -1;
}

static int read_section(struct reader *r, struct buf *name)
{
        name->len = 0;
        for (;;) {
                int c = next(r);
                if (r->is_over)
                        return -1;
                if (c == ']')
                        return 0;
                if (is_space(c))
                        return read_subsection(r, name, c);
                if (!is_key_char(c) && c != '.')
                        return -1;
                buf_put_u8(name, lower(c));
        }
}

/* After "name =": the value, up to the end of its last line. */
static int read_value(struct reader *r, struct buf *value)
{
        bool is_quoted = false, is_comment = false;
        size_t keep = 0; /* blanks after this are dropped at the end */
        value->len = 0;
        for (;;) {
                int c = next(r);
                if (c == '\n') {
                        if (is_quoted)
                                return -1;
                        value->len = keep;
                        return 0;
                }
                if (is_comment)
                        continue;
                if (is_space(c) && !is_quoted) {
                        if (value->len > 0)
                                buf_put_u8(value, (uint8_t)c);
                        continue;
                }
                if (!is_quoted && (c == ';' || c == '#')) {
                        is_comment = true;
                        continue;
                }
                if (c == '\\') {
                        c = next(r);
                        switch (c) {
                        case '\n':
                                /* The end of the text continues nothing, and the loop ends there.
                                 */
                                continue;
                        case 't':
                                c = '\t';
                                break;
                        case 'b':
                                c = '\b';
                                break;
                        case 'n':
                                c = '\n';
                                break;
                        case '\\':
                        case '"':
                                break;
                        default:
                                return -1;
                        }
                } else if (c == '"') {
                        is_quoted = !is_quoted;
                        /* As git does: blanks before a quote are part of the value. */
                        keep = value->len;
                        continue;
                }
                buf_put_u8(value, (uint8_t)c);
                keep = value->len;
        }
}

static void add(struct git_config *c, struct buf *key, struct buf *value)
{
        /* Room doubles: a text may hold a hundred thousand keys. */
        if ((c->n & (c->n - 1)) == 0) {
                struct git_config_entry *v = realloc(c->v, (c->n ? 2 * c->n : 1) * sizeof *v);
                if (!v)
                        str_no_memory();
                c->v = v;
        }
        c->v[c->n++] = (struct git_config_entry){
                str_dup(buf_cstr(key)),
                value ? str_dup(buf_cstr(value)) : NULL,
        };
}

static int read_key(struct reader *r, int c, const struct buf *section, struct git_config *out)
{
        _cleanup_buf_ struct buf key = {0}, value = {0};
        buf_put(&key, section->data, section->len);
        if (section->len > 0)
                buf_put_u8(&key, '.');
        do {
                buf_put_u8(&key, lower(c));
                c = next(r);
        } while (is_key_char(c) && !r->is_over);
        while (c == ' ' || c == '\t')
                c = next(r);
        if (c == '\n') {
                add(out, &key, NULL);
                return 0;
        }
        if (c != '=' || read_value(r, &value) < 0)
                return -1;
        add(out, &key, &value);
        return 0;
}

int git_config_parse(const char *text, size_t len, struct git_config *out)
{
        *out = (struct git_config){0};
        if (len > GIT_CONFIG_MAX || (len > 0 && memchr(text, '\0', len)))
                return -1;
        struct reader r = {.s = text, .len = len};
        _cleanup_buf_ struct buf section = {0};
        bool is_comment = false;
        if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                r.at = 3;
        while (!r.is_over) {
                int c = next(&r);
                if (c == '\n') {
                        is_comment = false;
                        continue;
                }
                if (is_comment || is_space(c))
                        continue;
                if (c == '#' || c == ';') {
                        is_comment = true;
                        continue;
                }
                if (c == '[') {
                        if (read_section(&r, &section) < 0)
                                return -1;
                        continue;
                }
                if (!is_alpha(c) || read_key(&r, c, &section, out) < 0)
                        return -1;
        }
        return 0;
}

void git_config_free(struct git_config *c)
{
        for (size_t i = 0; i < c->n; i++) {
                free(c->v[i].key);
                free(c->v[i].value);
        }
        free(c->v);
        *c = (struct git_config){0};
}

const char *git_config_last(const struct git_config *c, const char *key)
{
        for (size_t i = c->n; i-- > 0;)
                if (strcmp(c->v[i].key, key) == 0)
                        return c->v[i].value ? c->v[i].value : "";
        return NULL;
}
