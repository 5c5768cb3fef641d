/* audit_int.h - what the two sides of the audit role say to each other; nobody else hears it. */
#ifndef AUDIT_AUDIT_INT_H
#define AUDIT_AUDIT_INT_H

enum audit_msg {
        /* supervisor -> role */
        AUDIT_WRITER = 1, /* empty; + a socket that brings DOOR_RECORD */
        AUDIT_FINISH,     /* empty: no writer is left; write, send AUDIT_REFUSED, end */
        /* role -> supervisor */
        AUDIT_NOTICE, /* lstr sentence for the user */
        AUDIT_REFUSED /* body of refused_put */
};

/* audit_role_main(control_fd, log_fd, box_id): runs in the forked child, never returns. ${log_fd}
 * is open for reading and appending. */
_Noreturn void audit_role_main(int control_fd, int log_fd, const char *box_id);

#endif
