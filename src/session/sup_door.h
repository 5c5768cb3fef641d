/* sup_door.h - the supervisor's side of the door: the processes that guard it, the rules they hold,
 * the questions they ask. Shared by sup_door.c (start, death), sup_door_roles.c (one process),
 * sup_rules.c (changes) and sup_ask.c (questions).
 *
 * The supervisor never sees a byte of the box's traffic: it passes sockets on and hears typed
 * frames. When any of the roles is gone, all of them are ended and the box has no network from then
 * on.
 *
 * A box with secrets has its keeper, and with it the log, before it exists; the others come with
 * the first connection in any case. */
#ifndef SESSION_SUP_DOOR_H
#define SESSION_SUP_DOOR_H

#include "audit/audit.h"
#include "session/door_policy.h"
#include "session/secrets.h"
#include "session/sup.h"

enum sup_role { SUP_EGRESS, SUP_DIAL, SUP_KEEPER, SUP_ROLES };

struct sup_role_process {
        struct sup_door *door;
        enum sup_role role;
        pid_t pid; /* 0: not running */
        int fd;    /* control socket, non-blocking */
        struct loop_src *src;
        bool is_ready;
};

enum sup_door_state {
        SUP_DOOR_NONE,     /* the box has no door */
        SUP_DOOR_IDLE,     /* nobody has come to it yet: no process exists */
        SUP_DOOR_STARTING, /* the roles exist and have not all confirmed their first rules */
        SUP_DOOR_OPEN,
        SUP_DOOR_SHUT, /* a role is gone: closed for good */
};

/* A change of rules: the first of the list is under way, the others wait. */
struct sup_change {
        struct sup_change *next;
        struct client *client; /* who hears of it; NULL when nobody (any more) */
        enum { SUP_CHANGE_RULE, SUP_CHANGE_RELOAD } kind;
        bool is_added;
        char *line;
        struct door_policy fresh;       /* what is to be in force */
        struct session_secrets secrets; /* of a reload: the secrets it speaks of */
        int fd;                  /* the same, sealed, for both roles; -1 until it is under way */
        uint64_t generation;     /* 0 until it is under way */
        bool is_held[SUP_ROLES]; /* who has confirmed it */
};

struct sup_question {
        struct sup_question *next;
        uint64_t id;
        uint64_t until_ms;
        char *what, *rule, *line;
        const char *manager; /* of packages, which would read there in every box; or NULL */
};

struct sup_door {
        bool is_log_lost; /* its writer has ended */
        struct sup *sup;
        enum sup_door_state state;
        struct loop_src **watch; /* one per socket, while IDLE */
        size_t watch_n;
        struct sup_role_process roles[SUP_ROLES];
        int egress_fd; /* the keeper's socket to egress, while there is none; else -1 */
        struct audit audit;
        struct loop_src *audit_src;
        struct loop_timer patience; /* neither start nor change may take for ever */
        struct door_policy *policy; /* in force: the plan's own */
        uint64_t generation;        /* of the last that was sent */
        unsigned acks_wanted;       /* while STARTING */
        struct strs cas;            /* ca= files that egress has */
        struct sup_change *changes;
        struct sup_question *questions;
        size_t questions_n;
        uint64_t asked_until_ms; /* each question moves it on; too far ahead is too many */
        bool is_flood_told;
};

/* sup_door.c */
/* sup_door_keeper(s, err): start the keeper and the log ahead of the door, because the box has
 * secrets. */
int sup_door_keeper(struct sup *, struct err *);
/* sup_door_log(s, err): begin the log, if it is not there. What is said to it waits until
 * sup_door_log_go: its writer is started when the box's first command runs, because until then both
 * processors have better things to do. */
int sup_door_log(struct sup *, struct err *);
void sup_door_log_go(struct sup *);
/* sup_door_wait(d): a role owes us an answer; without one the door is shut after a while. */
void sup_door_wait(struct sup_door *);
/* sup_door_shut(d, words): a role is gone or wrong: end the others, tell everybody, do with the box
 * what was asked for. */
void sup_door_shut(struct sup_door *, const char *words);

/* sup_door_roles.c */
/* sup_role_start(r, program_fd, name, err): its process, with nothing but a control socket. */
int sup_role_start(struct sup_role_process *, int program_fd, const char *name, struct err *);
/* sup_role_send(r, type, body, fds, fds_n): a role that does not take it within its buffer is a
 * fault of its own. 0 or -1. */
int sup_role_send(struct sup_role_process *, uint32_t type, const struct buf *, const int *fds,
                  size_t fds_n);
/* sup_role_end(r, grace_ms): hang up, wait so long for its end, kill, reap. */
void sup_role_end(struct sup_role_process *, int grace_ms);

/* sup_rules.c */
/* sup_rules_seal(p, err): as it travels; a descriptor or -1. */
int sup_rules_seal(const struct door_policy *, struct err *);
/* sup_rules_send(d, r, p, fd, generation, err): to one role; for egress with the ca= files it
 * lacks. */
int sup_rules_send(struct sup_door *, enum sup_role, const struct door_policy *, int fd,
                   uint64_t generation, struct err *);
/* sup_rules_ok / _bad: what a role answers. */
void sup_rules_ok(struct sup_door *, enum sup_role, uint64_t generation);
void sup_rules_bad(struct sup_door *, enum sup_role, uint64_t generation, const char *words);
/* sup_rules_next(d): begin the first of the waiting changes, if nothing hinders. */
void sup_rules_next(struct sup_door *);
/* sup_rules_fail_all(d, words): nobody waits for ever for a door that is shut. */
void sup_rules_fail_all(struct sup_door *, const char *words);

/* sup_ask.c */
void sup_ask_question(struct sup_door *, struct cur *body);
void sup_ask_settled(struct sup_door *, uint64_t id);
void sup_ask_forget_all(struct sup_door *);

#endif
