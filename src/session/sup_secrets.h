/* sup_secrets.h - the supervisor's side of custody: it asks sources and hands what they give to the
 * keeper, tells the box's placeholders, and does what people and the keeper ask for later. Shared
 * by sup_secrets.c (before the box exists), sup_secrets_life.c (refresh, rotate, revoke),
 * sup_secrets_reload.c (other lines) and sup_secrets_alarm.c (placeholders seen where they have no
 * business).
 *
 * A value is never in the supervisor's memory, with one exception that is wiped at once: a refresh
 * token that comes back new and has to be kept on the host (DOOR_ROTATED, sup_login.c). */
#ifndef SESSION_SUP_SECRETS_H
#define SESSION_SUP_SECRETS_H

#include "session/source.h"
#include "session/sup_door.h"

enum sup_secret_state {
        SUP_SECRET_ASKED,    /* the keeper has no value yet */
        SUP_SECRET_HELD,     /* it has one */
        SUP_SECRET_LEFT_OUT, /* a profile's, whose source or value was no good */
        SUP_SECRET_REVOKED,
};

struct sup_secret {
        struct sup_secrets *all;
        struct session_secret *secret;
        struct source source;
        enum sup_secret_state state;
        bool is_busy;      /* its source is asked, or the keeper has not answered */
        bool wants_again;  /* somebody asked meanwhile */
        uint64_t since_ms; /* when it was first held: what ttl= is counted from */
        struct loop_timer refresh;
        struct client *rotator;  /* who waits for the answer; NULL: nobody */
        char *fault;             /* why the last refresh failed, or NULL */
        struct sup_login *login; /* NULL until it is refreshed (sup_login.c) */
        bool is_reloaded;        /* `policy reload` waits for what comes of it */
        bool is_late;            /* it came with a reload: what runs already has no placeholder */
        struct rule_line was;    /* its line before the reload; to have again if that fails */
};

/* Somebody waits until nobody can use it any more. */
struct sup_revoking {
        struct sup_revoking *next;
        struct client *client; /* NULL when it is gone, or when it was our own idea */
        uint32_t number;
};

enum { SUP_ALARMS_KEPT = 20 };

struct sup_secrets {
        struct sup *sup;
        struct sup_secret *v; /* DOOR_SECRETS_MAX of them, the first ${n} in use */
        size_t n;
        size_t waiting_n; /* not settled yet, while the box waits for them */
        bool is_up;       /* the box goes on without us */
        struct loop_timer slow, patience;
        struct sup_revoking *revoking;
        struct strs alarms;                     /* the first of them that differ */
        uint64_t alarms_times[SUP_ALARMS_KEPT]; /* how often each */
        uint64_t alarms_n;
        struct sup_reload *reload; /* NULL: none is under way */
        struct strs plain_env;     /* for commands, where none was taken from the caller */
};

/* sup_secrets_of(s): made when it is first wanted: a box without secrets can have tokens that were
 * born in it. */
struct sup_secrets *sup_secrets_of(struct sup *);

/* sup_secrets_add(all, secret): one more; its number is its place in the list. */
struct sup_secret *sup_secrets_add(struct sup_secrets *, struct session_secret *);
/* sup_secrets_put_env(secret, env, &has_aws): what stands for it in the environment. The first keys
 * of AWS are the ones that every tool looks for. */
void sup_secrets_put_env(const struct session_secret *, struct strs *env, bool *has_aws);

/* sup_secrets_begin(s, err): the keeper first, then every source at once. When all have answered
 * the box is built (sup_build), or its start has failed. */
int sup_secrets_begin(struct sup *, struct err *);
void sup_secrets_end(struct sup *);
/* sup_secrets_hear(s, type, body): what the keeper says. */
void sup_secrets_hear(struct sup *, uint32_t type, struct cur *);
/* sup_secrets_fail_all(s, words): the keeper is gone: nobody waits for it any more. */
void sup_secrets_fail_all(struct sup *, const char *words);

/* sup_secrets_ask(x): ask its source, now or when it is done with what it does. */
void sup_secrets_ask(struct sup_secret *);
/* sup_secrets_give(x, fd, err): a value for the keeper, with its line; ${fd} stays the caller's.
 * -1: the line only. */
int sup_secrets_give(struct sup_secret *, int fd, struct err *);

/* sup_secrets_life.c */
/* sup_secrets_settled(x, err): the keeper has the fresh value, or with ${err} it has not. */
void sup_secrets_settled(struct sup_secret *, const struct err *);
void sup_secrets_revoke(struct sup *, uint32_t number, struct client *);
void sup_secrets_revoked(struct sup *, uint32_t number);
/* sup_secrets_rotated(s, body): DOOR_ROTATED: a fresh token that should be kept where the host
 * keeps it. */
void sup_secrets_rotated(struct sup *, struct cur *);

/* sup_secrets_reload.c */
/* sup_secrets_reload(s, fresh, c, generation): the lines of a reloaded policy: what is gone is
 * revoked, what is new or changed is asked for. ${c} (may be NULL) hears what could not be taken in
 * (MSG_NOTICE), and MSG_DONE when all of it is in force. ${fresh} is used up. */
void sup_secrets_reload(struct sup *, struct session_secrets *fresh, struct client *,
                        uint64_t generation);
/* sup_secrets_reloaded(x, err): one that it waited for is settled; or is revoked, with neither. */
void sup_secrets_reloaded(struct sup_secret *, const struct err *);
void sup_secrets_reload_forget(struct client *);
void sup_secrets_reload_end(struct sup_secrets *);

/* sup_login.c */
/* sup_login_refresh(x): DOOR_REFRESH: ask its source again, under the lock of what the host keeps.
 */
void sup_login_refresh(struct sup_secret *);
/* sup_login_rotated(x, json, n): DOOR_ROTATED: keep it, then let go. n 0: there was nothing to
 * keep. 0, or -1 after the user was told. */
int sup_login_rotated(struct sup_secret *, const uint8_t *json, size_t n);
void sup_login_end(struct sup_secret *);

/* sup_secrets_alarm.c */
/* sup_secrets_alarm(s, body): DOOR_ALARM of egress. */
void sup_secrets_alarm(struct sup *, struct cur *);
/* sup_secrets_last_words(c): at the end, to one who is attached. */
void sup_secrets_last_words(struct client *);

#endif
