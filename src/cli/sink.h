/* sink.h - where a box's output goes: our stdout or stderr, filtered when that is a terminal, never
 * losing a byte and never blocking the loop. Used by stream.c and cmd_logs.c. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "base/buf.h"
#include "cli/filter.h"
#include "cli/screen.h"

#include <stdbool.h>

struct sink {
        int fd;
        bool is_tty;
        bool is_file;   /* a regular file: writing does not wait */
        bool is_gone;   /* nobody reads any more (EPIPE) */
        struct buf out; /* not yet written */
        size_t done;    /* of that */
        struct filter filter;
        struct screen *screen; /* model of the terminal, while rows of it can be ours; or NULL */
};

/* sink_open(k, fd, policy): ${policy} counts only when ${fd} is a terminal; its modes are then
 * watched, so that term_restore() undoes them. */
void sink_open(struct sink *, int fd, const struct filter_policy *);
/* sink_follow(k, screen): from now on the terminal is ${screen}, which must live until the end.
 * Nothing happens where ${k} is no terminal, or one that gets everything as it comes. */
void sink_follow(struct sink *, struct screen *);
/* sink_put(k, p, n): take bytes and write what can be written now. */
void sink_put(struct sink *, const void *, size_t);
/* sink_flush(k): write on. true when nothing is left. */
bool sink_flush(struct sink *);
bool sink_is_full(const struct sink *);
/* sink_close(k): write the rest, waiting for as long as the reader does. */
void sink_close(struct sink *);

#endif
