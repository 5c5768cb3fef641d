/* openfiles.h - how many descriptors a process of ours may have: all that its caller allows.
 *
 * Not only for what we hold ourselves: what a user has under way on sockets, of all its
 * processes together, the kernel holds against the limit of whoever sends a descriptor. A hundred
 * boxes that begin at once have thousands under way. */
#ifndef BASE_OPENFILES_H
#define BASE_OPENFILES_H

/* openfiles_raise(): to the hard limit, for this process and those that it starts. Touches no
 * memory but the stack, unless the kernel refuses. */
void openfiles_raise(void);

#endif
