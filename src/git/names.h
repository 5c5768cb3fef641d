/* names.h - ids and names of refs that a box prints: text becomes one of these or is refused. Pure,
 * bounded by the text. */
#ifndef GIT_NAMES_H
#define GIT_NAMES_H

#include "git/fetch.h"

enum { GIT_NAME_MAX = 700, GIT_NAME_PART_MAX = 200 };

/* A ref and what it names. */
struct git_tip {
        char id[GIT_ID_MAX + 1];
        char *name; /* as it was printed: any bytes but NUL, LF */
};
struct git_tips {
        struct git_tip *v; /* sorted by name */
        size_t n, cap;
};
void git_tips_free(struct git_tips *);
#define _cleanup_git_tips_ __attribute__((cleanup(git_tips_free)))
/* git_tips_find(t, name): NULL when there is none. */
const struct git_tip *git_tips_find(const struct git_tips *, const char *name);

/* git_names_id(text, len, id_len, id): are these ${len} bytes an object's name of ${id_len} small
 * hexadecimal digits? Copied to ${id}. */
bool git_names_id(const char *text, size_t len, size_t id_len, char id[GIT_ID_MAX + 1]);

/* git_names_is_good(name): a full name ("refs/heads/x") that git accepts, that no shell, terminal or
 * option parser takes for something else, and that fits a file name. At least as strict as git
 * check-ref-format. */
bool git_names_is_good(const char *name);

/* git_names_parse(text, len, id_len, tips): lines of "ID NAME". 0, or -1 when a line is none. */
int git_names_parse(const char *text, size_t len, size_t id_len, struct git_tips *);

/* git_names_ids(text, len, id_len, ids): lines of an id each. */
int git_names_ids(const char *text, size_t len, size_t id_len, struct strs *ids);

#endif
