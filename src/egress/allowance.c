/* allowance.c - what rate=, bytes= and hosts= of a rule have left. Kept by the rule's own text, so
 * that a change of policy which leaves the rule as it is does not fill its allowance up again. */
#include "egress/door.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct allowance {
        char *rule;
        double tokens;
        uint64_t at_ms;
        uint64_t bytes;
        struct host_name *hosts;
        size_t hosts_n;
        struct allowance *next;
};

static struct allowance *find(struct door *d, const struct rule *r)
{
        _cleanup_buf_ struct buf b = {0};
        rule_print(r, &b);
        const char *text = buf_cstr(&b);
        for (struct allowance *a = d->allowances; a; a = a->next)
                if (strcmp(a->rule, text) == 0)
                        return a;
        struct allowance *a = calloc(1, sizeof *a);
        if (!a)
                str_no_memory();
        *a = (struct allowance){.rule = str_dup(text),
                                .tokens = (double)r->rate_n,
                                .at_ms = loop_now(d->loop),
                                .next = d->allowances};
        d->allowances = a;
        return a;
}

static bool take_token(struct door *d, struct allowance *a, const struct rule *r)
{
        uint64_t now = loop_now(d->loop);
        double full = (double)r->rate_n;
        a->tokens += (double)(now - a->at_ms) * full / ((double)r->rate_per_s * 1000);
        a->at_ms = now;
        if (a->tokens > full)
                a->tokens = full;
        if (a->tokens < 1)
                return false;
        a->tokens -= 1;
        return true;
}

static bool take_host(struct allowance *a, const struct rule *r, const struct host_name *h)
{
        for (size_t i = 0; i < a->hosts_n; i++)
                if (host_name_equal(&a->hosts[i], h))
                        return true;
        if (a->hosts_n >= r->hosts)
                return false;
        struct host_name *p = realloc(a->hosts, (a->hosts_n + 1) * sizeof *p);
        if (!p)
                str_no_memory();
        a->hosts = p;
        a->hosts[a->hosts_n++] = *h;
        return true;
}

bool allowance_take(struct door *d, const struct rule *r, const struct host_name *h,
                    char words[256])
{
        if (!r || (!r->rate_n && !r->bytes && !r->hosts))
                return true;
        struct allowance *a = find(d, r);
        if (r->bytes && a->bytes >= r->bytes)
                snprintf(words, 256, "the rule's bytes=%llu are used up",
                         (unsigned long long)r->bytes);
        else if (r->hosts && !take_host(a, r, h))
                snprintf(words, 256, "the rule allows %llu different hosts and this is one more",
                         (unsigned long long)r->hosts);
        else if (r->rate_n && !take_token(d, a, r))
                snprintf(words, 256, "the rule allows %llu requests in %llu s",
                         (unsigned long long)r->rate_n, (unsigned long long)r->rate_per_s);
        else
                return true;
        return false;
}

bool allowance_bytes(struct door *d, const struct rule *r, uint64_t n)
{
        if (!r || !r->bytes)
                return true;
        struct allowance *a = find(d, r);
        a->bytes += n;
        return a->bytes <= r->bytes;
}
