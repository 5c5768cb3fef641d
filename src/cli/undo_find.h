/* undo_find.h - which records of undo are meant: by number, by path, or by where we are. */
#ifndef CLI_UNDO_FIND_H
#define CLI_UNDO_FIND_H

#include "base/strs.h"

#include <stdint.h>

struct err;
struct store;

struct undo_find_one {
        uint64_t n;
        struct strs paths; /* from the record's root; none: everything */
};
struct undo_find {
        struct undo_find_one *v;
        size_t n;
        char *said; /* without words: which record that is; or NULL */
};

/* undo_find(undo_fd, store, words, found, err): ${words} is one number, or paths, or nothing: then
 * it is the newest record of the workspace that the current directory lies in, and never one of
 * another directory, be it around this one. A workspace is what a box worked in or a record is of;
 * the innermost counts. E_ABSENT with a sentence when there is no such record, E_USAGE with their
 * records when several boxes have something there that could be taken back. */
int undo_find(int undo_fd, const struct store *, const struct strs *words, struct undo_find *,
              struct err *);
void undo_find_free(struct undo_find *);

/* undo_path(word, err): an absolute path without "." and "..", of something that need not exist;
 * the caller frees. */
char *undo_path(const char *word, struct err *);

#endif
