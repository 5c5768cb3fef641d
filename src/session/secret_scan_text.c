/* secret_scan_text.c - where in a text a secret stands: one reader for all the writings in which
 * people keep variables (KEY=value, "key": "value", key: value, -e KEY=value), because a file is
 * not always what its name says. It errs on the side of finding. Called by secret_mask.c; pure. */
#include "session/secret_scan.h"

#include "base/str.h"
#include "base/strs.h"
#include "policy/cred_list.h"
#include "policy/secret_shape.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MIN = 8, VALUE_MAX = 4096, PASSWORD_MIN = 6, SPANS_MAX = 4096 };

struct scan {
        const char *text;
        size_t n;
        const struct strs *names;
        struct secret_spans *out;
        const char *machine; /* netrc: whose password comes next */
        size_t machine_len;
        bool has_no_end; /* no END of a private key is left in the text */
};

void secret_spans_free(struct secret_spans *s)
{
        free(s->v);
        *s = (struct secret_spans){0};
}

/* add(s, ...): one more, to be completed by the caller; NULL when there is no room or nothing. */
static struct secret_span *add(struct scan *s, size_t at, size_t len, const char *name,
                               size_t name_len, const char *host, size_t host_len)
{
        struct secret_spans *o = s->out;
        if (len == 0 || o->n == SPANS_MAX)
                return NULL;
        if ((o->n & (o->n - 1)) == 0) {
                size_t cap = o->n ? o->n * 2 : 1;
                struct secret_span *v = realloc(o->v, cap * sizeof *v);
                if (!v)
                        str_no_memory();
                o->v = v;
        }
        struct secret_span *x = &o->v[o->n++];
        *x = (struct secret_span){.at = at, .len = len};
        if (name_len <= SECRET_SCAN_NAME_MAX)
                memcpy(x->name, name, name_len);
        if (host && host_len < sizeof x->host)
                memcpy(x->host, host, host_len);
        return x;
}

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_key(const struct scan *s, const char *p, size_t n)
{
        static const char *const more[] = {"*_key", "*_pat",       "*_pass",   "*_pwd",   "*_auth",
                                           "auth",  "oauth_token", "password", "*bearer*"};
        static const char *const never[] = {"*public*key*", "*_publishable_*", "*secret_name*",
                                            "*token_type*", "*_key_id_file",   "*_primary_key",
                                            "*foreign_key"};
        char key[SECRET_SCAN_NAME_MAX + 1];
        if (n == 0 || n > SECRET_SCAN_NAME_MAX)
                return false;
        memcpy(key, p, n);
        key[n] = 0;
        if (s->names && strs_has(s->names, key))
                return true;
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                if (fnmatch(never[i], key, FNM_CASEFOLD) == 0)
                        return false;
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
                if (fnmatch(more[i], key, FNM_CASEFOLD) == 0)
                        return true;
        return cred_list_is_secret_key(key);
}

/* is_real(p, n): may this be somebody's key, and no reference, path, word or blank? */
static bool is_real(const char *p, size_t n)
{
        static const char *const blanks[] = {
                "*changeme*", "*change_me*", "*your?*",  "*example*", "*placeholder*", "*<*>*",
                "*xxxxxx*",   "*.......*",   "password", "undefined", "*\\**\\**\\**"};
        char text[256];
        if (n < VALUE_MIN || strchr("$<%~", p[0]) || p[0] == '/' || p[0] == '.' || p[0] == '{' ||
            memmem(p, n, "${", 2) || memmem(p, n, "://", 3))
                return false;
        if (n >= sizeof text)
                return true;
        memcpy(text, p, n);
        text[n] = 0;
        for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
                if (fnmatch(blanks[i], text, FNM_CASEFOLD) == 0)
                        return false;
        return true;
}

/* value(s, i, end): the value that begins at ${i}; its first byte, and in ${end} the one behind. */
static size_t value(const struct scan *s, size_t i, size_t *end)
{
        static const char *const schemes[] = {"bearer ", "basic ", "token "};
        const char *t = s->text;
        /* A hostile file must not have its rest read once per word. */
        size_t e, most = s->n - i < VALUE_MAX ? s->n : i + VALUE_MAX;
        if (i < s->n && (t[i] == '"' || t[i] == '\'')) {
                char quote = t[i++];
                for (e = i; e < most && t[e] != quote; e++)
                        if (t[e] == '\\')
                                e++;
                e = e > most ? most : e;
        } else {
                for (e = i; e < most && t[e] != '\n' && t[e] != '\r' && t[e] != '"' && t[e] != '\'';
                     e++)
                        if (e > i && t[e] == '#' && (t[e - 1] == ' ' || t[e - 1] == '\t'))
                                break;
                while (e > i && (strchr(" \t,;", t[e - 1])))
                        e--;
        }
        for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
                size_t n = strlen(schemes[k]);
                if (e - i > n && strncasecmp(t + i, schemes[k], n) == 0)
                        i += n;
        }
        *end = e;
        return i;
}

/* netrc(s, from, to): "machine HOST" and "password VALUE", on one line or several. */
static size_t netrc(struct scan *s, size_t from, size_t to)
{
        static const char space[] = " \t\r\n";
        const char *word = s->text + from;
        bool is_machine = to - from == 7 && strncmp(word, "machine", 7) == 0;
        bool is_password = to - from == 8 && strncmp(word, "password", 8) == 0;
        if (!is_machine && !is_password)
                return to;
        size_t i = to + strspn(s->text + to, space), end = i + strcspn(s->text + i, space);
        if (is_machine) {
                s->machine = s->text + i;
                s->machine_len = end - i;
        } else {
                add(s, i, end - i, "", 0, s->machine, s->machine_len);
        }
        return end;
}

/* registry(s, from, &len): the host of "//HOST/PATH/:_authToken=" when the word at ${from} is the
 * last part of one; NULL when it is not. */
static const char *registry(const struct scan *s, size_t from, size_t *len)
{
        size_t begin = from;
        while (begin > 0 && from - begin < 512 && s->text[begin - 1] != '\n')
                begin--;
        const char *line = s->text + begin;
        if (s->text[from] != '_' || from - begin < 4 || strncmp(line, "//", 2) != 0 ||
            s->text[from - 1] != ':')
                return NULL;
        *len = strcspn(line + 2, "/: \n");
        return line + 2;
}

/* pair(s, from, to): the word from..to may be a key; look behind it for a value. Returns where to
 * read on. */
static size_t pair(struct scan *s, size_t from, size_t to, bool is_netrc)
{
        const char *t = s->text;
        size_t i = to, end;
        if (i < s->n && (t[i] == '"' || t[i] == '\'') && from > 0 && t[from - 1] == t[i])
                i++;
        while (i < s->n && (t[i] == ' ' || t[i] == '\t'))
                i++;
        if (is_netrc)
                return netrc(s, from, to);
        if (i >= s->n || (t[i] != '=' && t[i] != ':') || !is_key(s, t + from, to - from))
                return to;
        for (i++; i < s->n && (t[i] == ' ' || t[i] == '\t' || t[i] == '>');)
                i++;
        i = value(s, i, &end);
        if (end <= i || !is_real(t + i, end - i) || str_starts(t + i, "-----BEGIN "))
                return to;
        size_t host_len = 0;
        const char *host = registry(s, from, &host_len);
        if (host) {
                struct secret_span *x = add(s, i, end - i, "", 0, host, host_len);
                if (x)
                        x->is_bearer = strncmp(t + from, "_authToken", 10) == 0;
        } else {
                add(s, i, end - i, t + from, to - from, "", 0);
        }
        return end;
}

/* url(s, at): behind a "://" there may be a password. */
static void url(struct scan *s, size_t at)
{
        static const char stop[] = "/ \t\r\n\"'<>\\";
        const char *t = s->text, *from = t + at, *sign = NULL;
        size_t n = strcspn(from, stop);
        if (n > s->n - at)
                n = s->n - at;
        for (size_t i = 0; i < n; i++)
                if (from[i] == '@')
                        sign = from + i;
        if (!sign)
                return;
        const char *colon = memchr(from, ':', (size_t)(sign - from));
        const char *secret = colon ? colon + 1 : from, *host = sign + 1;
        size_t len = (size_t)(sign - secret), host_len = strcspn(host, "/: \t\r\n\"'?#");
        size_t shape_len;
        bool is_known = secret_shape_find(secret, len, 0, &shape_len) == 0;
        /* git:x-oauth-basic@: the token stands where a user's name does */
        if (colon && !is_known && (len < PASSWORD_MIN || strncmp(secret, "x-oauth", 7) == 0)) {
                secret = from;
                len = (size_t)(colon - from);
                colon = NULL;
        }
        if (len == 0 || secret[0] == '$' || secret[0] == '{' ||
            (!colon && len < 20 && secret_shape_find(secret, len, 0, &shape_len) != 0))
                return;
        add(s, (size_t)(secret - t), len, "", 0, host, host_len);
}

/* pem(s, at): the body of a private key, wherever it is written and with whatever line ends. */
static size_t pem(struct scan *s, size_t at)
{
        const char *t = s->text, *head = t + at;
        const char *body = memmem(head, s->n - at < 80 ? s->n - at : 80, "PRIVATE KEY-----", 16);
        if (!body || s->has_no_end)
                return at + 11;
        body += 16;
        const char *end = memmem(body, s->n - (size_t)(body - t), "-----END", 8);
        s->has_no_end = !end;
        if (!end)
                return at + 11;
        add(s, (size_t)(body - t), (size_t)(end - body), "", 0, "", 0);
        return (size_t)(end - t);
}

/* A longer one that begins at the same place comes first. */
static int by_place(const void *a, const void *b)
{
        const struct secret_span *x = a, *y = b;
        if (x->at != y->at)
                return x->at < y->at ? -1 : 1;
        return x->len > y->len ? -1 : x->len < y->len;
}

static void settle(struct secret_spans *o)
{
        size_t kept = 0;
        if (o->n == 0)
                return;
        qsort(o->v, o->n, sizeof *o->v, by_place);
        for (size_t i = 0; i < o->n; i++) {
                const struct secret_span *last = kept ? &o->v[kept - 1] : NULL;
                if (!last || o->v[i].at >= last->at + last->len)
                        o->v[kept++] = o->v[i];
        }
        o->n = kept;
}

void secret_scan_text(enum secret_scan_kind kind, const char *text, size_t n,
                      const struct strs *names, struct secret_spans *out)
{
        struct scan s = {.text = text, .n = n, .names = names, .out = out};
        for (size_t i = 0; i < n;) {
                if (is_word(text[i]) && text[i] != '-') {
                        size_t from = i;
                        while (i < n && is_word(text[i]))
                                i++;
                        if (kind != SECRET_SCAN_SHAPES)
                                i = pair(&s, from, i, kind == SECRET_SCAN_NETRC);
                } else if (text[i] == ':' && n - i > 3 && text[i + 1] == '/' &&
                           text[i + 2] == '/') {
                        i += 3;
                        url(&s, i);
                } else if (n - i > 11 && memcmp(text + i, "-----BEGIN ", 11) == 0) {
                        i = pem(&s, i);
                } else {
                        i++;
                }
        }
        size_t len;
        for (size_t at = 0; (at = secret_shape_find(text, n, at, &len)) < n; at += len ? len : 1)
                add(&s, at, len, "", 0, "", 0);
        settle(out);
}
