/* seccomp_watch.h - which of the allowed system calls are written into the log, as data.
 *
 * Read by tools/gen_seccomp.c, which compiles one filter per level: in each of them every refused
 * call and every call of this table waits for the witness (audit/witness.h), which writes it down
 * and gives the answer of seccomp_table.c. What is refused is the same at every level. */
#ifndef BOX_SECCOMP_WATCH_H
#define BOX_SECCOMP_WATCH_H

#include "box/seccomp_table.h"

enum box_audit {
        BOX_AUDIT_OFF,     /* nobody waits; refused calls are answered by the kernel alone */
        BOX_AUDIT_DEFAULT, /* what matters to security, and every refused call */
        BOX_AUDIT_FILES,   /* and opening, making, removing and renaming files */
        BOX_AUDIT_ALL,     /* every call */
        BOX_AUDIT_N
};

/* Calls that are recorded from ${level} on, but for those that a clause of ${unless} matches. */
struct seccomp_watch {
        enum box_audit level;
        const char *calls; /* as in struct seccomp_row */
        const struct seccomp_clause *unless;
        size_t unless_n;
        const char *why;
};

extern const struct seccomp_watch seccomp_watch[];
extern const size_t seccomp_watch_n;

#endif
