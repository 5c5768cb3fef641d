/* sup_ssh.h - what a box with an `as ssh` secret needs besides the key: a socket of its agent, and
 * the host keys by which the secret's places are known. Called while a box is planned (plan_ssh),
 * before the keeper is given the key (sup_ssh_hosts) and before the box's home is used
 * (sup_ssh_known_hosts). */
#ifndef SESSION_SUP_SSH_H
#define SESSION_SUP_SSH_H

#include <stdbool.h>

struct buf;
struct err;
struct rule_secret;
struct session_plan;
struct session_secret;
struct session_secrets;

bool sup_ssh_is(const struct rule_secret *);

/* plan_ssh(plan): the agent's socket and SSH_AUTH_SOCK, if a secret of the plan is for ssh. After
 * plan_secrets and plan_env. */
void plan_ssh(struct session_plan *);

/* sup_ssh_hosts(s, home, b, err): the body of DOOR_SSH_HOSTS. A place whose host key is not known
 * is an error, with what to do about it. 0 or -1. */
int sup_ssh_hosts(const struct session_secret *, const char *home, struct buf *, struct err *);

/* sup_ssh_known_hosts(all, home, b): the box's ~/.ssh/known_hosts: the same keys of all its
 * secrets; nothing when none is for ssh. */
void sup_ssh_known_hosts(const struct session_secrets *, const char *home, struct buf *);

#endif
