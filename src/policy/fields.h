/* fields.h - the fields of a query, of a form or of a form in parts, read once: under which names a
 * server may find each, and where its value stands. Every condition and every name that overrides
 * something is then looked up here, so that a form of a million fields is read once and not once for
 * each of them.
 *
 * Read in steps, by whoever has a budget (egress/body.c), or in one go where the text is short.
 * More than FIELDS_MAX fields are not read: common servers stop at a thousand. Pure. */
#ifndef POLICY_FIELDS_H
#define POLICY_FIELDS_H

#include "policy/match.h"

#include <stdbool.h>
#include <stddef.h>

enum { FIELDS_MAX = 4096 };
#define FIELDS_TOO_MANY "it has more than 4096 fields, and no more are read for rules"

/* fields_new(): none yet; for fields_add. fields_of(text, len): of "a=1&b=2", which must live as
 * long; fields_step reads them. */
struct fields *fields_new(void);
struct fields *fields_of(const char *text, size_t len);
void fields_free(struct fields *);
size_t fields_held(const struct fields *); /* bytes of memory */
/* fields_more(): by how much that can grow in one step or by one field. */
size_t fields_more(void);

/* fields_only(f, names, n): before it is read: only those that may be taken for one of these are
 * kept; the others are not even counted. At most FIELDS_ONLY names. */
enum { FIELDS_ONLY = 8 };
void fields_only(struct fields *, const char *const *names, size_t n);

/* fields_step(f, &used): read on. 1: that was all; 0: not yet; -1: there are too many, and those that
 * were read so far are there. ${used} is what it cost, like so many bytes; about 16 KiB at most. */
int fields_step(struct fields *, size_t *used);
/* fields_is_plain(f): does every program read it in the same way? Not with a broken escape or a bare
 * ";". */
bool fields_is_plain(const struct fields *);
/* fields_is_cut(f): were there too many? */
bool fields_is_cut(const struct fields *);

/* fields_add(f, name, name_len, value, value_len, is_file): one of a form in parts; both texts must
 * live as long. ${is_file}: it is called NAME.filename. -1: there are too many. */
int fields_add(struct fields *, const char *name, size_t name_len, const char *value,
               size_t value_len, bool is_file);

/* fields_each(f, name, is_loose, visit, ctx): as match_query_each. */
void fields_each(const struct fields *, const char *name, bool is_loose, request_visit *,
                 void *ctx);

#endif
