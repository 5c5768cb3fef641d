/* start.h - from a plan to a living box: plan, fork the supervisor, be its first client. */
#ifndef SESSION_START_H
#define SESSION_START_H

#include "box/plan.h"
#include "session/door_policy.h"
#include "session/opts.h"
#include "session/packages.h"
#include "session/secrets.h"
#include "session/store.h"

struct err;

/* One line of `explain`: a thing that was decided, and why. */
struct session_note {
        char *what;
        char *why;
        bool is_left_out; /* it is NOT in the box */
};

struct session_plan {
        struct box_plan box;
        struct strs argv; /* the command; empty when the box waits */
        char *profile;
        char *workspace; /* resolved; NULL when there is none */
        char *layers_dir;
        bool is_live;
        struct packages packages;       /* what the package managers named */
        struct strs rules;              /* the profile's door and secret lines, as written */
        struct door_policy door;        /* what the box may reach */
        struct session_secrets secrets; /* what it may use and never have */
        struct strs persist;            /* home paths that outlive the box */
        struct strs home_links; /* "target\npath": links to tools, made when the home is seeded */
        struct session_note *notes;
        size_t notes_n;
        unsigned slot; /* which of the running boxes this is (slots.h) */
        int slot_fd;   /* what holds that number; or -1 */
};

void session_plan_free(struct session_plan *);
void session_plan_note(struct session_plan *, bool is_left_out, const char *what, const char *why);

/* session_plan_make(opts, store, id, plan, err): decide everything. Creates nothing on disk; ${id}
 * may be "ID" for explain. */
int session_plan_make(const struct session_opts *, const struct store *, const char *id,
                      struct session_plan *, struct err *);

/* session_plan_tell_door(plan): for explain: what a box's door finds out later, and in words what
 * it makes of it. */
void session_plan_tell_door(struct session_plan *);

/* session_run(opts, store, &id, &client_fd, err): plan, make the box directory, fork its supervisor
 * and return a connected client socket that behaves as if MSG_EXEC had just been sent for the main
 * command (or MSG_STATUS when the box waits: the first frame is MSG_STARTED or MSG_FAILED). */
int session_run(struct session_opts *, const struct store *, char **id, int *client_fd,
                struct err *);

/* session_wake(store, id, err): start a stopped box again, waiting, over its layers. 0 also when it
 * is alive already. */
int session_wake(const struct store *, const char *id, struct err *);

/* session_resume(store, id, how, &client_fd, err): start a box that has ended again, with its own
 * command over what it holds, attached as session_run is. Of ${how} the terminal and, when there is
 * one, `once` count. A living box is refused. */
int session_resume(const struct store *, const char *id, struct session_opts *how, int *client_fd,
                   struct err *);

/* session_connect(store, id, err): a client socket to a living box, or -1 (E_ABSENT: not running).
 */
int session_connect(const struct store *, const char *id, struct err *);

#endif
