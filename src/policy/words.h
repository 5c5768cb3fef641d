/* words.h - one line of a profile or a rule, cut into words with their columns.
 *
 * Words are separated by blanks; "..." takes \n \t \" \\ inside, '...' takes everything as it is,
 * and both may stand in the middle of a word (set=/a="b c"). # at the start of a word begins a
 * comment. */
#ifndef POLICY_WORDS_H
#define POLICY_WORDS_H

#include <stddef.h>

struct err;

enum { WORDS_MAX = 256 };

struct words {
        char *v[WORDS_MAX + 1];   /* NULL-terminated, owned */
        size_t at[WORDS_MAX + 1]; /* column of each, from 1; at[n] is where the line ends */
        size_t n;
};

/* words_split(line, len, w, &column, err): cut ${len} bytes at ${line}. On failure -1, ${column}
 * says where, and ${w} is empty. ${w} is overwritten. */
int words_split(const char *line, size_t len, struct words *, size_t *column, struct err *);
void words_free(struct words *);
#define _cleanup_words_ __attribute__((cleanup(words_free)))

#endif
