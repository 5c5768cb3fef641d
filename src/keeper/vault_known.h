/* vault_known.h - whose key a secret should be, going by its name: for a warning when a value is
 * somebody else's. Where such keys belong is in policy/secret_spec.h. */
#ifndef KEEPER_VAULT_KNOWN_H
#define KEEPER_VAULT_KNOWN_H

#include <stdbool.h>

/* vault_known_provider(name): the provider that a name speaks of (MY_GITHUB_TOKEN: "github"), as
 * secret_shape_name says it; NULL when it does not say. */
const char *vault_known_provider(const char *name);

/* vault_known_is_same(provider, shape): is a value of ${shape} what ${provider} gives out? */
bool vault_known_is_same(const char *provider, const char *shape);

#endif
