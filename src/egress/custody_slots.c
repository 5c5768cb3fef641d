/* custody_slots.c - see custody_slots.h: which slots hold a placeholder, and which get one that
 * none was asked for. Called once per request of a box that has secrets. It must never take
 * something for a slot that merely contains the placeholder: the rest of it would leave unread. */
#include "egress/custody_slots.h"

#include "base/str.h"
#include "policy/cred_slots.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATH_PREFIX_MAX = 32, BASIC_MAX = 24 << 10 };

void custody_uses_free(struct custody_uses *u)
{
        for (size_t i = 0; i < u->n; i++) {
                struct custody_use *e = &u->list[i];
                if (e->placed)
                        explicit_bzero(e->placed, strlen(e->placed));
                free(e->placed);
                free(e->slot);
        }
        u->n = 0;
}

bool custody_is_placeholder(const struct custody_secret *s, const void *p, size_t n)
{
        for (size_t i = 0; i < s->parts_n; i++)
                if (strlen(s->parts[i].placeholder) == n &&
                    memcmp(s->parts[i].placeholder, p, n) == 0)
                        return true;
        return false;
}

static void add(struct custody_uses *u, struct custody_use e)
{
        if (u->n == CUSTODY_USES_MAX) {
                u->is_full = true;
                free(e.slot);
                return;
        }
        u->list[u->n++] = e;
}

static void place(struct custody_uses *u, const struct custody_secret *s, size_t form,
                  enum custody_at at, size_t field, size_t from, size_t len, const char *slot,
                  size_t slot_n)
{
        for (size_t i = 0; i < u->n; i++) /* two forms of a line may mean the same slot */
                if (u->list[i].at == at && u->list[i].field == field && u->list[i].from == from &&
                    field != SIZE_MAX)
                        return;
        char *copy = strndup(slot, slot_n);
        if (!copy)
                str_no_memory();
        add(u, (struct custody_use){.secret = s,
                                    .form = form,
                                    .at = at,
                                    .field = field,
                                    .from = from,
                                    .len = len,
                                    .slot = copy});
}

/* --- fields ---------------------------------------------------------------------------------- */

/* after_scheme(p, n, &scheme_n): where the token of "Scheme token" begins; n when there is none. */
static size_t after_scheme(const char *p, size_t n, size_t *scheme_n)
{
        const char *blank = memchr(p, ' ', n);
        *scheme_n = blank ? (size_t)(blank - p) : n;
        size_t at = *scheme_n;
        while (at < n && p[at] == ' ')
                at++;
        return at;
}

static bool is_word(const char *p, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

static bool is_bearer(const struct custody_secret *s, const char *p, size_t n)
{
        size_t scheme_n, at = after_scheme(p, n, &scheme_n);
        return (is_word(p, scheme_n, "bearer") || is_word(p, scheme_n, "token")) &&
               custody_is_placeholder(s, p + at, n - at);
}

/* S7: the first colon parts the two, whatever else is in them. */
static bool is_basic(const struct custody_secret *s, const char *p, size_t n)
{
        unsigned char plain[BASIC_MAX];
        size_t scheme_n, at = after_scheme(p, n, &scheme_n), coded = n - at;
        if (!is_word(p, scheme_n, "basic") || coded == 0 || coded % 4 || coded / 4 * 3 > BASIC_MAX)
                return false;
        int r = EVP_DecodeBlock(plain, (const unsigned char *)p + at, (int)coded);
        if (r < 0)
                return false;
        size_t len = (size_t)r;
        for (size_t i = n; i > at && p[i - 1] == '=' && len > 0; i--)
                len--;
        const unsigned char *colon = memchr(plain, ':', len);
        if (!colon)
                return false;
        size_t user_n = (size_t)(colon - plain);
        return custody_is_placeholder(s, plain, user_n) ||
               custody_is_placeholder(s, colon + 1, len - user_n - 1);
}

/* The whole value, or a word and the placeholder: "ApiKey x". */
static bool is_header(const struct custody_secret *s, const char *p, size_t n)
{
        size_t scheme_n, at = after_scheme(p, n, &scheme_n);
        return custody_is_placeholder(s, p, n) ||
               (at < n && custody_is_placeholder(s, p + at, n - at));
}

static void find_field(const struct custody_secret *s, size_t form, const struct head *h,
                       const char *name,
                       bool (*fits)(const struct custody_secret *, const char *, size_t),
                       struct custody_uses *u)
{
        if (cred_slots_is_reflective(name)) /* S3: whatever a rule says */
                return;
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *value = head_str(h, f->value);
                if (strcmp(head_str(h, f->name), name) == 0 && fits(s, value, f->value_len))
                        place(u, s, form, CUSTODY_FIELD, i, 0, f->value_len, value, f->value_len);
        }
}

/* --- cookies, queries, paths ----------------------------------------------------------------- */

static void find_query(const struct custody_secret *s, size_t form, const struct head *h,
                       const char *name, struct custody_uses *u)
{
        const char *q = head_str(h, h->query);
        struct custody_pair pair;
        size_t at = 0;
        while (h->query && custody_pair_next(q, h->query_len, &at, &pair)) {
                _cleanup_buf_ struct buf text = {0};
                custody_undo(q + pair.from, pair.name_len, true, &text);
                if (strcmp(buf_cstr(&text), name) != 0)
                        continue;
                text.len = 0;
                custody_undo(q + pair.value_from, pair.value_len, true, &text);
                if (custody_is_placeholder(s, text.data, text.len))
                        place(u, s, form, CUSTODY_QUERY, 0, pair.value_from, pair.value_len,
                              (const char *)text.data, text.len);
        }
}

static void find_cookie(const struct custody_secret *s, size_t form, const struct head *h,
                        const char *name, struct custody_uses *u)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *value = head_str(h, f->value);
                struct custody_pair pair;
                size_t at = 0;
                if (strcmp(head_str(h, f->name), "cookie") != 0)
                        continue;
                while (custody_cookie_next(value, f->value_len, &at, &pair))
                        if (pair.name_len == strlen(name) &&
                            memcmp(value + pair.from, name, pair.name_len) == 0 &&
                            custody_is_placeholder(s, value + pair.value_from, pair.value_len))
                                place(u, s, form, CUSTODY_COOKIE, i, pair.value_from,
                                      pair.value_len, value + pair.value_from, pair.value_len);
        }
}

/* ends_in(s, p, n): a segment that is a placeholder, or a short word in front of one. */
static bool ends_in(const struct custody_secret *s, const char *p, size_t n)
{
        for (size_t i = 0; i < s->parts_n; i++) {
                size_t len = strlen(s->parts[i].placeholder);
                if (len <= n && n - len <= PATH_PREFIX_MAX &&
                    memcmp(p + n - len, s->parts[i].placeholder, len) == 0)
                        return true;
        }
        return false;
}

static void find_path(const struct custody_secret *s, size_t form, const struct head *h,
                      struct custody_uses *u)
{
        const char *p = h->path.text;
        for (size_t at = 0; at < h->path.len;) {
                const char *slash = memchr(p + at, '/', h->path.len - at);
                size_t end = slash ? (size_t)(slash - p) : h->path.len;
                _cleanup_buf_ struct buf text = {0};
                custody_undo(p + at, end - at, false, &text);
                if (text.len && ends_in(s, (const char *)text.data, text.len))
                        place(u, s, form, CUSTODY_PATH, 0, at, end - at, (const char *)text.data,
                              text.len);
                at = end + 1;
        }
}

/* --- all of them ----------------------------------------------------------------------------- */

static void find_form(const struct custody_secret *s, size_t i, const struct head *h,
                      struct custody_uses *u)
{
        const struct rule_secret_form *f = &s->line.secret->forms[i];
        switch (f->form) {
        case RULE_AS_GCP:
        case RULE_AS_GITHUB_APP:
        case RULE_AS_OAUTH: /* their tokens are bearers, and to git the password of basic */
                find_field(s, i, h, "authorization", is_basic, u);
                find_field(s, i, h, "authorization", is_bearer, u);
                break;
        case RULE_AS_BEARER:
                find_field(s, i, h, "authorization", is_bearer, u);
                break;
        case RULE_AS_BASIC:
                find_field(s, i, h, "authorization", is_basic, u);
                break;
        case RULE_AS_HEADER:
                find_field(s, i, h, f->name, is_header, u);
                break;
        case RULE_AS_QUERY:
                find_query(s, i, h, f->name, u);
                break;
        case RULE_AS_PATH:
                find_path(s, i, h, u);
                break;
        case RULE_AS_COOKIE:
                find_cookie(s, i, h, f->name, u);
                break;
        case RULE_AS_JSON:
        case RULE_AS_FORM:
        case RULE_AS_WS: /* in what follows the head */
        case RULE_AS_SIGV4:
        case RULE_AS_HMAC: /* custody_slots_sign */
        case RULE_AS_SSH:
                break;
        }
}

void custody_slots_find(const struct custody *c, const struct custody_place *p,
                        const struct head *h, struct custody_uses *u)
{
        for (const struct custody_secret *s = c->secrets; s; s = s->next) {
                if (!custody_may_show(s, p->host, p->port, p->is_tls, p->path))
                        continue;
                for (size_t i = 0; i < s->line.secret->forms_n; i++)
                        find_form(s, i, h, u);
        }
}

static void sign_field(const struct custody_secret *s, size_t form, const struct head *h,
                       const char *name, struct custody_uses *u)
{
        for (size_t i = 0; i < h->fields_n; i++)
                if (strcmp(head_str(h, h->fields[i].name), name) == 0)
                        add(u, (struct custody_use){.kind = CUSTODY_SIGN,
                                                    .secret = s,
                                                    .form = form,
                                                    .at = CUSTODY_FIELD,
                                                    .field = i,
                                                    .len = h->fields[i].value_len});
}

void custody_slots_sign(const struct custody_secret *s, size_t form, const struct head *h,
                        struct custody_uses *u)
{
        static const char *const parts[] = {"X-Amz-Credential", "X-Amz-Security-Token",
                                            "X-Amz-Signature"};
        const struct rule_secret_form *f = &s->line.secret->forms[form];
        if (f->form == RULE_AS_HMAC) {
                sign_field(s, form, h, f->name ? f->name : "authorization", u);
                return;
        }
        sign_field(s, form, h, "authorization", u);
        sign_field(s, form, h, "x-amz-security-token", u);
        const char *q = head_str(h, h->query);
        struct custody_pair pair;
        size_t at = 0;
        while (h->query && custody_pair_next(q, h->query_len, &at, &pair))
                for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                        if (pair.name_len == strlen(parts[i]) &&
                            strncasecmp(q + pair.from, parts[i], pair.name_len) == 0)
                                add(u, (struct custody_use){.kind = CUSTODY_SIGN,
                                                            .secret = s,
                                                            .form = form,
                                                            .at = CUSTODY_QUERY,
                                                            .from = pair.value_from,
                                                            .len = pair.value_len});
}

/* --- inject ---------------------------------------------------------------------------------- */

/* inject_name(f): the field, parameter or cookie that an injected secret takes; NULL when the form
 * is none that can be added to a request. */
static const char *inject_name(const struct rule_secret_form *f, enum custody_at *at)
{
        *at = CUSTODY_FIELD;
        switch (f->form) {
        case RULE_AS_BEARER:
        case RULE_AS_BASIC:
        case RULE_AS_GCP:
        case RULE_AS_GITHUB_APP:
        case RULE_AS_OAUTH:
                return "authorization";
        case RULE_AS_HEADER:
                return cred_slots_is_reflective(f->name) ? NULL : f->name;
        case RULE_AS_QUERY:
                *at = CUSTODY_QUERY;
                return f->name;
        case RULE_AS_COOKIE:
                *at = CUSTODY_COOKIE;
                return f->name;
        case RULE_AS_PATH:
        case RULE_AS_JSON:
        case RULE_AS_FORM:
        case RULE_AS_WS:
        case RULE_AS_SIGV4:
        case RULE_AS_HMAC:
        case RULE_AS_SSH:
                break;
        }
        return NULL;
}

static bool is_taken(const struct custody_uses *u, enum custody_at at, const char *name)
{
        for (size_t i = 0; i < u->n; i++) {
                const struct custody_use *e = &u->list[i];
                enum custody_at other;
                if (e->kind != CUSTODY_PLACE || e->slot[0] != '\0')
                        continue;
                const char *its = inject_name(&e->secret->line.secret->forms[e->form], &other);
                if (its && other == at && strcmp(its, name) == 0)
                        return true;
        }
        return false;
}

void custody_slots_inject(const struct custody *c, const struct custody_place *p,
                          const struct head *h, struct custody_uses *u)
{
        (void)h;
        for (const struct custody_secret *s = c->secrets; s; s = s->next) {
                const struct rule_secret *l = s->line.secret;
                if (!l->is_injected || !custody_may_show(s, p->host, p->port, p->is_tls, p->path))
                        continue;
                for (size_t i = 0; i < l->forms_n; i++) {
                        enum custody_at at;
                        const char *name = inject_name(&l->forms[i], &at);
                        if (!name)
                                continue;
                        if (!is_taken(u, at, name))
                                place(u, s, i, at, SIZE_MAX, 0, 0, "", 0);
                        break;
                }
        }
}
