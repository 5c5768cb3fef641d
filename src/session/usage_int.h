/* usage_int.h - the walk over a box's processes, shared by the files that look at one kind of thing
 * each: what /proc shows (usage_procs.c), and what it does not (usage_parked.c). */
#ifndef SESSION_USAGE_INT_H
#define SESSION_USAGE_INT_H

#include "session/usage.h"

#include <stddef.h>
#include <sys/stat.h>

/* Numbers of inodes that were counted, with how much of each. */
struct usage_seen {
        struct usage_seen_one {
                uint64_t key, n;
        } * v;
        size_t n, cap;
};

struct usage_walk {
        struct usage *u;
        const struct usage_eyes *eyes;
        unsigned wants;
        struct usage_seen seen;
        uint64_t until_ms;
        uint64_t tmp_dev; /* the box's own tmpfs, which says by itself how full it is */
        uint64_t pipe_dev, socket_dev; /* where the kernel keeps them, if that is wanted */
        uint64_t epolls_n, fds_n;      /* of one process */
        uint64_t twice;                /* bytes of shared memory that is in another sum too */
        struct usage_pid {
                pid_t in_box, here, parent;
        } * pids; /* made when they are needed first */
        size_t pids_n, pids_cap;
        bool has_pids;
        unsigned pids_again; /* how often they were made again */
};

/* usage_is_new(w, key): true the first time. ${key} is not 0. */
bool usage_is_new(struct usage_walk *, uint64_t key);
/* usage_raise(w, key, n): by how much ${n} is more than anybody said of ${key} before. */
uint64_t usage_raise(struct usage_walk *, uint64_t key, uint64_t n);

enum usage_kind { USAGE_FILE = 1, USAGE_PIPE, USAGE_SOCKET };
uint64_t usage_key(uint64_t dev, uint64_t ino, enum usage_kind);

/* usage_file(w, st, is_memory): a file without a name, counted once. */
void usage_file(struct usage_walk *, const struct stat *, bool is_memory);

/* usage_is_late(w): the time for one look is over; what is counted is not whole then. */
bool usage_is_late(struct usage_walk *);

/* usage_parked(w, pid, name, n): the ${n} descriptors in the queue of a socket that process ${pid} of
 * the box has open as ${name}. usage_shut(w, pid, room): the descriptors of a process that /proc does not
 * show, with a table of ${room}. */
void usage_parked(struct usage_walk *, pid_t pid, const char *name, uint64_t n);
void usage_shut(struct usage_walk *, pid_t pid, uint64_t room);
/* usage_is_same(w, a, b): have these two processes of the box one memory, as until the child's exec after
 * a vfork? false when nobody can tell. */
bool usage_is_same(struct usage_walk *, pid_t a, pid_t b);

#endif
