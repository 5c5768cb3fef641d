/* runargs.h - the flags that say what box is wanted: shared by run, shell, create, explain and
 * probe, so that `explain` speaks of exactly the box that `run` would start. */
#ifndef CLI_RUNARGS_H
#define CLI_RUNARGS_H

#include "cli/args.h"
#include "cli/stream.h"
#include "session/opts.h"
#include "session/store.h"

struct err;

enum { RUNARGS_FLAGS_MAX = 64 };

enum runargs_kind {
        RUNARGS_RUN,  /* everything */
        RUNARGS_WAIT, /* create: nothing about being attached */
        RUNARGS_PLAN, /* explain: only what shapes the box */
};

struct runargs {
        enum runargs_kind kind;
        struct session_opts opts;
        struct stream stream;
        struct store store;
        bool is_detached;    /* -d */
        bool is_resumed;     /* --resume */
        bool is_fresh;       /* --new */
        bool is_json;        /* --json */
        bool is_interactive; /* -i: of other tools; input is passed on always */

        /* as written, before they are understood */
        const char *name, *profile, *workspace, *cwd, *force, *terminal, *detach_key, *level,
                *door_fault, *proxy, *identity, *from, *audit, *audit_full;
        struct strs env, env_files, limits, binds;
        int tty; /* 1 -t, 0 -T, -1 neither */
        struct arg flags[RUNARGS_FLAGS_MAX];
        struct args args;
};

/* runargs_init(r, cmd, kind, more, argc, argv): the flags of ${kind} and ${more} (ends with
 * ARG_END, may be NULL). */
void runargs_init(struct runargs *, const struct cmd *, enum runargs_kind, const struct arg *more,
                  int argc, char **argv);
void runargs_free(struct runargs *);

/* runargs_parse(r): read the line: flags, then AGENT or the command, then the command's own words.
 * Opens the store. 0, or -1 when r->args.exit_code is to be returned; the complaint is printed. */
int runargs_parse(struct runargs *);

/* runargs_attach(r): what of the terminal the command gets: fills opts.is_tty, size and stdin, and
 * r->stream. */
void runargs_attach(struct runargs *);

/* runargs_fixed(r, id, err): -1 and a sentence when the line has a flag that shapes a box, which box
 * ${id} has got already. */
int runargs_fixed(const struct runargs *, const char *id, struct err *);

/* The two flag values that exec and attach share with run. 0, or -1 after args_bad. */
int runargs_stream(struct args *, struct stream *, const char *terminal, const char *detach_key);

/* runargs_env(a, words, env): "NAME=value", or NAME for the caller's own; 0 or -1 after args_bad.
 */
int runargs_env(struct args *, const struct strs *words, struct strs *env);

#endif
