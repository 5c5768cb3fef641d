/* attack.h - what every attack program shares: the case table, the outcome, what the host planted.
 *
 * The cases run inside the box, each in a process of its own, and end in exactly one outcome. A
 * case makes a real attempt and judges by what it got (bytes, a changed file, a delivered signal);
 * where that could hurt the machine it stops at the first answer that only the kernel can give, and
 * is marked SURFACE. Nothing here may harm a host on which every wall is missing. */
#ifndef ATTACK_H
#define ATTACK_H

#include <stdbool.h>
#include <stddef.h>

enum proof { READ, WRITE, EXEC, REACH, CRASH, STARVE };

/* REAL: the host's bytes, file, process or socket was touched. SURFACE: the forbidden call reached
 * the kernel, which is as far as a harmless program may go. STATE: a property was read back. */
enum strength { REAL, SURFACE, STATE };

/* What a case needs from the way it is started. */
enum {
        IN_TTY = 1,   /* stdin is a terminal that the harness made */
        IN_LIMIT = 2, /* a box of its own, started with small limits */
        BY_HOST = 4,  /* judged by the harness, there is nothing to run inside */
};

enum outcome_kind { OUT_NONE, OUT_BLOCKED, OUT_ESCAPED, OUT_NA };

struct outcome {
        enum outcome_kind kind;
        int err;        /* errno of the refusal, or 0 */
        char why[24];   /* a word in place of the errno */
        char text[240]; /* one plain clause */
};

struct attack_case {
        const char *id;
        const char *name;
        enum proof proof;
        enum strength strength;
        int needs;
        void (*run)(struct outcome *);
        /* The smallest set of layers that must be missing before the case escapes, joined by '+';
         * "kernel": the kernel refuses it in any user namespace, no layer of ours decides;
         * "shape": there is no build in which the thing is there; "-": not applicable. */
        const char *layers_user;
        const char *layers_root;
};

extern const struct attack_case tty_cases[], ns_cases[], mount_cases[], kernel_cases[],
        boot_cases[], proc_cases[], peer_cases[], sysctl_cases[], socket_cases[], net_cases[],
        path_cases[], ipc_cases[], file_cases[], state_cases[], notify_cases[], design_cases[],
        limit_cases[], share_cases[], host_cases[];

/* out_*(out, ...): set the outcome. The first escape stays; a later refusal does not hide it. */
void out_blocked(struct outcome *, int err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void out_blocked_why(struct outcome *, const char *why, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void out_escaped(struct outcome *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_na(struct outcome *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Where this process writes its verdict: the one descriptor that is ours and not inherited. */
extern int verdict_fd;

/* planted(key): the value of KEY in the file .attack-env beside the program, or NULL. Stays valid
 * for the next twenty calls. */
const char *planted(const char *key);

/* planted_num(key): the same as a number, or -1. */
long planted_num(const char *key);

/* planted_or_na(out, key): the same as planted(); without it the case is not applicable. */
const char *planted_or_na(struct outcome *, const char *key);

/* in_child(fn, arg): run ${fn} in a forked child, at most two seconds. Returns its exit code, or
 * minus the signal that ended it. */
int in_child(int (*fn)(void *), void *arg);

/* slurp(path, buf, size): read the start of a file, ended by a NUL. Returns the bytes or -1. */
long slurp(const char *path, char *buf, size_t size);

/* has_canary(buf, len): does the planted secret stand in these bytes? */
bool has_canary(const char *buf, long len);

/* write_back(path): open for writing and write the file's own first line back, so that success
 * changes nothing. Returns 0 or -1 with errno. */
int write_back(const char *path);

/* errno_name(e): "EPERM", never NULL. */
const char *errno_name(int e);

/* storm_main(), reuse_main(): the two halves of case 43 that run inside; notify_cases.sh talks to
 * them through standard input and output. The exit code of the program. */
int storm_main(void);
int reuse_main(void);

#endif
