/* call.h - one call of the git program, and the two places where it runs: on the host, over the
 * user's own repository, or in a box without network over the layers of a box (an errand, made by
 * session/errand.c). What an errand prints was written by the box and is hostile. */
#ifndef GIT_CALL_H
#define GIT_CALL_H

#include "base/strs.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

struct git_call {
        const char *program;     /* in an errand: another one than git; NULL: git */
        const char *dir;         /* where it runs; absolute */
        const char *const *argv; /* after "git"; ends with NULL */
        const void *in;          /* its standard input; NULL: empty */
        size_t in_len;
        const char *in_file; /* without ${in}: its input is this file */
        struct buf *out;     /* what it prints; more than out->max is a failure. NULL: see out_fd */
        int out_fd;          /* without ${out}: where it prints to, or -1: nowhere */
        uint64_t out_max;    /* bytes that may go to ${out_fd}; more is a failure */
        uint32_t patience_ms; /* how long it may take; 0: GIT_PATIENCE_MS */
        /* On the host only: */
        uint32_t cpu_s;   /* processor time that it may take; 0: no bound but the patience */
        uint64_t memory;  /* bytes of its own memory; 0: GIT_MEMORY_MAX */
        uint64_t *cpu_ms; /* what it took is added here; or NULL */
};
#define GIT_MEMORY_MAX ((uint64_t)2 << 30)
enum { GIT_PATIENCE_MS = 60 * 1000, GIT_PATIENCE_LONG_MS = 600 * 1000 };

/* How git is run over the layers of a box; filled by session/errand.h. run() returns the exit
 * status (0 to 255), or -1 with a story when it could not run, ran too long or printed too much. */
struct git_inside {
        int (*run)(void *arg, const struct git_call *, struct err *);
        void *arg;
};

/* git_call_host(call, env, err): the host's git with the user's rights. The environment is a small
 * one of ours (PATH, HOME, XDG_CONFIG_HOME, LC_ALL=C, GIT_TERMINAL_PROMPT=0, GIT_OPTIONAL_LOCKS=0,
 * GIT_NO_REPLACE_OBJECTS=1, GIT_GRAFT_FILE=/dev/null, no pager, no editor, no GIT_DIR of the
 * caller's) and ${env} ("NAME=value", may be NULL). No hook and no fsmonitor runs. Bounded in time
 * and memory. Returns the exit status, or -1 with a story (E_ABSENT: there is no git). The last
 * line that it printed to its standard error is in ${err} when the status is not 0. */
int git_call_host(const struct git_call *, const struct strs *env, struct err *);

/* git_call_is_there(): is there a git on the host's PATH? */
int git_call_is_there(void);

#endif
