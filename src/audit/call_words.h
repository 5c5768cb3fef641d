/* call_words.h - the arguments of a system call in words, for the log. */
#ifndef AUDIT_CALL_WORDS_H
#define AUDIT_CALL_WORDS_H

#include <stdint.h>

struct buf;
struct peek;

/* call_words(name, args, peek, out): append them, with commas between. Strings are read from the
 * caller's memory and quoted. */
void call_words(const char *name, const uint64_t args[6], struct peek *, struct buf *out);

/* call_words_signal(nr, out): "SIGTERM", or its number. */
void call_words_signal(int nr, struct buf *out);

#endif
