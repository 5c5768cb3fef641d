/* policy.c - see policy.h: layers, their order, and the one loop that decides. Pure; called by
 * egress for every request, by dial again for every connection, and by `ostiary policy check`. */
#include "policy/policy.h"

#include "base/str.h"
#include "policy/policy_index.h"

#include <stdlib.h>
#include <string.h>

static void decided(struct policy_decision *d, enum policy_verdict v, enum policy_why why,
                    const struct policy_layer *layer, const struct rule_line *line)
{
        *d = (struct policy_decision){.verdict = v, .why = why, .layer = layer, .line = line};
}

/* one(layer, line, q, d): does this line end the search? Doubt is settled against the request: a
 * refusal needs one reading, a grant all of them, and a question about one of several readings is a
 * refusal, since nobody could answer it for the others. */
static bool one(const struct policy_layer *layer, const struct rule_line *line,
                const struct request *q, struct policy_decision *d)
{
        const struct rule *r = &line->rule;
        enum match m = match_rule(r, q);
        if (m == MATCH_NO)
                return false;
        if (m == MATCH_NEEDS_BODY) {
                decided(d, POLICY_NEEDS_BODY, POLICY_BY_LINE, layer, line);
                return true;
        }
        if (m == MATCH_UNREADABLE) {
                decided(d, POLICY_DENY, POLICY_BY_UNREADABLE, layer, line);
                return true;
        }
        bool is_all = m == MATCH_ALL;
        switch (r->verdict) {
        case RULE_DENY:
        case RULE_DENY_HARD:
                decided(d, POLICY_DENY, is_all ? POLICY_BY_LINE : POLICY_BY_AMBIGUITY, layer, line);
                return true;
        case RULE_ASK:
                /* Another spelling of what is asked about: policy_decide asks if it would pass. */
                decided(d, is_all || m == MATCH_LOOSE ? POLICY_ASK : POLICY_DENY,
                        is_all ? POLICY_BY_LINE : POLICY_BY_AMBIGUITY, layer, line);
                return true;
        case RULE_ALLOW:
        case RULE_TCP:
        case RULE_SPLICE:
                if (!is_all)
                        return false;
                decided(d,
                        r->verdict == RULE_ALLOW ? POLICY_ALLOW
                        : r->verdict == RULE_TCP ? POLICY_TCP
                                                 : POLICY_SPLICE,
                        POLICY_BY_LINE, layer, line);
                return true;
        }
        return true;
}

static bool by_deny_hard(const struct policy *p, const struct request *q, struct policy_decision *d)
{
        struct policy_walk w;
        const struct policy_layer *layer;
        const struct rule_line *line;
        policy_walk_begin(&w, p, q->host);
        while (policy_walk_next(&w, &layer, &line))
                if (line->rule.verdict == RULE_DENY_HARD && one(layer, line, q, d))
                        return true;
        return false;
}

void policy_decide(const struct policy *p, const struct request *q, struct policy_decision *d)
{
        decided(d, POLICY_DENY, POLICY_BY_DEFAULT, NULL, NULL);
        if (by_deny_hard(p, q, d))
                return;
        /* A project may turn an allow from below into a question, never a refusal into one. So may
         * an ask line that speaks of another spelling of the request. */
        struct policy_decision question = {0};
        bool is_questioned = false;
        struct policy_walk w;
        const struct policy_layer *layer,
                *done = NULL; /* the first line of a layer speaks for it */
        const struct rule_line *line;
        policy_walk_begin(&w, p, q->host);
        while (policy_walk_next(&w, &layer, &line)) {
                struct policy_decision got;
                if (layer == done || line->rule.verdict == RULE_DENY_HARD ||
                    !one(layer, line, q, &got))
                        continue;
                bool is_spelling = got.verdict == POLICY_ASK && got.why == POLICY_BY_AMBIGUITY;
                if (is_spelling) {
                        if (!is_questioned)
                                question = got;
                        is_questioned = true;
                        continue;
                }
                done = layer;
                bool is_final = layer->rank != POLICY_PROJECT || got.verdict == POLICY_DENY ||
                                got.verdict == POLICY_NEEDS_BODY;
                if (is_final) {
                        *d = is_questioned && got.verdict == POLICY_ALLOW ? question : got;
                        return;
                }
                if (got.verdict == POLICY_ASK && !is_questioned) {
                        question = got;
                        is_questioned = true;
                }
        }
}

void policy_put(struct policy *p, struct policy_layer *layer)
{
        struct policy_layer *more = reallocarray(p->layers, p->layers_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        p->layers = more;
        policy_index_free(p->index);
        p->index = NULL;
        size_t at = p->layers_n++;
        for (; at > 0 && p->layers[at - 1].rank > layer->rank; at--)
                p->layers[at] = p->layers[at - 1];
        p->layers[at] = *layer;
        memset(layer, 0, sizeof *layer);
}

void policy_free(struct policy *p)
{
        for (size_t i = 0; i < p->layers_n; i++)
                policy_layer_free(&p->layers[i]);
        free(p->layers);
        policy_index_free(p->index);
        memset(p, 0, sizeof *p);
}

void policy_layer_free(struct policy_layer *l)
{
        for (size_t i = 0; i < l->lines_n; i++)
                rule_line_free(&l->lines[i]);
        free(l->lines);
        free(l->name);
        memset(l, 0, sizeof *l);
}
