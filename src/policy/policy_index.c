/* policy_index.c - see policy_index.h. Lists of lines that share a host, hung in a hash table; a
 * walk merges the few lists that a name is in. It must never leave out a line that match.c would
 * match, so hosts are compared by the same functions. Pure. */
#include "policy/policy_index.h"

#include "base/str.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A line, in the order of the policy: a smaller place in the array is asked earlier. */
struct node {
        const struct policy_layer *layer;
        const struct rule_line *line;
        uint32_t next; /* with the same host and kind */
};

struct slot {
        const struct rule_place *place; /* NULL: free */
        uint32_t first, last;
};

struct policy_index {
        struct node *nodes;
        size_t nodes_n;
        struct slot *slots;
        size_t mask;
        uint32_t any_first, any_last;
};

/* FNV-1a; the names in a policy are its owner's, so nobody gains by collisions. */
static size_t hash(enum rule_host_kind kind, const char *text, size_t len)
{
        uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)kind;
        for (size_t i = 0; i < len; i++)
                h = (h ^ (uint8_t)text[i]) * 0x100000001b3u;
        return (size_t)(h ^ h >> 32);
}

static struct slot *find(const struct policy_index *ix, enum rule_host_kind kind, const char *text,
                         size_t len)
{
        for (size_t at = hash(kind, text, len);; at++) {
                struct slot *s = &ix->slots[at & ix->mask];
                if (!s->place || (s->place->host_kind == kind && s->place->host.len == len &&
                                  memcmp(s->place->host.text, text, len) == 0))
                        return s;
        }
}

static void append(struct policy_index *ix, uint32_t *first, uint32_t *last, uint32_t node)
{
        if (*first == NONE)
                *first = node;
        else
                ix->nodes[*last].next = node;
        *last = node;
}

static void add(struct policy_index *ix, const struct policy_layer *layer,
                const struct rule_line *line)
{
        uint32_t at = (uint32_t)ix->nodes_n++;
        const struct rule_place *p = &line->rule.place;
        ix->nodes[at] = (struct node){.layer = layer, .line = line, .next = NONE};
        if (p->host_kind == RULE_HOST_ANY) {
                append(ix, &ix->any_first, &ix->any_last, at);
                return;
        }
        struct slot *s = find(ix, p->host_kind, p->host.text, p->host.len);
        if (!s->place)
                *s = (struct slot){.place = p, .first = NONE, .last = NONE};
        append(ix, &s->first, &s->last, at);
}

void policy_index_make(struct policy *p)
{
        size_t lines_n = 0, slots_n = 16;
        policy_index_free(p->index);
        p->index = NULL;
        for (size_t k = 0; k < p->layers_n; k++)
                lines_n += p->layers[k].lines_n;
        while (slots_n < lines_n * 2)
                slots_n *= 2;
        struct policy_index *ix = calloc(1, sizeof *ix);
        if (ix) {
                *ix = (struct policy_index){.nodes = calloc(lines_n + 1, sizeof *ix->nodes),
                                            .slots = calloc(slots_n, sizeof *ix->slots),
                                            .mask = slots_n - 1,
                                            .any_first = NONE,
                                            .any_last = NONE};
        }
        if (!ix || !ix->nodes || !ix->slots)
                str_no_memory();
        for (size_t k = 0; k < p->layers_n; k++)
                for (size_t i = 0; i < p->layers[k].lines_n; i++)
                        if (p->layers[k].lines[i].kind == RULE_LINE_RULE)
                                add(ix, &p->layers[k], &p->layers[k].lines[i]);
        p->index = ix;
}

void policy_index_free(struct policy_index *ix)
{
        if (!ix)
                return;
        free(ix->nodes);
        free(ix->slots);
        free(ix);
}

static void follow(struct policy_walk *w, uint32_t first)
{
        if (first != NONE && w->lists_n < POLICY_WALK_MAX)
                w->next[w->lists_n++] = first;
}

void policy_walk_begin(struct policy_walk *w, const struct policy *p, const struct host_name *h)
{
        const struct policy_index *ix = p->index;
        w->policy = p;
        w->layer = w->line = w->lists_n = 0;
        if (!ix)
                return;
        const struct slot *s = find(ix, RULE_HOST_EXACT, h->text, h->len);
        if (s->place)
                follow(w, s->first);
        for (const char *dot = h->kind == HOST_NAME ? strchr(h->text, '.') : NULL; dot;
             dot = strchr(dot + 1, '.')) {
                s = find(ix, RULE_HOST_BELOW, dot + 1, strlen(dot + 1));
                if (s->place)
                        follow(w, s->first);
        }
        follow(w, ix->any_first);
}

static bool next_of_all(struct policy_walk *w, const struct policy_layer **layer,
                        const struct rule_line **line)
{
        const struct policy *p = w->policy;
        for (; w->layer < p->layers_n; w->layer++, w->line = 0) {
                const struct policy_layer *l = &p->layers[w->layer];
                while (w->line < l->lines_n) {
                        const struct rule_line *r = &l->lines[w->line++];
                        if (r->kind != RULE_LINE_RULE)
                                continue;
                        *layer = l;
                        *line = r;
                        return true;
                }
        }
        return false;
}

bool policy_walk_next(struct policy_walk *w, const struct policy_layer **layer,
                      const struct rule_line **line)
{
        const struct policy_index *ix = w->policy->index;
        if (!ix)
                return next_of_all(w, layer, line);
        size_t least = 0;
        if (w->lists_n == 0)
                return false;
        for (size_t i = 1; i < w->lists_n; i++)
                if (w->next[i] < w->next[least])
                        least = i;
        const struct node *n = &ix->nodes[w->next[least]];
        *layer = n->layer;
        *line = n->line;
        if (n->next != NONE)
                w->next[least] = n->next;
        else
                w->next[least] = w->next[--w->lists_n];
        return true;
}
