/* opts.h - what the user asked for, as data: filled by the CLI from flags, kept beside the box so
 * that a stopped box can be started again the same way. */
#ifndef SESSION_OPTS_H
#define SESSION_OPTS_H

#include "base/strs.h"
#include "box/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct session_bind {
        char *path;
        char *mode; /* "ro", "rw" or "cow" */
};

struct session_opts {
        char *name;       /* box name the user chose, or NULL for a made-up one */
        char *profile;    /* profile name, or NULL for the plain one */
        char *workspace;  /* directory as the user wrote it; NULL means the current one */
        bool is_live;     /* --live: the workspace itself, not copy-on-write */
        bool is_unmasked; /* --no-mask: secrets in the workspace are shown as they are */
        bool is_kept;     /* --keep: keep the box after its command ended even without changes */
        bool is_removed;  /* --rm: discard the box at its end, changes included */
        bool is_waiting;  /* create: no command, the box waits */
        bool is_turns;    /* --turns: each command is a layer of its own */
        bool is_tty;
        bool has_stdin;
        bool is_errand; /* git over its layers (errand.h): no door, no secrets, no agent; not kept */
        bool is_quiet;  /* -q: no notices; not kept */
        uint32_t cols, rows;
        char *cwd;          /* where the command starts; NULL means the workspace */
        char *force_reason; /* --force REASON: allow an odd workspace */
        struct strs argv;   /* the command; empty means the profile's */
        struct strs once;   /* resume: this command instead, this time; not kept */
        bool is_once_agent; /* run --resume AGENT: the agent, with once_args and without what was
                                   said to it at first; not kept */
        struct strs once_args;
        char *from;             /* run --from: a snapshot; not kept */
        struct strs extra_args; /* after the profile's own command: `ostiary run claude -- -p hi` */
        struct strs env;     /* NAME=value from --env, NAME taken from the caller's environment */
        struct strs limits;  /* "memory=4G": later ones win over the profile's */
        struct strs publish; /* "[HOST:]PORT[:BOXPORT]" (publish.h) */
        struct strs allow, deny; /* --allow and --deny: rules as written */
        struct strs policy;      /* --policy: files of rules */
        struct strs secrets;     /* --secret: NAME@HOST[,HOST][:FORM], or what follows `secret` */
        char *identity;          /* --as: a named set of secrets; NULL means none */
        char *level;             /* --level: easy, strict, learn; NULL means easy */
        char *proxy;             /* --upstream-proxy: URL or none; NULL means none */
        char *audit;             /* --audit: off, default, files, all; NULL means default */
        char *audit_full;        /* --audit-full: pause or stop; NULL means pause */
        char *door_fault;        /* --on-door-fault: stop or pause; NULL means stop */
        struct session_bind *binds;
        size_t binds_n;
};

void session_opts_free(struct session_opts *);
void session_opts_bind(struct session_opts *, const char *path, const char *mode);

/* opts_words.c: flags that want one of some words. */
enum opts_word { OPTS_LEVEL, OPTS_AUDIT, OPTS_AUDIT_FULL, OPTS_DOOR_FAULT };
/* session_opts_index(which, word, err): its number, which for OPTS_LEVEL is an enum door_level and for
 * OPTS_AUDIT an enum box_audit; -1 and E_USAGE with a sentence for a word that the flag does not know. */
int session_opts_index(enum opts_word, const char *word, struct err *);
/* session_opts_word(which, index): the word of a number, or NULL when there is none. */
const char *session_opts_word(enum opts_word, int index);
/* session_opts_check(opts, err): are all of them words that their flags know? 0 or -1. */
int session_opts_check(const struct session_opts *, struct err *);

/* session_opts_save(opts, dir_fd, err) / session_opts_load: the file `opts` in the box's directory,
 * one "key value" line each, values quoted. */
int session_opts_save(const struct session_opts *, int dir_fd, struct err *);
int session_opts_load(struct session_opts *, int dir_fd, struct err *);
/* session_opts_parse(opts, text): the same from text; what makes no sense is left out. */
void session_opts_parse(struct session_opts *, const char *text);

#endif
