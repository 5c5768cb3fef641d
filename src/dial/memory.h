/* memory.h - answers of name servers, kept for as long as they say, within bounds. */
#ifndef DIAL_MEMORY_H
#define DIAL_MEMORY_H

#include "dial/addr.h"
#include "policy/host_name.h"

#include <stdbool.h>
#include <stdint.h>

enum {
        MEMORY_MAX = 512,      /* names */
        MEMORY_LEAST_S = 5,    /* a page opens dozens of connections at once */
        MEMORY_MOST_S = 300,   /* whoever moves is found again */
        MEMORY_NEGATIVE_S = 5, /* "no such name" */
};

struct memory_entry {
        struct host_name name;
        uint64_t until_ms;
        struct addr_list addrs; /* empty: the name does not exist */
};

struct memory {
        struct memory_entry *v[MEMORY_MAX];
        size_t n;
};

/* memory_find(m, name, now): NULL when nothing is known any more. Valid until the next call. */
const struct memory_entry *memory_find(struct memory *, const struct host_name *, uint64_t now_ms);
/* memory_put(m, name, addrs, ttl, now): replaces what was known; the one that ends first makes
 * room. */
void memory_put(struct memory *, const struct host_name *, const struct addr_list *, uint32_t ttl_s,
                uint64_t now_ms);
void memory_clear(struct memory *);

#endif
