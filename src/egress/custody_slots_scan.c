/* custody_slots_scan.c - see custody_slots.h: what a head holds besides its slots: placeholders
 * that have no business there (S6), and credentials that are none of ours (S2). Called for each
 * request of a box that has secrets, before anything of it is passed on. */
#include "egress/custody_slots.h"

#include "base/str.h"
#include "egress/scan.h"
#include "policy/cred_slots.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_at(const struct custody_use *e, enum custody_at at, size_t field)
{
        return e->at == at && (at == CUSTODY_QUERY || at == CUSTODY_PATH || e->field == field);
}

void custody_leaks_add(struct custody_leaks *l, uint32_t number, const char *where)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->list[i].number == number)
                        return;
        if (l->n == CUSTODY_LEAKS_MAX)
                return;
        l->list[l->n].number = number;
        l->list[l->n++].where = str_dup(where);
}

void custody_leaks_free(struct custody_leaks *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->list[i].where);
        l->n = 0;
}

/* search(d, p, n, where, leaks): every secret whose placeholder is in these bytes. */
static void search(struct door *d, const void *p, size_t n, const char *where,
                   struct custody_leaks *l)
{
        struct scan_hit hit;
        if (!scan_look(custody_of(d)->placeholders, p, n, &hit))
                return;
        custody_leaks_add(l, hit.tag, where);
        for (uint32_t i = 0; i < hit.others_n; i++)
                custody_leaks_add(l, hit.others[i], where);
}

/* look(d, p, n, uses, at, field, where, leaks): ${p} without what the uses take of it: a line end
 * stands in their place, which is part of no writing. */
static void look(struct door *d, const char *p, size_t n, const struct custody_uses *u,
                 enum custody_at at, size_t field, const char *where, struct custody_leaks *l)
{
        _cleanup_buf_ struct buf rest = {0};
        for (size_t i = 0; i < u->n; i++) {
                const struct custody_use *e = &u->list[i];
                if (!is_at(e, at, field) || e->field == SIZE_MAX || e->len == 0)
                        continue;
                if (!rest.len)
                        buf_put(&rest, p, n);
                memset(rest.data + e->from, '\n', e->len);
        }
        search(d, rest.len ? rest.data : (const void *)p, n, where, l);
}

/* other_half(d, use, where, leaks): the half of a Basic pair that the placeholder is not. */
static void other_half(struct door *d, const struct custody_use *e, const char *where,
                       struct custody_leaks *l)
{
        const char *coded = strchr(e->slot, ' ');
        size_t n = coded ? strlen(coded + 1) : 0;
        _cleanup_buf_ struct buf plain = {0};
        uint8_t *at = buf_room(&plain, n / 4 * 3 + 3);
        int len = at ? EVP_DecodeBlock(at, (const unsigned char *)coded + 1, (int)n) : -1;
        if (len < 0)
                return;
        for (size_t i = n; i > 0 && coded[i] == '=' && len > 0; i--)
                len--;
        uint8_t *colon = memchr(at, ':', (size_t)len);
        size_t user_n = colon ? (size_t)(colon - at) : 0, pass_n = (size_t)len - user_n;
        if (colon && custody_is_placeholder(e->secret, at, user_n))
                memset(at, '\n', user_n);
        else if (colon && custody_is_placeholder(e->secret, colon + 1, pass_n - 1))
                memset(colon + 1, '\n', pass_n - 1);
        search(d, at, (size_t)len, where, l);
}

/* name_leaks(d, p, n, where, leaks): a text whose letters lost their size. */
static void name_leaks(struct door *d, const char *p, size_t n, const char *where,
                       struct custody_leaks *l)
{
        uint32_t numbers[CUSTODY_LEAKS_MAX];
        size_t found = custody_text_all(d, p, n, numbers);
        for (size_t i = 0; i < found; i++)
                custody_leaks_add(l, numbers[i], where);
}

static void field_leaks(struct door *d, const struct head *h, size_t i,
                        const struct custody_uses *u, struct custody_leaks *l)
{
        const struct field *f = &h->fields[i];
        const char *name = head_str(h, f->name), *value = head_str(h, f->value);
        name_leaks(d, name, f->name_len, "the name of a header", l);
        bool is_cookie = strcmp(name, "cookie") == 0;
        char where[96];
        snprintf(where, sizeof where, "header %.80s", name);
        look(d, value, f->value_len, u, is_cookie ? CUSTODY_COOKIE : CUSTODY_FIELD, i, where, l);
        for (size_t k = 0; k < u->n; k++) {
                const struct custody_use *e = &u->list[k];
                if (e->kind == CUSTODY_PLACE && e->at == CUSTODY_FIELD && e->field == i &&
                    strncasecmp(e->slot, "basic ", 6) == 0)
                        other_half(d, e, where, l);
        }
}

/* has_use(uses, at, field): is something in it as it should be? */
static bool has_use(const struct custody_uses *u, enum custody_at at, size_t field)
{
        for (size_t i = 0; i < u->n; i++)
                if (is_at(&u->list[i], at, field))
                        return true;
        return false;
}

/* put_values(p, n, next, out): of the pairs of a query or of cookies, without their names. */
static void put_values(const char *p, size_t n,
                       bool (*next)(const char *, size_t, size_t *, struct custody_pair *),
                       struct buf *out)
{
        struct custody_pair pair;
        for (size_t at = 0; next(p, n, &at, &pair);)
                buf_put(out, p + pair.value_from, pair.value_len);
}

/* joined(d, head, uses, leaks): what is cut over several parameters, cookies, segments of the path
 * or fields is whole again when they are put together, in their order. */
static void joined(struct door *d, const struct head *h, const struct custody_uses *u,
                   struct custody_leaks *l)
{
        _cleanup_buf_ struct buf all = {0};
        for (size_t i = 0; h->path.text && i < h->path.len && !has_use(u, CUSTODY_PATH, 0); i++)
                if (h->path.text[i] != '/')
                        buf_put_u8(&all, (uint8_t)h->path.text[i]);
        if (h->query && !has_use(u, CUSTODY_QUERY, 0))
                put_values(head_str(h, h->query), h->query_len, custody_pair_next, &all);
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                bool is_cookie = strcmp(head_str(h, f->name), "cookie") == 0;
                if (has_use(u, is_cookie ? CUSTODY_COOKIE : CUSTODY_FIELD, i))
                        continue;
                if (is_cookie)
                        put_values(head_str(h, f->value), f->value_len, custody_cookie_next, &all);
                else
                        buf_put(&all, head_str(h, f->value), f->value_len);
        }
        const struct scan_set *set = custody_of(d)->placeholders;
        if (!all.is_broken && all.len > 0 && !scan_is_clean(set, all.data, all.len))
                search(d, all.data, all.len, "several parts of the head", l);
}

void custody_slots_leak(struct door *d, const struct head *h, const struct custody_uses *u,
                        struct custody_leaks *l)
{
        name_leaks(d, head_str(h, h->method), h->method_len, "the method", l);
        if (h->path.text)
                look(d, h->path.text, h->path.len, u, CUSTODY_PATH, 0, "the path", l);
        if (h->query)
                look(d, head_str(h, h->query), h->query_len, u, CUSTODY_QUERY, 0, "the query", l);
        for (size_t i = 0; i < h->fields_n; i++)
                field_leaks(d, h, i, u, l);
        joined(d, h, u, l);
}

/* --- credentials that are not ours ------------------------------------------------------------ */

/* is_declared(c, host, port, form, name): do the lines that manage this host have such a slot? */
static bool is_declared(const struct custody *c, const struct host_name *host, uint16_t port,
                        enum rule_form form, const char *name)
{
        const struct custody_secret *s = NULL;
        while ((s = custody_managed(c, host, port, NULL, s)))
                for (size_t i = 0; i < s->line.secret->forms_n; i++) {
                        const struct rule_secret_form *f = &s->line.secret->forms[i];
                        if (f->form == form && f->name && strcmp(f->name, name) == 0)
                                return true;
                }
        return false;
}

static bool is_used(const struct custody_uses *u, enum custody_at at, size_t field, size_t from)
{
        for (size_t i = 0; i < u->n; i++)
                if (is_at(&u->list[i], at, field) && u->list[i].from == from &&
                    u->list[i].field != SIZE_MAX)
                        return true;
        return false;
}

/* found(...): tell of it, or take it out. */
static void found(struct custody_uses *u, struct custody_use e, bool is_dropped, char **where,
                  const char *kind, const char *name)
{
        if (where && !*where)
                *where = str_fmt("%s %.64s", kind, name);
        if (!is_dropped)
                return;
        if (u->n == CUSTODY_USES_MAX)
                u->is_full = true;
        else
                u->list[u->n++] = e;
}

static bool foreign_cookies(const struct custody *c, const struct host_name *host, uint16_t port,
                            const struct head *h, size_t i, struct custody_uses *u, bool is_dropped,
                            char **where)
{
        const struct field *f = &h->fields[i];
        const char *value = head_str(h, f->value);
        struct custody_pair pair;
        size_t at = 0;
        bool is_any = false;
        while (custody_cookie_next(value, f->value_len, &at, &pair)) {
                char name[128];
                if (pair.value_len == 0 || pair.name_len >= sizeof name ||
                    is_used(u, CUSTODY_COOKIE, i, pair.value_from))
                        continue;
                memcpy(name, value + pair.from, pair.name_len);
                name[pair.name_len] = '\0';
                if (!is_declared(c, host, port, RULE_AS_COOKIE, name))
                        continue;
                is_any = true;
                found(u,
                      (struct custody_use){.kind = CUSTODY_DROP,
                                           .at = CUSTODY_COOKIE,
                                           .field = i,
                                           .from = pair.value_from,
                                           .len = pair.value_len},
                      is_dropped, where, "cookie", name);
        }
        return is_any;
}

/* is_foreign_name(...): does a parameter of this name carry a credential? */
static bool is_foreign_name(const struct custody *c, const struct host_name *host, uint16_t port,
                            const char *p, size_t n)
{
        _cleanup_buf_ struct buf name = {0};
        custody_undo(p, n, true, &name);
        const char *text = buf_cstr(&name);
        return cred_slots_is_query(text, name.len) ||
               is_declared(c, host, port, RULE_AS_QUERY, text);
}

/* is_foreign_pair(...): to some servers a semicolon parts parameters as well. */
static bool is_foreign_pair(const struct custody *c, const struct host_name *host, uint16_t port,
                            const char *p, size_t n)
{
        for (size_t at = 0; at < n;) {
                const char *semi = memchr(p + at, ';', n - at);
                size_t end = semi ? (size_t)(semi - p) : n;
                const char *eq = memchr(p + at, '=', end - at);
                if (eq && eq + 1 < p + end &&
                    is_foreign_name(c, host, port, p + at, (size_t)(eq - p) - at))
                        return true;
                at = end + 1;
        }
        return false;
}

static bool foreign_query(const struct custody *c, const struct host_name *host, uint16_t port,
                          const struct head *h, struct custody_uses *u, bool is_dropped,
                          char **where)
{
        const char *q = head_str(h, h->query);
        struct custody_pair pair;
        size_t at = 0;
        bool is_any = false;
        while (h->query && custody_pair_next(q, h->query_len, &at, &pair)) {
                size_t end = at < h->query_len ? at : h->query_len; /* with the & behind it */
                size_t pair_n = end - pair.from - (end > pair.from && q[end - 1] == '&');
                if (is_used(u, CUSTODY_QUERY, 0, pair.value_from) ||
                    !is_foreign_pair(c, host, port, q + pair.from, pair_n))
                        continue;
                _cleanup_buf_ struct buf name = {0};
                custody_undo(q + pair.from, pair.name_len, true, &name);
                const char *text = buf_cstr(&name);
                is_any = true;
                found(u,
                      (struct custody_use){.kind = CUSTODY_DROP,
                                           .at = CUSTODY_QUERY,
                                           .from = pair.from,
                                           .len = end - pair.from},
                      is_dropped, where, "query parameter", text);
        }
        return is_any;
}

/* is_foreign_field(...): by its name. CGI and what comes of it know no difference between - and _.
 */
static bool is_foreign_field(const struct custody *c, const struct host_name *host, uint16_t port,
                             const char *name)
{
        char text[64];
        size_t n = strlen(name);
        if (n >= sizeof text)
                return is_declared(c, host, port, RULE_AS_HEADER, name);
        for (size_t i = 0; i <= n; i++)
                text[i] = name[i] == '_' ? '-' : name[i];
        return cred_slots_is_header(text) || is_declared(c, host, port, RULE_AS_HEADER, text) ||
               is_declared(c, host, port, RULE_AS_HEADER, name);
}

bool custody_slots_foreign(const struct custody *c, const struct host_name *host, uint16_t port,
                           const struct head *h, struct custody_uses *u, bool is_dropped,
                           char **where)
{
        bool is_any = false;
        if (!custody_managed(c, host, port, NULL, NULL))
                return false;
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *name = head_str(h, f->name);
                if (strcmp(name, "cookie") == 0) {
                        is_any |= foreign_cookies(c, host, port, h, i, u, is_dropped, where);
                        continue;
                }
                if (f->value_len == 0 || is_used(u, CUSTODY_FIELD, i, 0) ||
                    !is_foreign_field(c, host, port, name))
                        continue;
                is_any = true;
                found(u,
                      (struct custody_use){.kind = CUSTODY_DROP,
                                           .at = CUSTODY_FIELD,
                                           .field = i,
                                           .len = f->value_len},
                      is_dropped, where, "header", name);
        }
        return foreign_query(c, host, port, h, u, is_dropped, where) || is_any;
}
