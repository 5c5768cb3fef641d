/* role.h - what every role of the door has in common: how it begins, and how it gives up everything
 * that it does not need. Called by the *_main of each role. */
#ifndef ROLE_ROLE_H
#define ROLE_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* role_begin(name): wipe the environment, set the process's name, not dumpable, die with the
 * supervisor, ignore SIGPIPE, close every descriptor but 0 to 3. */
void role_begin(const char *name);

/* What a role may still do besides reading, writing, memory, time, epoll and exit. */
struct role_needs {
        bool may_dial;       /* socket(AF_INET, AF_INET6), connect, bind, getsockname, ... */
        bool may_listen;     /* bind, listen, accept on sockets that it was given; never socket() */
        bool may_read_files; /* dial: resolv.conf, hosts; by Landlock only what is in `files` */
        const char *const *files;
        size_t files_n;
        uint64_t memory; /* bytes that the kernel lets it have; 0: CONFINE_MEMORY */
};

/* role_confine(needs, err): a bound on its memory, no_new_privs, Landlock, an empty network namespace unless may_dial, no
 * capabilities, seccomp allow-list (kill on anything else; opening a file where none is allowed
 * fails with EACCES, since libraries try that in passing). A role without files and network has an
 * empty root as well. Reads back that it holds. Call it before the first thread. */
int role_confine(const struct role_needs *, struct err *);

/* role_weak(layer): in the test-only build, was this layer asked to be left out (box/weak.h)? In
 * every other build the constant false. */
#ifdef OSTIARY_WEAK
bool role_weak(const char *layer);
#else
static inline bool role_weak(const char *layer)
{
        (void)layer;
        return false;
}
#endif

_Noreturn void role_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
