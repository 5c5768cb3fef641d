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
struct policy;
struct session_opts;
struct session_plan;

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
        bool is_optional; /* not asked for by name (--secret): when it cannot be had it is left out */
        bool is_general;  /* of those, no profile's: that it was left out is said */
        const char *took; /* from any: "the environment" or "the vault"; else NULL */
        int value_fd; /* from env or vault: a pipe with the value, until the keeper has it; -1 */

        /* What the keeper answered; empty before. */
        char *provider; /* "anthropic", ... (secret_shape.h), or "" */
        struct session_secret_part parts[DOOR_PARTS_MAX];
        size_t parts_n;
};

struct session_secrets {
        struct session_secret *v;
        size_t n;
        struct strs left_out; /* sentences about general ones that cannot be had */
        struct strs env; /* of the caller: what commands that are asked for a value may need. In the
                            supervisor in memory that no child gets (session_secrets_hide) */
};

/* session_secret_part(s, name): the placeholder of that part, or NULL. */
const char *session_secret_part(const struct session_secret *, const char *name);
/* session_secret_asked(s): under which name its source knows it: the variable, the entry of the
 * vault, the profile of AWS. */
const char *session_secret_asked(const struct session_secret *);

/* session_secrets_drop(all, at): one that cannot be had; the numbers behind it change.
 * session_secrets_leave_out(all, at, err): the same, and when it is a general one ${err} is kept as
 * a sentence, to be said when the box starts. */
void session_secrets_drop(struct session_secrets *, size_t at);
void session_secrets_leave_out(struct session_secrets *, size_t at, const struct err *);

/* plan_secrets(plan, err): which secret lines of plan->door count for this box, in plan->secrets. A
 * name that stands for two things is an error. */
int plan_secrets(struct session_plan *, struct err *);
/* plan_secrets_collect(policy, secrets, noted, err): the same of any policy, into ${secrets}, which
 * the caller frees; ${noted} (may be NULL) gets the notes. */
int plan_secrets_collect(const struct policy *, struct session_secrets *,
                         struct session_plan *noted, struct err *);
/* plan_secrets_find(plan, is_told, err): look whether their sources are there, and number them. A
 * line of a profile whose source is missing is left out with a note; any other is an error, or with
 * ${is_told} (explain) a note too. */
int plan_secrets_find(struct session_plan *, bool is_told, struct err *);
/* plan_secrets_take(plan, opts): a variable that a secret stands for is not passed on besides, also
 * when --env asks for it: its value is wiped from both. After plan_secrets_find. */
void plan_secrets_take(struct session_plan *, struct session_opts *);
/* plan_secrets_words(plan): "2 secrets" for the banner, or NULL; the caller frees. */
char *plan_secrets_words(const struct session_plan *);

/* session_secrets_capture(s, data_dir, err): before the supervisor leaves the caller: values of
 * variables and of the vault (which may ask for its passphrase) go into pipes, and what commands
 * need of the environment is copied. ${data_dir} is store.data. */
int session_secrets_capture(struct session_secrets *, const char *data_dir, struct err *);
/* session_secrets_hide(s): in the supervisor, before it has any child: the box's first process
 * begins as a copy of our memory, and the log's writer too. They find zeros in the place of s->env,
 * which must not be changed or freed any more. */
void session_secrets_hide(struct session_secrets *);
/* session_secrets_close(s): the pipes, in the process that does not go on with them. */
void session_secrets_close(struct session_secrets *);
void session_secret_free(struct session_secret *);
void session_secrets_free(struct session_secrets *);

#endif
