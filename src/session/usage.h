/* usage.h - what a box uses, seen from outside: the memory of its processes and of everything that
 * no process has mapped, and what it holds of the counters that it shares with its owner.
 *
 * Looked at by the supervisor (sup_watch*.c) through descriptors that pid 1 handed over before any
 * code of the box ran (box/watched.c). Everything that is read is the kernel's own text; a look
 * ends after a bounded time, and says whether it saw everything. */
#ifndef SESSION_USAGE_H
#define SESSION_USAGE_H

#include "wire/msg.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct usage {
        uint64_t procs_n, fds_n;
        uint64_t private; /* bytes: anonymous memory and swap of all processes, and page tables */
        uint64_t shared;  /* bytes: shared memory that processes have mapped, each for itself */
        uint64_t largest; /* bytes: anonymous memory and swap of the one that has most */
        uint64_t memfds;  /* bytes of memfds that are open somewhere, each once */
        uint64_t sysv;    /* bytes of System V segments, messages and semaphores */
        uint64_t tmpfs;   /* bytes in /tmp, /dev/shm and the like */
        uint64_t sockets; /* bytes in socket buffers */
        uint64_t loose;   /* of these, what not every control group counts */
        uint64_t pinned;  /* bytes at most: pages of which sockets hold a few bytes each */
        uint64_t deleted; /* bytes on the disk that have no name any more and are open */
        uint64_t mapped;  /* bytes at least: memfds and the like that are mapped and not open */
        uint64_t mapped_deleted; /* the same of files on the disk that have no name any more */
        uint64_t pipes_n;        /* pipes, each once */
        uint64_t epolls;         /* watches of epoll instances at most: instances x descriptors */
        uint64_t flying_n;       /* descriptors under way on sockets that some process has open */
        uint64_t unseen_n;       /* descriptors and processes that nobody can look into */
        uint64_t shut_n;         /* processes that only a look that copies descriptors sees into */
        uint64_t room;           /* of the last process: how many descriptors it may have */
        uint64_t motion;         /* another number when a process has run */
        bool is_fair;            /* private and shared count once what several processes have */
        bool is_whole; /* false: it was too much to look at in one go; all is at least so */
};

/* The box as it can be seen; -1 where there is nothing. */
struct usage_eyes {
        int fd[MSG_WATCHED_N];
        pid_t init_pid; /* its first process, as we see it */
};
#define USAGE_BLIND                                                                                \
        {                                                                                          \
                .fd = { -1, -1, -1, -1, -1, -1, -1 }                                               \
        }

void usage_close(struct usage_eyes *);

/* What costs a question for each descriptor or page, and is looked for only when it matters. */
enum {
        USAGE_FLYING = 1, /* descriptors under way */
        USAGE_FIFOS = 2,  /* pipes that have a name */
        USAGE_MAPS = 4,   /* files that are mapped and neither open nor named any more */
        USAGE_FAIR = 8,   /* what several processes have is counted once in private and shared */
        /* Descriptors of the box may be copied, and looking may take seconds. To close a copy can
         * wait for as long as the box likes (SO_LINGER), so only a process that can be killed
         * may do that (usage_apart). Without it FLYING means nothing. */
        USAGE_APART = 16,
};

/* usage_look(eyes, wants, u): everything, from the beginning, and what of the above is wanted. */
void usage_look(const struct usage_eyes *, unsigned wants, struct usage *);
/* usage_memory(u): all of it that is memory. usage_memory_least(u): without what may have been counted
 * twice, because several processes have it. */
uint64_t usage_memory(const struct usage *);
uint64_t usage_memory_least(const struct usage *);
/* usage_tmpfs(eyes): only that, which costs one call. */
uint64_t usage_tmpfs(const struct usage_eyes *);

/* A look in a process of its own. */
struct usage_apart {
        pid_t pid;     /* 0: none is under way */
        int fd;        /* readable when it is over */
        uint64_t cost; /* of the last: milliseconds of processor time */
};

/* usage_apart_begin(a, eyes, wants): begin one. 0 or -1 with errno. usage_apart_end(a, u): it is over, or
 * has taken too long: then it is killed. 0 with what it saw, or -1. Never waits for the box.
 * usage_apart_busy(a): milliseconds that it has run or waited for a processor; 0 where the kernel does not
 * say. */
int usage_apart_begin(struct usage_apart *, const struct usage_eyes *, unsigned wants);
int usage_apart_end(struct usage_apart *, struct usage *);
uint64_t usage_apart_busy(const struct usage_apart *);

/* Parts, by file. */
void usage_procs(const struct usage_eyes *, unsigned wants, struct usage *); /* usage_procs.c */
/* usage_sockets.c */
uint64_t usage_sockets(int diag_fd, uint64_t *loose, uint64_t *pinned);
uint64_t usage_sysv(const struct usage_eyes *eyes); /* usage.c */

#endif
