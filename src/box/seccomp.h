/* seccomp.h - the system-call wall: putting the filter on, and showing what it does.
 *
 * The rules are in box/seccomp_table.c; the program was compiled from them at build time. */
#ifndef BOX_SECCOMP_H
#define BOX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;

/* box_seccomp_install(err): put the filter on this process and all it will ever start. It cannot be
 * taken off. The process must have no_new_privs set and only one thread. Returns 0 once the kernel
 * confirms that a filter is active, else -1 with ${err} filled. In the weak build the layer
 * "tiocsti" leaves out that one rule; the layer "seccomp" is the caller's to ask about. */
int box_seccomp_install(struct err *);

/* box_seccomp_print(out, json): what may be called, what may not, and why: as text for 80 columns,
 * or as one JSON object. */
void box_seccomp_print(FILE *out, bool json);

/* box_seccomp_size(): instructions in the filter. */
size_t box_seccomp_size(void);

#endif
