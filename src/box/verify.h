/* verify.h - which namespaces a process is in, noted before and compared after the clone. */
#ifndef BOX_VERIFY_H
#define BOX_VERIFY_H

#include <sys/types.h>

enum { VERIFY_SPACES = 1 };

struct verify {
        ino_t inode[VERIFY_SPACES];
};

/* verify_note(v): those of the caller; 0 where /proc does not say. */
void verify_note(struct verify *);

#endif
