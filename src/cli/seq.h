/* seq.h - terminal sequences into a buffer of fixed size, for the end of a program: nothing is
 * allocated and nothing of the C library is called but memcpy and strlen, so a signal handler may. */
#ifndef CLI_SEQ_H
#define CLI_SEQ_H

#include <stddef.h>

struct seq {
        char *p;
        size_t n, cap; /* bytes that are there, and room for all */
};

/* seq_put(q, s): what does not fit as a whole is left out. */
void seq_put(struct seq *, const char *);
/* seq_number(q, number): in decimal. */
void seq_number(struct seq *, unsigned);

#endif
