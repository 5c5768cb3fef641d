/* boxpaths.h - operands of diff and apply: [BOX] [PATH...]. The first word is the box if one has
 * that name; otherwise it is a path, of the box that boxhere_find chooses, if it looks like one or
 * is one. */
#ifndef CLI_BOXPATHS_H
#define CLI_BOXPATHS_H

#include "base/strs.h"
#include "cli/boxarg.h"

#include <stdbool.h>

struct args;
struct err;

struct boxpaths {
        struct boxarg box;
        struct strs paths;
        bool is_all_paths; /* "--" came first: every word is a path */
};

/* boxpaths_read(p, args): the words of the command line. 0, or -1 when args->exit_code is to be
 * returned. */
int boxpaths_read(struct boxpaths *, struct args *);
/* boxpaths_find(p, err): open the store and find the box; what is left in paths are paths. */
int boxpaths_find(struct boxpaths *, struct err *);
void boxpaths_free(struct boxpaths *);
#define _cleanup_boxpaths_ __attribute__((cleanup(boxpaths_free)))

#endif
