/* audit_write.h - see audit_write.c. */
#ifndef AUDIT_AUDIT_WRITE_H
#define AUDIT_AUDIT_WRITE_H

#include "audit/audit_int.h"

#include <stdbool.h>

struct err;
struct role;

/* audit_write_begin(r, err): from now on what a round of ${r->loop} left in ${r->out} is written.
 */
int audit_write_begin(struct role *, struct err *);

/* audit_write_flush(r): as much as the log takes, and then its head. 0 when nothing is left, else
 * -1 with errno. */
int audit_write_flush(struct role *);

/* audit_write_stuck(r): after a flush that failed, errno as it left it: nobody is listened to until
 * the log can be written again, and the supervisor hears why. */
void audit_write_stuck(struct role *);

/* audit_write_reading(r, is_on): listen to the writers, or let them wait. */
void audit_write_reading(struct role *, bool is_on);

/* audit_write_say(r, type, words): to the supervisor. */
void audit_write_say(struct role *, enum audit_msg type, const char *words);

#endif
