/* env_list.h - which variables of the caller's environment a box may see: a named list, because a
 * list of what to hide is never complete. */
#ifndef POLICY_ENV_LIST_H
#define POLICY_ENV_LIST_H

#include <stdbool.h>

struct env_rule {
        const char *name; /* a trailing * matches the rest */
        const char *why;
};

extern const struct env_rule env_list[]; /* ends with a NULL name */

/* env_list_allows(name): is this variable passed on by default? */
bool env_list_allows(const char *name);

/* env_list_is_credential(name): does the name look like a key, token or password, or lead to an
 * agent or bus of the host? Such a name is refused in `pass` and `env` of a profile. */
bool env_list_is_credential(const char *name);

#endif
