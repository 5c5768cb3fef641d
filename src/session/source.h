/* source.h - asking one source for one value: a variable, a file, a command, a profile of AWS, the
 * vault, the host's login of an agent. The result is a descriptor that holds all of the value, for
 * the keeper; a sentence otherwise.
 *
 * source.c is the order of things, source_run.c the commands, source_read.c the files whose format
 * we have to know. The box's first process begins as a copy of the supervisor's memory, so no value
 * may ever have been there: most are moved from one pipe into another, and those that have to be
 * read are read by a process of their own. */
#ifndef SESSION_SOURCE_H
#define SESSION_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"
#include "session/secrets.h"

#include <sys/types.h>
#include <time.h>

enum { SOURCE_MS = 30000 }; /* how long a command may take */

/* source_is_there(s, home, err): can it be asked at all? Looks, and reads nothing. 0, or -1 with
 * what is missing. */
int source_is_there(const struct session_secret *, const char *home, struct err *);

/* source_clock(line, now, err): can a secret that depends on the time be used at all? A clock that
 * stands before this program was written would have every signature and token of it refused. 0 or
 * -1. */
int source_clock(const struct rule_secret *, time_t now, struct err *);

/* A command of a source. */
struct source_run {
        pid_t pid; /* 0: none; also the number of its process group */
        int pidfd, out_fd, words_fd;
        struct loop_src *end_src, *words_src;
        struct loop_timer patience;
        char words[512]; /* the end of what it complained; stays until the next one begins */
        size_t words_len;
        const char *
                what; /* for sentences: "the command", "the vault"; NULL: it speaks in whole ones */
        void (*done)(void *ctx, int fd, struct err *);
        void *ctx;
};

/* source_run_begin(r, loop, argv, program_fd, env, home, err): start it; r->done, r->ctx and
 * r->what are set. ${program_fd} >= 0: execute that, else argv[0] from PATH. done is called once,
 * later: with a descriptor that is its to close and holds what was printed, if the command
 * succeeded and printed something; else with -1 and a sentence. -1 when it could not be started. */
int source_run_begin(struct source_run *, struct loop *, char *const argv[], int program_fd,
                     const struct strs *env, const char *home, struct err *);
/* source_run_inside(r, loop, fn, ctx, keep_fd, err): the same for a function of ours, in a process
 * of its own that has nothing but ${keep_fd} (-1: nothing): what it puts into the buffer is the
 * value. When it fails, its story is the sentence; when it succeeds, what it left there is in
 * r->words. */
typedef int source_inside(void *ctx, int keep_fd, struct buf *value, struct err *);
int source_run_inside(struct source_run *, struct loop *, source_inside *, void *, int,
                      struct err *);
/* source_run_cancel(r): kill it; done is not called. */
void source_run_cancel(struct source_run *);

/* One secret's source, for as long as its box lives. */
struct source {
        struct session_secret *secret;
        const struct strs *env; /* for commands */
        const char *home, *data_dir;
        struct loop *loop;
        void (*done)(void *ctx, int fd, struct err *); /* fd is its to close; -1: ${err} says why */
        void *ctx;
        struct source_run run;
        bool is_asking;
        char *aws_keys, *aws_config; /* the files that a profile of AWS is read from */
        char *bus;                   /* where the keyring is asked */
        uint64_t expires_s;          /* the value of AWS says so: since the epoch; 0: it does not */
        char *warning;               /* about the last value, or NULL */
};

/* source_ask(s): ask; done is called once, perhaps before this returns. Must not be asking already.
 */
void source_ask(struct source *);
void source_cancel(struct source *);

/* source_pipe(fd, max, err): what is in ${fd} (a pipe or a file), moved into a fresh pipe whose
 * reading end is returned and which ends with the value. More than ${max} bytes, or none, is an
 * error. */
int source_pipe(int fd, size_t max, struct err *);
/* source_pipe_of(b, err): the same of bytes; they are wiped. */
int source_pipe_of(struct buf *, struct err *);

/* source_read.c */
/* What a profile of AWS says of itself. */
struct source_aws {
        char *id, *key, *token, *process, *region;
};
void source_aws_free(struct source_aws *);
#define _cleanup_source_aws_ __attribute__((cleanup(source_aws_free)))
/* source_aws_read(keys, config, profile, aws, err): static keys, or the command that prints them,
 * out of the two files. */
int source_aws_read(const char *keys, const char *config, const char *profile, struct source_aws *,
                    struct err *);
/* source_aws_put(aws, b): "id\nkey\ntoken\n", as the keeper wants it. */
void source_aws_put(const struct source_aws *, struct buf *);
/* source_aws_of_process(fd, b, &expires_s, err): the same of what such a command printed. */
int source_aws_of_process(int fd, struct buf *, uint64_t *expires_s, struct err *);
/* Where an agent keeps its login below the home, and where in it: the object that holds the tokens,
 * and its keys. */
struct source_login {
        const char *name, *dir, *file;
        const char *object, *access, *refresh, *expires_ms; /* the last may be NULL */
};
/* source_login(name): NULL when there is no such agent. */
const struct source_login *source_login(const char *name);
/* source_login_path(name, home): where the host keeps the login of that agent; the caller frees.
 * NULL when there is no such agent. */
char *source_login_path(const char *name, const char *home);
/* source_login_read(name, home, b, err): {"access","refresh","expires"} of it; expires is in
 * seconds since the epoch, 0 when it is not known. */
int source_login_read(const char *name, const char *home, struct buf *, struct err *);

#endif
