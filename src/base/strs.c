/* strs.c - see strs.h. */
#include "base/strs.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strs_free(struct strs *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->v[i]);
        free(l->v);
        *l = (struct strs){0};
}

static void strs_own(struct strs *l, char *s)
{
        if (l->n + 2 > l->cap) {
                size_t cap = l->cap ? l->cap * 2 : 16;
                char **v = realloc(l->v, cap * sizeof *v);
                if (!v)
                        str_no_memory();
                l->v = v;
                l->cap = cap;
        }
        l->v[l->n++] = s;
        l->v[l->n] = NULL;
}

void strs_add(struct strs *l, const char *s)
{
        strs_own(l, str_dup(s));
}

void strs_addf(struct strs *l, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        strs_own(l, str_vfmt(fmt, ap));
        va_end(ap);
}

bool strs_has(const struct strs *l, const char *s)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->v[i], s) == 0)
                        return true;
        return false;
}

static bool is_var(const char *entry, const char *name)
{
        size_t n = strlen(name);
        return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

void strs_set_env(struct strs *l, const char *name, const char *value)
{
        char *entry = str_fmt("%s=%s", name, value);
        for (size_t i = 0; i < l->n; i++) {
                if (is_var(l->v[i], name)) {
                        free(l->v[i]);
                        l->v[i] = entry;
                        return;
                }
        }
        strs_own(l, entry);
}

const char *strs_get_env(const struct strs *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (is_var(l->v[i], name))
                        return l->v[i] + strlen(name) + 1;
        return NULL;
}

void strs_remove(struct strs *l, size_t at)
{
        free(l->v[at]);
        memmove(&l->v[at], &l->v[at + 1], (l->n - at) * sizeof *l->v);
        l->n--;
}
