/* secrets.h - the secrets of one box, from the plan to the end: which lines it has, where each
 * value is asked for, which placeholders stand for it in the box.
 *
 * Split by question: plan_secrets.c (which lines count), source_*.c (asking one source),
 * sup_secrets.c (the keeper has them before the box exists), sup_secrets_life.c (refresh, rotate,
 * revoke, alarms). No value is ever here: it goes through a pipe from its source to the keeper. */
#ifndef SESSION_SECRETS_H
#define SESSION_SECRETS_H

#include "base/strs.h"
#include "policy/rule.h"
#include "wire/door.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct session_opts;
struct session_plan;
struct store;

/* One part of a value, as the keeper named it: "" for most, "id", "key" and "token" of AWS,
 * "access" and "refresh" of a login. */
struct session_secret_part {
        char *name;
        char *placeholder; /* what stands for it in the box */
};

struct session_secret {
        uint32_t number;       /* from 1: the position in session_secrets.v, and one more */
        struct rule_line line; /* of kind RULE_LINE_SECRET; our own copy */
        char *where;      /* who says so: "user policy, line 3", "--secret", "profile claude" */
        bool is_optional; /* a profile's: without its source it is left out */
        int env_fd;       /* from env: a pipe with the value, until the keeper has it; else -1 */

        /* What the keeper answered; empty before. */
        char *provider; /* "anthropic", ... (secret_shape.h), or "" */
        struct session_secret_part parts[DOOR_PARTS_MAX];
        size_t parts_n;
};

struct session_secrets {
        struct session_secret *v;
        size_t n;
        struct strs env; /* of the caller: what commands that are asked for a value may need */
};

/* session_secret_part(s, name): the placeholder of that part, or NULL. */
const char *session_secret_part(const struct session_secret *, const char *name);
/* session_secret_env_name(s): the variable of the caller that holds it, when it is from env. */
const char *session_secret_env_name(const struct session_secret *);

/* plan_secrets(opts, store, plan, err): which secret lines of plan->door count for this box, in
 * plan->secrets. A line of a profile whose source is not there is left out with a note; any other
 * whose source cannot be there, and a name that stands for two things, is an error. */
int plan_secrets(const struct session_opts *, const struct store *, struct session_plan *,
                 struct err *);
/* plan_secrets_words(plan): "2 secrets" for the banner, or NULL; the caller frees. */
char *plan_secrets_words(const struct session_plan *);

/* session_secrets_capture(s, err): before the supervisor leaves the caller: the values of variables
 * go into pipes, and what commands need of the environment is copied. */
int session_secrets_capture(struct session_secrets *, struct err *);
/* session_secrets_close(s): the pipes, in the process that does not go on with them. */
void session_secrets_close(struct session_secrets *);
void session_secrets_free(struct session_secrets *);

#endif
