/* cred_list.h - files that hold credentials, by name: never copied into a box, whoever asks. */
#ifndef POLICY_CRED_LIST_H
#define POLICY_CRED_LIST_H

#include <stdbool.h>

/* cred_list_why(path): what kind of credential a file of this path (relative or absolute) would
 * hold, in words, or NULL if none is known. Looks at every component, ignoring case. */
const char *cred_list_why(const char *path);

/* cred_list_is_secret_key(key): does a key of a settings file by this name hold a secret? */
bool cred_list_is_secret_key(const char *key);

#endif
