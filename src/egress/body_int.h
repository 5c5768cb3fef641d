/* body_int.h - what body.c, body_each.c and the readers share; nobody else includes it. */
#ifndef EGRESS_BODY_INT_H
#define EGRESS_BODY_INT_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct account;
struct body_json;
struct body_multipart;
struct fields;
struct undo;
struct work_budget;

enum { BODY_DECODED_MAX = 8 << 20, BODY_RATIO_MAX = 100 };

/* What reads it. A message is one of a WebSocket. */
enum body_kind {
        BODY_OTHER,
        BODY_JSON,
        BODY_FORM,
        BODY_GIT,
        BODY_MULTIPART,
        BODY_TEXT,
        BODY_MESSAGE,
};

/* What reads it next. */
enum body_stage { BODY_BEGIN, BODY_UTF8, BODY_FIELDS, BODY_VALUES };

struct body {
        enum body_kind kind;
        enum body_stage stage;
        enum request_body state;
        struct buf bytes; /* decoded */
        struct body_json *json;
        struct fields *fields; /* of a form; of another text: those that stand for the method */
        struct body_multipart *parts; /* while they are read */
        size_t checked;               /* bytes that are UTF-8 */
        size_t looked;                /* see body_looked */
        size_t charged;               /* for all but the JSON */
        bool is_short;
        bool is_broken_json; /* a message that is no JSON to us, and may be to somebody */
        char *type;          /* of a form in parts */
        struct err err;
        struct work_budget *work; /* while it is read */
        struct account *account;
        struct undo *undo;
        size_t sent_len;
        bool is_over;
        bool is_partial; /* see body_is_partial */
        bool is_unsaid;  /* without a type: no rule reads it, but some servers do */
};

/* body_decode_new(coding, p, n, work, account, &u, err): undo Content-Encoding. 0, and NULL when there
 * is nothing to undo; -1 and a sentence. body_decode_step(b): what its turn allows, into its bytes. 1:
 * that was all; 0: not yet; -1 and a sentence. body_no_room(b): -1, and body_is_short. */
int body_decode_new(const char *coding, const void *, size_t, struct work_budget *,
                    struct account *, struct undo **, struct err *);
int body_decode_step(struct body *);

int body_no_room(struct body *);

/* body_json_new(text, n, account): ${text} must live as long as the result. body_json_step(j, work, err): read
 * on, as long as the turn lasts. 1: that was all; 0: not yet; -1 and a sentence when it is not JSON
 * that every program reads in the same way. */
struct body_json *body_json_new(const char *text, size_t n, struct account *);
int body_json_step(struct body_json *, struct work_budget *, struct err *);
/* body_json_read(text, n, err): the same in one go, for short texts. NULL and a sentence. */
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

enum { BODY_JSON_DEPTH = 64 };

/* An object or array that has not come to its end. */
struct json_open {
        uint32_t at, last;     /* its node; its last member, or 0 */
        uint32_t key, key_len; /* of the member that comes */
        size_t n;
        char close;
};

struct body_json {
        const char *text;
        struct json_node *nodes;
        size_t nodes_n, nodes_cap;
        struct buf keys;

        /* while it is read */
        const char *p, *end, *from; /* where it is; where the string began that it is in */
        struct json_open open[BODY_JSON_DEPTH];
        size_t depth;
        int state;
        struct account *account;
        size_t charged;
        bool is_short; /* it was not read for want of room */

        /* the object that ends: are two of its keys the same? */
        uint32_t *twins; /* members by the hash of their key */
        size_t twins_n;  /* a power of two */
        uint32_t closing, twin;
        size_t compared; /* members since the last step */
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
