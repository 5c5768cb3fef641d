/* probe.h - attacks on a box's walls from inside: the list that `ostiary probe` runs.
 *
 * Each attempt is harmless where it succeeds: it reads a canary, asks for a descriptor, calls with
 * arguments that do nothing. It runs in a process of its own, so that being killed is an answer
 * too. */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* What the outer side prepared, told on the command line. */
struct probe_ctx {
        const char *canary;   /* a file of the user's that no box may see */
        const char *abstract; /* name of an abstract socket that listens outside */
        int port;             /* a TCP port that listens on the host's loopback */
        int pid;              /* of a process outside */
};

/* An attempt: true when the wall is OPEN. ${words} says what was seen, either way. */
typedef bool probe_attempt(const struct probe_ctx *, char words[128]);

struct probe_wall {
        const char *name; /* what is tried, for people */
        probe_attempt *attempt;
};

extern const struct probe_wall probe_walls[]; /* ends with a NULL name */

/* probe_said(words, what, is_open): fill ${words} from errno; returns ${is_open}. */
bool probe_said(char words[128], const char *what, bool is_open);

/* probe_calls.c */
probe_attempt probe_unshare, probe_mount, probe_ptrace, probe_mem, probe_keyctl, probe_io_uring,
        probe_bpf, probe_perf, probe_userfaultfd, probe_tiocsti, probe_mknod, probe_caps,
        probe_setuid, probe_raw_socket, probe_vsock, probe_int80, probe_chroot, probe_settings;
/* probe_things.c */
probe_attempt probe_home, probe_host_dirs, probe_processes, probe_signal, probe_loopback,
        probe_abstract, probe_route, probe_usr, probe_etc, probe_devices, probe_fds, probe_env,
        probe_sysctl, probe_host_sockets;

#define PROBE_SECRET "OSTIARY_PROBE_SECRET" /* set outside; must not be seen inside */

#endif
