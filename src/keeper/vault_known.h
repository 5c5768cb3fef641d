/* vault_known.h - secrets by the names that everybody gives them: whose they are and which line of
 * policy grants them. For import's suggestions and for a warning when a value is somebody else's.
 */
#ifndef KEEPER_VAULT_KNOWN_H
#define KEEPER_VAULT_KNOWN_H

#include <stddef.h>

struct vault_known {
        const char *name;
        const char *provider; /* as secret_shape_name says it; NULL when the shape tells nothing */
        const char *grant;    /* "at ... as ...", the rest of its line */
};

/* vault_known_at(i): the i-th, or NULL at the end. */
const struct vault_known *vault_known_at(size_t i);
/* vault_known_find(name): the one of that name, or NULL. */
const struct vault_known *vault_known_find(const char *name);

/* vault_known_provider(name): whose key a secret of this name should be, by the whole name or a
 * part of it (MY_GITHUB_TOKEN); NULL when it does not say. */
const char *vault_known_provider(const char *name);

/* vault_known_is_same(provider, shape): is a value of ${shape} what ${provider} gives out? */
int vault_known_is_same(const char *provider, const char *shape);

#endif
