/* ignore_int.h - a pattern in pieces: made by ignore.c, run by ignore_match.c, and by nobody else.
 */
#ifndef WORKSPACE_IGNORE_INT_H
#define WORKSPACE_IGNORE_INT_H

#include "workspace/ignore.h"

#include <stdint.h>

enum ignore_op {
        IGNORE_BYTE, /* this byte */
        IGNORE_ONE,  /* any byte but a slash */
        IGNORE_SET,  /* one of a set */
        IGNORE_RUN,  /* any bytes but slashes, or none */
        IGNORE_ALL,  /* any bytes, or none */
        IGNORE_OPEN, /* the beginning of star star slash: what follows, or IGNORE_DIRS next */
        IGNORE_DIRS, /* any bytes up to a slash, and the slash */
};

struct ignore_step {
        enum ignore_op op;
        uint8_t byte;
        uint16_t set; /* index of a set */
};

struct ignore_set {
        uint64_t bits[4];
};

struct ignore_rule {
        bool is_negated, is_dir_only, is_name_only /* no slash in it: any depth */;
        char *head; /* literal bytes that come first */
        size_t head_len;
        struct ignore_step *steps;
        size_t steps_n;
        struct ignore_set *sets;
        size_t sets_n;
};

struct ignore {
        struct ignore_rule *rules;
        size_t n;
};

/* ignore_compile(rule, pattern, len): the steps of the part after the literal head; false when it
 * can match nothing (a bracket that is not closed). */
bool ignore_compile(struct ignore_rule *, const char *pattern, size_t len);

#endif
