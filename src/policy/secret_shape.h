/* secret_shape.h - what keys of known providers look like: for placeholders that pass a client's
 * own checks, for finding keys in files, and for warning when a value looks like somebody else's.
 *
 * A table and pure functions; randomness is the caller's. */
#ifndef POLICY_SECRET_SHAPE_H
#define POLICY_SECRET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct host_name;

/* secret_shape_name(value, n): "anthropic", "openai", "github", "github-fine", "stripe", "aws",
 * "slack", "gitlab", "google", "npm", "pypi", "jwt", ...; NULL when no shape is known. Many give
 * out keys that begin with "sk-" alone: those are "openai-like", and nobody's in particular. */
const char *secret_shape_name(const char *value, size_t n);

/* secret_shape_host(name): the registered domain to which keys of that shape belong
 * ("anthropic.com"), or NULL. */
const char *secret_shape_host(const char *name);

/* secret_shape_is_home(name, host): may a key of that shape belong to ${host}? Also true for a
 * shape that has no home of its own ("jwt"). */
bool secret_shape_is_home(const char *name, const struct host_name *);

/* secret_shape_stand_in(value, n, random, random_n, out): append a text of the same length, prefix,
 * alphabet and (where the provider has one) checksum, which shares nothing else with ${value}:
 * every letter and digit after the known prefix is drawn anew from ${random}; punctuation stays
 * where it is. A JWT gets claims that say nothing and a signature that is none. -1 when ${value}
 * leaves fewer than 8 characters to draw (a placeholder must not be guessed). ${random_n} must be
 * at least ${n}. Nothing is appended on failure. */
int secret_shape_stand_in(const char *value, size_t n, const uint8_t *random, size_t random_n,
                          struct buf *out);

/* secret_shape_find(text, n, from, &len): the offset of the next thing in ${text} at or after
 * ${from} that has a provider's unmistakable shape, its length in ${len}; n when there is none. */
size_t secret_shape_find(const char *text, size_t n, size_t from, size_t *len);

#endif
