/* audit_int.h - what the supervisor, the writer of the log and the witness say to each other;
 * nobody else hears it. */
#ifndef AUDIT_AUDIT_INT_H
#define AUDIT_AUDIT_INT_H

enum audit_msg {
        /* supervisor -> role */
        AUDIT_WRITER = 1, /* empty; + a socket that brings DOOR_RECORD */
        AUDIT_WITNESS,    /* empty; + a socket that brings AUDIT_SEEN, and only that */
        AUDIT_FINISH,     /* empty: no writer is left; write, send AUDIT_REFUSED, end */
        /* role -> supervisor */
        AUDIT_NOTICE,  /* lstr sentence for the user */
        AUDIT_REFUSED, /* body of refused_put */
        /* witness -> role */
        AUDIT_SEEN, /* u32 pid, u32 source port, lstr program: it began to connect */
        /* witness -> supervisor, and back */
        WITNESS_WANT, /* empty: there is something to tell */
        WITNESS_LOG,  /* empty; + the other end of AUDIT_WITNESS's socket */
};

/* audit_role_main(control_fd, log_fd, box_id): runs in the forked child, never returns. ${log_fd}
 * is open for reading and appending. */
_Noreturn void audit_role_main(int control_fd, int log_fd, const char *box_id);

enum { WITNESS_EXE_MAX = 1023 };
/* witness_role_main(control_fd, listener_fd): the same for the witness. */
_Noreturn void witness_role_main(int control_fd, int listener_fd);

#endif
