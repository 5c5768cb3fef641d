/* out.h - how the program speaks: one-line errors, tables, colour where there is a terminal.
 *
 * Everything for the user about what we do goes to stderr and begins with "ostiary: "; what a
 * command was asked for (lists, plans) goes to stdout and looks the same at 80 columns and in a
 * pipe. Strings that came out of a box are quoted by the caller (str_quote) before they are shown.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/strs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct buf;

/* out_error(err): print the story on one line, with "run `ostiary doctor`" when the machine is the
 * cause; returns the exit code that goes with it. */
int out_error(const struct err *);
/* out_code(err_code): only the exit code. */
int out_code(int err_code);
/* out_fault(exit_code, sentence): the same for a fault that is no struct err; returns the code. */
int out_fault(int exit_code, const char *sentence);
/* out_say(fmt, ...): one line on stderr. */
void out_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* out_has_colour(fd): a terminal, NO_COLOR is unset or empty, TERM is not dumb. */
bool out_has_colour(int fd);

enum out_mark { OUT_GOOD, OUT_BAD, OUT_WARN, OUT_INFO };
/* out_mark(mark): "ok  ", "BAD ", "warn", "info", coloured when stdout is a terminal. */
const char *out_mark(enum out_mark);

/* out_bold(s): ${s}, bold when stdout is a terminal; valid until the fourth next call. */
const char *out_bold(const char *s);

/* A table: cells are copied; columns are as wide as they need to be, and the last takes the rest
 * and is cut at the terminal's width (never in a pipe). */
#define OUT_COLS_MAX 8
struct out_table {
        size_t cols;
        size_t rows;
        char **cells;
};
/* out_row(t, cell, ...): exactly t->cols strings. */
void out_row(struct out_table *, ...);
/* out_table_print(t): print and free. The first row is the head. */
void out_table_print(struct out_table *);

/* out_wrap(column, indent, text): a paragraph on stdout, broken at 80 columns. The cursor stands at
 * ${column} already; every further line begins at ${indent}. */
void out_wrap(size_t column, size_t indent, const char *text);

/* out_json(kind, b): a finished JSON text, printed in the envelope of ${kind} when the command ends
 * (envelope.h). Returns the exit code. */
int out_json(const char *kind, struct buf *);

/* out_wait(words): from now on, if it takes over a second, a turning mark and ${words} on stderr (a
 * terminal only); NULL ends it and leaves the line clean. */
void out_wait(const char *words);

/* out_age(seconds, buf): "12s", "3m", "5h", "2d". */
const char *out_age(long seconds, char buf[16]);
/* out_path(path): with "~" for the home directory; the caller frees. */
char *out_path(const char *path);
/* out_command(argv): words joined, quoted where needed; the caller frees. */
char *out_command(char *const *argv);

/* Names for one line: the first few, and how many more there are. out_names_add takes a name that is
 * quoted already; out_names_words: "a, b and 3 more", "" for none; the caller frees. */
struct out_names {
        struct strs v;
        uint64_t n;
};
void out_names_add(struct out_names *, const char *quoted);
char *out_names_words(const struct out_names *);

#endif
