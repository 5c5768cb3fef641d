/* match.c - see match.h. Pure; runs for every request against many rules, so the cheap questions
 * come first. It must never say MATCH_ALL when a reading of the request differs. */
#include "policy/match.h"

#include "policy/body_readers.h"
#include "policy/fields.h"
#include "policy/path_canon.h"
#include "policy/readings.h"

#include <string.h>
#include <strings.h>

static bool host_matches(const struct rule_place *p, const struct host_name *h)
{
        switch (p->host_kind) {
        case RULE_HOST_EXACT:
                return host_name_equal(&p->host, h);
        case RULE_HOST_BELOW:
                return host_name_is_below(h, &p->host);
        case RULE_HOST_ANY:
                return true;
        }
        return false;
}

static bool port_matches(const struct rule_place *p, bool is_grant, uint16_t port)
{
        if (p->port == RULE_PORT_ANY || p->port == port)
                return true;
        if (p->port != RULE_PORT_USUAL)
                return false;
        return !is_grant || port == 443 || port == 80;
}

/* So many values of one condition are looked at: a body may have one in each of its bytes. */
enum { MATCH_VALUES_MAX = 1 << 16 };

/* Counting values or readings: how many there were, how many the pattern fits, and whether it fits
 * one in a spelling that some servers take for it. */
struct tally {
        const struct glob *glob;
        size_t seen, fit;
        bool is_loose; /* look for such spellings too */
        bool has_loose;
        bool is_dark; /* what is looked for cannot be read in this body */
};

static bool count_folded(void *ctx, const char *text, size_t len)
{
        struct tally *t = ctx;
        t->has_loose = glob_matches_folded(t->glob, text, len);
        return !t->has_loose;
}

static void count(void *ctx, const char *value, size_t len)
{
        struct tally *t = ctx;
        if (!value || t->seen == MATCH_VALUES_MAX) {
                t->is_dark = true;
                return;
        }
        bool is_fit = glob_matches(t->glob, value, len);
        t->seen++;
        t->fit += is_fit;
        if (!is_fit && t->is_loose && !t->has_loose && !readings_value(value, len, count_folded, t))
                t->has_loose = true; /* who knows what is in so long a value */
}

static bool count_reading(void *ctx, const char *text, size_t len)
{
        struct tally *t = ctx;
        t->seen++;
        t->fit += glob_matches(t->glob, text, len);
        return t->fit == 0 || t->fit == t->seen; /* once they differ, the answer stands */
}

static enum match result(const struct tally *t)
{
        if (t->fit == 0)
                return t->has_loose ? MATCH_LOOSE : MATCH_NO;
        return t->fit == t->seen ? MATCH_ALL : MATCH_SOME;
}

static enum match match_where(const struct rule_place *p, bool is_grant, bool is_loose,
                              const struct host_name *host, uint16_t port,
                              const struct path_canon *path, struct readings_kept *kept)
{
        if (!host_matches(p, host) || !port_matches(p, is_grant, port))
                return MATCH_NO;
        if (!p->has_path)
                return MATCH_ALL;
        if (!path)
                return MATCH_SOME;
        struct tally t = {.glob = &p->path};
        path_canon_each(path, count_reading, &t);
        if (t.fit == 0 && is_loose &&
            !readings_path_kept(kept, path->plain, path->plain_len, count_folded, &t))
                t.has_loose = true;
        return result(&t);
}

enum match match_place(const struct rule_place *p, bool is_grant, bool is_loose,
                       const struct host_name *host, uint16_t port, const struct path_canon *path)
{
        return match_where(p, is_grant, is_loose, host, port, path, NULL);
}

bool match_secret(const struct rule_secret *s, const struct host_name *host, uint16_t port,
                  bool is_tls, const struct path_canon *path)
{
        for (size_t i = 0; (is_tls || s->is_plain) && i < s->places_n; i++) {
                const struct rule_place *p = &s->places[i];
                if (p->port == RULE_PORT_USUAL && port != (is_tls ? 443 : 80))
                        continue;
                if (match_place(p, true, false, host, port, path) == MATCH_ALL)
                        return true;
        }
        return false;
}

/* count_list(t, value, len): to most servers a header is a list, and one with two values the same
 * as two headers. */
static void count_list(struct tally *t, const char *value, size_t len)
{
        const char *end = value + len;
        while (t->fit == 0 && !t->has_loose && memchr(value, ',', (size_t)(end - value))) {
                const char *comma = memchr(value, ',', (size_t)(end - value));
                if (!readings_value(value, (size_t)(comma - value), count_folded, t))
                        t->has_loose = true;
                value = comma + 1;
                if (!memchr(value, ',', (size_t)(end - value)) && !t->has_loose)
                        (void)readings_value(value, (size_t)(end - value), count_folded, t);
        }
}

static enum match match_headers(const struct rule_cond *c, const struct request *q, bool is_loose)
{
        struct tally t = {.glob = &c->value, .is_loose = is_loose};
        for (size_t i = 0; i < q->headers_n; i++) {
                const struct request_header *h = &q->headers[i];
                if (strcmp(h->name, c->name) == 0) {
                        count(&t, h->value, h->value_len);
                } else if (is_loose && readings_header_is(h->name, c->name)) {
                        struct tally other = {.glob = &c->value, .is_loose = true};
                        count(&other, h->value, h->value_len);
                        t.has_loose = t.has_loose || other.fit || other.has_loose;
                } else {
                        continue;
                }
                if (is_loose)
                        count_list(&t, h->value, h->value_len);
        }
        return result(&t);
}

/* query_each(q, name, ...): false when the query may be read in several ways, or not to its end. */
static bool query_each(const struct request *q, const char *name, bool is_loose,
                       request_visit *visit, void *ctx)
{
        if (!q->fields)
                return match_query_each(q->query, q->query_len, name, is_loose, visit, ctx);
        fields_each(q->fields, name, is_loose, visit, ctx);
        return fields_is_plain(q->fields) && !fields_is_cut(q->fields);
}

/* A field of the query, or of the body's form. Loosely each also counts under any name that a
 * server may take for it; exactly only under its own. */
static enum match match_query(const struct rule_cond *c, const struct request *q, bool is_loose)
{
        struct tally t = {.glob = &c->value, .is_loose = is_loose};
        if (!q->query)
                return MATCH_NO;
        if (!query_each(q, c->name, false, count, &t))
                return MATCH_SOME; /* who knows what the server makes of it */
        if (t.fit == 0 && is_loose) {
                struct tally other = {.glob = &c->value, .is_loose = true};
                query_each(q, c->name, true, count, &other);
                t.has_loose = other.fit || other.has_loose;
        }
        return result(&t);
}

static enum match match_body(enum rule_where where, const struct rule_cond *c,
                             const struct request *q, bool is_grant, bool is_loose)
{
        struct tally t = {.glob = &c->value, .is_loose = is_loose};
        switch (q->body) {
        case REQUEST_BODY_NONE:
                return MATCH_NO;
        case REQUEST_BODY_UNREAD:
                return MATCH_NEEDS_BODY;
        case REQUEST_BODY_UNREADABLE:
                return MATCH_UNREADABLE;
        case REQUEST_BODY_IDLE:
                return is_grant && where == RULE_FORM ? MATCH_ALL : MATCH_NO;
        case REQUEST_BODY_READ:
                q->body_each(q->body_ctx, where, c->name, false, count, &t);
                if (t.fit == 0 && is_loose) {
                        struct tally other = {.glob = &c->value, .is_loose = true};
                        q->body_each(q->body_ctx, where, c->name, true, count, &other);
                        t.has_loose = other.fit || other.has_loose;
                        t.is_dark |= other.is_dark;
                }
                if (t.is_dark && (is_grant || (t.fit == 0 && !t.has_loose)))
                        return MATCH_UNREADABLE;
                return result(&t);
        }
        return MATCH_UNREADABLE;
}

bool match_has_form(const struct request *q)
{
        for (size_t i = 0; i < q->headers_n; i++) {
                const struct request_header *h = &q->headers[i];
                static const char *const types[] = {"application/x-www-form-urlencoded",
                                                    "multipart/"};
                if (!readings_header_is(h->name, "content-type"))
                        continue;
                for (size_t k = 0; k < 2; k++)
                        if (strncasecmp(h->value, types[k], strlen(types[k])) == 0)
                                return true;
        }
        return false;
}

bool match_may_have_fields(const struct request *q)
{
        bool is_said = false;
        if (match_has_form(q) || strcasecmp(q->method, "POST") != 0)
                return match_has_form(q);
        for (size_t i = 0; i < q->headers_n; i++) {
                const struct request_header *h = &q->headers[i];
                if (!readings_header_is(h->name, "content-type"))
                        continue;
                if (strcasestr(h->value, "/json") || strcasestr(h->value, "+json"))
                        return true;
                is_said |= !strchr(";,", h->value[strspn(h->value, " \t")]);
        }
        return !is_said;
}

/* Documents of GraphQL that stand in the URL: GET /graphql?query=... */
struct url_graphql {
        struct tally t;
        size_t n, exact; /* under any name that may be taken for "query"; under that name */
        bool is_there;
};

static void url_document(void *ctx, const char *text, size_t n)
{
        struct url_graphql *u = ctx;
        u->is_there = true;
        u->n++;
        if (n == 0 || !body_graphql_each(text, n, count, &u->t))
                u->t.is_dark = true;
}

static void url_exact(void *ctx, const char *text, size_t n)
{
        struct url_graphql *u = ctx;
        (void)text, (void)n;
        u->exact++;
}

/* url_kept(ctx, ...): a document that the server keeps is named; what is in it is not known. */
static void url_kept(void *ctx, const char *text, size_t n)
{
        struct url_graphql *u = ctx;
        (void)text, (void)n;
        u->is_there = u->t.is_dark = true;
}

/* match_graphql(c, q, ...): servers take the document from the URL or from the body, and when both
 * have one, either. A refusal needs one of them, a grant both. */
static enum match match_graphql(const struct rule_cond *c, const struct request *q, bool is_grant,
                                bool is_loose)
{
        static const char *const kept[] = {"extensions", "documentId", "queryId", "doc_id"};
        struct url_graphql u = {.t = {.glob = &c->value, .is_loose = is_loose}};
        bool is_plain = !q->query || query_each(q, "query", true, url_document, &u);
        for (size_t i = 0; q->query && i < sizeof kept / sizeof *kept; i++)
                query_each(q, kept[i], true, url_kept, &u);
        if (is_grant && q->query) /* it means its own spelling alone */
                query_each(q, "query", false, url_exact, &u);
        if (!u.is_there)
                return match_body(RULE_BODY, c, q, is_grant, is_loose);
        bool is_dark = u.t.is_dark || !is_plain || (is_grant && u.exact != u.n);
        enum match m = result(&u.t);
        if (is_dark && (is_grant || m == MATCH_NO))
                return MATCH_UNREADABLE;
        bool is_decided = is_grant ? m != MATCH_ALL : m != MATCH_NO;
        if (is_decided || q->body == REQUEST_BODY_NONE)
                return m;
        return match_body(RULE_BODY, c, q, is_grant, is_loose);
}

/* Many servers take a field from the query or from the form, whichever has it. */
static enum match match_cond_now(const struct rule_cond *c, const struct request *q, bool is_grant,
                                 bool is_loose)
{
        enum match m;
        switch (c->where) {
        case RULE_HEADER:
                return match_headers(c, q, is_loose);
        case RULE_QUERY:
                m = match_query(c, q, is_loose);
                if (m != MATCH_NO || !is_loose || !match_has_form(q))
                        return m;
                m = match_body(RULE_FORM, c, q, is_grant, true);
                return m == MATCH_ALL ? MATCH_LOOSE : m;
        case RULE_FORM:
                if (is_loose) {
                        m = match_query(c, q, true);
                        if (m != MATCH_NO)
                                return m == MATCH_ALL ? MATCH_LOOSE : m;
                }
                return match_body(c->where, c, q, is_grant, is_loose);
        case RULE_BODY:
                if (strcmp(c->name, "graphql") == 0)
                        return match_graphql(c, q, is_grant, is_loose);
                return match_body(c->where, c, q, is_grant, is_loose);
        case RULE_JSON:
                return match_body(c->where, c, q, is_grant, is_loose);
        }
        return MATCH_SOME;
}

static enum match match_cond(const struct rule_cond *c, const struct request *q, bool is_grant,
                             bool is_loose)
{
        unsigned how = 1u + is_grant + 2u * is_loose;
        if (!q->memo)
                return match_cond_now(c, q, is_grant, is_loose);
        size_t at = ((uintptr_t)c >> 4) % (sizeof q->memo->at / sizeof *q->memo->at);
        if (q->memo->at[at].cond != c || q->memo->at[at].query != q->query ||
            q->memo->at[at].how != how) {
                q->memo->at[at].got = (uint8_t)match_cond_now(c, q, is_grant, is_loose);
                q->memo->at[at].cond = c;
                q->memo->at[at].query = q->query;
                q->memo->at[at].how = (uint8_t)how;
        }
        return (enum match)q->memo->at[at].got;
}

static bool speaks_of(enum rule_verdict v, enum request_kind k)
{
        switch (v) {
        case RULE_DENY:
        case RULE_DENY_HARD:
                return true;
        case RULE_ALLOW:
        case RULE_ASK:
                return k == REQUEST_HTTP;
        case RULE_TCP:
                return k == REQUEST_TCP;
        case RULE_SPLICE:
                return k == REQUEST_SPLICE;
        }
        return true;
}

/* Some frameworks make a method large before they look at it. */
static bool speaks_of_method(const struct rule *r, const char *method, bool is_loose)
{
        if (r->methods == RULE_METHODS_ALL || (r->methods & rule_method_bit(method)))
                return true;
        char large[32];
        size_t n = strlen(method);
        if (!is_loose || n >= sizeof large)
                return false;
        for (size_t i = 0; i <= n; i++)
                large[i] =
                        (char)(method[i] >= 'a' && method[i] <= 'z' ? method[i] - 32 : method[i]);
        return r->methods & rule_method_bit(large);
}

enum match match_rule(const struct rule *r, const struct request *q)
{
        if (!host_matches(&r->place, q->host) || !speaks_of(r->verdict, q->kind))
                return MATCH_NO;
        bool is_read = q->kind == REQUEST_HTTP;
        bool is_loose = is_read && r->verdict != RULE_ALLOW;
        if (is_read && !speaks_of_method(r, q->method, is_loose))
                return MATCH_NO;
        enum match all = match_where(&r->place, rule_is_grant(r->verdict), is_loose, q->host,
                                     q->port, is_read ? q->path : NULL, q->readings);
        if (all == MATCH_NO)
                return MATCH_NO;
        if (!is_read) {
                /* A refusal of some requests: among unread bytes there may be one of them. */
                bool is_partial = r->conds_n > 0 || (r->methods && r->methods != RULE_METHODS_ALL);
                return is_partial ? MATCH_SOME : all;
        }
        /* What can be answered without the body is answered first. */
        enum match body = MATCH_ALL;
        for (size_t i = 0; i < r->conds_n; i++) {
                enum match m = match_cond(&r->conds[i], q, rule_is_grant(r->verdict), is_loose);
                if (m == MATCH_NO)
                        return MATCH_NO;
                if (m == MATCH_NEEDS_BODY || m == MATCH_UNREADABLE)
                        body = m;
                else if (m == MATCH_SOME || (m == MATCH_LOOSE && all == MATCH_ALL))
                        all = m;
        }
        return body == MATCH_ALL ? all : body;
}
