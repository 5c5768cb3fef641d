/* seccomp.h - the system-call wall: putting the filter on, and showing what it does.
 *
 * The rules are in box/seccomp_table.c; the program was compiled from them at build time. */
#ifndef BOX_SECCOMP_H
#define BOX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "box/seccomp_watch.h"

struct err;
struct seccomp_data;

/* box_seccomp_install(err): put the filter on this process and all it will ever start. It cannot be
 * taken off. The process must have no_new_privs set and only one thread. Returns 0 once the kernel
 * confirms that a filter is active, else -1 with ${err} filled. In the weak build the layer
 * "tiocsti" leaves out that one rule; the layer "seccomp" is the caller's to ask about. */
int box_seccomp_install(struct err *);

#define BOX_SECCOMP_DEAF (-2)
/* box_seccomp_watch(level, listener_fd, err): the same filter, in the form whose recorded and
 * refused calls wait for whoever holds ${listener_fd}, which is stored as soon as it exists. At
 * BOX_AUDIT_ALL any call of this process waits from then on, so that somebody else must carry it
 * away. Where this kernel cannot, and at BOX_AUDIT_OFF, the plain filter is put on and
 * BOX_SECCOMP_DEAF is stored: then calls are not recorded, and refused all the same. */
int box_seccomp_watch(enum box_audit, volatile int *listener_fd, struct err *);

/* box_seccomp_can_tell(): would this kernel? By trying, so for a child process alone. 0 or an
 * errno.
 */
int box_seccomp_can_tell(void);

/* box_seccomp_listen(listener_fd): by who will answer, once. */
void box_seccomp_listen(int listener_fd);

/* box_seccomp_verdict(data): what the plain filter says of this call: 0 when it is allowed, else
 * the errno its caller gets. */
int box_seccomp_verdict(const struct seccomp_data *);

/* box_seccomp_name(nr): of a call of this machine, or NULL. */
const char *box_seccomp_name(int nr);

/* box_seccomp_print(out, json): what may be called, what may not, and why: as text for 80 columns,
 * or as one JSON object. */
void box_seccomp_print(FILE *out, bool json);

/* box_seccomp_size(): instructions in the filter. */
size_t box_seccomp_size(void);

#endif
