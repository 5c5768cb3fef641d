/* profiles.h - profiles by name: the user's own files first, then the ones built in. */
#ifndef SESSION_PROFILES_H
#define SESSION_PROFILES_H

#include "base/strs.h"

#include <stdbool.h>

struct err;
struct profile;

/* profiles_find(config_dir, name, p, err): ${config_dir}/profiles/NAME.profile if it exists, else
 * the built-in; `extends` is resolved (at most 8 deep; a user's `claude` may extend the built-in
 * `claude`). ${config_dir} is store.config and may be NULL. NULL name means "default". E_USAGE
 * with a suggestion when there is none. */
int profiles_find(const char *config_dir, const char *name, struct profile *, struct err *);

/* profiles_text(config_dir, name, &is_builtin, err): the file as it is written; the caller frees.
 * NULL and a story otherwise. ${is_builtin} may be NULL. */
char *profiles_text(const char *config_dir, const char *name, bool *is_builtin, struct err *);

/* profiles_names(config_dir, names): every name, sorted, each once. */
void profiles_names(const char *config_dir, struct strs *);

#endif
