/* args.h - the flags of a subcommand, as a table: parsed by it, explained by it.
 *
 *     bool is_all = false;
 *     const struct arg flags[] = {ARG_BOOL('a', "all", &is_all, "also boxes that have ended"),
 * ARG_END}; struct args a = args_of(&cmd_ps, flags, argc, argv); while ((word = args_next(&a)))
 *             ...an operand...
 *     if (a.is_over)
 *             return a.exit_code;
 *
 * Long flags take "--name=value" or "--name value", short ones "-nvalue" or "-n value"; "--" ends
 * the flags. A letter means the same long flag in every command; ARG_OLD is for one that did not.
 * Flags of other tools are understood or answered (foreign.h). A mistake is printed with a suggestion and "ostiary help CMD", and so is --help; both
 * end the parse with is_over and the exit code. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>

struct cmd;

enum arg_kind {
        ARG_KIND_BOOL,     /* bool *: true */
        ARG_KIND_INT,      /* int *: set to ${value} */
        ARG_KIND_STR,      /* const char **: the last one wins */
        ARG_KIND_OPT,      /* const char **: "" without a value, which only "--name=value" gives */
        ARG_KIND_LIST,     /* struct strs *: appended */
        ARG_KIND_U64,      /* uint64_t * */
        ARG_KIND_DURATION, /* uint64_t *: seconds; "90", "5m", "8h" */
        ARG_KIND_OLD,      /* a letter that once meant the long flag ${name}: works, with a word */
};

struct arg {
        const char *name; /* NULL ends the table */
        void *to;
        const char *meta; /* what the value is called in help */
        const char *help; /* NULL: the flag works and is not listed */
        enum arg_kind kind;
        int value;   /* ARG_KIND_INT */
        char letter; /* 0 when there is no short form */
};

#define ARG_(l, n, k, t, v, m, h)                                                                  \
        {                                                                                          \
                .name = (n), .to = (t), .meta = (m), .help = (h), .kind = (k), .value = (v),       \
                .letter = (l)                                                                      \
        }
#define ARG_BOOL(l, n, t, h)        ARG_(l, n, ARG_KIND_BOOL, t, 0, NULL, h)
#define ARG_INT(l, n, t, v, h)      ARG_(l, n, ARG_KIND_INT, t, v, NULL, h)
#define ARG_STR(l, n, t, m, h)      ARG_(l, n, ARG_KIND_STR, t, 0, m, h)
#define ARG_OPT(l, n, t, m, h)      ARG_(l, n, ARG_KIND_OPT, t, 0, m, h)
#define ARG_LIST(l, n, t, m, h)     ARG_(l, n, ARG_KIND_LIST, t, 0, m, h)
#define ARG_U64(l, n, t, m, h)      ARG_(l, n, ARG_KIND_U64, t, 0, m, h)
#define ARG_DURATION(l, n, t, m, h) ARG_(l, n, ARG_KIND_DURATION, t, 0, m, h)
#define ARG_OLD(l, n)               ARG_(l, n, ARG_KIND_OLD, NULL, 0, NULL, NULL)
#define ARG_END                     ARG_(0, NULL, ARG_KIND_BOOL, NULL, 0, NULL, NULL)

struct args {
        const struct cmd *cmd;
        const struct arg *table;
        const char *agent; /* the word of an agent that was read: flags behind it are its own unless
                              they are long ones of the table; NULL: none */
        int argc;
        char **argv;
        int at;
        bool has_dashes; /* "--" was there: args_rest() is what followed it */
        bool is_over;
        int exit_code;
};

struct args args_of(const struct cmd *, const struct arg *table, int argc, char **argv);

/* args_next(a): the next word that is no flag, or NULL at the end, at "--" and when is_over. */
char *args_next(struct args *);

/* args_rest(a): NULL-terminated rest of the line: after "--" when has_dashes, else after the last
 * word that args_next returned. */
char **args_rest(const struct args *);

/* args_bad(a, fmt, ...): complain the same way about a word; sets is_over; returns the exit code.
 */
int args_bad(struct args *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* args_for_agent(a, flag, value): refuse a flag behind an agent's word that is not ours, or may be
 * meant for the agent, with the line that passes it on; ${value} may be NULL. Returns -1. */
int args_for_agent(struct args *, const char *flag, const char *value);

/* args_only(a, words, min, max): collect operands; too few or too many is a complaint. Returns 0 to
 * go on, -1 when a->exit_code is to be returned. "--" may stand before them. */
int args_only(struct args *, struct strs *words, size_t min, size_t max);

#endif
