/* strs.h - a growing list of owned strings: argument vectors, environments, lists of paths. Always
 * NULL-terminated in `v`, so it can be handed to execve as it is. */
#ifndef BASE_STRS_H
#define BASE_STRS_H

#include <stdbool.h>
#include <stddef.h>

struct strs {
        char **v;
        size_t n;
        size_t cap;
};

void strs_free(struct strs *);
#define _cleanup_strs_ __attribute__((cleanup(strs_free)))

/* strs_add(l, s): append a copy. Out of memory ends the process: nothing useful can follow. */
void strs_add(struct strs *, const char *);
void strs_addf(struct strs *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool strs_has(const struct strs *, const char *);
/* strs_set_env(l, "NAME", value): replace or append NAME=value. */
void strs_set_env(struct strs *, const char *name, const char *value);
/* strs_get_env(l, "NAME"): the value, or NULL. */
const char *strs_get_env(const struct strs *, const char *name);
void strs_remove(struct strs *, size_t at);

#endif
