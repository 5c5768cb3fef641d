/* policy_dial.c - see policy_dial.h. Pure. It may say yes where policy_decide says no (it does not
 * see the path), never the other way round: tests/unit/policy_index_test.c tries that. */
#include "policy/policy_dial.h"

#include "policy/policy_index.h"

/* Does this line speak of every request to its host? */
static bool is_whole(const struct rule *r)
{
        return r->methods == RULE_METHODS_ALL && !r->place.has_path && r->conds_n == 0;
}

static bool is_deny(const struct rule *r)
{
        return r->verdict == RULE_DENY || r->verdict == RULE_DENY_HARD;
}

static void refused(struct policy_decision *d, const struct policy_layer *layer,
                    const struct rule_line *line)
{
        *d = (struct policy_decision){
                .verdict = POLICY_DENY, .why = POLICY_BY_LINE, .layer = layer, .line = line};
}

static bool by_deny_hard(const struct policy *p, const struct host_name *host, uint16_t port,
                         struct policy_decision *d)
{
        struct policy_walk w;
        const struct policy_layer *layer;
        const struct rule_line *line;
        policy_walk_begin(&w, p, host);
        while (policy_walk_next(&w, &layer, &line)) {
                const struct rule *r = &line->rule;
                if (r->verdict == RULE_DENY_HARD && is_whole(r) &&
                    match_place(&r->place, false, false, host, port, NULL) == MATCH_ALL) {
                        refused(d, layer, line);
                        return true;
                }
        }
        return false;
}

static void may_ask(const struct policy *p, const struct host_name *host, uint16_t port,
                    struct policy_decision *d)
{
        struct policy_walk w;
        const struct policy_layer *layer;
        const struct rule_line *line;
        if (by_deny_hard(p, host, port, d))
                return;
        policy_walk_begin(&w, p, host);
        const struct policy_layer *silent = NULL; /* a project that has no objection */
        while (policy_walk_next(&w, &layer, &line)) {
                const struct rule *r = &line->rule;
                bool is_grant = r->verdict == RULE_ALLOW || r->verdict == RULE_ASK;
                if ((!is_grant && !is_deny(r)) || layer == silent ||
                    match_place(&r->place, is_grant, false, host, port, NULL) == MATCH_NO)
                        continue;
                if (is_deny(r) && !is_whole(r))
                        continue; /* of other requests it says nothing */
                if (is_deny(r)) {
                        if (d->verdict == POLICY_DENY)
                                refused(d, layer, line);
                        return;
                }
                if (layer->rank == POLICY_PROJECT) {
                        silent = layer;
                        continue;
                }
                if (d->verdict == POLICY_DENY || r->to.len)
                        *d = (struct policy_decision){
                                .verdict = r->verdict == RULE_ASK ? POLICY_ASK : POLICY_ALLOW,
                                .why = POLICY_BY_LINE,
                                .layer = layer,
                                .line = line};
                if (r->to.len || is_whole(r))
                        return;
        }
}

void policy_may_dial(const struct policy *p, enum request_kind kind, const struct host_name *host,
                     uint16_t port, struct policy_decision *d)
{
        *d = (struct policy_decision){.verdict = POLICY_DENY, .why = POLICY_BY_DEFAULT};
        if (kind == REQUEST_HTTP) {
                may_ask(p, host, port, d);
                return;
        }
        /* Of bytes that pass unread there is nothing more to see than host and port. */
        struct request q = {.kind = kind, .host = host, .port = port};
        policy_decide(p, &q, d);
}
