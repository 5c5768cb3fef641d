/* policy_request.h - a request that somebody typed, as the door would see it: for
 * `ostiary policy check`. */
#ifndef CLI_POLICY_REQUEST_H
#define CLI_POLICY_REQUEST_H

#include "base/strs.h"
#include "policy/match.h"
#include "policy/path_canon.h"

#include <jansson.h>
#include <stdbool.h>

struct err;
struct fields;

struct policy_request {
        struct request request; /* points into the rest */
        struct host_name host;
        struct path_canon path;
        char *text;  /* the words, cut into pieces in place */
        char *shown; /* "POST https://host/path": canonical */
        bool is_tls;
        struct request_header *headers;
        struct strs header_words;
        json_t *json;
        struct fields *fields; /* of a form */
        const char *data;      /* what --data gave, borrowed; or NULL */
};

/* policy_request_make(words, headers, data, r, err): "METHOD URL" or a URL alone (GET; tcp://h:p
 * for a raw stream), headers as "Name: value", and a body: JSON when it begins like it, a form in
 * parts when a header says so, else a form; NULL for none. E_USAGE with a sentence when it is no request. Release with
 * policy_request_free. */
int policy_request_make(const char *words, const struct strs *headers, const char *data,
                        struct policy_request *, struct err *);
void policy_request_free(struct policy_request *);

#endif
