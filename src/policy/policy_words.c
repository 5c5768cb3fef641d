/* policy_words.c - a decision in words, and its cure. See policy.h. Pure; the words go to people,
 * into the log and to the agent, so they hold nothing that was not validated before. */
#include "base/buf.h"
#include "base/str.h"
#include "policy/path_canon.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

static const char *done(enum policy_verdict v)
{
        switch (v) {
        case POLICY_DENY:
                return "denied";
        case POLICY_ALLOW:
                return "allowed";
        case POLICY_ASK:
                return "asks, because of";
        case POLICY_TCP:
                return "passed on unread, allowed";
        case POLICY_SPLICE:
                return "passed on undeciphered, allowed";
        case POLICY_NEEDS_BODY:
                return "depends on the body, because of";
        }
        return "denied";
}

char *policy_words(const struct policy_decision *d)
{
        if (d->why == POLICY_BY_DEFAULT)
                return str_dup("denied by default");
        _cleanup_buf_ struct buf b = {0};
        bool has_by = d->verdict != POLICY_ASK && d->verdict != POLICY_NEEDS_BODY;
        buf_put_fmt(&b, "%s %s%s", done(d->verdict), has_by ? "by " : "", d->layer->name);
        if (d->line->line_no)
                buf_put_fmt(&b, ":%zu", d->line->line_no);
        if (d->why == POLICY_BY_AMBIGUITY)
                buf_put_str(&b, ", which speaks of one way in which this request can be read");
        if (d->why == POLICY_BY_UNREADABLE)
                buf_put_str(&b, ", which looks into the body, and the body cannot be read");
        return str_dup(buf_cstr(&b));
}

static void put_path(const struct path_canon *path, struct buf *b)
{
        for (const char *p = path->text; *p; p++) {
                if (*p == '*')
                        buf_put_str(b, "%2A");
                else if (*p == ',')
                        buf_put_str(b, "%2C");
                else if (*p == '\'')
                        buf_put_str(b, "%27");
                else
                        buf_put_u8(b, (uint8_t)*p);
        }
}

char *policy_cure(const struct policy_decision *d, const struct request *q)
{
        if (d->verdict != POLICY_DENY)
                return NULL;
        if (d->line && d->line->rule.verdict == RULE_DENY_HARD)
                return NULL;
        _cleanup_buf_ struct buf b = {0};
        if (q->kind == REQUEST_TCP) {
                buf_put_fmt(&b, "tcp %s:%u", q->host->text, q->port);
        } else if (q->kind == REQUEST_SPLICE) {
                buf_put_fmt(&b, "splice %s", q->host->text);
                if (q->port != 443 && q->port != 80)
                        buf_put_fmt(&b, ":%u", q->port);
        } else {
                bool is_known = rule_method_bit(q->method) != 0;
                buf_put_fmt(&b, "allow %s %s", is_known ? q->method : "*", q->host->text);
                if (q->port != 443 && q->port != 80)
                        buf_put_fmt(&b, ":%u", q->port);
                /* Of a path with several readings no single line holds in all of them but the one
                 * without a path. A long one would not fit a rule. */
                if (q->path && !q->path->odd && q->path->len <= GLOB_MAX / 4)
                        put_path(q->path, &b);
        }
        return str_dup(buf_cstr(&b));
}
