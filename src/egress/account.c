/* account.c - see account.h. Called by every stage that holds bytes; counts, and decides nothing
 * but whether there is room. */
#include "egress/account.h"

#include <stdlib.h>

/* In front of what account_alloc gives out; keeps the alignment of malloc. */
union account_mark {
        size_t n;
        max_align_t align;
};

static void account_add(struct account *a, size_t n)
{
        a->now += n;
        if (a->now > a->peak)
                a->peak = a->now;
}

bool account_take(struct account *a, size_t n)
{
        if (!a)
                return true;
        if (a->limit && (n > a->limit || a->now > a->limit - n)) {
                a->refused++;
                return false;
        }
        account_add(a, n);
        return true;
}

void account_give(struct account *a, size_t n)
{
        if (a)
                a->now -= n;
}

void account_set(struct account *a, size_t *charged, size_t n)
{
        if (a && n > *charged)
                account_add(a, n - *charged);
        else if (a)
                a->now -= *charged - n;
        *charged = n;
}

bool account_is_full(const struct account *a)
{
        return a && a->limit && a->now >= a->limit;
}

void *account_alloc(void *account, size_t n)
{
        size_t all;
        if (__builtin_add_overflow(n, sizeof(union account_mark), &all) ||
            !account_take(account, all))
                return NULL;
        union account_mark *m = malloc(all);
        if (!m) {
                account_give(account, all);
                return NULL;
        }
        m->n = all;
        return m + 1;
}

void account_free(void *account, void *p)
{
        if (!p)
                return;
        union account_mark *m = (union account_mark *)p - 1;
        account_give(account, m->n);
        free(m);
}
