/* sup_ssh_agent.h - the user's own ssh agent, for keys whose private half only that has. The
 * supervisor asks it for the keeper, which has judged what is to be signed; the box never gets near
 * the user's socket. */
#ifndef SESSION_SUP_SSH_AGENT_H
#define SESSION_SUP_SSH_AGENT_H

struct buf;
struct cur;
struct strs;
struct sup;

/* sup_ssh_agent_held(env, b): the body of DOOR_SSH_HELD: the public keys of the agent that
 * SSH_AUTH_SOCK of ${env} names; an empty list when there is none or it does not answer soon. */
void sup_ssh_agent_held(const struct strs *env, struct buf *);

/* sup_ssh_agent_ask(s, body): DOOR_SSH_ASK of the keeper. Answered by DOOR_SSH_ASKED, when the
 * agent has: it may ask a person first. */
void sup_ssh_agent_ask(struct sup *, struct cur *body);

#endif
