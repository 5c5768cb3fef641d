/* account.c - see account.h. Called by every stage that holds bytes; counts, and decides nothing
 * but whether there is room. */
#include "egress/account.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

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

/* account_ask(a, more, size): ${more} bytes for a thing that has ${size} then. */
static bool account_ask(struct account *a, size_t more, size_t size)
{
        if (!a)
                return true;
        uint64_t most = size <= ACCOUNT_SMALL ? a->limit : a->limit - a->limit / 8;
        if (a->limit && (more > most || a->now > most - more)) {
                a->refused++;
                return false;
        }
        account_add(a, more);
        return true;
}

bool account_take(struct account *a, size_t n)
{
        return account_ask(a, n, n);
}

bool account_grow(struct account *a, size_t *charged, size_t more)
{
        if (more == 0)
                return true;
        if (!account_ask(a, more, *charged + more))
                return false;
        *charged += more;
        return true;
}

uint8_t *account_room(struct account *a, size_t *charged, struct buf *b, size_t n)
{
        size_t more = buf_more(b, n);
        if (more && !account_ask(a, more, b->cap + more))
                return NULL;
        *charged += more;
        return buf_room(b, n);
}

bool account_put(struct account *a, size_t *charged, struct buf *b, const void *p, size_t n)
{
        uint8_t *to = n ? account_room(a, charged, b, n) : NULL;
        if (to)
                memcpy(to, p, n);
        return to || n == 0;
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

bool account_is_tight(const struct account *a)
{
        return a && a->limit && a->now > a->limit / 2;
}

bool account_is_full(const struct account *a)
{
        return a && a->limit && a->now >= a->limit;
}

void *account_alloc(void *account, size_t n)
{
        size_t all;
        if (account)
                ((struct account *)account)->allocs++;
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
