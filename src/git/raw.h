/* raw.h - what git diff-tree, diff-index and their like print with -z --raw, taken apart in place:
 * ":MODE MODE ID ID LETTER" NUL PATH NUL, and "::..." with a column for each parent of a merge. */
#ifndef GIT_RAW_H
#define GIT_RAW_H

#include "git/fetch.h"

/* Points into the text. */
struct git_raw {
        const char *path;
        const char *id, *id_was; /* of a merge: the first parent's */
        unsigned mode, mode_was;
        char what;
};

/* git_raw_next(&text, end, id_len, raw): 1 and an entry; 0 when the text goes on with something else
 * than an entry, or is over; -1 when it makes no sense. *end must be a NUL. The text is changed:
 * the entry's strings end with a NUL. */
int git_raw_next(char **text, const char *end, size_t id_len, struct git_raw *);

/* git_raw_head(&text, end, id_len, id): the line that says whose entries follow. 0 or -1. */
int git_raw_head(char **text, const char *end, size_t id_len, char id[GIT_ID_MAX + 1]);

/* git_raw_is_path(path): can it be a path of a work tree: relative, no empty, "." or ".." part? */
bool git_raw_is_path(const char *path);

#endif
