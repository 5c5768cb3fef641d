/* lenders.h - places whose answers lend credentials, and how such answers call them: the table of
 * data/lenders. Asked by egress of each answer of a host that has a secret. Pure. */
#ifndef POLICY_LENDERS_H
#define POLICY_LENDERS_H

#include <stdbool.h>
#include <stddef.h>

/* What is a credential in the answers of a place besides what is called or looks like one. */
enum lenders_kind {
        LENDERS_ALL = 1, /* every text, whatever it is called and looks like */
        LENDERS_ID = 2,  /* what is called "id" and looks drawn: a session by its number */
};

/* lenders_place(host, path, query, n, &lends): who lends there ("AWS STS"), in any reading of the
 * path that a common server has (readings.h), or NULL. ${path} is canonical; ${query} may be NULL.
 * ${lends}: an enum lenders_kind, or 0. */
const char *lenders_place(const char *host, const char *path, const char *query, size_t n,
                          unsigned *lends);

/* lenders_field(name, n): does a field of an answer that is called so hold a credential? NULL: no.
 * Else which piece of a key of AWS it is ("id", "key", "token"), or "". */
const char *lenders_field(const char *name, size_t n);

/* lenders_name(name, n, &is_plain): the same. ${is_plain}: a field of this name is known to hold none
 * (an identifier, a scope). Fields that are neither are judged by what is in them (cred_look.h). */
const char *lenders_name(const char *name, size_t n, bool *is_plain);

/* lenders_is_sure(name, n): is it a name under which nothing else stands, so that a text is a
 * credential whatever it looks like (access_token)? Other names ask for a text that was made
 * (cred_look_is_made). */
bool lenders_is_sure(const char *name, size_t n);

#endif
