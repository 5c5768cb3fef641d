/* cred_slots.h - where credentials stand in requests, by name: for taking out or refusing those
 * that are not the keeper's, and for never putting one where it would come back. Tables; pure. */
#ifndef POLICY_CRED_SLOTS_H
#define POLICY_CRED_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

struct host_name;

/* cred_slots_is_header(name): does a header of this name (small letters) carry a credential? */
bool cred_slots_is_header(const char *name);
/* cred_slots_is_query(name, n): the same for a query parameter or form field (any case). */
bool cred_slots_is_query(const char *name, size_t n);
/* cred_slots_is_reflective(name): is it a header that servers like to send back (S3), so that no
 * secret ever goes there, whatever a rule says? */
bool cred_slots_is_reflective(const char *name);
/* cred_slots_is_model_host(host): does a model answer there, so that a conversation may carry what
 * the agent has seen? */
bool cred_slots_is_model_host(const struct host_name *);

#endif
