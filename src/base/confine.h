/* confine.h - how a role of the static program gives up what it does not need: capabilities, files,
 * and every system call that is not on its list. The box's own filter is another matter
 * (box/seccomp.h), and so are the door's roles, which have libseccomp (role/role.h). */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* confine_begin(name, keep, n): the first thing that such a role does after the fork: it is called
 * ${name}, waits for no signal and ignores SIGTERM, because its end is the supervisor's to decide,
 * and has no descriptor from 3 on but those of ${keep}. Ends the process when it cannot be. */
void confine_begin(const char *name, const int *keep, size_t n);

/* Calls that every such role makes: reading and writing, memory (never executable), epoll, exit. */
#define CONFINE_COMMON_MAX 32

/* confine_memory(bytes, err): never more private memory than that (RLIMIT_DATA), whatever it is sent;
 * read back. Both functions below do it with CONFINE_MEMORY, which is many times what any of their
 * roles has ever needed. */
enum { CONFINE_MEMORY = 128 << 20 };
int confine_memory(uint64_t bytes, struct err *);

/* confine_self(calls, n, err): no capability, no_new_privs, Landlock without a single file, socket
 * or process outside, then a filter that lets the common calls and ${calls} through and kills the
 * process on anything else. Open descriptors stay usable. SYS_openat among ${calls} stands for
 * openat() with O_RDONLY | O_CLOEXEC and nothing else. Returns 0 once the kernel confirms the
 * filter, else -1: the caller must end. */
int confine_self(const int *calls, size_t n, struct err *);

/* confine_calls(calls, n, err): the same without Landlock, for a role that has to look at processes
 * of the box: Landlock would forbid that too. */
int confine_calls(const int *calls, size_t n, struct err *);

#endif
