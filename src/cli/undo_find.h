/* undo_find.h - which records of undo are meant: by number, by path, or by where we are. */
#ifndef CLI_UNDO_FIND_H
#define CLI_UNDO_FIND_H

#include "base/strs.h"

#include <stdint.h>

struct err;

struct undo_find_one {
        uint64_t n;
        struct strs paths; /* from the record's root; none: everything */
};
struct undo_find {
        struct undo_find_one *v;
        size_t n;
};

/* undo_find(undo_fd, words, found, err): ${words} is one number, or paths, or nothing. E_ABSENT
 * with a sentence when there is no such record. */
int undo_find(int undo_fd, const struct strs *words, struct undo_find *, struct err *);
void undo_find_free(struct undo_find *);

/* undo_path(word, err): an absolute path without "." and "..", of something that need not exist;
 * the caller frees. */
char *undo_path(const char *word, struct err *);

#endif
