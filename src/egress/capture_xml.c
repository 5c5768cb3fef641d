/* capture_xml.c - see capture.h: tokens in XML, as STS, IAM and S3 Express answer. A reader of the
 * plainest XML: elements, attributes, text, the five named entities and numbers. What plain
 * answers do not have (CDATA, a document type, text that a comment cuts, a token in an attribute)
 * is an error, because another program may read it in another way. */
#include "egress/capture.h"

#include "base/buf.h"
#include "base/err.h"
#include "policy/lenders.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct xml {
        const char *p;
        size_t n, at;
        struct capture *found;
        struct err *err;
        struct {
                size_t name, len, text; /* where its name and its text begin */
                bool has_child;
        } open[DEPTH_MAX];
        size_t depth;
};

static int bad(const struct xml *x, const char *why)
{
        return err_set(x->err, E_PROTO, "%s", why);
}

static bool is_name(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               strchr("_-.:", c) || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* entity(p, n, out): the reference that begins at ${p}; its length, or 0. */
static size_t entity(const char *p, size_t n, struct buf *out)
{
        static const struct {
                const char *name;
                char c;
        } all[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                size_t len = strlen(all[i].name);
                if (n >= len && memcmp(p, all[i].name, len) == 0) {
                        buf_put_u8(out, (uint8_t)all[i].c);
                        return len;
                }
        }
        const char *end = n > 3 && p[1] == '#' ? memchr(p, ';', n < 12 ? n : 12) : NULL;
        if (!end)
                return 0;
        bool is_hex = p[2] == 'x';
        char *stop;
        unsigned long v = strtoul(p + (is_hex ? 3 : 2), &stop, is_hex ? 16 : 10);
        if (stop != end || v == 0 || v >= 0x80)
                return 0;
        buf_put_u8(out, (uint8_t)v);
        return (size_t)(end - p) + 1;
}

/* text(x, from, to, name, len): what stands in an element that has no other inside. */
static int text(struct xml *x, size_t from, size_t to, size_t name, size_t len)
{
        while (from < to && is_blank(x->p[from]))
                from++;
        while (to > from && is_blank(x->p[to - 1]))
                to--;
        struct buf value = {0};
        int r = 0;
        for (size_t i = from; i < to && r == 0;) {
                if (x->p[i] != '&') {
                        buf_put_u8(&value, (uint8_t)x->p[i++]);
                        continue;
                }
                size_t used = entity(x->p + i, to - i, &value);
                if (used == 0)
                        r = bad(x, "it has a reference that is not plain");
                i += used;
        }
        if (r == 0)
                r = capture_add(x->found, x->p + name, len, &value, from, to - from, x->err);
        if (value.data)
                explicit_bzero(value.data, value.cap);
        buf_free(&value);
        return r;
}

static size_t name_end(const struct xml *x, size_t at)
{
        while (at < x->n && is_name(x->p[at]))
                at++;
        return at;
}

/* attributes(x, at, end): those of a tag; none may be called like a credential. */
static int attributes(struct xml *x, size_t at, size_t end)
{
        while (at < end) {
                if (is_blank(x->p[at])) {
                        at++;
                        continue;
                }
                size_t name = at;
                at = name_end(x, at);
                if (at == name || at + 1 >= end || x->p[at] != '=' ||
                    (x->p[at + 1] != '"' && x->p[at + 1] != '\''))
                        return bad(x, "it has a tag that is not plain");
                const char *value = x->p + at + 2;
                const char *quote = memchr(value, x->p[at + 1], end - at - 2);
                if (!quote)
                        return bad(x, "it has a tag that is not plain");
                if (lenders_field(x->p + name, at - name) ||
                    !capture_is_clean(value, (size_t)(quote - value)))
                        return bad(x, "it has a token in an attribute");
                at = (size_t)(quote - x->p) + 1;
        }
        return 0;
}

/* tag_end(x, at): where the tag that began before ${at} ends; 0: nowhere. */
static size_t tag_end(const struct xml *x, size_t at)
{
        char quote = 0;
        for (; at < x->n; at++) {
                if (quote)
                        quote = x->p[at] == quote ? 0 : quote;
                else if (x->p[at] == '"' || x->p[at] == '\'')
                        quote = x->p[at];
                else if (x->p[at] == '>')
                        return at;
                else if (x->p[at] == '<')
                        return 0;
        }
        return 0;
}

/* A name may be no token either. */
static int named(struct xml *x, size_t name, size_t stop)
{
        return capture_is_clean(x->p + name, stop - name) ? 0 : bad(x, "it has a token as a name");
}

static int closing(struct xml *x, size_t tag, size_t end)
{
        size_t name = tag + 2, stop = name_end(x, name);
        if (x->depth == 0)
                return bad(x, "its tags do not fit each other");
        x->depth--;
        size_t open = x->open[x->depth].name, len = x->open[x->depth].len;
        bool is_same = len == stop - name && memcmp(x->p + open, x->p + name, len) == 0;
        while (stop < end && is_blank(x->p[stop]))
                stop++;
        if (!is_same || stop < end)
                return bad(x, "its tags do not fit each other");
        x->at = end + 1;
        return x->open[x->depth].has_child ? 0 : text(x, x->open[x->depth].text, tag, open, len);
}

static int opening(struct xml *x, size_t tag, size_t end)
{
        size_t name = tag + 1, stop = name_end(x, name);
        bool is_whole = x->p[end - 1] == '/';
        if (stop == name || x->depth == DEPTH_MAX)
                return bad(x, "it has a tag that is not plain");
        if (x->depth > 0)
                x->open[x->depth - 1].has_child = true;
        if (named(x, name, stop) < 0 || attributes(x, stop, is_whole ? end - 1 : end) < 0)
                return -1;
        x->at = end + 1;
        if (is_whole)
                return 0;
        x->open[x->depth].name = name;
        x->open[x->depth].len = stop - name;
        x->open[x->depth].text = x->at;
        x->open[x->depth++].has_child = false;
        return 0;
}

static int step(struct xml *x)
{
        size_t tag = x->at;
        if (x->n - tag < 3)
                return bad(x, "it has a tag that is not plain");
        if (x->p[tag + 1] == '!')
                return bad(x, "it has CDATA, a comment or a document type");
        size_t end = tag_end(x, tag + 1);
        if (end == 0)
                return bad(x, "it has a tag that is not plain");
        if (x->p[tag + 1] == '?') { /* <?xml version="1.0"?>, at the beginning */
                bool is_first = x->depth == 0 && x->found->n == 0 && x->p[end - 1] == '?' &&
                                capture_is_clean(x->p + tag, end - tag);
                x->at = end + 1;
                return is_first ? 0 : bad(x, "it has an instruction in the middle");
        }
        return x->p[tag + 1] == '/' ? closing(x, tag, end) : opening(x, tag, end);
}

/* is_between(x, tag): may no text stand before this tag? Only between an element's own two tags. */
static bool is_between(const struct xml *x, const char *tag)
{
        bool is_end = tag && tag + 1 < x->p + x->n && tag[1] == '/';
        return x->depth == 0 || x->open[x->depth - 1].has_child || !is_end;
}

int capture_xml(const char *p, size_t n, struct capture *c, struct err *err)
{
        struct xml x = {.p = p, .n = n, .found = c, .err = err};
        while (x.at < n) {
                const char *tag = memchr(p + x.at, '<', n - x.at);
                size_t to = tag ? (size_t)(tag - p) : n;
                for (size_t i = x.at; is_between(&x, tag) && i < to; i++)
                        if (!is_blank(p[i]))
                                return bad(&x, "it has text between its elements");
                x.at = to;
                if (tag && step(&x) < 0)
                        return -1;
        }
        return x.depth == 0 ? 0 : bad(&x, "it breaks off");
}
