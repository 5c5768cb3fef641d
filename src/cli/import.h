/* import.h - settings of another tool as lines of ours. A format is a table of the keys it has: each
 * is turned into lines, holds in every box already, or cannot be carried over and says why. A key
 * that no row has stops everything: a refusal that was not understood must not be lost in silence.
 */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "base/strs.h"

#include <jansson.h>

struct err;

struct import {
        const char *key;     /* the key at hand, "network.allowedDomains" */
        char *about;         /* what the profile says of itself; may be NULL */
        struct strs denies;  /* lines of policy; refusals stand before grants, so that they win */
        struct strs rules;   /* allow, splice and secret */
        struct strs profile; /* lines that only a profile has: bind, env, pass, command, args */
        struct strs held;    /* "KEY: why": true of every box */
        struct strs left;    /* "KEY: why": not carried over */
        const json_t *top;   /* the whole document */
};

/* One key. Exactly one of take, why and held; a key with neither is a section to go into. */
struct import_row {
        const char *key; /* dotted path */
        int (*take)(struct import *, json_t *value, struct err *);
        const char *why;  /* why it is left out */
        const char *held; /* why nothing needs to be carried */
};

struct import_format {
        const char *name;              /* "srt" */
        const char *what;              /* "settings of Anthropic's sandbox-runtime" */
        const struct import_row *rows; /* ends with a NULL key */
};

extern const struct import_format import_srt, import_nono;

/* import_read(format, text, im, err): all of a document. -1 with E_INPUT and nothing to be used. */
int import_read(const struct import_format *, const char *text, struct import *, struct err *);
void import_free(struct import *);
#define _cleanup_import_ __attribute__((cleanup(import_free)))

/* What the tables use. Strings of the document are quoted where a line needs it; a line that our
 * own parser refuses is left out with the parser's reason. */
void import_left(struct import *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void import_held(struct import *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* import_rule(im, fmt, ...): one line of policy, checked. */
void import_rule(struct import *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* import_bind(im, path, mode): a path of the host; the workspace and what is the box's own hold. */
void import_bind(struct import *, const char *path, const char *mode);
/* import_word(text): as a word of a profile line, quoted when it must be; the caller frees. */
char *import_word(const char *text);
/* import_strings(im, value, each, err): ${each} for every string of an array; another shape is an
 * error. */
int import_strings(struct import *, json_t *value,
                   int (*each)(struct import *, const char *, struct err *), struct err *);
/* import_wrong(im, wanted, err): "KEY wants ..."; -1. */
int import_wrong(struct import *, const char *wanted, struct err *);

#endif
