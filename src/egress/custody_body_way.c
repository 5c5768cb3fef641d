/* custody_body_way.c - see custody_body_way.h. Called for every member and element of a JSON text
 * that has a slot. It must never match a key that only looks like the step. */
#include "egress/custody_body_way.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ~1 is a slash, ~0 a tilde. */
static void split(struct custody_pointer *p, const char *text)
{
        while (*text == '/' && p->n < CUSTODY_STEPS_MAX) {
                const char *end = strchrnul(++text, '/');
                char *step = malloc((size_t)(end - text) + 1), *to = step;
                if (!step)
                        str_no_memory();
                for (; text < end; text++) {
                        char c = *text;
                        if (c == '~' && (text[1] == '0' || text[1] == '1'))
                                c = *++text == '0' ? '~' : '/';
                        *to++ = c;
                }
                *to = '\0';
                p->steps[p->n++] = step;
        }
        if (*text) /* longer than any that is matched: so it matches nothing */
                p->n = SIZE_MAX;
}

void custody_way_begin(struct custody_way *w, const char *const *pointers, size_t n)
{
        for (size_t i = 0; i < n && i < CUSTODY_BODY_SLOTS_MAX; i++)
                split(&w->pointers[w->n++], pointers[i]);
}

void custody_way_end(struct custody_way *w)
{
        for (size_t i = 0; i < w->n; i++)
                for (size_t k = 0; k < CUSTODY_STEPS_MAX; k++)
                        free(w->pointers[i].steps[k]);
}

bool custody_way_step(struct custody_way *w, size_t at, const char *name, size_t n)
{
        for (size_t i = 0; i < w->n; i++) {
                struct custody_pointer *p = &w->pointers[i];
                if (p->matched > at)
                        p->matched = at;
                if (p->matched < at || at >= CUSTODY_STEPS_MAX || at >= p->n ||
                    strlen(p->steps[at]) != n || memcmp(p->steps[at], name, n) != 0)
                        continue;
                if (p->seen[at])
                        return false;
                p->seen[at] = true;
                p->matched = at + 1;
        }
        return true;
}

void custody_way_enter(struct custody_way *w, size_t depth)
{
        for (size_t i = 0; i < w->n; i++)
                if (depth < CUSTODY_STEPS_MAX && w->pointers[i].matched == depth)
                        w->pointers[i].seen[depth] = false;
}

void custody_way_leave(struct custody_way *w, size_t depth)
{
        for (size_t i = 0; i < w->n; i++)
                if (w->pointers[i].matched > depth)
                        w->pointers[i].matched = depth;
}

bool custody_way_is_slot(const struct custody_way *w, size_t depth, size_t *which)
{
        for (size_t i = 0; i < w->n; i++)
                if (w->pointers[i].matched == w->pointers[i].n && w->pointers[i].n == depth) {
                        *which = i;
                        return true;
                }
        return false;
}
