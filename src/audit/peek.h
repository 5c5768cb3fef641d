/* peek.h - reading the memory of a process that waits for our answer, and writing what stands there
 * in a form that no terminal and no reader of the log is fooled by. The bytes are the box's: every
 * pointer may lead nowhere, every string may have no end, and a neighbour may change all of it
 * while we read. */
#ifndef AUDIT_PEEK_H
#define AUDIT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

enum { PEEK_PAGE = 4096, PEEK_PAGES = 8 };

struct peek {
        pid_t pid;
        bool is_closed; /* the kernel lets nobody read this process */
        size_t next;
        uint64_t before[PEEK_PAGES]; /* what was read for this process's call before this one */
        size_t before_n;
        struct {
                uint64_t at;
                size_t have;
                uint8_t bytes[PEEK_PAGE];
        } pages[PEEK_PAGES];
};

/* peek_begin(p, pid): of this thread or process. ${p} is zero at first. */
void peek_begin(struct peek *, pid_t);

/* peek_ahead(p, addrs, n): all of these will be asked for: read their pages together, and with them
 * those that this process's last call needed. */
void peek_ahead(struct peek *, const uint64_t *addrs, size_t n);

/* peek_bytes(p, addr, out, n): copy as much as there is, from 0 to ${n} bytes. */
size_t peek_bytes(struct peek *, uint64_t addr, void *out, size_t n);

enum peek_end {
        PEEK_WHOLE, /* up to its NUL */
        PEEK_CUT,   /* ${max} bytes, and it goes on */
        PEEK_BAD,   /* what could be read, which may be nothing */
};
/* peek_str(p, addr, max, out): append a string without its NUL. */
enum peek_end peek_str(struct peek *, uint64_t addr, size_t max, struct buf *out);

/* peek_quote(out, s, n): append bytes as one word: as they are when a shell would take them for one
 * word, else in double quotes with \n, \xNN and the like for what is not printable. */
void peek_quote(struct buf *out, const void *s, size_t n);

/* peek_quoted(p, addr, max, out): a string of the process, quoted; "(unreadable)" for none, "..."
 * after one that is longer. */
void peek_quoted(struct peek *, uint64_t addr, size_t max, struct buf *out);

/* peek_argv(p, addr, max, out): the words of a vector of strings, quoted, with blanks between, at
 * most about ${max} bytes: "..." stands for what is left out. */
void peek_argv(struct peek *, uint64_t addr, size_t max, struct buf *out);

#endif
