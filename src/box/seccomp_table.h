/* seccomp_table.h - which system calls the box may make, as data.
 *
 * Read by tools/gen_seccomp.c, which compiles it into the filter at build time, and by
 * box/seccomp.c, which prints it for `ostiary explain --seccomp`. It holds no code, so what is
 * printed, what is compiled and what a reviewer reads are one text. */
#ifndef BOX_SECCOMP_TABLE_H
#define BOX_SECCOMP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One look at one argument: (word & mask) == want. A test sees the low 32 bits unless it asks for
 * the high ones: where the kernel itself takes an int, the high half must play no part, or a caller
 * slips past by setting it (case 2). */
struct seccomp_test {
        uint8_t arg; /* 0..5 */
        bool high;   /* the upper 32 bits */
        uint32_t mask;
        uint32_t want;
};

/* Rules that the weak test build can leave out one by one. */
enum seccomp_tag { SECCOMP_TAG_NONE = 0, SECCOMP_TAG_TIOCSTI };

#define SECCOMP_TESTS_MAX 3

/* When all tests hold, the answer is ${error} (0: allow) and no later clause is asked. A test with
 * an empty mask ends the list. */
struct seccomp_clause {
        const char *words; /* what it matches, for people */
        int error;
        struct seccomp_test test[SECCOMP_TESTS_MAX];
        enum seccomp_tag tag;
};

/* One verdict for some calls. Clauses are asked in order; when none matches, ${error} is the answer
 * (0: allow). ${calls} holds names with spaces between; "name=nr" gives the number of a call that
 * is younger than many a libseccomp (from 424 on, numbers are the same on every architecture). */
struct seccomp_row {
        const char *group;
        const char *calls;
        int error;
        const struct seccomp_clause *clauses;
        size_t clause_n;
        const char *why;
};

/* Rows of one group stand together. A call with no row is answered by SECCOMP_UNKNOWN, so that a
 * library which tries a newer call than we know falls back to the one it used before. */
extern const struct seccomp_row seccomp_table[];
extern const size_t seccomp_table_n;

#define SECCOMP_UNKNOWN ENOSYS

#endif
