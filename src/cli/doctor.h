/* doctor.h - what this machine can enforce: one function per question, each answered by trying.
 *
 * Used by `ostiary doctor`, and by doctor_why for the sentence behind a box that could not be
 * built. Nothing is changed on the host: what a check makes, it makes in a child process and its
 * namespaces. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/out.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

struct doctor_answer {
        enum out_mark mark; /* OUT_BAD: no box can be built here */
        char words[512];    /* what was found */
        char fix[1024];     /* the exact cure, or "" */
};

struct doctor_check {
        const char *name;
        void (*ask)(struct doctor_answer *);
};

extern const struct doctor_check doctor_checks[]; /* ends with a NULL name */

/* doctor_say(a, mark, fmt, ...) and doctor_fix(a, fmt, ...): fill an answer. */
void doctor_say(struct doctor_answer *, enum out_mark, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_answer *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* doctor_try(fn, report, len): run ${fn} in a child process. It returns 0, or writes what failed
 * into
 * ${report} and returns an errno. The child's return value is ours; -1 when it could not be run. */
int doctor_try(int (*fn)(char *report, size_t), char *report, size_t);

/* doctor_number(path): the number in a small file of /proc, or -1. */
long doctor_number(const char *path);

/* doctor_container(): "docker", "podman", ... when we run inside one, else NULL. */
const char *doctor_container(void);

/* doctor_why(err): ask what a box needs, and put the first thing that is missing into ${err}.
 * Returns 0 when nothing is, else -1. */
int doctor_why(struct err *);

/* The questions, by file: doctor_ns.c, doctor_kernel.c, doctor_place.c */
void doctor_userns(struct doctor_answer *);
void doctor_namespaces(struct doctor_answer *);
void doctor_network(struct doctor_answer *);
void doctor_overlay(struct doctor_answer *);
void doctor_proc(struct doctor_answer *);
void doctor_kernel(struct doctor_answer *);
void doctor_landlock(struct doctor_answer *);
void doctor_seccomp(struct doctor_answer *);
void doctor_tiocsti(struct doctor_answer *);
void doctor_kvm(struct doctor_answer *);
void doctor_cgroup(struct doctor_answer *);
void doctor_state(struct doctor_answer *);
void doctor_idmap(struct doctor_answer *);

#endif
