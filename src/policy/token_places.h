/* token_places.h - whose tokens a token endpoint gives out: a login that begins in a box brings
 * tokens that belong to other hosts than the one that gave them. A table; pure. */
#ifndef POLICY_TOKEN_PLACES_H
#define POLICY_TOKEN_PLACES_H

struct host_name;

/* token_places(host): the places of tokens that ${host} gives out, as a secret line has them; NULL
 * when it is not known for that. */
const char *token_places(const struct host_name *);

#endif
