/* override.c - see override.h. Pure; the table says which header replaces what, in any spelling
 * that CGI and its descendants take for the same name. */
#include "policy/override.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/fields.h"
#include "policy/path_canon.h"
#include "policy/readings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum over_what { OVER_METHOD, OVER_TARGET, OVER_MOVED, OVER_PREFIX, OVER_HOST, OVER_FORWARDED };

static const struct {
        const char *header;
        enum over_what what;
} over_headers[] = {
        {"x-http-method-override", OVER_METHOD},
        {"x-http-method", OVER_METHOD},
        {"x-method-override", OVER_METHOD},
        {"x-method", OVER_METHOD},
        {"x-override-method", OVER_METHOD},
        {"http-method-override", OVER_METHOD},
        {"x-original-url", OVER_TARGET}, /* IIS, Symfony, Zend */
        {"x-rewrite-url", OVER_TARGET},
        {"x-original-uri", OVER_TARGET}, /* nginx auth_request */
        {"x-rewrite-uri", OVER_TARGET},
        {"x-original-path", OVER_TARGET},
        {"x-rewrite-path", OVER_TARGET},
        {"x-override-url", OVER_TARGET},
        {"x-request-uri", OVER_TARGET},
        {"x-forwarded-path", OVER_TARGET},
        {"x-forwarded-uri", OVER_TARGET}, /* traefik, caddy */
        {"x-forwarded-url", OVER_TARGET},
        {"x-envoy-original-path", OVER_TARGET},
        {"x-ms-original-url", OVER_TARGET},
        {"x-waws-unencoded-url", OVER_TARGET},
        {"x-http-destinationurl", OVER_TARGET},
        {"x-accel-redirect", OVER_TARGET},
        {"destination", OVER_MOVED}, /* WebDAV: the second place of MOVE and COPY */
        {"x-forwarded-prefix", OVER_PREFIX},
        {"x-script-name", OVER_PREFIX},
        {"script-name", OVER_PREFIX},
        {"x-forwarded-method", OVER_METHOD},
        {"x-forwarded-host", OVER_HOST},
        {"x-forwarded-server", OVER_HOST},
        {"x-host", OVER_HOST},
        {"x-host-override", OVER_HOST},
        {"x-http-host-override", OVER_HOST},
        {"x-original-host", OVER_HOST},
        {"x-rewrite-host", OVER_HOST},
        {"x-envoy-original-host", OVER_HOST},
        {"forwarded", OVER_FORWARDED},
};
const char *const override_fields[OVERRIDE_FIELDS] = {
        "_method",       "x-http-method-override", "_http_method", "_httpmethod", /* Salesforce */
        "x-http-method", "x-method-override",      "$httpmethod",                 /* Google */
};
_Static_assert((int)OVERRIDE_FIELDS <= (int)FIELDS_ONLY, "a text is read for all of them");
enum { OVER_HEADERS_N = sizeof over_headers / sizeof *over_headers };

/* What a request may be instead; the first of each kind is what it says itself. */
enum { OVER_MAX = 5, OVER_METHOD_MAX = 32 };
/* Of all that methods, paths and hosts make together: each is a search of the whole policy. */
enum { OVER_ALL_MAX = 16 };

struct overs {
        const struct request *plain;
        char methods[OVER_MAX][OVER_METHOD_MAX];
        size_t methods_n;
        struct path_canon paths[OVER_MAX]; /* owned, like their queries; but not the first */
        char *queries[OVER_MAX];
        const struct path_canon *path_of[OVER_MAX];
        const char *query_of[OVER_MAX];
        size_t query_len[OVER_MAX], paths_n;
        struct fields *fields[OVER_MAX]; /* of the queries; owned */
        struct readings_kept readings[OVER_MAX];
        struct match_memo memo;
        struct host_name hosts[OVER_MAX];
        uint16_t ports[OVER_MAX];
        size_t hosts_n;
        const char *by;    /* the header or field that was looked at last; NULL: all of it */
        const char *fault; /* what cannot be judged at all: a sentence's end */
        char *faulty;      /* and its beginning; owned */
};

static void over_fault(struct overs *o, const char *fault)
{
        if (o->fault)
                return;
        o->fault = fault;
        o->faulty = o->by ? str_fmt("its header or field %s", o->by) : str_dup("it");
}

/* --- collecting -------------------------------------------------------------------------------- */

static size_t over_trim(const char **s, size_t n)
{
        while (n && strchr(" \t\"", **s)) {
                (*s)++;
                n--;
        }
        while (n && strchr(" \t\"", (*s)[n - 1]))
                n--;
        return n;
}

static void over_method(void *ctx, const char *s, size_t n)
{
        struct overs *o = ctx;
        char method[OVER_METHOD_MAX];
        n = over_trim(&s, n);
        if (n == 0)
                return;
        if (n >= sizeof method) {
                over_fault(o, "names no method");
                return;
        }
        for (size_t i = 0; i < n; i++)
                method[i] = (char)(s[i] >= 'a' && s[i] <= 'z' ? s[i] - 32 : s[i]);
        method[n] = 0;
        for (size_t i = 0; i < o->methods_n; i++)
                if (strcmp(o->methods[i], method) == 0)
                        return;
        if (o->methods_n >= OVER_MAX)
                over_fault(o, "names too many methods");
        else
                memcpy(o->methods[o->methods_n++], method, n + 1);
}

static void over_host(struct overs *o, const char *s, size_t n)
{
        n = over_trim(&s, n);
        if (n == 0)
                return;
        size_t host = n;
        uint64_t port = o->plain->port;
        const char *colon = s[0] == '[' ? memchr(s, ']', n) : s;
        colon = colon ? memchr(colon, ':', n - (size_t)(colon - s)) : NULL;
        if (colon) {
                char digits[8] = "";
                size_t len = n - (size_t)(colon - s) - 1;
                host = (size_t)(colon - s);
                memcpy(digits, colon + 1, len < sizeof digits ? len : sizeof digits - 1);
                if (str_u64(digits, &port) < 0 || port == 0 || port > UINT16_MAX)
                        port = 0;
        }
        struct host_name h;
        if (port == 0 || host_name_parse(s, host, &h, NULL) < 0) {
                over_fault(o, "names no host that can be read");
                return;
        }
        for (size_t i = 0; i < o->hosts_n; i++) /* a port in it is the one in front of the proxy */
                if (host_name_equal(&o->hosts[i], &h))
                        return;
        if (o->hosts_n >= OVER_MAX) {
                over_fault(o, "names too many hosts");
                return;
        }
        o->hosts[o->hosts_n] = h;
        o->ports[o->hosts_n++] = (uint16_t)port;
}

/* over_fields_of(o, p, query, len): of the p-th path. */
static void over_fields_of(struct overs *o, size_t p, const char *query, size_t len)
{
        size_t used;
        if (!query || len == 0)
                return;
        o->fields[p] = fields_of(query, len);
        while (fields_step(o->fields[p], &used) == 0)
                ;
        o->by = NULL;
        if (fields_is_cut(o->fields[p]))
                over_fault(o, "has more than 4096 fields in its query");
}

/* over_path(o, s, n): PATH[?QUERY], with a slash in front or not. */
static void over_path(struct overs *o, const char *s, size_t n)
{
        const char *mark = n ? memchr(s, '?', n) : NULL;
        size_t path_n = mark ? (size_t)(mark - s) : n;
        _cleanup_buf_ struct buf b = {0};
        if (path_n == 0 || s[0] != '/')
                buf_put_str(&b, "/");
        buf_put(&b, s, path_n);
        struct path_canon p;
        if (o->paths_n >= OVER_MAX) {
                over_fault(o, "names too many paths");
                return;
        }
        if (path_canon_parse(buf_cstr(&b), b.len, &p, NULL) < 0) {
                over_fault(o, "names a path that cannot be read");
                return;
        }
        size_t at = o->paths_n++;
        o->paths[at] = p;
        o->path_of[at] = &o->paths[at];
        o->query_len[at] = mark ? n - path_n - 1 : 0;
        o->queries[at] = mark ? str_fmt("%.*s", (int)o->query_len[at], mark + 1) : NULL;
        o->query_of[at] = o->queries[at];
        over_fields_of(o, at, o->query_of[at], o->query_len[at]);
}

/* over_target(o, s, n): a path, or a URL with a host of its own. */
static void over_target(struct overs *o, const char *s, size_t n)
{
        n = over_trim(&s, n);
        if (n == 0)
                return;
        const char *at = NULL;
        for (size_t i = 0; i + 2 < n && !at && s[i] != '/' && s[i] != '?'; i++)
                if (memcmp(s + i, "://", 3) == 0)
                        at = s + i + 3;
        if (n > 2 && memcmp(s, "//", 2) == 0)
                at = s + 2;
        if (at) {
                size_t host = 0, left = n - (size_t)(at - s);
                while (host < left && at[host] != '/' && at[host] != '?')
                        host++;
                over_host(o, at, host);
                s = at + host;
                n = left - host;
        }
        over_path(o, s, n);
}

static void over_prefix(struct overs *o, const char *s, size_t n)
{
        const struct path_canon *own = o->plain->path;
        n = over_trim(&s, n);
        while (n && s[n - 1] == '/')
                n--;
        if (n == 0)
                return;
        _cleanup_buf_ struct buf b = {0};
        buf_put(&b, s, n);
        buf_put(&b, own->text, own->len);
        over_path(o, buf_cstr(&b), b.len);
}

/* over_forwarded(o, s, n): host= in "for=1.2.3.4;host=a.org;proto=https, for=...". */
static void over_forwarded(struct overs *o, const char *s, size_t n)
{
        const char *end = s + n;
        while (s < end && !o->fault) {
                size_t len = 0;
                while (s + len < end && s[len] != ';' && s[len] != ',')
                        len++;
                const char *pair = s;
                size_t pair_n = over_trim(&pair, len);
                if (pair_n > 5 && strncasecmp(pair, "host=", 5) == 0)
                        over_host(o, pair + 5, pair_n - 5);
                s += len + 1;
        }
}

/* over_list(o, s, n, what): each member of a list with commas. */
static void over_list(struct overs *o, const char *s, size_t n, enum over_what what)
{
        const char *end = s + n;
        while (s <= end && !o->fault) {
                const char *comma = s < end ? memchr(s, ',', (size_t)(end - s)) : NULL;
                size_t len = (size_t)((comma ? comma : end) - s);
                if (what == OVER_METHOD)
                        over_method(o, s, len);
                else
                        over_host(o, s, len);
                s += len + 1;
        }
}

static void over_header(struct overs *o, enum over_what what, const struct request_header *h)
{
        const char *m = o->plain->method;
        o->by = h->name;
        switch (what) {
        case OVER_METHOD:
        case OVER_HOST:
                over_list(o, h->value, h->value_len, what);
                break;
        case OVER_MOVED:
                if (strcasecmp(m, "MOVE") != 0 && strcasecmp(m, "COPY") != 0)
                        break;
                over_target(o, h->value, h->value_len);
                break;
        case OVER_TARGET:
                over_target(o, h->value, h->value_len);
                break;
        case OVER_PREFIX:
                over_prefix(o, h->value, h->value_len);
                break;
        case OVER_FORWARDED:
                over_forwarded(o, h->value, h->value_len);
                break;
        }
}

/* over_collect(o, q): from headers, the query, and a body that was read. */
static void over_collect(struct overs *o, const struct request *q)
{
        for (size_t i = 0; i < q->headers_n; i++)
                for (size_t k = 0; k < OVER_HEADERS_N; k++)
                        if (readings_header_is(q->headers[i].name, over_headers[k].header))
                                over_header(o, over_headers[k].what, &q->headers[i]);
        for (size_t k = 0; k < OVERRIDE_FIELDS; k++) {
                o->by = override_fields[k];
                if (o->fields[0])
                        fields_each(o->fields[0], override_fields[k], true, over_method, o);
                if (!q->is_message &&
                    (q->body == REQUEST_BODY_READ || q->body == REQUEST_BODY_UNREADABLE))
                        q->body_each(q->body_ctx, RULE_FORM, override_fields[k], true, over_method,
                                     o);
        }
}

/* --- judging ----------------------------------------------------------------------------------- */

/* over_request(o, m, p, h): the request with its m-th method, p-th path and h-th host. */
static struct request over_request(struct overs *o, size_t m, size_t p, size_t h)
{
        struct request q = *o->plain;
        q.method = o->methods[m];
        q.path = o->path_of[p];
        q.query = o->query_of[p];
        q.query_len = o->query_len[p];
        q.fields = o->fields[p];
        q.readings = &o->readings[p];
        q.host = &o->hosts[h];
        q.port = o->ports[h];
        return q;
}

static bool over_is_silent(const struct policy_decision *d)
{
        return d->verdict == POLICY_DENY && d->why == POLICY_BY_DEFAULT;
}

/* over_is_worse(got, is_open, than): does ${got} change what becomes of the request? */
static bool over_is_worse(const struct policy_decision *got, bool is_open,
                          const struct policy_decision *than)
{
        if (got->verdict == POLICY_ALLOW || than->verdict == POLICY_NEEDS_BODY)
                return false;
        if (over_is_silent(got))
                return !is_open && than->verdict == POLICY_ALLOW;
        /* A refusal, or a body that could bring one, goes before a question and before silence. */
        return than->verdict == POLICY_ALLOW || over_is_silent(than) ||
               (than->verdict == POLICY_ASK && got->verdict != POLICY_ASK);
}

static void over_take(struct override *to, const struct policy_decision *d, const struct request *q)
{
        override_free(to);
        to->decision = *d;
        to->why = str_fmt("its own headers or fields make it %s %s%s for servers that heed them",
                          q->method, q->host->text, q->path->text);
        to->cure = policy_cure(d, q);
}

/* over_judge(policy, o, m, p, h, is_open, to): one of the requests that it may be. */
static void over_judge(const struct policy *policy, struct overs *o, size_t m, size_t p, size_t h,
                       bool is_open, struct override *to)
{
        struct policy_decision d;
        if (m + p + h == 0)
                return; /* as it is; that was asked first */
        struct request other = over_request(o, m, p, h);
        to->judged++;
        policy_decide(policy, &other, &d);
        if (over_is_worse(&d, is_open, &to->decision))
                over_take(to, &d, &other);
}

/* over_unseen(to, q): refused, though a line allows it as it is; with the line that allows it as
 * whatever it may be. */
static void over_unseen(struct override *to, const struct request *q)
{
        struct policy_decision d = to->decision;
        d.verdict = POLICY_DENY;
        d.why = POLICY_BY_AMBIGUITY;
        override_free(to);
        to->decision = d;
        to->why = str_fmt("its %s cannot be read to the end, and a field _method in it could make "
                          "it PUT, PATCH or DELETE",
                          match_has_form(q) ? "form" : "body");
        _cleanup_free_ char *plain = policy_cure(&d, q);
        const char *rest = plain ? strchr(plain + strlen("allow "), ' ') : NULL;
        to->cure = rest ? str_fmt("allow POST,PUT,PATCH,DELETE%s", rest) : NULL;
}

/* over_form(policy, o, is_open, to): a form that was not read yet, or cannot be, may hold _method,
 * and so may JSON and a body without a type. Where the method makes a difference, such a body has to
 * be read. Where no line speaks of the other method, what can be made out of a body that is all here
 * has to do: curl calls any text a form. So it does where the body does not say that it is one. */
static void over_form(const struct policy *policy, const struct overs *o, bool is_open,
                      struct override *to)
{
        const struct request *q = o->plain;
        static const char *const usual[] = {"PUT", "PATCH", "DELETE"};
        bool is_unread = q->body == REQUEST_BODY_UNREAD;
        if (q->is_message || (!is_unread && q->body != REQUEST_BODY_UNREADABLE) ||
            !match_may_have_fields(q))
                return;
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
                struct request other = *q;
                struct policy_decision d;
                other.method = usual[i];
                to->judged++;
                policy_decide(policy, &other, &d);
                if (!over_is_worse(&d, is_open, &to->decision))
                        continue;
                if (!is_unread && !q->is_partial && (over_is_silent(&d) || !match_has_form(q)))
                        continue;
                if (!is_unread && over_is_silent(&d)) {
                        over_unseen(to, q);
                        return;
                }
                d.verdict = is_unread ? POLICY_NEEDS_BODY : POLICY_DENY;
                d.why = is_unread ? POLICY_BY_LINE : POLICY_BY_UNREADABLE;
                if (is_unread && !d.line) { /* the words name the line that grants it so far */
                        d.line = to->decision.line;
                        d.layer = to->decision.layer;
                }
                override_free(to);
                to->decision = d;
                return;
        }
}

/* over_judge_all(policy, o, is_open, to): as each of the requests that it may be. */
static void over_judge_all(const struct policy *policy, struct overs *o, bool is_open,
                           struct override *to)
{
        o->by = NULL;
        if (o->hosts_n * o->paths_n * o->methods_n > OVER_ALL_MAX)
                over_fault(o, "names too many other methods, paths and hosts in its headers");
        for (size_t h = 0; h < o->hosts_n && !o->fault; h++)
                for (size_t p = 0; p < o->paths_n; p++)
                        for (size_t m = 0; m < o->methods_n; m++)
                                over_judge(policy, o, m, p, h, is_open, to);
}

/* over_begin(o, q): as it is. */
static void over_begin(struct overs *o, const struct request *q)
{
        o->plain = q;
        o->path_of[0] = q->path;
        o->query_of[0] = q->query;
        o->query_len[0] = q->query_len;
        o->hosts[0] = *q->host;
        o->ports[0] = q->port;
        o->methods_n = o->paths_n = o->hosts_n = 1;
        snprintf(o->methods[0], OVER_METHOD_MAX, "%s", q->method);
}

static void over_decide(const struct policy *policy, const struct request *q, struct overs *o,
                        bool is_open, struct override *to)
{
        policy_decide(policy, q, &to->decision);
        bool is_settled = to->decision.verdict == POLICY_NEEDS_BODY ||
                          (to->decision.verdict == POLICY_DENY && !over_is_silent(&to->decision));
        if (is_settled)
                return;
        over_begin(o, q);
        over_collect(o, q);
        over_judge_all(policy, o, is_open, to);
        over_form(policy, o, is_open, to);
        if (o->fault && to->decision.verdict != POLICY_DENY) {
                override_free(to);
                to->decision = (struct policy_decision){0};
                to->why = str_fmt("%s %s, and some servers go by it", o->faulty, o->fault);
        }
        for (size_t i = 1; i < o->paths_n; i++) {
                path_canon_free(&o->paths[i]);
                free(o->queries[i]);
        }
}

void override_decide(const struct policy *policy, const struct request *q, bool is_open,
                     struct override *to)
{
        struct overs o = {0};
        struct request own = *q;
        *to = (struct override){.judged = 1};
        over_fields_of(&o, 0, q->query, q->query_len);
        own.fields = o.fields[0];
        own.readings = &o.readings[0];
        own.memo = &o.memo;
        over_decide(policy, &own, &o, is_open, to);
        for (size_t i = 0; i < OVER_MAX; i++) {
                readings_kept_free(&o.readings[i]);
                fields_free(o.fields[i]);
        }
        free(o.faulty);
}

void override_free(struct override *o)
{
        free(o->why);
        free(o->cure);
        o->why = o->cure = NULL;
}

bool override_moves(const char *name)
{
        for (size_t k = 0; k < OVER_HEADERS_N; k++)
                if ((over_headers[k].what == OVER_TARGET || over_headers[k].what == OVER_PREFIX) &&
                    readings_header_is(name, over_headers[k].header))
                        return true;
        return false;
}
