/* filter.h - the system calls that a role may still make. Used by confine.c only. */
#ifndef ROLE_FILTER_H
#define ROLE_FILTER_H

struct err;
struct role_needs;

/* role_filter_install(needs, err): from here on every other call kills the process, but opening and
 * looking at files, which fails with EACCES: libraries try that in passing. */
int role_filter_install(const struct role_needs *, struct err *);

#endif
