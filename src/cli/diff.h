/* diff.h - what the files of `ostiary diff` share: one walk over the roots of a box, told in one of
 * four forms. Included by cmd_diff.c and diff_*.c. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "base/buf.h"
#include "base/strs.h"
#include "cli/out.h"
#include "cli/pager.h"
#include "git/fetch.h"
#include "session/changes.h"
#include "workspace/print.h"

#include <stdbool.h>
#include <stdint.h>

struct diff;

/* A form: how what was found is told. Each returns 0, or -1 with a story; each may be NULL. */
struct diff_form {
        int (*begin)(struct diff *, struct err *);
        int (*change)(struct diff *, const struct ws_change *, struct err *);
        /* a line of words about something that is not shown one by one */
        int (*note)(struct diff *, const char *words, struct err *);
        int (*end)(struct diff *, struct err *);
};
extern const struct diff_form diff_text, diff_stat, diff_names, diff_json;

/* Changes of the home that are not shown one by one. */
struct diff_home {
        uint64_t files_n, named_n;
};

/* One of diff_stat's rows. */
struct diff_row {
        char *name;
        struct ws_print_count n;
        uint64_t before, after; /* sizes */
        bool is_short;          /* nothing to count: a mode, a directory, a masked file */
};

struct diff {
        struct changes *c;
        const struct store *store; /* NULL: files alone, no commits */
        const struct diff_form *form;
        bool only_applied; /* what landed since, instead of what waits */
        bool with_all;     /* also what is ignored, git's own bookkeeping, and the home */
        bool has_zeros;    /* names end with a NUL and are not quoted */
        struct ws_print print;
        struct pager pager;

        /* while it goes on */
        size_t root;   /* which one */
        bool is_asked; /* paths were named, and ones of this root */
        char *new_dir; /* a directory that was added and waits for something in it */
        struct ws_change new_dir_change;
        char *last_deleted;
        bool is_git_told;
        struct git_fetch fetch; /* what the box committed; empty until it was told */
        struct diff_home home;
        bool is_root_told;
        uint64_t shown_n, noted_n;
        uint64_t unshown_n; /* refs whose commits could not be told */
        struct ws_tally
                tally; /* of all roots, of what was shown; ignored ones by their told names */

        /* of the forms */
        struct diff_row *rows;
        size_t rows_n;
        uint64_t added_n, removed_n; /* lines */
        struct out_names programs;   /* what can be run, though no class says so */
        struct strs notes;
};

/* diff_run(d, err): everything. 0, or -1 with a story; EPIPE when the reader left. */
int diff_run(struct diff *, struct err *);
void diff_free(struct diff *);

/* diff_note(d, err, fmt, ...): a line of words, in the form's own way. */
int diff_note(struct diff *, struct err *, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* diff_name(d, path): how a path of the root in hand is told, quoted; the caller frees. */
char *diff_name(const struct diff *, const char *path);

/* diff_git_tell(d, trees, err): what the box committed in the work trees whose git directories it
 * touched; once. diff_git_is_uncommitted(d, c): is it a change that the box's new commits leave out?
 * Never where there are none. */
int diff_git_tell(struct diff *, const struct strs *trees, struct err *);
bool diff_git_is_uncommitted(const struct diff *, const struct ws_change *);
/* diff_git_is_held(d, c): the host has merged it, and went on: nothing to offer. */
bool diff_git_is_held(const struct diff *, const struct ws_change *);

#endif
