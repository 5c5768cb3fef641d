/* kv.h - the small files of a box: one "key value" line each, values escaped so that any string
 * fits on its line. Used for what a box is (meta, opts, roots), what was
 * masked in it, and for records of undo. */
#ifndef BASE_KV_H
#define BASE_KV_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* kv_put(b, key, value): one line; a NULL value writes nothing. */
void kv_put(struct buf *, const char *key, const char *value);
void kv_put_u64(struct buf *, const char *key, uint64_t);
void kv_put_bool(struct buf *, const char *key, bool);

/* kv_next(&text, &key, &value): take the next line apart in place (${text} is changed and moved
 * on). false at the end; lines without a value are skipped, so a torn file yields what is whole. */
bool kv_next(char **text, char **key, char **value);

#endif
