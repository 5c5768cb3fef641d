/* stream.h - being attached to a command in a box: bytes both ways, signals, window size,
 * detaching, and what to say and return at the end. Called by run, shell, exec and attach with a
 * client socket. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/detach.h"
#include "cli/filter.h"

#include <stdbool.h>

struct err;
struct msg_started;

/* What a user may choose about being attached; see stream_flags in runargs.h. */
struct stream {
        const char *id; /* of the box, for words */
        bool is_tty;    /* the command has a terminal: ours becomes raw */
        bool has_stdin;
        bool is_quiet;
        struct filter_policy terminal;
        struct detach detach;
        /* called once when the command runs, before its first byte is shown; may be NULL */
        void (*on_started)(const struct stream *, const struct msg_started *);

        /* what came of it */
        bool is_started;
        bool is_ended;
        bool is_detached;
        bool is_kept; /* the box's layers were kept */
};

/* stream_run(s, sock): until the command ends, the user detaches or the box is gone. Takes ${sock}.
 * Returns the exit code of the CLI; every word about why is printed already. */
int stream_run(struct stream *, int sock);

/* stream_started(sock, started, err): wait for MSG_STARTED alone (create, run -d). ${sock} stays the
 * caller's. 0, or -1 with what the box said; ${started} is the caller's to free in both cases. */
int stream_started(int sock, struct msg_started *, struct err *);

#endif
