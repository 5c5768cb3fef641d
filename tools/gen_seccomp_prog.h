/* gen_seccomp_prog.h - laying out the filter program; shared by the two files of gen_seccomp. */
#ifndef GEN_SECCOMP_PROG_H
#define GEN_SECCOMP_PROG_H

#include "box/seccomp_table.h"
#include "box/seccomp_watch.h"

#include <linux/audit.h>
#include <linux/filter.h>

#define CALLS_MAX 1024        /* well above the youngest call number */
#define X32_BIT   0x40000000u /* set in the numbers of x32 calls */
#define NO_CALL   0xffffffffu /* what a tracer writes to have a call skipped */

#if defined(__x86_64__)
#define ARCH      AUDIT_ARCH_X86_64
#define ARCH_NAME "x86_64"
#define HAS_X32   1
#elif defined(__aarch64__)
#define ARCH      AUDIT_ARCH_AARCH64
#define ARCH_NAME "aarch64"
#define HAS_X32   0
#else
#error "The filter has been thought through for x86_64 and aarch64 only."
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The filter reads argument words in little-endian order."
#endif

struct prog {
        struct sock_filter insn[BPF_MAXINSNS];
        size_t n;
};

/* What the tables say of a call number: NULLs for a call nobody knows. */
struct call {
        const struct seccomp_row *row;
        const struct seccomp_watch *watch;
};

/* What a program is for. */
struct kind {
        enum seccomp_tag without; /* clauses that carry this tag are left out */
        enum box_audit level;
};

/* is_watched(c, k): is the call recorded where it is allowed, but for the watch's exceptions? */
bool is_watched(const struct call *, const struct kind *);

#define TELL (-1) /* in place of an error: the witness answers */

/* answer(error): the filter's return value for a row's or clause's ${error}. */
uint32_t answer(int error);

/* prog_build(p, calls, kind): fill ${p} with the whole program. Ends the program with a sentence
 * when that cannot be done. */
void prog_build(struct prog *, const struct call calls[CALLS_MAX], const struct kind *);

/* die(fmt, ...): one sentence to stderr, exit 1, so that make stops. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
