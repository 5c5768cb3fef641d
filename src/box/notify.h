/* notify.h - the kernel tells us of every connect() in the box before it happens. Evidence for the
 * log (which process asked), never enforcement: each call is let go on. */
#ifndef BOX_NOTIFY_H
#define BOX_NOTIFY_H

/* notify_install(): from now on, connect() of this process and of all it starts waits for whoever
 * holds the returned descriptor. -1 when this kernel cannot: then the log does not name processes.
 * no_new_privs must be set. Must come before the box's own filter. */
int notify_install(void);

#endif
