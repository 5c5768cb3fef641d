/* capture.c - see capture.h. Called by scrub_tokens.c with a body that is whole. What looks like a
 * token endpoint's answer and cannot be read is an error: it may hold a token. */
#include "egress/capture.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MIN = 8 }; /* nothing shorter is a credential */

static const char *const names[] = {"access_token", "refresh_token",   "id_token",
                                    "AccessKeyId",  "SecretAccessKey", "SessionToken"};
enum { NAMES = sizeof names / sizeof *names };

/* Servers take /token/, /token;x=y, /Token and /token.json for /token, and whoever wants to see the
 * token writes it so. */
bool capture_is_place(const char *host, const char *path)
{
        static const char *const ends[] = {"/token", "/access_token", "/tokens"};
        size_t n = strcspn(path, ";");
        const char *coded = strcasestr(path, "%3b");
        if (coded && (size_t)(coded - path) < n)
                n = (size_t)(coded - path);
        while (n > 0 && path[n - 1] == '/')
                n--;
        if (n > 5 && strncasecmp(path + n - 5, ".json", 5) == 0)
                n -= 5;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                size_t len = strlen(ends[i]);
                if (n >= len && strncasecmp(path + n - len, ends[i], len) == 0)
                        return true;
        }
        return (str_starts(host, "sts.") || str_starts(host, "sts-fips.")) && n == 0;
}

enum capture_kind capture_kind(const char *type)
{
        size_t n = strcspn(type, "; \t");
        if ((n == 16 && strncasecmp(type, "application/json", n) == 0) ||
            (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0) ||
            (n == 15 && strncasecmp(type, "text/javascript", n) == 0) ||
            (n == 26 && strncasecmp(type, "application/x-amz-json-1.0", n) == 0) ||
            (n == 26 && strncasecmp(type, "application/x-amz-json-1.1", n) == 0))
                return CAPTURE_JSON;
        if (n == 33 && strncasecmp(type, "application/x-www-form-urlencoded", n) == 0)
                return CAPTURE_FORM;
        if ((n == 8 && strncasecmp(type, "text/xml", n) == 0) ||
            (n == 15 && strncasecmp(type, "application/xml", n) == 0))
                return CAPTURE_XML;
        return CAPTURE_NOT;
}

static bool is_token(const char *name, size_t n)
{
        for (size_t i = 0; i < NAMES; i++)
                if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
                        return true;
        return false;
}

static char *copy(const char *p, size_t n)
{
        char *s = malloc(n + 1);
        if (!s)
                str_no_memory();
        memcpy(s, p, n);
        s[n] = '\0';
        return s;
}

/* add(c, name, value, start, len): a token; ${value} is wiped. */
static int add(struct capture *c, const char *name, size_t name_n, struct buf *value, size_t start,
               size_t len, struct err *err)
{
        if (value->len < VALUE_MIN)
                return 0;
        if (c->n == CAPTURE_MAX)
                return err_set(err, E_PROTO, "an answer has too many tokens in it");
        if (memchr(value->data, '\0', value->len))
                return err_set(err, E_PROTO, "a token has a zero byte in it");
        c->tokens[c->n++] =
                (struct capture_token){.start = start,
                                       .len = len,
                                       .name = copy(name, name_n),
                                       .value = copy((const char *)value->data, value->len)};
        return 0;
}

static void wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}

static int by_start(const void *a, const void *b)
{
        const struct capture_token *x = a, *y = b;
        return x->start < y->start ? -1 : x->start > y->start;
}

static int find_json(const char *p, size_t n, struct capture *c, struct err *err)
{
        struct body_json *j = body_json_read(p, n, err);
        int r = j ? 0 : -1;
        for (size_t i = 1; j && r == 0 && i < j->nodes_n; i++) {
                const struct json_node *node = &j->nodes[i];
                const char *key = (const char *)j->keys.data + node->key;
                if (node->type != JSON_T_STRING || !node->key_len || !is_token(key, node->key_len))
                        continue;
                struct buf value = {0};
                body_json_unescape(p + node->start, node->len, &value);
                r = add(c, key, node->key_len, &value, node->start, node->len, err);
                wipe(&value);
        }
        body_json_free(j);
        qsort(c->tokens, c->n, sizeof c->tokens[0], by_start);
        return r;
}

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int find_form(const char *p, size_t n, struct capture *c, struct err *err)
{
        int r = 0;
        for (size_t at = 0; r == 0 && at < n;) {
                const char *amp = memchr(p + at, '&', n - at);
                size_t end = amp ? (size_t)(amp - p) : n;
                const char *eq = memchr(p + at, '=', end - at);
                size_t name_n = eq ? (size_t)(eq - p) - at : end - at;
                struct buf value = {0};
                for (size_t i = at + name_n + 1; eq && i < end; i++) {
                        int high = p[i] == '%' && i + 2 < end ? hex(p[i + 1]) : -1;
                        int low = high < 0 ? -1 : hex(p[i + 2]);
                        bool is_hex = low >= 0;
                        buf_put_u8(&value, is_hex        ? (uint8_t)(high * 16 + low)
                                           : p[i] == '+' ? ' '
                                                         : (uint8_t)p[i]);
                        i += is_hex ? 2 : 0;
                }
                if (eq && is_token(p + at, name_n))
                        r = add(c, p + at, name_n, &value, at + name_n + 1, end - at - name_n - 1,
                                err);
                wipe(&value);
                at = end + 1;
        }
        return r;
}

static int find_xml(const char *p, size_t n, struct capture *c, struct err *err)
{
        for (size_t at = 0; at < n;) {
                const char *open = memchr(p + at, '<', n - at);
                if (!open)
                        break;
                size_t name = (size_t)(open - p) + 1;
                const char *close = memchr(p + name, '>', n - name);
                if (!close)
                        break;
                size_t start = (size_t)(close - p) + 1;
                at = start;
                if (!is_token(p + name, start - 1 - name))
                        continue;
                const char *stop = memchr(p + start, '<', n - start);
                size_t len = stop ? (size_t)(stop - p) - start : n - start;
                if (memchr(p + start, '&', len))
                        return err_set(err, E_PROTO, "a token in XML has an escape in it");
                struct buf value = {0};
                buf_put(&value, p + start, len);
                int r = add(c, p + name, start - 1 - name, &value, start, len, err);
                wipe(&value);
                if (r < 0)
                        return -1;
        }
        return 0;
}

int capture_find(enum capture_kind kind, const char *p, size_t n, struct capture *c,
                 struct err *err)
{
        *c = (struct capture){.kind = kind};
        switch (kind) {
        case CAPTURE_JSON:
                return find_json(p, n, c, err);
        case CAPTURE_FORM:
                return find_form(p, n, c, err);
        case CAPTURE_XML:
                return find_xml(p, n, c, err);
        case CAPTURE_NOT:
                break;
        }
        return 0;
}

void capture_free(struct capture *c)
{
        for (size_t i = 0; i < c->n; i++) {
                explicit_bzero(c->tokens[i].value, strlen(c->tokens[i].value));
                free(c->tokens[i].value);
                free(c->tokens[i].name);
        }
        *c = (struct capture){0};
}

void capture_put(enum capture_kind kind, const char *text, struct buf *out)
{
        for (const char *c = text; *c; c++) {
                bool is_plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                                (*c >= 'A' && *c <= 'Z') || strchr("-_.~", *c);
                if (kind == CAPTURE_FORM && !is_plain)
                        buf_put_fmt(out, "%%%02X", (unsigned char)*c);
                else if (kind == CAPTURE_JSON && (*c == '"' || *c == '\\'))
                        buf_put_fmt(out, "\\%c", *c);
                else if (kind == CAPTURE_XML && strchr("<>&", *c))
                        buf_put_fmt(out, "&#%d;", *c);
                else
                        buf_put_u8(out, (uint8_t)*c);
        }
}
