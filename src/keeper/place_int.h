/* place_int.h - for place.c and place_basic.c. */
#ifndef KEEPER_PLACE_INT_H
#define KEEPER_PLACE_INT_H

#include "keeper/keeper_int.h"

/* place_injected_part(secret): what is shown of it when nothing was asked for; or NULL. */
const struct store_part *place_injected_part(const struct store_secret *);
/* place_told(k, ask, part): its line of the log. 0. */
int place_told(struct keeper *, struct keeper_ask *, const struct store_part *);

/* "Basic dXNlcjpwYXNz": the placeholder as user or as password. */
int place_basic(struct keeper *, struct keeper_ask *, const char *slot, size_t n);
int place_basic_inject(struct keeper *, struct keeper_ask *, const struct store_part *);

#endif
