/* plan.h - deciding what a box will be. Split by question: plan.c (the order of decisions),
 * plan_workspace.c (which directory, and which never), plan_mounts.c (what it sees), plan_env.c
 * (variables), plan_limits.c and plan_share.c, plan_door.c (what it may reach). */
#ifndef SESSION_PLAN_H
#define SESSION_PLAN_H

#include "session/start.h"

struct err;
struct profile;
struct toolchain_set;

/* session_plan_seed(plan, opts, store, dir_fd, err): fill the fresh home of a box. */
int session_plan_seed(const struct session_plan *, const struct session_opts *,
                      const struct store *, int dir_fd, struct err *);

/* plan_workspace(opts, store, home, plan, err): resolve and judge the workspace; NULL in the plan
 * for "none". */
int plan_workspace(const struct session_opts *, const struct store *, const char *home,
                   struct session_plan *, struct err *);

/* plan_mounts(opts, profile, tools, store, plan, err): what it sees, in the order of mounting. */
int plan_mounts(const struct session_opts *, const struct profile *, const struct toolchain_set *,
                const struct store *, struct session_plan *, struct err *);

/* plan_env(opts, profile, tools, home, plan): the box's environment. */
void plan_env(const struct session_opts *, const struct profile *, const struct toolchain_set *,
              struct session_plan *);

/* plan_share(plan, limits): what one box may have of what its owner has, when nobody says
 * otherwise; by the box's slot. */
void plan_share(const struct session_plan *, struct box_limits *);
/* plan_share_part(all, slot): the part of ${all} that box number ${slot} has of a counter that the kernel
 * keeps per user. */
uint64_t plan_share_part(uint64_t all, unsigned slot);
/* plan_share_memory(limits): what a profile gives to every box is at most three quarters of what
 * this machine has. */
void plan_share_memory(struct box_limits *);

/* plan_limits(profile, opts, plan, err): the box's share, then the profile's lines, the policy
 * files', the flags'; a project's and the administrator's lines take away. After plan_door. */
int plan_limits(const struct profile *, const struct session_opts *, struct session_plan *,
                struct err *);

/* plan_door(opts, store, plan, err): the rules, and the ports that follow from them. */
int plan_door(const struct session_opts *, const struct store *, struct session_plan *,
              struct err *);
/* plan_door_words(plan): "network: 3 hosts, asks about others", for the banner; the caller frees.
 */
char *plan_door_words(const struct session_plan *);

/* plan_home(): the caller's home directory, from HOME or else /etc/passwd. The caller frees; NULL
 * and a story if there is none. */
char *plan_home(struct err *);

#endif
