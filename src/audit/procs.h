/* procs.h - the processes of a box as the witness sees them: whose a thread is, what a process has
 * used so far, and how those end that do not say so themselves.
 *
 * A process that leaves by exit_group() is recorded when it calls it. Of one that was seen to
 * execute a program the witness holds a pidfd until then, and so hears of its end when a signal
 * killed it, or its last thread left alone. */
#ifndef AUDIT_PROCS_H
#define AUDIT_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* procs_name(out, pid, what): "/proc/PID/WHAT", of which the last has at most PROCS_WHAT_MAX bytes.
 */
enum { PROCS_WHAT_MAX = 47, PROCS_NAME_MAX = PROCS_WHAT_MAX + 20 };
void procs_name(char out[PROCS_NAME_MAX + 1], pid_t pid, const char *what);

struct procs_who {
        pid_t pid, ppid; /* of the whole process, as the host counts */
};

/* procs_begin(epoll_fd, is_by_number): before anything else, and before the role is confined: it
 * finds out what this kernel can tell. ${is_by_number} is false but in the weak build: then a
 * number is taken for the process that it was last asked about. */
void procs_begin(int epoll_fd, bool is_by_number);

/* procs_who(tid, who): false when it is gone. */
bool procs_who(pid_t tid, struct procs_who *);

/* procs_of_pidfd(fd): the process it stands for, or 0 when this kernel does not say. */
pid_t procs_of_pidfd(int fd);

/* procs_leaving(tid, who, cpu_us, peak_kib): of one that is about to end, and what it has used; 0
 * for what is not known. false when it is gone. */
bool procs_leaving(pid_t tid, struct procs_who *, uint64_t *cpu_us, uint64_t *peak_kib);

/* procs_watch(who): hear of its end. procs_meet(tid, who): procs_who and procs_watch in one, where
 * this kernel lets us. procs_forget(pid): it is recorded already; false when that was just done:
 * two threads may ask for the end of one process. */
void procs_watch(const struct procs_who *);
bool procs_meet(pid_t tid, struct procs_who *);
bool procs_forget(pid_t pid);
/* procs_watched_n(): how many are watched. */
unsigned procs_watched_n(void);

struct procs_end {
        struct procs_who who;
        bool is_known;   /* of old kernels: how it ended is not known when its parent was quicker */
        uint32_t status; /* its exit code, or 128 and the signal */
        uint64_t cpu_us;
};
/* procs_ended(ctx, end): for an event of the epoll descriptor whose data.ptr is ${ctx}: how that
 * process ended. It is not watched any more. */
void procs_ended(void *ctx, struct procs_end *);

/* procs_group(tid): its process group, as the box counts. -1 when it is gone. */
long procs_group(pid_t tid);

#endif
