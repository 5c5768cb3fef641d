/* print.h - a change as git would print it: `diff --git`, modes, renames, hunks. Without git, and
 * so that `git apply` and `patch -p1` take it.
 *
 * Names are quoted as git quotes them, always. Contents came out of a box: for a terminal (is_safe)
 * control bytes, escapes and what is invisible or turns a line around come out as \xNN (cases 76,
 * 80); elsewhere they are exact. A file is held in memory while it is compared, up to
 * PRINT_FILE_MAX bytes and PRINT_LINES_MAX lines a side; a larger one is told by its sizes. */
#ifndef WORKSPACE_PRINT_H
#define WORKSPACE_PRINT_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct ws_change;

#define PRINT_FILE_MAX  ((uint64_t)16 << 20)
#define PRINT_LINES_MAX ((uint64_t)2 << 20)

struct ws_print {
        /* Where it goes: 0, or -1 with errno to stop. */
        int (*put)(void *arg, const void *, size_t);
        void *arg;
        bool is_safe;
        bool has_colour;
        bool is_whole;    /* binary files as git's binary patches, so that nothing is missing */
        unsigned context; /* lines around a change */
        const char *name_prefix; /* before every name, as it is: "", "~/", "/absolute/"; or NULL */
        const char *line_prefix; /* before every line: "| " keeps patch programs off; or NULL */
        uint64_t unread_n;       /* counted: contents that could not be read, which was told */
        bool wants_shown;        /* fill the next one: */
        char shown[SHA256_HEX_LEN + 1]; /* the content of the side after that was printed last, held
                                           whole; or "" */
};

/* ws_print_change(p, change, err): its class and why it is never applied, if so, one line each;
 * then the diff. A directory is one line, which the caller leaves out where its content says the
 * same. -1 only when ${put} said so. */
int ws_print_change(struct ws_print *, const struct ws_change *, struct err *);

/* ws_print_line(p, style, fmt, ...): one line of our own, with its newline. */
enum ws_print_style { PRINT_PLAIN, PRINT_HEAD, PRINT_WARN, PRINT_HUNK, PRINT_OLD, PRINT_NEW };
int ws_print_line(struct ws_print *, enum ws_print_style, struct err *, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* ws_print_count(change, count): lines added and removed, for --stat. */
struct ws_print_count {
        uint64_t added, removed;
        bool is_binary; /* or too large: sizes tell more than lines */
        bool is_unread; /* it could not be read */
};
void ws_print_count(const struct ws_change *, struct ws_print_count *);

/* ws_print_name(out, prefix, name): as git quotes: as it is, or in double quotes with C escapes and
 * octal bytes when anything in it is unusual. */
void ws_print_name(struct buf *out, const char *prefix, const char *name);

/* ws_print_shown(out, bytes, n, has_colour): content for a terminal. ${bytes}[n] is readable and no
 * continuation byte (a NUL). Tabs and newlines stay. */
void ws_print_shown(struct buf *out, const char *, size_t n, bool has_colour);

/* ws_print_number(n, buf): "1,204,000"; returns ${buf}. */
const char *ws_print_number(uint64_t, char buf[32]);

#endif
