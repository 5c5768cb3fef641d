/* value_int.h - values that are more than one line: for value.c and value_json.c. */
#ifndef KEEPER_VALUE_INT_H
#define KEEPER_VALUE_INT_H

#include "keeper/keeper_int.h"

/* As value_take, for what it says: keys of AWS ("id\nkey\n[token\n]" or the JSON of
 * credential_process), a login ({"access", "refresh", "expires"}), a service account's JSON. */
int value_take_aws(struct keeper *, struct store_secret *, const uint8_t *, size_t, struct err *);
int value_take_login(struct keeper *, struct store_secret *, const uint8_t *, size_t, struct err *);
int value_take_gcp(struct keeper *, struct store_secret *, const uint8_t *, size_t, struct err *);

#endif
