/* checkpoint.h - a live workspace as it was before the box started, so that the run can be taken
 * back: every file's content is kept (objects.h) and its state written into an undo record (undo.h,
 * what=live) before the box runs; afterwards the record learns what the run left there.
 *
 * What did not change since the last checkpoint of the same directory (inode, size, mtime, ctime)
 * is not read again. Output that everybody ignores is left out when it is large, and so are very
 * large files: both are told. */
#ifndef WORKSPACE_CHECKPOINT_H
#define WORKSPACE_CHECKPOINT_H

#include "base/strs.h"

#include <stdint.h>

struct err;

enum {
        CHECKPOINT_FILES_MAX = 500000,   /* entries; what is beyond is not covered */
        CHECKPOINT_IGNORED_FILES = 2000, /* of an ignored directory that is still covered */
        CHECKPOINT_IGNORED_MIB = 32,
        CHECKPOINT_FILE_MIB = 512, /* of one file */
};

struct checkpoint;

struct checkpoint_ask {
        const char *state; /* $XDG_STATE_HOME/ostiary */
        const char *box, *layer, *root;
        void (*on_progress)(void *arg, uint64_t files_n, uint64_t read_bytes); /* may be NULL */
        void *arg;
};
/* checkpoint_take(ask, left, err): NULL and a story otherwise, and nothing is left behind. ${left}
 * gets the paths that are not covered, each with a reason: "PATH<TAB>words". */
struct checkpoint *checkpoint_take(const struct checkpoint_ask *, struct strs *left, struct err *);
/* The undo record that takes the run back. */
uint64_t checkpoint_number(const struct checkpoint *);
/* checkpoint_close(c, changed_n, err): the run has ended: complete the record. */
int checkpoint_close(struct checkpoint *, uint64_t *changed_n, struct err *);
void checkpoint_free(struct checkpoint *);
/* checkpoint_drop(c): there was no run: take the record away. */
void checkpoint_drop(struct checkpoint *);
/* checkpoint_fds(c, to): the three descriptors that it holds. */
size_t checkpoint_fds(const struct checkpoint *, int to[3]);

#endif
