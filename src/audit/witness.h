/* witness.h - the role that hears of the box's system calls before they happen: it writes each into
 * the log and lets it go on, or answers with the error that the table of calls has for it. The
 * decision is the table's; what the witness reads of a call is evidence and decides nothing.
 *
 * A call waits until its record is in the pipe of the log's writer, so a box that makes many is
 * slowed, and none is lost. Should the witness die, its successor finds the call that it had in
 * hand in a page that both share, and answers it; until then the box waits. */
#ifndef AUDIT_WITNESS_H
#define AUDIT_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct audit;
struct err;
struct seccomp_data;
struct strs;

/* What the test-only build leaves out (box/weak.h, witness_weak.h); nothing in every other. */
struct witness_weak {
#ifdef OSTIARY_WEAK
        bool is_by_memory, is_by_number, is_waiting;
#endif
};

/* What the room of boxes knows of system calls. */
struct witness_table {
        int (*verdict)(const struct seccomp_data *); /* 0: allowed; else the caller's errno */
        const char *(*name)(int nr);                 /* or NULL */
        void (*listen)(int listener_fd);             /* once, by who answers */
        bool is_all;                                 /* every call is told */
        struct witness_weak weak;
};

struct witness {
        pid_t pid;      /* a child of the caller; 0 when there is none */
        int control_fd; /* readable: it has ended */
        void *flight;   /* the page */
};

/* witness_start(w, a, table, err): with a pipe of its own to the log of ${a}. ${w} is zero, or
 * one whose process has ended (witness_end): then the new one goes on where that one was. ${table}
 * must stay. The listener comes later (witness_listen), because the role is started while the box
 * is built. */
int witness_start(struct witness *, struct audit *, const struct witness_table *, struct err *);

/* witness_listen(w, listener_fd, root_fd, err): both stay the caller's. */
int witness_listen(struct witness *, int listener_fd, int root_fd, struct err *);

/* witness_spawn(w, id, path, cwd, argv): pid 1 is about to execute this command. To be called
 * before pid 1 hears of it. */
void witness_spawn(struct witness *, uint32_t id, const char *path, const char *cwd,
                   const struct strs *argv);

/* witness_finish(w, ms): the box is empty: let it tell the ends of the last processes, so long. */
void witness_finish(struct witness *, int ms);

/* witness_end(w): kill and reap. Fine on one that never started. */
void witness_end(struct witness *);

#endif
