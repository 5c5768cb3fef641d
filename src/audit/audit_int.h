/* audit_int.h - what the supervisor, the writer of the log and the witness say to each other;
 * nobody else hears it. */
#ifndef AUDIT_AUDIT_INT_H
#define AUDIT_AUDIT_INT_H

#include <stdbool.h>

enum audit_msg {
        /* supervisor -> role */
        AUDIT_WRITER = 1, /* empty; + a socket that brings DOOR_RECORD */
        AUDIT_WITNESS,    /* empty; + a pipe that brings AUDIT_CALL and AUDIT_SEEN, + an eventfd
                             that is written to when that is full */
        AUDIT_SETTLE,     /* empty; + a descriptor to close when what was sent so far is written */
        AUDIT_FINISH,     /* empty: no writer is left; write, send AUDIT_REFUSED, end */
        /* role -> supervisor */
        AUDIT_NOTICE,  /* lstr sentence for the user */
        AUDIT_STUCK,   /* lstr sentence: the log cannot be written, and everybody waits */
        AUDIT_REFUSED, /* body of refused_put */
        /* witness -> role, through a pipe: u32 length of what follows, u32 type, body */
        AUDIT_SEEN, /* u32 pid, u32 source port, lstr program: it began to connect */
        AUDIT_CALL, /* struct door_record: of a process of the box */
        /* supervisor -> witness */
        WITNESS_BEGIN, /* empty; + the listener, the box's root */
        WITNESS_SPAWN, /* u32 id, lstr PATH, lstr directory, then lstr words to the end */
};

/* audit_role_main(control_fd, log_fd, head_fd, box_id, is_paced): runs in the forked child, never
 * returns. ${log_fd} is open for reading and appending, ${head_fd} for reading and writing. */
_Noreturn void audit_role_main(int control_fd, int log_fd, int head_fd, const char *box_id,
                               bool is_paced);

enum { WITNESS_EXE_MAX = 1023, WITNESS_TELL_MAX = 64 << 10 };

struct witness_table;
struct witness_begin {
        int control_fd, log_fd, kick_fd;
        void *flight; /* a page, shared with whoever comes after us */
        const struct witness_table *table;
        bool is_first; /* nothing of the box has run yet */
};
/* witness_role_main(b): the same for the witness. */
_Noreturn void witness_role_main(const struct witness_begin *);

#endif
