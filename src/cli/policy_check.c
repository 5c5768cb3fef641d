/* policy_check.c - see policy_check.h. Decides with the door's own function, and sends nothing. */
#include "cli/policy_check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/out.h"
#include "cli/policy_request.h"
#include "policy/address_class.h"
#include "policy/override.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>

static const char *verdict_word(enum policy_verdict v)
{
        static const char *const words[] = {
                [POLICY_DENY] = "deny",     [POLICY_ALLOW] = "allow",
                [POLICY_ASK] = "ask",       [POLICY_TCP] = "tcp",
                [POLICY_SPLICE] = "splice", [POLICY_NEEDS_BODY] = "needs-body"};
        return words[v];
}

static bool is_let_through(enum policy_verdict v)
{
        return v == POLICY_ALLOW || v == POLICY_TCP || v == POLICY_SPLICE;
}

/* by_level(level, d): what becomes of a request that no line speaks of; NULL when one did. */
static const char *by_level(enum door_level level, const struct policy_decision *d)
{
        if (d->why != POLICY_BY_DEFAULT)
                return NULL;
        if (level == DOOR_EASY)
                return "no line speaks of it: at level easy you are asked while you are attached, "
                       "and "
                       "it is denied when nobody is";
        return level == DOOR_LEARN ? "no line speaks of it: allowed while learning" : NULL;
}

static void tell_json(const struct policy_request *r, const struct policy_decision *d,
                      enum door_level level, const char *words, const char *rule, const char *as,
                      const char *cure)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "request", r->shown);
        bool is_default = d->why == POLICY_BY_DEFAULT && !as;
        json_str(&j, "verdict",
                 is_default && level == DOOR_EASY    ? "ask"
                 : is_default && level == DOOR_LEARN ? "allow"
                                                     : verdict_word(d->verdict));
        json_str(&j, "words", words);
        json_str(&j, "layer", d->layer ? d->layer->name : NULL);
        if (d->line && d->line->line_no)
                json_u64(&j, "line", d->line->line_no);
        json_str(&j, "rule", rule);
        json_str(&j, "reason", d->line ? d->line->rule.reason : NULL);
        json_str(&j, "because", as);
        json_str(&j, "cure", cure);
        json_close(&j, '}');
        out_json("verdict", &b);
}

static void tell(const struct policy_request *r, const struct policy_decision *d, const char *words,
                 const char *rule, const char *as, const char *cure, const char *box)
{
        puts(words);
        if (as)
                printf("  %s\n", as);
        if (rule)
                printf("  %s\n", rule);
        if (d->line && d->line->rule.reason)
                printf("  reason: %s\n", d->line->rule.reason);
        size_t addr_len = host_name_addr_len(&r->host);
        enum address_class class =
                addr_len ? address_class(r->host.addr, addr_len) : ADDRESS_PUBLIC;
        if (class != ADDRESS_PUBLIC)
                printf("%s is %s.\n", r->host.text, address_class_words(class));
        if (d->verdict == POLICY_NEEDS_BODY)
                puts("That line looks into the body; give one with --data.");
        else if (d->verdict == POLICY_ASK)
                puts("A person is asked; when nobody answers it is denied.");
        else if (cure && box)
                printf("This would allow it:\n  ostiary allow %s '%s'\n", box,
                       str_starts(cure, "allow ") ? cure + 6 : cure);
        else if (cure && d->why == POLICY_BY_DEFAULT)
                printf("This line in ~/.config/ostiary/policy would allow it:\n  %s\n", cure);
        else if (cure)
                printf("This line, before the one above, would allow it:\n  %s\n", cure);
        else if (d->verdict == POLICY_DENY && d->line)
                puts("A deny! cannot be overridden; only the file that holds it can be changed.");
}

int policy_check(const struct policy *p, const struct policy_check_how *how,
                 const struct policy_request *r)
{
        struct policy_decision d = {0};
        struct request q = r->request;
        /* The door asks first whether a TLS connection is to be deciphered at all. */
        if (r->is_tls) {
                q.kind = REQUEST_SPLICE;
                policy_decide(p, &q, &d);
                q.kind = REQUEST_HTTP;
        }
        _cleanup_override_ struct override over = {0};
        if (d.verdict != POLICY_SPLICE && q.kind == REQUEST_HTTP) {
                override_decide(p, &q, how->level == DOOR_LEARN, &over);
                d = over.decision;
        } else if (d.verdict != POLICY_SPLICE) {
                policy_decide(p, &q, &d);
        }

        _cleanup_free_ char *own = policy_words(&d);
        _cleanup_free_ char *cure =
                over.why ? over.cure ? str_dup(over.cure) : NULL : policy_cure(&d, &q);
        const char *level = over.why ? NULL : by_level(how->level, &d),
                   *words = level ? level : own;
        _cleanup_buf_ struct buf rule = {0};
        if (d.line)
                rule_line_print(d.line, &rule);
        const char *text = d.line ? buf_cstr(&rule) : NULL;
        if (how->is_json)
                tell_json(r, &d, how->level, words, text, over.why, cure);
        else
                tell(r, &d, words, text, over.why, cure, how->box);
        bool is_learnt = d.why == POLICY_BY_DEFAULT && !over.why && how->level == DOOR_LEARN;
        return is_let_through(d.verdict) || is_learnt ? EXIT_OK : EXIT_NEGATIVE;
}
