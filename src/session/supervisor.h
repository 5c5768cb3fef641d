/* supervisor.h - the process that stands between one box and the user. */
#ifndef SESSION_SUPERVISOR_H
#define SESSION_SUPERVISOR_H

#include "session/ca.h"

struct live;
struct session_opts;
struct session_plan;
struct store;

struct supervisor_args {
        struct session_plan *plan;
        struct session_opts *opts;
        const struct store *store;
        const char *id;
        int dir_fd, lock_fd;
        int mask_fd, home_fd; /* keep the mask of /etc and the home's layer in their place */
        struct ca ca;         /* the box's certificate authority */
        struct live *live;    /* directories of the host that the box writes to; or none in it */
        int client_fd; /* the CLI that started us, attached to the main command; -1 for none */
        int net_fd;    /* where the box's namespaces come from (box_net_begin) */
        bool is_again; /* the box was there before, with what it holds */
        int ready_fd;  /* >= 0: a newline is written when the box is built, or why it could not be
                          (session_wake) */
};

/* supervisor_main(args): runs in the forked child, never returns. */
_Noreturn void supervisor_main(const struct supervisor_args *);

#endif
