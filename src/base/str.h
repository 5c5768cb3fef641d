/* str.h - small things about strings: owned copies, sizes and durations in words, suggestions for
 * typing mistakes, and quoting of names that came out of a box. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* str_no_memory(): say so and end. Small allocations that fail leave nothing sensible to do. */
_Noreturn void str_no_memory(void);

char *str_dup(const char *);                                               /* never NULL */
char *str_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* never NULL */
char *str_vfmt(const char *fmt, va_list) __attribute__((format(printf, 1, 0)));

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* str_is_beneath(path, dir): is ${path} ${dir} itself or below it, by whole components? */
bool str_is_beneath(const char *path, const char *dir);

/* str_size("4G", &n): bytes with an optional K, M, G, T (powers of 1024). 0 or -1. */
int str_size(const char *, uint64_t *);
/* str_duration("8h", &s): seconds with an optional s, m, h, d. 0 or -1. */
int str_duration(const char *, uint64_t *);
/* str_u64("12", &n): digits only. 0 or -1. */
int str_u64(const char *, uint64_t *);
/* str_size_words(n, buf): "4.0 GiB" into at least 16 bytes; returns ${buf}. */
const char *str_size_words(uint64_t n, char buf[16]);

/* str_suggest(word, names, n): the name nearest to ${word} if it is near enough to be what was
 * meant, else NULL. */
const char *str_suggest(const char *word, const char *const *names, size_t n);

/* str_quote(s): a printable form of a name that may be hostile: control bytes, backslashes, bytes
 * that are not UTF-8, and code points that are invisible or turn the line around come out as \xNN,
 * so that two names never look the same (cases 76, 80). The caller frees. */
char *str_quote(const char *);

/* str_shell(s): one word of a command to type: quoted for a shell when it must be, in characters that
 * a terminal shows as they are. The caller frees. */
char *str_shell(const char *);

/* str_seen(s): how many bytes the code point at ${s} (NUL-terminated text) has when it is valid and
 * a terminal shows it as it is; 0 for what str_quote would write as \xNN. */
size_t str_seen(const void *s);

#endif
