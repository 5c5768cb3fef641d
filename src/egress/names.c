/* names.c - see names.h. Names are numbered as they come, and the number is the address: 198.19.0.1
 * is the first. Called by the name server and by whoever accepts a connection. Nothing is ever
 * given back, so an address never changes its meaning while the box lives. */
#include "egress/names.h"

#include "base/str.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
        NAMES_MAX = 60000,
        BURST = 200,     /* new names that may come at once, */
        PER_SECOND = 20, /* and after that: no program needs more, a tunnel would */
        SLOTS_FIRST = 256,
};

struct names {
        struct host_name **by_number; /* NAMES_MAX at the most */
        size_t n, cap;
        uint16_t *slots; /* number + 1 by hash, 0 for empty; a power of two, at most half full */
        size_t slots_n;
        uint64_t seed;
        uint64_t credit; /* thousandths of a new name */
        uint64_t then_ms;
        bool is_held;
};

struct names *names_new(void)
{
        struct names *n = calloc(1, sizeof *n);
        uint16_t *slots = calloc(SLOTS_FIRST, sizeof *slots);
        if (!n || !slots)
                str_no_memory();
        n->slots = slots;
        n->slots_n = SLOTS_FIRST;
        n->credit = BURST * 1000;
        /* Sixteen random bytes that the kernel gave at exec: no call and no file is needed. */
        const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
        if (random)
                memcpy(&n->seed, random, sizeof n->seed);
        return n;
}

void names_free(struct names *n)
{
        if (!n)
                return;
        for (size_t i = 0; i < n->n; i++)
                free(n->by_number[i]);
        free(n->by_number);
        free(n->slots);
        free(n);
}

/* FNV-1a. Whoever finds names that collide slows down his own box. */
static uint64_t hash(const struct names *n, const struct host_name *h)
{
        uint64_t v = 0xcbf29ce484222325u ^ n->seed;
        for (size_t i = 0; i < h->len; i++)
                v = (v ^ (uint8_t)h->text[i]) * 0x100000001b3u;
        return v ^ v >> 32;
}

/* The slot where ${h} is, or where it would go. */
static uint16_t *slot_of(const struct names *n, const struct host_name *h)
{
        size_t at = (size_t)hash(n, h) & (n->slots_n - 1);
        while (n->slots[at] && !host_name_equal(n->by_number[n->slots[at] - 1], h))
                at = (at + 1) & (n->slots_n - 1);
        return &n->slots[at];
}

static void grow(struct names *n)
{
        if (n->n == n->cap) {
                size_t cap = n->cap ? n->cap * 2 : 64;
                struct host_name **p = reallocarray(n->by_number, cap, sizeof(void *));
                if (!p)
                        str_no_memory();
                n->by_number = p;
                n->cap = cap;
        }
        if (n->n * 2 < n->slots_n)
                return;
        free(n->slots);
        n->slots_n = n->slots_n ? n->slots_n * 2 : SLOTS_FIRST;
        n->slots = calloc(n->slots_n, sizeof *n->slots);
        if (!n->slots)
                str_no_memory();
        for (size_t i = 0; i < n->n; i++)
                *slot_of(n, n->by_number[i]) = (uint16_t)(i + 1);
}

/* May one more new name come now? */
static bool pay(struct names *n, uint64_t now_ms)
{
        uint64_t passed = now_ms > n->then_ms ? now_ms - n->then_ms : 0;
        if (passed > BURST * 1000 / PER_SECOND)
                passed = BURST * 1000 / PER_SECOND;
        n->then_ms = now_ms;
        n->credit += passed * PER_SECOND;
        if (n->credit > BURST * 1000)
                n->credit = BURST * 1000;
        if (n->credit < 1000)
                return false;
        n->credit -= 1000;
        return true;
}

int names_address(struct names *n, const struct host_name *h, uint64_t now_ms, uint32_t *addr)
{
        if (h->kind != HOST_NAME || h->len == 0)
                return -1;
        uint16_t *slot = slot_of(n, h);
        if (!*slot) {
                if (n->n == NAMES_MAX || n->is_held || !pay(n, now_ms))
                        return -1;
                grow(n);
                struct host_name *copy = malloc(sizeof *copy);
                if (!copy)
                        str_no_memory();
                *copy = *h;
                n->by_number[n->n++] = copy;
                slot = slot_of(n, h);
                *slot = (uint16_t)n->n;
        }
        *addr = DOOR_NAMES_NET + *slot;
        return 0;
}

void names_hold(struct names *n, bool is_held)
{
        n->is_held = is_held;
}

size_t names_held(const struct names *n)
{
        return sizeof *n + n->n * sizeof(struct host_name) + n->cap * sizeof(struct host_name *) +
               n->slots_n * sizeof *n->slots;
}

const struct host_name *names_find(const struct names *n, uint32_t addr)
{
        if (addr <= DOOR_NAMES_NET || addr - DOOR_NAMES_NET > n->n)
                return NULL;
        return n->by_number[addr - DOOR_NAMES_NET - 1];
}
