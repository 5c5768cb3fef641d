/* memory.c - see memory.h. Addresses are checked again at every use, so nothing is trusted for
 * having been remembered. */
#include "dial/memory.h"

#include "base/str.h"

#include <stdlib.h>

static void drop(struct memory *m, size_t at)
{
        free(m->v[at]);
        m->v[at] = m->v[--m->n];
}

const struct memory_entry *memory_find(struct memory *m, const struct host_name *name,
                                       uint64_t now_ms)
{
        for (size_t i = 0; i < m->n; i++) {
                if (!host_name_equal(&m->v[i]->name, name))
                        continue;
                if (m->v[i]->until_ms > now_ms)
                        return m->v[i];
                drop(m, i);
                return NULL;
        }
        return NULL;
}

void memory_put(struct memory *m, const struct host_name *name, const struct addr_list *addrs,
                uint32_t ttl_s, uint64_t now_ms)
{
        uint32_t least = addrs->n ? MEMORY_LEAST_S : MEMORY_NEGATIVE_S;
        uint32_t most = addrs->n ? MEMORY_MOST_S : MEMORY_NEGATIVE_S;
        size_t at = 0, first = 0;
        while (at < m->n && !host_name_equal(&m->v[at]->name, name)) {
                if (m->v[at]->until_ms < m->v[first]->until_ms)
                        first = at;
                at++;
        }
        if (at == m->n && m->n == MEMORY_MAX) {
                at = first;
        } else if (at == m->n) {
                m->v[at] = malloc(sizeof *m->v[at]);
                if (!m->v[at])
                        str_no_memory();
                m->n++;
        }
        uint32_t ttl = ttl_s < least ? least : ttl_s > most ? most : ttl_s;
        *m->v[at] = (struct memory_entry){
                .name = *name, .until_ms = now_ms + (uint64_t)ttl * 1000, .addrs = *addrs};
}

void memory_clear(struct memory *m)
{
        while (m->n)
                drop(m, m->n - 1);
}
