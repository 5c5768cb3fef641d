/* capture.c - see capture.h: JSON and forms; capture_xml.c has XML. Called by scrub_tokens.c with
 * the whole body of a place that lends credentials. What cannot be read with certainty is an error:
 * it may hold a token. */
#include "egress/capture.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"
#include "policy/cred_look.h"
#include "policy/lenders.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MIN = 8, NAME_MAX_LEN = 64 }; /* nothing shorter is a credential */

/* starts(type, n, word): is that the Content-Type, without its parameters? */
static bool is_type(const char *type, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(type, word, n) == 0;
}

/* said(type): what the Content-Type says; CAPTURE_NOT: nothing that we know. */
static enum capture_kind said(const char *type)
{
        size_t n = strcspn(type, "; \t,");
        if (is_type(type, n, "application/json") || is_type(type, n, "text/json") ||
            (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0) ||
            (n > 22 && strncasecmp(type, "application/x-amz-json-", 23) == 0))
                return CAPTURE_JSON;
        if (is_type(type, n, "application/x-www-form-urlencoded"))
                return CAPTURE_FORM;
        if (is_type(type, n, "text/xml") || is_type(type, n, "application/xml") ||
            (n > 4 && strncasecmp(type + n - 4, "+xml", 4) == 0))
                return CAPTURE_XML;
        return CAPTURE_NOT;
}

/* is_form(p, n): name=value&name=value and nothing that a form would have to escape. */
static bool is_form(const char *p, size_t n)
{
        bool has_pair = false;
        for (size_t i = 0; i < n; i++) {
                if (p[i] <= 0x20 || p[i] >= 0x7f || strchr("<>\"{}\\^`|", p[i]))
                        return false;
                has_pair |= p[i] == '=' && i > 0;
        }
        return has_pair;
}

enum capture_kind capture_kind(const char *type, const char *p, size_t n)
{
        while (n > 0 && strchr(" \t\r\n", *p) && *p) {
                p++;
                n--;
        }
        while (n > 0 && p[n - 1] && strchr(" \t\r\n", p[n - 1]))
                n--;
        enum capture_kind is = n == 0                   ? CAPTURE_NOT
                               : *p == '{' || *p == '[' ? CAPTURE_JSON
                               : *p == '<'              ? CAPTURE_XML
                               : is_form(p, n)          ? CAPTURE_FORM
                                                        : CAPTURE_NOT;
        enum capture_kind by_type = said(type);
        return by_type == CAPTURE_NOT || by_type == is ? is : CAPTURE_NOT;
}

static char *copy(const char *p, size_t n)
{
        char *s = malloc(n + 1);
        if (!s)
                str_no_memory();
        if (n > 0)
                memcpy(s, p, n);
        s[n] = '\0';
        return s;
}

/* hides(p, n): does a text that is no token name one, as JSON within JSON does? */
static bool hides(const char *p, size_t n)
{
        static const char *const names[] = {"access_token",    "accesstoken",  "refresh_token",
                                            "refreshtoken",    "id_token",     "idtoken",
                                            "secretaccesskey", "sessiontoken", "session_token",
                                            "client_secret",   "client_token"};
        bool is_marked = false; /* something must stand between a name and its value */
        for (size_t i = 0; i < n && !is_marked; i++)
                is_marked = p[i] && strchr("\"'\\=:>&%", p[i]);
        if (!is_marked)
                return false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                size_t len = strlen(names[i]);
                for (size_t at = 0; at + len < n; at++)
                        if (strncasecmp(p + at, names[i], len) == 0 &&
                            strchr("\"'\\=:>&%", p[at + len]) && p[at + len])
                                return true;
        }
        return false;
}

/* is_sure(c, name, name_n, value): is it a credential beyond doubt, which is looked for in what every
 * host sends? What only looks like one, or what others may have, too, is looked for where it
 * belongs: otherwise who lends could have a checksum of his choice replaced elsewhere. */
static bool is_sure(const struct capture *c, const char *name, size_t name_n,
                    const struct buf *value)
{
        return !(c->how & CAPTURE_ERROR) && lenders_is_sure(name, name_n) &&
               !cred_look_is_published((const char *)value->data, value->len);
}

/* put(c, name, name_n, piece, value, start, len, err): take it out. */
static int put(struct capture *c, const char *name, size_t name_n, const char *piece,
               const struct buf *value, size_t start, size_t len, struct err *err)
{
        if (c->n == CAPTURE_MAX)
                return err_set(err, E_PROTO, "an answer has too many tokens in it");
        if (value->len > DOOR_SECRET_MAX)
                return err_set(err, E_PROTO, "a token is longer than any that can be kept");
        if (memchr(value->data, '\0', value->len))
                return err_set(err, E_PROTO, "a token has a zero byte in it");
        struct capture_token *t = &c->tokens[c->n++];
        *t = (struct capture_token){
                .start = start, .len = len, .is_sure = is_sure(c, name, name_n, value)};
        t->value = copy((const char *)value->data, value->len);
        if (*piece) { /* the keeper puts the pieces of a key together by these names */
                t->name = str_dup(strcmp(piece, "id") == 0    ? "AccessKeyId"
                                  : strcmp(piece, "key") == 0 ? "SecretAccessKey"
                                                              : "SessionToken");
                return 0;
        }
        t->name = name_n ? copy(name, name_n < NAME_MAX_LEN ? name_n : NAME_MAX_LEN)
                         : str_dup("token");
        for (char *p = t->name; *p; p++)
                if (!strchr("_-.", *p) && !(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') &&
                    !(*p >= 'A' && *p <= 'Z'))
                        *p = '_';
        return 0;
}

static bool is_named(const char *name, size_t n)
{
        return lenders_field(name, n) != NULL;
}

bool capture_address(const char *p, size_t n)
{
        return cred_look(p, n) == CRED_SURE || cred_look_params(p, n, is_named);
}

bool capture_is_clean(const char *p, size_t n)
{
        return cred_look(p, n) == CRED_NO && !cred_look_params(p, n, is_named) && !hides(p, n);
}

/* is_lent(c, name, name_n, value): a name says that it is a credential, and may be right: "password"
 * is also what the sentence of an error is called, and what is taken out is looked for elsewhere. */
static bool is_lent(const struct capture *c, const char *name, size_t name_n,
                    const struct buf *value)
{
        return (!(c->how & CAPTURE_ERROR) && lenders_is_sure(name, name_n)) ||
               cred_look_is_made((const char *)value->data, value->len);
}

int capture_add(struct capture *c, const char *name, size_t name_n, const struct buf *value,
                size_t start, size_t len, struct err *err)
{
        if (value->len < VALUE_MIN)
                return 0;
        const char *p = (const char *)value->data;
        bool is_plain;
        const char *piece = lenders_name(name, name_n, &is_plain);
        if (c->how & CAPTURE_ID && name_n == 2 && strncasecmp(name, "id", 2) == 0)
                is_plain = false;
        bool is_any = c->how == CAPTURE_ALL && !is_plain;
        if (is_any || (piece && is_lent(c, name, name_n, value)))
                return put(c, name, name_n, piece ? piece : "", value, start, len, err);

        /* No name says so, or what says it is a word or a sentence: what it looks like decides. */
        enum cred_look look = cred_look(p, value->len);
        bool is_token = look == CRED_SURE || (look == CRED_MAYBE && !is_plain);
        if (is_token && cred_look_is_word(p, value->len))
                return put(c, name, name_n, "", value, start, len, err);
        if (is_token || hides(p, value->len))
                return err_set(err, E_PROTO, "it has a token in a text");
        if (cred_look_params(p, value->len, is_named))
                return err_set(err, E_PROTO, "it has a token in an address");
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

/* take_key(key, n, err): the name of a member may be no token: nothing can take its place. */
static int take_key(const char *key, size_t n, struct err *err)
{
        return cred_look(key, n) == CRED_NO ? 0 : err_set(err, E_PROTO, "it has a token as a name");
}

static int take_string(const struct body_json *j, const struct json_node *node, const char *name,
                       size_t name_n, struct capture *c, struct err *err)
{
        struct buf value = {0};
        body_json_unescape(j->text + node->start, node->len, &value);
        int r = capture_add(c, name, name_n, &value, node->start, node->len, err);
        wipe(&value);
        return r;
}

/* A member is called by its own name; the text in a list by what holds it, and so is "value" in
 * what is called like a credential. */
static int take_json(const struct body_json *j, size_t at, const char *name, size_t name_n,
                     struct capture *c, struct err *err)
{
        int r = 0;
        for (size_t i = j->nodes[at].child; i && r == 0; i = j->nodes[i].next) {
                const struct json_node *node = &j->nodes[i];
                const char *key = (const char *)j->keys.data + node->key;
                size_t key_n = node->key_len;
                bool is_value = key_n == 5 && strncasecmp(key, "value", 5) == 0;
                if (j->nodes[at].type == JSON_T_ARRAY || (is_value && is_named(name, name_n))) {
                        key = name;
                        key_n = name_n;
                } else {
                        r = take_key(key, key_n, err);
                }
                if (r == 0 && (node->type == JSON_T_OBJECT || node->type == JSON_T_ARRAY))
                        r = take_json(j, i, key, key_n, c, err);
                else if (r == 0 && node->type == JSON_T_STRING)
                        r = take_string(j, node, key, key_n, c, err);
        }
        return r;
}

static int find_json(const char *p, size_t n, struct capture *c, struct err *err)
{
        struct body_json *j = body_json_read(p, n, err);
        int r = j ? take_json(j, 0, "", 0, c, err) : -1;
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

/* undo(p, n, out): what a form's name or value stands for. */
static void undo(const char *p, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                int high = p[i] == '%' && i + 2 < n ? hex(p[i + 1]) : -1;
                int low = high < 0 ? -1 : hex(p[i + 2]);
                buf_put_u8(out, low >= 0      ? (uint8_t)(high * 16 + low)
                                : p[i] == '+' ? ' '
                                              : (uint8_t)p[i]);
                i += low >= 0 ? 2 : 0;
        }
}

static int find_form(const char *p, size_t n, struct capture *c, struct err *err)
{
        int r = 0;
        while (n > 0 && strchr("\r\n", p[n - 1]))
                n--;
        for (size_t at = 0; r == 0 && at < n;) {
                const char *amp = memchr(p + at, '&', n - at);
                size_t end = amp ? (size_t)(amp - p) : n;
                const char *eq = memchr(p + at, '=', end - at);
                size_t name_n = eq ? (size_t)(eq - p) - at : end - at;
                struct buf name = {0}, value = {0};
                undo(p + at, name_n, &name);
                if (eq)
                        undo(eq + 1, end - at - name_n - 1, &value);
                r = name.len ? take_key((const char *)name.data, name.len, err) : 0;
                if (eq && r == 0)
                        r = capture_add(c, (const char *)name.data, name.len, &value,
                                        at + name_n + 1, end - at - name_n - 1, err);
                wipe(&name);
                wipe(&value);
                at = end + 1;
        }
        return r;
}

int capture_find(const char *type, const char *p, size_t n, unsigned how, struct capture *c,
                 struct err *err)
{
        *c = (struct capture){.kind = capture_kind(type, p, n), .how = how};
        switch (c->kind) {
        case CAPTURE_JSON:
                return find_json(p, n, c, err);
        case CAPTURE_FORM:
                return find_form(p, n, c, err);
        case CAPTURE_XML:
                return capture_xml(p, n, c, err);
        case CAPTURE_NOT:
                break;
        }
        while (n > 0 && strchr(" \t\r\n", p[n - 1]) && p[n - 1])
                n--;
        /* true, null, OK: too short to be one */
        return n < VALUE_MIN ? 0 : err_set(err, E_PROTO, "it is neither JSON nor XML nor a form");
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
