/* gate.c - see gate.h. Called by exchange.c, once per request, again when its body has been read,
 * and again when the rules change. */
#include "egress/gate.h"

#include "base/str.h"
#include "egress/body.h"
#include "egress/door.h"
#include "policy/override.h"

#include <stdlib.h>
#include <string.h>

bool gate_names(const struct origin *o, const struct head *h, struct host_name *host,
                const char **why)
{
        *host = o->host;
        if (h->host.len == 0) /* HTTP/1.0 without Host: the connection says it */
                return true;
        if (h->port && h->port != o->port) {
                *why = "the port in Host or :authority is not the one that was connected to";
                return false;
        }
        if (host_name_equal(&h->host, &o->host))
                return true;
        /* A program that connected to an address of the real world and names the host in its
         * request: the name counts, because dial looks it up anew. After TLS the name is known. */
        if (o->is_literal && !o->is_tls) {
                *host = h->host;
                return true;
        }
        *why = "Host or :authority names another host than the connection was made to";
        return false;
}

/* put_hidden(b, query, n): names of parameters stay, values do not. */
static void put_hidden(struct buf *b, const char *q, size_t n)
{
        bool is_value = false;
        for (size_t i = 0; i < n; i++) {
                if (q[i] == '&' || q[i] == ';') {
                        is_value = false;
                        buf_put(b, q + i, 1);
                } else if (!is_value) {
                        buf_put(b, q + i, 1);
                        if (q[i] == '=') {
                                is_value = true;
                                buf_put(b, "*", 1);
                        }
                }
        }
}

static void put_path(struct buf *b, const struct head *h)
{
        if (h->is_options_star)
                buf_put_str(b, "*");
        else if (h->path.text)
                buf_put(b, h->path.text, h->path.len);
        if (h->query) {
                buf_put_str(b, "?");
                put_hidden(b, head_str(h, h->query), h->query_len);
        }
}

char *gate_path(const struct head *h)
{
        _cleanup_buf_ struct buf b = {0};
        put_path(&b, h);
        return str_dup(buf_cstr(&b));
}

char *gate_url(const struct host_name *host, const struct origin *o, const struct head *h)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%s://%s", o->is_tls ? "https" : "http", host->text);
        if (o->port != (o->is_tls ? 443 : 80))
                buf_put_fmt(&b, ":%u", o->port);
        put_path(&b, h);
        return str_dup(buf_cstr(&b));
}

/* host_cure(cure, host, port): names by which programs in containers call their own host lead
 * nowhere but where a rule says; a rule for one should. Takes ${cure} over. */
static char *host_cure(char *cure, const struct host_name *host, uint16_t port)
{
        static const char *const names[] = {"host.docker.internal", "host.containers.internal",
                                            "host.lima.internal"};
        for (size_t i = 0; cure && i < sizeof names / sizeof *names; i++)
                if (strcmp(host->text, names[i]) == 0) {
                        char *longer = str_fmt("%s to=127.0.0.1:%u", cure, port);
                        free(cure);
                        return longer;
                }
        return cure;
}

char *gate_port_cure(const struct host_name *host, uint16_t port, bool is_raw)
{
        return host_cure(is_raw ? str_fmt("tcp %s:%u", host->text, port)
                                : str_fmt("allow * %s:%u", host->text, port),
                         host, port);
}

char *gate_tcp_cure(const struct host_name *host, uint16_t port)
{
        return gate_port_cure(host, port, true);
}

void gate_free(struct gate *g)
{
        free(g->words);
        free(g->cure);
        free(g->why);
        *g = (struct gate){0};
}

/* cure_of_ask(p, r): the line that answers the question for good: the rule that asks, as an allow,
 * where it says more than where; else one for this request alone. */
static char *cure_of_ask(const struct policy_decision *p, const struct request *r)
{
        const struct rule *asks = p->line ? &p->line->rule : NULL;
        if (asks && (asks->to.len || asks->ca || asks->conds_n)) {
                struct rule allow = *asks; /* borrowed: nothing of it is freed */
                allow.verdict = RULE_ALLOW;
                _cleanup_buf_ struct buf b = {0};
                rule_print(&allow, &b);
                return str_dup(buf_cstr(&b));
        }
        const struct policy_decision denied = {.verdict = POLICY_DENY};
        return policy_cure(&denied, r);
}

/* gate_charge(d, o, body): a judgement is work too: a step for each request that it may be, and for
 * each piece of the body that a condition looked through. */
static void gate_charge(struct door *d, const struct override *o, struct body *body)
{
        size_t steps = o->judged + (body ? body_looked(body) / WORK_PIECE : 0);
        while (steps-- > 0)
                work_step(door_work(d), 0);
}

void gate_judge(struct door *d, const struct host_name *host, const struct origin *from,
                const struct head *h, enum request_body state, struct body *body, struct gate *g)
{
        struct request_header fields[HEAD_FIELDS_MAX];
        for (size_t i = 0; i < h->fields_n; i++)
                fields[i] = (struct request_header){.name = head_str(h, h->fields[i].name),
                                                    .value = head_str(h, h->fields[i].value),
                                                    .value_len = h->fields[i].value_len};
        struct request r = {.kind = REQUEST_HTTP,
                            .host = host,
                            .port = from->port,
                            .method = head_str(h, h->method),
                            .path = &h->path,
                            .query = h->query ? head_str(h, h->query) : NULL,
                            .query_len = h->query_len,
                            .headers = fields,
                            .headers_n = h->fields_n,
                            .body = state,
                            .is_partial = state == REQUEST_BODY_UNREADABLE &&
                                          (!body || body_is_partial(body)),
                            .is_message = h->is_websocket,
                            .body_each = body_each,
                            .body_ctx = body};
        *g = (struct gate){.status = 403};
        _cleanup_override_ struct override o;
        override_decide(d->policy, &r, d->level == DOOR_LEARN, &o);
        gate_charge(d, &o, body);
        const struct policy_decision p = o.decision;
        /* Nobody is asked about what a request only might be. */
        bool is_silent = p.verdict == POLICY_DENY && p.why == POLICY_BY_DEFAULT && !o.why;
        if (is_silent && d->level == DOOR_LEARN) {
                g->answer = GATE_PASS;
                g->words = str_dup("allowed by level learn");
        } else if (is_silent && d->level == DOOR_EASY) {
                g->answer = GATE_ASK;
                g->words = str_dup("asked by level easy");
        } else {
                g->answer = p.verdict == POLICY_ALLOW        ? GATE_PASS
                            : p.verdict == POLICY_ASK        ? GATE_ASK
                            : p.verdict == POLICY_NEEDS_BODY ? GATE_NEEDS_BODY
                                                             : GATE_REFUSE;
                g->words = policy_words(&p);
        }
        if (g->answer == GATE_PASS || g->answer == GATE_ASK)
                g->rule = p.line ? &p.line->rule : NULL;
        if (g->answer == GATE_REFUSE && o.why)
                g->cure = o.cure ? str_dup(o.cure) : NULL;
        else if (g->answer == GATE_REFUSE)
                g->cure = host_cure(policy_cure(&p, &r), host, from->port);
        else if (g->answer == GATE_ASK)
                g->cure = cure_of_ask(&p, &r);
        if (g->answer == GATE_REFUSE && o.why)
                g->why = str_dup(o.why);
        else if (g->answer == GATE_REFUSE && p.why == POLICY_BY_UNREADABLE)
                g->why = str_dup(body ? body_why(body) : "its body is too large to be read");
        else if (g->answer == GATE_REFUSE && p.line && p.line->rule.reason)
                g->why = str_dup(p.line->rule.reason);
}
