/* ca_int.h - what the files of ca.h share: ca.c (taking), ca_pool.c (making and sweeping),
 * ca_sealed.c (what is handed to the door). */
#ifndef SESSION_CA_INT_H
#define SESSION_CA_INT_H

#include "session/ca.h"

#include <stdbool.h>
#include <stddef.h>

enum { CA_WANT = 16, CA_LOW = 8 };

/* ca_host_look(host): asks for HOME, so not in the supervisor, which has no environment. */
void ca_host_look(struct ca_host *);
/* ca_host_roots(host): only what the index depends on. */
void ca_host_roots(struct ca_host *);

/* ca_pool_open(store, err): descriptor of the pool's directory, made when missing. */
int ca_pool_open(const struct store *, struct err *);

/* ca_pool_fits(host, name): is that the name of an authority that may be taken? Not one of other
 * roots, not an old one, and none from before the machine was started: what was written shortly
 * before a power cut may be half there. */
bool ca_pool_fits(const struct ca_host *, const char *name);

/* ca_pool_make(store, host, err): have one made, now. 0; 1 when there is no ostiary-door; -1. */
int ca_pool_make(const struct store *, const struct ca_host *, struct err *);

/* ca_pool_index(store, host, err): the same for the index of roots. */
int ca_pool_index(const struct store *, const struct ca_host *, struct err *);

/* ca_sealed(fd, max, name, err): a sealed memfd with everything that is in ${fd}; not a byte of it
 * passes through our memory. E_INPUT when it is empty or longer than ${max}. */
int ca_sealed(int fd, size_t max, const char *name, struct err *);

#endif
