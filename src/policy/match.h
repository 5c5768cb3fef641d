/* match.h - does one rule speak of one request?
 *
 * The answer is not always yes or no: a path or a query may have several readings (path_canon.h), a
 * field may be there twice, and a body may not have been read yet. policy.h turns the answer into a
 * verdict so that doubt never opens anything. Pure. */
#ifndef POLICY_MATCH_H
#define POLICY_MATCH_H

#include "policy/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields;
struct path_canon;
struct readings_kept;
struct match_memo;

enum request_kind {
        REQUEST_HTTP,   /* a request that was read: allow, ask and deny speak of it */
        REQUEST_TCP,    /* a connection whose bytes would pass unread: tcp and deny */
        REQUEST_SPLICE, /* a TLS connection that would pass undeciphered: splice and deny */
};

enum request_body {
        REQUEST_BODY_NONE,       /* the request has no body */
        REQUEST_BODY_UNREAD,     /* it has one; nobody has looked at it yet */
        REQUEST_BODY_UNREADABLE, /* too large, broken, duplicate keys, unknown encoding */
        REQUEST_BODY_READ,       /* body_each answers */
        REQUEST_BODY_IDLE,       /* a push that names no ref: no grant by form: is against it */
};

struct request_header {
        const char *name; /* in small letters */
        const char *value;
        size_t value_len;
};

/* Called with each value that was found; with NULL when the body cannot be read in that way. */
typedef void request_visit(void *ctx, const char *value, size_t len);

struct request {
        enum request_kind kind;
        const struct host_name *host;
        uint16_t port;
        /* Only for REQUEST_HTTP: */
        const char *method;
        const struct path_canon *path;
        const char *query; /* after "?", as sent; NULL when there is none */
        size_t query_len;
        const struct request_header *headers;
        size_t headers_n;
        /* What is found out once and asked for often; each NULL: it is found out each time. */
        const struct fields *fields;    /* of the query */
        struct readings_kept *readings; /* of the path */
        struct match_memo *memo;        /* which conditions hold */
        enum request_body body;
        bool is_partial; /* unreadable, and not all that a server may find was looked at */
        bool is_message; /* the body is a message of the WebSocket that this request opened */
        /* body_each(body_ctx, where, name, is_loose, visit, ctx): call ${visit} with every value of
         * the JSON pointer or form field ${name}, ${is_loose} as with match_query_each: strings as they are, numbers and words as JSON writes
         * them, objects and arrays as their compact text. When the document is an array, a pointer
         * is also tried on each element, so that a batch hides nothing. Of a body that cannot be
         * read it shows, loosely, what could be made out: enough to refuse by. */
        void (*body_each)(void *body_ctx, enum rule_where, const char *name, bool is_loose,
                          request_visit *, void *ctx);
        void *body_ctx;
};

enum match {
        MATCH_NO,
        MATCH_LOOSE,      /* only in a spelling that some servers take for it: readings.h */
        MATCH_SOME,       /* in one reading, or for one of several values */
        MATCH_ALL,        /* in every reading, for every value */
        MATCH_NEEDS_BODY, /* it depends on a body that has not been read */
        MATCH_UNREADABLE, /* it depends on a body that cannot be read */
};

enum match match_rule(const struct rule *, const struct request *);

/* Whether a condition holds of a request does not depend on its method, host and path: for requests
 * that differ in nothing else (override.h) it is found out once. Zeroed is ready. */
struct match_memo {
        struct {
                const struct rule_cond *cond;
                const char *query;
                uint8_t how, got;
        } at[32];
};

/* match_place(place, is_grant, is_loose, host, port, path): the part about where. ${is_grant}: what
 * a place without a port means. ${is_loose}: in every reading that a server may have of ${path}, as
 * a refusal or a question wants it. ${path} may be NULL when
 * the bytes pass unread; a place with a path then gives MATCH_SOME. */
enum match match_place(const struct rule_place *, bool is_grant, bool is_loose,
                       const struct host_name *, uint16_t port, const struct path_canon *);

/* match_secret(secret, host, port, is_tls, path): may this secret be shown there? Only over TLS
 * unless its line says plain, and only at a place that fits in every reading of ${path}; a place
 * without a port means 443, and 80 where there is no TLS. */
bool match_secret(const struct rule_secret *, const struct host_name *, uint16_t port, bool is_tls,
                  const struct path_canon *);

/* match_has_form(request): does it say that its body is a form? */
bool match_has_form(const struct request *);
/* match_may_have_fields(request): may a server look for _method in its body? In a form; and, when
 * the method is POST, in JSON (Laravel) and where no type is said (Rack). */
bool match_may_have_fields(const struct request *);

/* match_query_each(query, len, name, is_loose, visit, ctx): each value of ${name} in "a=1&b=2",
 * decoded; for a text that is looked at once (fields.h has the index). ${is_loose}: in every spelling of the name that a server may take
 * for it (readings.h). False when another program might read the query in another way (a broken escape,
 * a bare ";"), after visiting what the usual reading gives. */
bool match_query_each(const char *query, size_t len, const char *name, bool is_loose,
                      request_visit *, void *ctx);

#endif
