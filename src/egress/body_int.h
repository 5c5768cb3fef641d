/* body_int.h - what body.c and its readers share; nobody else includes it. */
#ifndef EGRESS_BODY_INT_H
#define EGRESS_BODY_INT_H

#include "base/buf.h"
#include "policy/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct body_json;

enum { BODY_DECODED_MAX = 8 << 20, BODY_RATIO_MAX = 100 };

/* body_decode(coding, p, n, out, err): undo Content-Encoding. 1: ${out} holds the decoded bytes; 0:
 * there was nothing to undo; -1 and a sentence. */
int body_decode(const char *coding, const void *, size_t, struct buf *out, struct err *);

/* body_json_read(text, n, err): ${text} must live as long as the result. NULL and a sentence when
 * it is not JSON that every program reads in the same way. */
struct body_json *body_json_read(const char *text, size_t n, struct err *);
void body_json_free(struct body_json *);
/* body_json_each(j, pointer, visit, ctx): as match.h says. A value whose key differs in the size of
 * letters (some programs do not mind) is shown together with an empty one, so that it satisfies no
 * grant. */
void body_json_each(const struct body_json *, const char *pointer, request_visit *, void *ctx);

enum json_type { JSON_T_OBJECT, JSON_T_ARRAY, JSON_T_STRING, JSON_T_NUMBER, JSON_T_WORD };

/* One value. Strings are kept as written, without their quotes; keys are decoded. */
struct json_node {
        uint32_t start, len;   /* in text */
        uint32_t key, key_len; /* in keys; of a member of an object */
        uint32_t child, next;  /* indices; 0: none (0 is the document itself) */
        enum json_type type;
};

struct body_json {
        const char *text;
        struct json_node *nodes;
        size_t nodes_n, nodes_cap;
        struct buf keys;
};

/* body_json_unescape(p, n, out): a string that was checked, decoded. */
void body_json_unescape(const char *, size_t, struct buf *out);

/* body_git_check(p, n, err): are these the commands of a push, a flush, and nothing but its pack
 * after it? body_git_each: values of "ref", "old" and "new" of bytes that were checked. */
int body_git_check(const char *, size_t, struct err *);
void body_git_each(const char *, size_t, const char *name, request_visit *, void *ctx);

/* body_utf8_len(p, n): bytes of the code point at ${p}, 0 when it is not well-formed UTF-8. */
size_t body_utf8_len(const uint8_t *, size_t);

#endif
