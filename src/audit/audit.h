/* audit.h - the role that writes a box's log, as its supervisor sees it: a process with a control
 * socket. It alone holds the log; whoever has something to log sends DOOR_RECORD frames (wire/
 * door.h) to it through a socket of its own, one writer each.
 *
 * Where it ends is kept beside it (audit/head.h). The log is `audit.jsonl` in the box's directory:
 * one JSON object per line, each with its number
 * ("seq", from 1) and the SHA-256 of the line before ("prev"). A box that is started again goes on
 * with the chain. When a line cannot be written (a full disk), the role stops reading, so that its
 * writers' sockets fill and they stop too: nothing passes unlogged. It says so and tries again. */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;

#define AUDIT_FILE "audit.jsonl"

struct audit {
        bool is_paced;                /* set it before audit_go: the log grows no faster than a box
                                         that is watched as usual needs (audit_write.c) */
        bool is_on;                   /* audit_start was called: there is something to write to */
        pid_t pid;                    /* a child of the caller; 0 until audit_go */
        int pidfd;                    /* readable when it has ended */
        int control_fd;               /* SEQPACKET, non-blocking; readable: call audit_hear */
        int role_fd, log_fd, head_fd; /* the role's, until it is there */
        char *box_id;
};

/* audit_start(a, box_id, dir_fd, err):
 * Open or make the log in ${dir_fd}. From now on writers can be made, and what they say waits for
 * the role. Fills ${a}; -1 and nothing left behind otherwise. */
int audit_start(struct audit *, const char *box_id, int dir_fd, struct err *);

/* audit_go(a, err): fork the role (no exec), when there is time for it; it confines itself before
 * it reads a byte that is not ours. Fine when it is there already, or nothing was started. */
int audit_go(struct audit *, struct err *);

/* audit_writer(a, err): a fresh SEQPACKET socket whose other end the role reads; the caller hands
 * it to egress (or any other writer) and closes its own copy. -1 and a story otherwise. */
int audit_writer(struct audit *, struct err *);

/* audit_settle(a, fd): ${fd} is held open by the role until what its writers sent so far is
 * written; the caller keeps its own copy. When it cannot be told, nobody holds it. */
void audit_settle(struct audit *, int fd);

enum audit_news {
        AUDIT_NOTHING, /* would block, or nothing of interest */
        AUDIT_SAYS,    /* ${words}: one sentence for the user; the role goes on */
        AUDIT_FULL,    /* ${words}: the log cannot be written; whoever writes to it waits */
        AUDIT_GONE,    /* the role has ended or talks nonsense: close the door (DOOR_FAULT) */
};
/* audit_hear(a, words): one message from control_fd. */
enum audit_news audit_hear(struct audit *, char words[512]);

/* audit_end(a, refused): after the last writer is gone: let it write what it has, wait for its end
 * (at most two seconds, then it is killed) and close everything. ${refused} may be NULL; it gets
 * the body of MSG_REFUSED for the clients (audit/refused.h): hosts this run refused, with their
 * cures. Fine on an ${a} that never started (all zero) or has ended. */
void audit_end(struct audit *, struct buf *refused);

#endif
