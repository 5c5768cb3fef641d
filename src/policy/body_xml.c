/* body_xml.c - see body_readers.h: XML as far as names and texts go. Entities of one's own, and so a
 * DOCTYPE, are not read. */
#include "base/buf.h"
#include "policy/body_readers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { XML_NESTED_MAX = 64 }; /* elements of one name within each other */

static bool xml_is_named(const char *p, size_t n, const char *name)
{
        const char *colon = memchr(p, ':', n);
        if (colon) {
                n -= (size_t)(colon + 1 - p);
                p = colon + 1;
        }
        return n == strlen(name) && strncasecmp(p, name, n) == 0;
}

/* xml_text(p, n, out): entities undone; false for one that is not known. */
static bool xml_text(const char *p, size_t n, struct buf *out)
{
        static const struct {
                const char *name;
                char c;
        } known[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
        for (size_t i = 0; i < n; i++) {
                if (p[i] != '&') {
                        buf_put_u8(out, (uint8_t)p[i]);
                        continue;
                }
                bool is_known = false;
                for (size_t k = 0; k < 5 && !is_known; k++) {
                        size_t len = strlen(known[k].name);
                        if (n - i > len && memcmp(p + i + 1, known[k].name, len) == 0) {
                                buf_put_u8(out, (uint8_t)known[k].c);
                                i += len;
                                is_known = true;
                        }
                }
                if (is_known)
                        continue;
                char *end = NULL;
                bool is_hex = n - i > 3 && p[i + 1] == '#' && p[i + 2] == 'x';
                long c = n - i > 2 && p[i + 1] == '#'
                                 ? strtol(p + i + (is_hex ? 3 : 2), &end, is_hex ? 16 : 10)
                                 : 0;
                if (c <= 0 || c > 0x7e || !end || *end != ';')
                        return false; /* beyond ASCII nobody needs it */
                buf_put_u8(out, (uint8_t)c);
                i = (size_t)(end - p);
        }
        return true;
}

/* xml_attributes(p, n, name, visit, ctx): of a tag, behind its name. */
static bool xml_attributes(const char *p, size_t n, const char *name, request_visit *visit,
                           void *ctx)
{
        for (size_t i = 0; i < n;) {
                size_t from = i += strspn(p + i, " \t\r\n/");
                while (i < n && !strchr(" \t\r\n=/", p[i]))
                        i++;
                size_t len = i - from;
                i += i < n ? strspn(p + i, " \t\r\n") : 0;
                if (i >= n)
                        return len == 0;
                if (p[i] != '=' || len == 0)
                        return false;
                i++;
                i += strspn(p + i, " \t\r\n");
                char quote = i < n ? p[i] : 0;
                const char *close =
                        quote == '"' || quote == '\'' ? memchr(p + i + 1, quote, n - i - 1) : NULL;
                if (!close)
                        return false;
                _cleanup_buf_ struct buf b = {0};
                if (!xml_text(p + i + 1, (size_t)(close - p) - i - 1, &b))
                        return false;
                if (xml_is_named(p + from, len, name))
                        visit(ctx, buf_cstr(&b), b.len);
                i = (size_t)(close - p) + 1;
        }
        return true;
}

/* xml_tag_end(p, end): the > of a tag, not one within quotes. */
static const char *xml_tag_end(const char *p, const char *end)
{
        char quote = 0;
        for (; p < end; p++) {
                if (quote)
                        quote = *p == quote ? 0 : quote;
                else if (*p == '"' || *p == '\'')
                        quote = *p;
                else if (*p == '>')
                        return p;
        }
        return NULL;
}

/* xml_is_utf8(p, n): of <?...?>: an encoding makes other characters of the same bytes. */
static bool xml_is_utf8(const char *p, size_t n)
{
        static const char *const good[] = {"utf-8", "us-ascii"};
        const char *at = memmem(p, n, "encoding", 8), *end = p + n;
        if (n < 4 || strncasecmp(p, "?xml", 4) != 0 || !at)
                return true;
        at += 8;
        while (at < end && strchr(" \t\r\n=\"'", *at) && *at)
                at++;
        for (size_t i = 0; i < 2; i++) {
                size_t len = strlen(good[i]);
                if ((size_t)(end - at) > len && strncasecmp(at, good[i], len) == 0 &&
                    (at[len] == '"' || at[len] == '\''))
                        return true;
        }
        return false;
}

bool body_xml_each(const char *p, size_t n, const char *name, request_visit *visit, void *ctx)
{
        const char *end = p + n;
        _cleanup_buf_ struct buf text = {0};
        size_t from[XML_NESTED_MAX]; /* where the text of each begins */
        size_t inside = 0;           /* how many elements of that name are open */
        size_t shown = 0; /* of texts: those of nested elements are shown again and again */
        while (p < end) {
                const char *lt = memchr(p, '<', (size_t)(end - p));
                size_t run = (size_t)((lt ? lt : end) - p);
                if (inside && !xml_text(p, run, &text))
                        return false;
                if (!lt)
                        return inside == 0;
                p = lt + 1;
                size_t left = (size_t)(end - p);
                const char *to;
                if (left > 3 && memcmp(p, "!--", 3) == 0) {
                        to = memmem(p + 3, left - 3, "-->", 3);
                        p = to ? to + 3 : end;
                } else if (left > 8 && memcmp(p, "![CDATA[", 8) == 0) {
                        to = memmem(p + 8, left - 8, "]]>", 3);
                        if (to && inside)
                                buf_put(&text, p + 8, (size_t)(to - p - 8));
                        p = to ? to + 3 : end;
                } else if (left > 1 && *p == '?') {
                        to = memmem(p, left, "?>", 2);
                        if (to && !xml_is_utf8(p, (size_t)(to - p)))
                                return false;
                        p = to ? to + 2 : end;
                } else if (left > 1 && *p != '!' && (to = xml_tag_end(p, end))) {
                        bool is_close = *p == '/';
                        const char *tag = p + is_close;
                        size_t tag_n = strcspn(tag, " \t\r\n/>");
                        bool is_ours = xml_is_named(tag, tag_n, name);
                        if (!is_close && !xml_attributes(tag + tag_n, (size_t)(to - tag) - tag_n,
                                                         name, visit, ctx))
                                return false;
                        bool is_empty = !is_close && to[-1] == '/';
                        if (is_ours && is_close && inside > 0) {
                                size_t begin = from[--inside];
                                shown += text.len - begin;
                                if (shown > 2 * n)
                                        return false;
                                visit(ctx, buf_cstr(&text) + begin, text.len - begin);
                                text.len = inside ? text.len : 0;
                        } else if (is_ours && is_empty) {
                                visit(ctx, "", 0);
                        } else if (is_ours && !is_close) {
                                if (inside == XML_NESTED_MAX)
                                        return false;
                                from[inside++] = text.len;
                        }
                        p = to + 1;
                        to = p;
                } else {
                        return false; /* DOCTYPE, or cut off */
                }
                if (!to)
                        return false;
        }
        return inside == 0;
}
