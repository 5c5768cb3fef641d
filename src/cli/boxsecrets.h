/* boxsecrets.h - the secrets of a running box, as its supervisor tells them: shared by secrets,
 * revoke and rotate. Names, places and states; never a value. */
#ifndef CLI_BOXSECRETS_H
#define CLI_BOXSECRETS_H

#include "policy/rule.h"

struct buf;
struct err;
struct json;

struct boxsecret {
        struct rule_line line; /* of kind RULE_LINE_SECRET */
        char *where, *provider, *state, *fault;
};

struct boxsecrets {
        struct boxsecret *v;
        size_t n;
};

/* boxsecrets_ask(sock, s, err): what the box has. 0 or -1. */
int boxsecrets_ask(int sock, struct boxsecrets *, struct err *);
void boxsecrets_free(struct boxsecrets *);
#define _cleanup_boxsecrets_ __attribute__((cleanup(boxsecrets_free)))

/* boxsecrets_places(s, b), boxsecrets_forms(s, b): "api.github.com,github.com", "basic, bearer". */
void boxsecrets_places(const struct rule_secret *, struct buf *);
void boxsecrets_forms(const struct rule_secret *, struct buf *);
/* boxsecrets_extras(s, b): "inject, ttl 8h, leak=kill", or nothing. */
void boxsecrets_extras(const struct rule_secret *, struct buf *);
/* boxsecrets_json(s, j): the members of one secret, for an object that is open. */
void boxsecrets_json(const struct rule_secret *, struct json *);

#endif
