/* json.h - writing JSON into a buf, with commas and escapes taken care of. Reading is jansson's. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

struct json {
        struct buf *out;
        int depth;
        bool has_item[16];
};

/* json_of(b): a writer that appends to ${b}. Keys are NULL inside arrays and at the top. */
struct json json_of(struct buf *);
void json_open(struct json *, const char *key, char bracket);     /* '{' or '[' */
void json_close(struct json *, char bracket);                     /* '}' or ']' */
void json_str(struct json *, const char *key, const char *value); /* NULL value writes null */
void json_u64(struct json *, const char *key, uint64_t);
void json_i64(struct json *, const char *key, int64_t);
void json_bool(struct json *, const char *key, bool);
/* json_quote(b, s): only the string, in its quotes. Control bytes and what a terminal would act on
 * or not show come out as \u escapes, odd bytes as U+FFFD. */
void json_quote(struct buf *, const char *s);

#endif
