/* psl.c - see psl.h. Reads the list in the packed form in which distributions ship it: a word graph
 * (DAFSA) whose nodes are walked byte by byte. The graph was made while building, but every step is
 * bounded all the same: a bad file makes a wrong answer, never a wild read. */
#include "policy/psl.h"

#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "psl_data.h"

enum { IS_EXCEPTION = 1, HAS_WILDCARD = 2, IS_ICANN = 4, IS_PRIVATE = 8 };

/* Names under which a private network has its own hosts; no registry hands them out. */
static const char *const own_names[] = {"internal",  "lan",  "local",    "localhost",
                                        "home.arpa", "home", "intranet", "localnet",
                                        "corp",      "test", "private",  "test.arpa"};

/* A list of children: each entry is a step of 1 to 3 bytes to the next child; the top bit marks the
 * last. */
static bool next_child(size_t *pos, size_t *child)
{
        const size_t n = sizeof psl_graph;
        if (*pos >= n || n - *pos < 3)
                return false;
        const uint8_t *p = psl_graph + *pos;
        size_t used = 1;
        switch (p[0] & 0x60) {
        case 0x60:
                *child += (size_t)(p[0] & 0x1f) << 16 | (size_t)p[1] << 8 | p[2];
                used = 3;
                break;
        case 0x40:
                *child += (size_t)(p[0] & 0x1f) << 8 | p[1];
                used = 2;
                break;
        default:
                *child += p[0] & 0x3f;
                break;
        }
        *pos = p[0] & 0x80 ? n : *pos + used;
        return *child < n;
}

/* lookup(key): its flags, or -1. A node is letters, of which the last has the top bit set and is
 * followed by its children; or it ends in a value (0x80 to 0x9f). */
static int lookup(const char *key)
{
        size_t pos = 0, child = 0;
        while (next_child(&pos, &child)) {
                size_t at = child;
                bool is_inside = false;
                while (*key && at < sizeof psl_graph && !(psl_graph[at] & 0x80)) {
                        if (psl_graph[at] != (uint8_t)*key) {
                                if (is_inside)
                                        return -1;
                                break;
                        }
                        is_inside = true;
                        at++;
                        key++;
                }
                if (at >= sizeof psl_graph)
                        return -1;
                if (!*key) {
                        if ((psl_graph[at] & 0xe0) == 0x80)
                                return psl_graph[at] & 0x0f;
                        if (is_inside)
                                return -1;
                        continue;
                }
                if (psl_graph[at] != ((uint8_t)*key | 0x80)) {
                        if (is_inside)
                                return -1;
                        continue;
                }
                key++;
                pos = child = at + 1;
        }
        return -1;
}

static enum psl_class section(int flags)
{
        return flags & IS_ICANN ? PSL_PUBLIC : PSL_SHARED;
}

enum psl_class psl_below(const struct host_name *h)
{
        for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
                if (strcmp(h->text, own_names[i]) == 0)
                        return PSL_OWNED;
        const char *parent = strchr(h->text, '.');
        int own = lookup(h->text);
        if (own >= 0 && own & IS_EXCEPTION)
                return PSL_OWNED;
        if (own >= 0)
                return section(own);
        if (!parent)
                return PSL_PUBLIC;
        int above = lookup(parent + 1);
        return above >= 0 && above & HAS_WILDCARD ? section(above) : PSL_OWNED;
}
