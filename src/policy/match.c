/* match.c - see match.h. Pure; runs for every request against many rules, so the cheap questions
 * come first. It must never say MATCH_ALL when a reading of the request differs. */
#include "policy/match.h"

#include "policy/path_canon.h"

#include <string.h>

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

/* Counting values or readings: how many there were and how many the pattern fits. */
struct tally {
        const struct glob *glob;
        size_t seen, fit;
};

static void count(void *ctx, const char *value, size_t len)
{
        struct tally *t = ctx;
        t->seen++;
        t->fit += glob_matches(t->glob, value, len);
}

static bool count_reading(void *ctx, const char *text, size_t len)
{
        struct tally *t = ctx;
        count(ctx, text, len);
        return t->fit == 0 || t->fit == t->seen; /* once they differ, the answer stands */
}

static enum match result(const struct tally *t)
{
        return t->fit == 0 ? MATCH_NO : t->fit == t->seen ? MATCH_ALL : MATCH_SOME;
}

enum match match_place(const struct rule_place *p, bool is_grant, const struct host_name *host,
                       uint16_t port, const struct path_canon *path)
{
        if (!host_matches(p, host) || !port_matches(p, is_grant, port))
                return MATCH_NO;
        if (!p->has_path)
                return MATCH_ALL;
        if (!path)
                return MATCH_SOME;
        struct tally t = {.glob = &p->path};
        path_canon_each(path, count_reading, &t);
        return result(&t);
}

bool match_secret(const struct rule_secret *s, const struct host_name *host, uint16_t port,
                  bool is_tls, const struct path_canon *path)
{
        for (size_t i = 0; (is_tls || s->is_plain) && i < s->places_n; i++) {
                const struct rule_place *p = &s->places[i];
                if (p->port == RULE_PORT_USUAL && port != (is_tls ? 443 : 80))
                        continue;
                if (match_place(p, true, host, port, path) == MATCH_ALL)
                        return true;
        }
        return false;
}

static enum match match_headers(const struct rule_cond *c, const struct request *q)
{
        struct tally t = {.glob = &c->value};
        for (size_t i = 0; i < q->headers_n; i++)
                if (strcmp(q->headers[i].name, c->name) == 0)
                        count(&t, q->headers[i].value, q->headers[i].value_len);
        return result(&t);
}

static enum match match_query(const struct rule_cond *c, const struct request *q)
{
        struct tally t = {.glob = &c->value};
        if (!q->query || match_query_each(q->query, q->query_len, c->name, count, &t))
                return result(&t);
        return MATCH_SOME; /* who knows what the server makes of it */
}

static enum match match_body(const struct rule_cond *c, const struct request *q, bool is_grant)
{
        struct tally t = {.glob = &c->value};
        switch (q->body) {
        case REQUEST_BODY_NONE:
                return MATCH_NO;
        case REQUEST_BODY_UNREAD:
                return MATCH_NEEDS_BODY;
        case REQUEST_BODY_UNREADABLE:
                return MATCH_UNREADABLE;
        case REQUEST_BODY_IDLE:
                return is_grant && c->where == RULE_FORM ? MATCH_ALL : MATCH_NO;
        case REQUEST_BODY_READ:
                q->body_each(q->body_ctx, c->where, c->name, count, &t);
                return result(&t);
        }
        return MATCH_UNREADABLE;
}

static enum match match_cond(const struct rule_cond *c, const struct request *q, bool is_grant)
{
        switch (c->where) {
        case RULE_HEADER:
                return match_headers(c, q);
        case RULE_QUERY:
                return match_query(c, q);
        case RULE_JSON:
        case RULE_FORM:
                return match_body(c, q, is_grant);
        }
        return MATCH_SOME;
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

enum match match_rule(const struct rule *r, const struct request *q)
{
        if (!host_matches(&r->place, q->host) || !speaks_of(r->verdict, q->kind))
                return MATCH_NO;
        bool is_read = q->kind == REQUEST_HTTP;
        if (is_read && r->methods != RULE_METHODS_ALL && !(r->methods & rule_method_bit(q->method)))
                return MATCH_NO;
        enum match all = match_place(&r->place, rule_is_grant(r->verdict), q->host, q->port,
                                     is_read ? q->path : NULL);
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
                enum match m = match_cond(&r->conds[i], q, rule_is_grant(r->verdict));
                if (m == MATCH_NO)
                        return MATCH_NO;
                if (m == MATCH_NEEDS_BODY || m == MATCH_UNREADABLE)
                        body = m;
                else if (m == MATCH_SOME)
                        all = MATCH_SOME;
        }
        return body == MATCH_ALL ? all : body;
}
